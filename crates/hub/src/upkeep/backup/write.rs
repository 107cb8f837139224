//! `tandem backup`: a consistent snapshot of all tables, then the stored files named in it.
//!
//! A file may be deleted while the backup runs. Its row is then left out too, so a restored hub answers as for any
//! deleted file. If the bytes are missing but the row still exists, the folder is wrong or the disk is damaged, and
//! the backup fails.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;

use tandem_core::FileId;
use tandem_store::Database;
use tandem_store::dump::{self, Snapshot, Table, Value};

use super::archive::ArchiveWriter;
use super::bytes::BlockingFiles;
use super::manifest::{self, Manifest, Member, TableMember};
use super::{Error, OnProgress, Progress, Summary, row};
use crate::start::data_folder;
use crate::{Clock, Config, start};

/// Writes the backup of a hub, which may be running.
pub fn backup(
    config: &Config,
    clock: &Clock,
    to: &Path,
    on_progress: OnProgress<'_>,
) -> Result<Summary, Error> {
    let (database, kind) = start::database(config)?;
    data_folder::refuse_foreign(config, &database)?;
    let now = clock.now();
    let mut archive = ArchiveWriter::begin(to, now)?;
    let mut snapshot = Snapshot::take(&database)?;
    let mut tables = Vec::new();
    for table in dump::TABLES.iter().filter(|table| table.name != dump::FILES.name) {
        tables.push(write_table(&mut archive, &mut snapshot, table, &HashSet::new(), on_progress)?);
    }
    let files = BlockingFiles::of(config)?;
    let (files, gone) = write_files(&mut archive, &mut snapshot, &files, &database, on_progress)?;
    tables.push(write_table(&mut archive, &mut snapshot, &dump::FILES, &gone, on_progress)?);
    drop(snapshot);
    let manifest = Manifest {
        format: manifest::FORMAT.into(),
        format_version: manifest::FORMAT_VERSION,
        tandem_version: env!("CARGO_PKG_VERSION").into(),
        schema_version: dump::schema_version(),
        created_at: now.to_string(),
        database: kind.as_str().into(),
        files_gone: gone.len() as u64,
        tables,
        files,
    };
    let written = archive.member(manifest::MANIFEST, |out| {
        let mut out = std::io::BufWriter::new(out);
        let text = serde_json::to_writer_pretty(&mut out, &manifest).map_err(std::io::Error::from);
        text.and_then(|()| out.flush()).map_err(Error::disk(to))
    })?;
    archive.member(manifest::MANIFEST_HASH, |out| {
        writeln!(out, "{}  {}", written.sha256, written.name).map_err(Error::disk(to))
    })?;
    Ok(Summary {
        rows: manifest.tables.iter().map(|table| table.rows).sum(),
        files: manifest.files.len() as u64,
        bytes: archive.keep()?,
        deleted_files: manifest.files_gone,
    })
}

fn write_table(
    archive: &mut ArchiveWriter,
    snapshot: &mut Snapshot,
    table: &Table,
    without: &HashSet<String>,
    on_progress: OnProgress<'_>,
) -> Result<TableMember, Error> {
    let columns = snapshot.columns(table)?;
    let total = snapshot.count(table)?;
    let id = columns.iter().position(|column| column == "id");
    let (mut seen, mut rows) = (0, 0);
    let part = archive.part().to_owned();
    let member = archive.member(&format!("{}{}.jsonl", manifest::TABLES, table.name), |out| {
        snapshot.pages(table, |page| {
            let mut lines = Vec::new();
            for values in page {
                seen += 1;
                if let Some(Value::Text(id)) = id.and_then(|place| values.get(place))
                    && without.contains(&**id)
                {
                    continue;
                }
                rows += 1;
                row::encode(values, &mut lines).map_err(|error| Error::disk(&part)(error.into()))?;
            }
            on_progress(Progress { what: table.name, done: seen, total });
            out.write_all(&lines).map_err(Error::disk(&part))
        })
    })?;
    if seen != total {
        // Both numbers come from the same snapshot.
        let why = format!("{seen} of {total} rows of {} were read: the database is damaged", table.name);
        return Err(Error::Refused(why));
    }
    Ok(TableMember { table: table.name.into(), columns, rows, member })
}

/// Copies the stored files. Also returns the ids of files that were deleted meanwhile.
fn write_files(
    archive: &mut ArchiveWriter,
    snapshot: &mut Snapshot,
    files: &BlockingFiles,
    database: &Database,
    on_progress: OnProgress<'_>,
) -> Result<(Vec<Member>, HashSet<String>), Error> {
    let columns = snapshot.columns(&dump::FILES)?;
    let total = snapshot.count(&dump::FILES)?;
    let place = |name: &str| columns.iter().position(|column| column == name).unwrap_or_default();
    let (id_place, size_place) = (place("id"), place("size_bytes"));
    let (mut members, mut gone) = (Vec::new(), HashSet::new());
    snapshot.pages(&dump::FILES, |page| {
        for values in page {
            let (Some(Value::Text(id)), Some(Value::Int(size))) =
                (values.get(id_place), values.get(size_place))
            else {
                return Err(Error::Refused("a row of files has no id or no size".into()));
            };
            match write_file(archive, files, database, id, *size)? {
                Some(member) => members.push(member),
                None => drop(gone.insert(id.to_string())),
            }
            on_progress(Progress { what: "files' bytes", done: (members.len() + gone.len()) as u64, total });
        }
        Ok(())
    })?;
    Ok((members, gone))
}

/// Copies one file; `None` if it was deleted meanwhile.
fn write_file(
    archive: &mut ArchiveWriter,
    files: &BlockingFiles,
    database: &Database,
    id: &str,
    size: i64,
) -> Result<Option<Member>, Error> {
    let id: FileId = id.parse().map_err(|_| Error::Refused(format!("a file has the id {id:?}")))?;
    let place = files.location(&id);
    let Some(mut bytes) = files.open(&id)? else {
        // The hub deletes the row before the bytes, so a second look at the row tells a deletion from a damaged disk.
        if Snapshot::take(database)?.has_file(id.as_str())? {
            return Err(Error::Refused(format!(
                "the database knows the file {id}, but {place} is not there: do --data and files_bucket name the \
                 hub's place?"
            )));
        }
        return Ok(None);
    };
    let part = archive.part().to_owned();
    let member = archive.member(&format!("{}{id}", manifest::FILES), |out| {
        while let Some(chunk) = bytes.next()? {
            out.write_all(&chunk).map_err(Error::disk(&part))?;
        }
        Ok(())
    })?;
    if i64::try_from(member.size) != Ok(size) {
        return Err(Error::Refused(format!(
            "{place} has {} bytes, and the database says {size}: it is damaged; let its uploader delete it",
            member.size
        )));
    }
    Ok(Some(member))
}

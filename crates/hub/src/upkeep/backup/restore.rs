//! `tandem restore`. The whole archive is read and verified first. Then its content is written to an empty database
//! and data folder; a hub refuses to start on them before the last step is done.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;

use tandem_app::keys::{Hashing, hex};
use tandem_core::FileId;
use tandem_store::Database;
use tandem_store::dump::{self, Load, Table};

use super::archive::{CHUNK_BYTES, sync_folder};
use super::bytes::BlockingFiles;
use super::manifest::{
    self, FORMAT, FORMAT_VERSION, MANIFEST, MANIFEST_HASH, Manifest, ManifestHead, Member,
};
use super::{Error, OnProgress, Progress, Summary, row};
use crate::start::data_folder;
use crate::{Clock, Config, start};

/// Upper limit for the size of a manifest.
const MANIFEST_BYTES_MAX: u64 = 1 << 30;
/// Rows, and bytes of rows, per transaction.
const ROWS_MAX: usize = 1_000;
const ROW_BYTES_MAX: usize = 8 << 20;

/// Restores an archive into an empty database and data folder.
pub fn restore(
    config: &Config,
    clock: &Clock,
    from: &Path,
    on_progress: OnProgress<'_>,
) -> Result<Summary, Error> {
    let manifest = verify(from, on_progress)?;
    let (database, _) = start::database(config)?;
    let files = BlockingFiles::of(config)?;
    refuse_occupied(config, &database)?;
    files.refuse_occupied()?;
    let mut new_folder = data_folder::create(&config.data)?;
    let _locks = data_folder::lock_new(config, &database, &mut new_folder)?;
    refuse_occupied(config, &database)?;
    data_folder::make_database_private(&database)?;
    let mut load = Load::begin(&database, clock.now().0)?;
    // From here on, what was written is evidence of what went wrong.
    new_folder.keep();
    write_contents(&mut load, &files, from, &manifest, on_progress)
        .and_then(|()| Ok(data_folder::mark_restored(config)?))
        .and_then(|()| sync_tree(&config.data))
        .and_then(|()| Ok(load.finish()?))
        .map_err(|error| Error::HalfDone(Box::new(error)))?;
    Ok(Summary {
        rows: manifest.tables.iter().map(|table| table.rows).sum(),
        files: manifest.files.len() as u64,
        bytes: from.metadata().map_err(Error::disk(from))?.len(),
        deleted_files: manifest.files_gone,
    })
}

/// Refuses a database with rows and a folder with files other than locks.
fn refuse_occupied(config: &Config, database: &Database) -> Result<(), Error> {
    if let Some(table) = dump::occupied(database)? {
        return Err(Error::Refused(format!(
            "the database is not empty: {table} has rows; restore into a new one. Nothing was changed"
        )));
    }
    let entries = match std::fs::read_dir(&config.data) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::disk(&config.data)(error)),
    };
    for entry in entries {
        let entry = entry.map_err(Error::disk(&config.data))?;
        // An empty SQLite database may exist here, with its lock and its log.
        if !is_expected(&entry.path(), database) {
            return Err(Error::Refused(format!(
                "the data folder is not empty: {} is there; choose another with --data. Nothing was changed",
                entry.path().display()
            )));
        }
    }
    Ok(())
}

fn is_expected(path: &Path, database: &Database) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let of_database = match database {
        Database::Sqlite(file) => file.file_name().and_then(|name| name.to_str()).is_some_and(|file| {
            name.strip_prefix(file).is_some_and(|rest| ["", "-wal", "-shm"].contains(&rest))
        }),
        Database::Postgres(_) => false,
    };
    of_database || Path::new(name).extension().is_some_and(|end| end == "lock") || name == "lock"
}

/// Reads the whole archive and compares it with its manifest.
fn verify(path: &Path, on_progress: OnProgress<'_>) -> Result<Manifest, Error> {
    let damaged = |why: String| Error::Damaged { path: path.to_owned(), why };
    let unreadable = |error: std::io::Error| damaged(error.to_string());
    let file = File::open(path).map_err(Error::disk(path))?;
    let total = file.metadata().map_err(Error::disk(path))?.len();
    let mut found = BTreeMap::new();
    let (mut text, mut manifest_hash) = (Vec::new(), String::new());
    let mut archive = tar::Archive::new(file);
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        let name = entry.path().map_err(unreadable)?.to_string_lossy().into_owned();
        let place = entry.raw_file_position();
        let kept = match name.as_str() {
            MANIFEST => Some(&mut text),
            MANIFEST_HASH => {
                entry.read_to_string(&mut manifest_hash).map_err(unreadable)?;
                continue;
            }
            _ => None,
        };
        let member = hashed(&mut entry, name.clone(), kept).map_err(unreadable)?;
        if found.insert(name, member).is_some() {
            return Err(damaged("a member is there twice".into()));
        }
        on_progress(Progress { what: "checked bytes", done: place.min(total), total });
    }
    let own = found.remove(MANIFEST).ok_or_else(|| damaged("it has no manifest".into()))?;
    if manifest_hash != format!("{}  {MANIFEST}\n", own.sha256) {
        return Err(damaged("its manifest does not have the hash that was written down".into()));
    }
    let manifest = parse_manifest(path, &text)?;
    for member in manifest.members() {
        match found.remove(&member.name) {
            Some(have) if have == *member => {}
            Some(_) => return Err(damaged(format!("{} has another size or hash", member.name))),
            None => return Err(damaged(format!("{} is missing", member.name))),
        }
    }
    match found.into_keys().next() {
        Some(name) => Err(damaged(format!("{name} is not in the manifest"))),
        None => Ok(manifest),
    }
}

fn hashed(entry: &mut impl Read, name: String, mut kept: Option<&mut Vec<u8>>) -> std::io::Result<Member> {
    let (mut hash, mut size) = (Hashing::default(), 0);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let count = entry.read(&mut chunk)?;
        let bytes = chunk.get(..count).unwrap_or_default();
        if bytes.is_empty() {
            return Ok(Member { name, size, sha256: hex(&hash.finish()) });
        }
        hash.add(bytes);
        size += count as u64;
        if let Some(kept) = &mut kept {
            if size > MANIFEST_BYTES_MAX {
                return Err(std::io::Error::other("its manifest is too large"));
            }
            kept.extend_from_slice(bytes);
        }
    }
}

/// Parses a manifest of a known version.
fn parse_manifest(path: &Path, text: &[u8]) -> Result<Manifest, Error> {
    let damaged = |error: serde_json::Error| Error::Damaged { path: path.to_owned(), why: error.to_string() };
    let head: ManifestHead = serde_json::from_slice(text).map_err(damaged)?;
    let refused =
        |why: String| Err(Error::Refused(format!("{}: {why}. Nothing was changed", path.display())));
    if head.format != FORMAT || head.format_version != FORMAT_VERSION {
        let (format, version) = (head.format, head.format_version);
        return refused(format!(
            "its format is {format} version {version}, and this tandem reads {FORMAT} version {FORMAT_VERSION}; \
             restore it with tandem {}",
            head.tandem_version
        ));
    }
    let known = dump::schema_version();
    if head.schema_version != known {
        return refused(format!(
            "its schema is version {}, and this tandem's is {known}; restore it with tandem {}, and start this \
             version on the result",
            head.schema_version, head.tandem_version
        ));
    }
    let manifest: Manifest = serde_json::from_slice(text).map_err(damaged)?;
    let tables: BTreeSet<&str> = manifest.tables.iter().map(|table| table.table.as_str()).collect();
    if manifest.tables.len() != dump::TABLES.len() || !dump::TABLES.iter().all(|t| tables.contains(t.name)) {
        return refused("its tables are not those of this version".into());
    }
    Ok(manifest)
}

/// Reads the archive a second time and writes its content.
fn write_contents(
    load: &mut Load,
    files: &BlockingFiles,
    from: &Path,
    manifest: &Manifest,
    on_progress: OnProgress<'_>,
) -> Result<(), Error> {
    let mut archive = tar::Archive::new(File::open(from).map_err(Error::disk(from))?);
    let (mut done, total) = (0, manifest.files.len() as u64);
    for entry in archive.entries().map_err(Error::disk(from))? {
        let mut entry = entry.map_err(Error::disk(from))?;
        let name = entry.path().map_err(Error::disk(from))?.to_string_lossy().into_owned();
        if let Some(id) = name.strip_prefix(manifest::FILES) {
            let id: FileId = id.parse().map_err(|_| Error::Refused(format!("a file has the id {id:?}")))?;
            files.write(&id, &mut entry)?;
            done += 1;
            on_progress(Progress { what: "files", done, total });
        } else if let Some(member) = manifest.tables.iter().find(|table| table.member.name == name) {
            let known = dump::TABLES.iter().find(|table| table.name == member.table);
            let table = known.ok_or_else(|| Error::Refused(format!("there is no table {}", member.table)))?;
            load_table(load, table, &member.columns, BufReader::new(entry), from, member.rows, on_progress)?;
        }
    }
    Ok(())
}

/// Flushes the parent folders; each file's own folder is flushed with the file.
fn sync_tree(data: &Path) -> Result<(), Error> {
    let files = data.join("files");
    if files.exists() {
        sync_folder(&files)?;
    }
    sync_folder(data)
}

fn load_table(
    load: &mut Load,
    table: &Table,
    columns: &[String],
    lines: BufReader<impl Read>,
    from: &Path,
    total: u64,
    on_progress: OnProgress<'_>,
) -> Result<(), Error> {
    let known: BTreeSet<String> = load.columns(table)?.into_iter().collect();
    if known != columns.iter().cloned().collect() {
        return Err(Error::Refused(format!("{} has other columns than in this version", table.name)));
    }
    let (mut rows, mut bytes, mut done) = (Vec::new(), 0, 0);
    for line in lines.lines() {
        let line = line.map_err(Error::disk(from))?;
        let values = row::decode(&line);
        rows.push(values.ok_or_else(|| Error::Refused(format!("a line of {} is not a row", table.name)))?);
        bytes += line.len();
        if rows.len() == ROWS_MAX || bytes > ROW_BYTES_MAX {
            load.add(table, columns, &rows)?;
            done += rows.len() as u64;
            on_progress(Progress { what: table.name, done, total });
            rows.clear();
            bytes = 0;
        }
    }
    load.add(table, columns, &rows)?;
    on_progress(Progress { what: table.name, done: done + rows.len() as u64, total });
    Ok(())
}

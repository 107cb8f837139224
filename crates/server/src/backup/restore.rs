//! `tandem restore`: all of an archive is read and checked before anything is written; then everything goes into an
//! empty place, which no hub takes for a whole one before the last step.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;

use tandem_app::keys::{Hashing, hex};
use tandem_core::FileId;
use tandem_store::Database;
use tandem_store::dump::{self, Load, Table};

use super::archive::{PIECE, sync_folder};
use super::bytes::Stored;
use super::manifest::{self, FORMAT, FORMAT_VERSION, Head, MANIFEST, MANIFEST_HASH, Manifest, Member};
use super::{Error, Progress, Summary, Told, row};
use crate::{Clock, Config, start};

/// A manifest larger than this is none.
const MANIFEST_BYTES_MAX: u64 = 1 << 30;
/// How many rows, and bytes of them, share a transaction.
const ROWS_MAX: usize = 1_000;
const ROW_BYTES_MAX: usize = 8 << 20;

/// Puts what an archive holds into an empty database and an empty data folder.
pub fn restore(config: &Config, clock: &Clock, from: &Path, told: Told<'_>) -> Result<Summary, Error> {
    let manifest = checked(from, told)?;
    let (database, _) = start::database(config)?;
    let files = Stored::of(config)?;
    refuse_occupied(config, &database)?;
    files.refuse_occupied()?;
    start::create_private(&config.data).map_err(Error::disk(&config.data))?;
    let _locks = start::locks(config, &database)?;
    refuse_occupied(config, &database)?;
    let mut load = Load::begin(&database, clock.now().0)?;
    fill(&mut load, &files, from, &manifest, told)
        .and_then(|()| sync_tree(&config.data))
        .and_then(|()| Ok(load.finish()?))
        .map_err(|error| Error::HalfDone(Box::new(error)))?;
    Ok(Summary {
        rows: manifest.tables.iter().map(|table| table.rows).sum(),
        files: manifest.files.len() as u64,
        bytes: from.metadata().map_err(Error::disk(from))?.len(),
        gone: manifest.files_gone,
    })
}

/// Only an empty place is taken: no row, and no file but the locks.
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
        // A database without rows was looked at above; it may lie here, with its lock and its log.
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

/// Reads all of an archive and compares it with its manifest.
fn checked(path: &Path, told: Told<'_>) -> Result<Manifest, Error> {
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
        told(Progress { what: "checked bytes", done: place.min(total), total });
    }
    let own = found.remove(MANIFEST).ok_or_else(|| damaged("it has no manifest".into()))?;
    if manifest_hash != format!("{}  {MANIFEST}\n", own.sha256) {
        return Err(damaged("its manifest does not have the hash that was written down".into()));
    }
    let manifest = understood(path, &text)?;
    for member in manifest.members() {
        match found.remove(&member.name) {
            Some(have) if have == *member => {}
            Some(_) => return Err(damaged(format!("{} does not have its size and hash", member.name))),
            None => return Err(damaged(format!("{} is missing", member.name))),
        }
    }
    match found.into_keys().next() {
        Some(name) => Err(damaged(format!("{name} does not belong to it"))),
        None => Ok(manifest),
    }
}

fn hashed(entry: &mut impl Read, name: String, mut kept: Option<&mut Vec<u8>>) -> std::io::Result<Member> {
    let (mut hash, mut size) = (Hashing::default(), 0);
    let mut piece = vec![0; PIECE];
    loop {
        let count = entry.read(&mut piece)?;
        let bytes = piece.get(..count).unwrap_or_default();
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

/// Reads a manifest that is whole, of a version that is known.
fn understood(path: &Path, text: &[u8]) -> Result<Manifest, Error> {
    let damaged = |error: serde_json::Error| Error::Damaged { path: path.to_owned(), why: error.to_string() };
    let head: Head = serde_json::from_slice(text).map_err(damaged)?;
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
        return refused("it does not have the tables of this tandem".into());
    }
    Ok(manifest)
}

/// Second reading: everything goes to its place.
fn fill(
    load: &mut Load,
    files: &Stored,
    from: &Path,
    manifest: &Manifest,
    told: Told<'_>,
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
            told(Progress { what: "files", done, total });
        } else if let Some(member) = manifest.tables.iter().find(|table| table.member.name == name) {
            let known = dump::TABLES.iter().find(|table| table.name == member.table);
            let table = known.ok_or_else(|| Error::Refused(format!("there is no table {}", member.table)))?;
            load_table(load, table, &member.columns, BufReader::new(entry), from, member.rows, told)?;
        }
    }
    Ok(())
}

/// A file's own folder is on the disk with it; those above are not yet.
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
    told: Told<'_>,
) -> Result<(), Error> {
    let known: BTreeSet<String> = load.columns(table)?.into_iter().collect();
    if known != columns.iter().cloned().collect() {
        return Err(Error::Refused(format!("{} has other columns than this tandem's", table.name)));
    }
    let (mut rows, mut bytes, mut done) = (Vec::new(), 0, 0);
    for line in lines.lines() {
        let line = line.map_err(Error::disk(from))?;
        let values = row::decode(&line);
        rows.push(values.ok_or_else(|| Error::Refused(format!("a line of {} is no row", table.name)))?);
        bytes += line.len();
        if rows.len() == ROWS_MAX || bytes > ROW_BYTES_MAX {
            load.add(table, columns, &rows)?;
            done += rows.len() as u64;
            told(Progress { what: table.name, done, total });
            rows.clear();
            bytes = 0;
        }
    }
    load.add(table, columns, &rows)?;
    told(Progress { what: table.name, done: done + rows.len() as u64, total });
    Ok(())
}

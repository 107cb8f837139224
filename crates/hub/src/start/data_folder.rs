//! The data folder: private to its owner, locked against a second hub, and marked with the hub that it belongs to.
//!
//! A hub deletes files that its database does not know. With the database of another hub that would be all of them, so
//! a folder that belongs to another hub is refused.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tandem_app::keys::{hex, random_hex};
use tandem_core::NodeId;
use tandem_disk::replace;
use tandem_store::{Database, Store, dump};

use crate::callers::keys::hub_secret;
use crate::config::{Config, redact_database};
use crate::start::Error;

/// The file that says to which hub the folder belongs.
pub(crate) const MARK: &str = "hub.toml";
/// The database in the folder, unless the settings name another.
const OWN_DATABASE: &str = "tandem.db";

/// Creates a folder that only its owner can read. An existing folder is left unchanged.
fn create_private(folder: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Creates the data folder for a start that may still fail.
pub(crate) fn create(folder: &Path) -> Result<NewFolder, Error> {
    let failed = |cause| Error::Folder { path: folder.to_owned(), cause };
    let missing = folder.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists());
    let created = missing.map(Path::to_owned).collect();
    create_private(folder).map_err(failed)?;
    Ok(NewFolder { created, locked: false })
}

/// The folders that this process has created. They are removed on drop, unless they are kept.
#[derive(Debug)]
pub(crate) struct NewFolder {
    /// The data folder and the missing folders above it; empty if it existed.
    created: Vec<PathBuf>,
    /// Whether this process has locked it, so that everything in it is from this start.
    locked: bool,
}

impl NewFolder {
    /// Keeps the folders.
    pub(crate) fn keep(mut self) {
        self.created.clear();
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        let Some((folder, above)) = self.created.split_first() else { return };
        // Another process may have come first and use the folder. Without the lock, only an empty folder is removed.
        let _ = match self.locked {
            true => std::fs::remove_dir_all(folder),
            false => std::fs::remove_dir(folder),
        };
        for folder in above {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Creates an empty SQLite database that only its owner can read, and makes an existing one private. SQLite gives its
/// other files the same mode.
pub(crate) fn make_database_private(database: &Database) -> Result<(), Error> {
    let Database::Sqlite(path) = database else { return Ok(()) };
    let failed = |cause| Error::Folder { path: path.clone(), cause };
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        created => drop(created.map_err(failed)?),
    }
    for end in ["", "-wal", "-shm"] {
        let mut name = path.clone().into_os_string();
        name.push(end);
        make_private(Path::new(&name));
    }
    Ok(())
}

/// Takes away what others than the owner may do with a file.
fn make_private(path: &Path) {
    let Ok(found) = path.metadata() else { return };
    if found.permissions().mode() & 0o077 != 0
        && let Err(error) = std::fs::set_permissions(path, Permissions::from_mode(0o600))
    {
        tracing::warn!(%error, path = %path.display(), "others can read a file of the hub");
    }
}

/// Locks the data folder and the database against other hubs, for a start that may still fail.
pub(crate) fn lock_new(
    config: &Config,
    database: &Database,
    folder: &mut NewFolder,
) -> Result<Vec<File>, Error> {
    let mut held = vec![lock(&config.data, &config.data.join("lock"))?];
    folder.locked = true;
    held.extend(lock_database(config, database)?);
    Ok(held)
}

/// Locks the data folder and the database against other hubs.
pub(crate) fn locks(config: &Config, database: &Database) -> Result<Vec<File>, Error> {
    let mut held = vec![lock(&config.data, &config.data.join("lock"))?];
    held.extend(lock_database(config, database)?);
    Ok(held)
}

fn lock_database(config: &Config, database: &Database) -> Result<Option<File>, Error> {
    // Two data folders may name the same database.
    if let Database::Sqlite(path) = database
        && config.database.is_some()
    {
        return lock(path, &path.with_extension("lock")).map(Some);
    }
    Ok(None)
}

/// Locks a data folder or a database, and writes the process id into the lock file.
fn lock(locked: &Path, path: &Path) -> Result<File, Error> {
    let failed = |cause| Error::Folder { path: locked.to_owned(), cause };
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = options.open(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            // The process id is only for the message.
            let _ = file.read_to_string(&mut pid);
            return Err(Error::Locked { path: locked.to_owned(), pid: pid.trim().to_owned() });
        }
        Err(TryLockError::Error(cause)) => return Err(failed(cause)),
    }
    // A start that failed meanwhile may have removed the folder with this file.
    let same = |found: std::fs::Metadata, own: std::fs::Metadata| found.ino() == own.ino();
    if !path.metadata().and_then(|found| Ok(same(found, file.metadata()?))).unwrap_or(false) {
        return Err(Error::Locked { path: locked.to_owned(), pid: String::new() });
    }
    file.set_len(0).map_err(failed)?;
    file.rewind().map_err(failed)?;
    writeln!(file, "{}", std::process::id()).map_err(failed)?;
    Ok(file)
}

/// Reads the operator's token from its file, or creates it. Only the owner can read a file that was created.
pub(crate) fn load_or_create_token(path: &Path) -> std::io::Result<String> {
    match std::fs::read_to_string(path) {
        Ok(text) if text.trim().len() >= 16 => return Ok(text.trim().to_owned()),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let token = format!("tda_{}", random_hex::<24>());
    replace(path, format!("{token}\n").as_bytes())?;
    Ok(token)
}

/// The id of this process, which also holds its leases. A process that is started again has the same id, so it goes on
/// with what the one before had when it was killed.
pub(crate) fn node_id(folder: &Path, database: &Database) -> Result<NodeId, Error> {
    // One process at a time uses a data folder, and one process at a time uses a SQLite database.
    let path = folder.join("node-id");
    let failed = |cause| Error::Folder { path: path.clone(), cause };
    let parse = |text: &str| text.parse().map_err(|error| failed(std::io::Error::other(error)));
    if matches!(database, Database::Sqlite(_)) {
        return parse("sqlite");
    }
    match std::fs::read_to_string(&path) {
        Ok(text) if text.trim().len() >= 16 => return parse(text.trim()),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let id = format!("node_{}", random_hex::<12>());
    replace(&path, format!("{id}\n").as_bytes()).map_err(failed)?;
    parse(&id)
}

/// What the folder says about its hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// Where the database is, without the password; for messages.
    database: String,
    /// The hub's id, which is also in the database. A restore leaves it to the first start.
    hub: Option<String>,
}

impl Mark {
    fn of(config: &Config, hub: Option<String>) -> Self {
        let database = match config.database.as_deref() {
            None => format!("sqlite:{OWN_DATABASE} in this folder"),
            Some(url) => redact_database(url),
        };
        Self { database, hub }
    }

    fn read(folder: &Path) -> Result<Option<Self>, Error> {
        let path = folder.join(MARK);
        let failed = |cause| Error::Folder { path: path.clone(), cause };
        match std::fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text)
                .map(Some)
                .map_err(|error| failed(std::io::Error::other(error.message().to_owned()))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    fn write(&self, folder: &Path) -> Result<(), Error> {
        let path = folder.join(MARK);
        let text = toml::to_string(self).map_err(std::io::Error::other);
        let about = "# Written by tandem: the hub that this folder belongs to, and where its database is.\n";
        text.and_then(|text| replace(&path, format!("{about}{text}").as_bytes()))
            .map_err(|cause| Error::Folder { path, cause })
    }
}

/// Refuses an empty or missing database for a folder that belongs to a hub. Called before anything is created.
pub(crate) fn refuse_foreign(config: &Config, database: &Database) -> Result<(), Error> {
    let folder = config.data.clone();
    let Some(mark) = Mark::read(&folder)? else { return refuse_foreign_files(config, database) };
    // The first row of a hub is its id, so a hub has no empty database.
    match dump::occupied(database) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(Error::OtherDatabase { folder, database: mark.database }),
        // The start itself says what is wrong with the database.
        Err(_) => Ok(()),
    }
}

/// Refuses a folder without a mark, written by an older version, if it has another database than this one.
fn refuse_foreign_files(config: &Config, database: &Database) -> Result<(), Error> {
    let own = config.data.join(OWN_DATABASE);
    let is_own = |path: &Path| path.canonicalize().ok() == own.canonicalize().ok();
    if !own.exists() || matches!(database, Database::Sqlite(path) if is_own(path)) {
        return Ok(());
    }
    let database = format!("{OWN_DATABASE} in this folder (move that away if it is no longer used)");
    Err(Error::OtherHub { folder: config.data.clone(), database })
}

/// Checks that the folder belongs to the hub of this database, and marks a new folder.
pub(crate) async fn claim(config: &Config, store: &Store) -> Result<(), Error> {
    match check(config, store).await? {
        Some(mark) => mark.write(&config.data),
        None => Ok(()),
    }
}

/// Checks that the folder belongs to the hub of this database. Returns the mark that it should have, if it has none or
/// the database has moved.
pub(crate) async fn check(config: &Config, store: &Store) -> Result<Option<Mark>, Error> {
    let hub = hex(&hub_secret(store, "files").await?);
    let found = Mark::read(&config.data)?;
    if let Some(other) = &found
        && other.hub.as_ref().is_some_and(|other| *other != hub)
    {
        return Err(Error::OtherHub { folder: config.data.clone(), database: other.database.clone() });
    }
    let mark = Mark::of(config, Some(hub));
    Ok((found.as_ref() != Some(&mark)).then_some(mark))
}

/// Marks the folder of a restored hub.
pub(crate) fn mark_restored(config: &Config) -> Result<(), Error> {
    Mark::of(config, None).write(&config.data)
}

//! Starts a hub: data folder and lock, operator's token, store, background workers.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tandem_api::system::Database as Kind;
use tandem_app::keys;
use tandem_core::FileId;
use tandem_store::{Database, Options, Store};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::clock::Clock;
use crate::config::Config;
use crate::db::Db;
use crate::effects::CommitEffects;
use crate::files::{self, Files};
use crate::housekeeping::{self, Pacing};
use crate::hub::{Hub, HubParts};
use crate::keys::Access;
use crate::liveness::Liveness;
use crate::marks;
use crate::rates::Rates;
use crate::timer;
use crate::totals::Totals;
use crate::webhooks::address::{Allowed, Resolver};
use crate::webhooks::{self, Dispatcher, Webhooks};

/// How long the workers have to come to an end. What they leave undone is done after the next start.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// Why the hub did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The data folder cannot be used.
    #[error("cannot use the data folder {path}: {cause}")]
    Folder {
        /// Its path.
        path: PathBuf,
        /// The cause.
        cause: std::io::Error,
    },
    /// Another hub uses the data folder.
    #[error(
        "another tandem{} uses {}; stop it first, or choose another folder with --data",
        pid_note(.pid),
        .path.display()
    )]
    Locked {
        /// Its path.
        path: PathBuf,
        /// The process id of the other hub, if known.
        pid: String,
    },
    /// The setting `database` is invalid.
    #[error("the database must be sqlite:PATH or postgres://…, not {0:?}")]
    UnknownDatabase(String),
    /// The database cannot be used.
    #[error("cannot use the database: {0}")]
    Store(tandem_store::Error),
    /// The files cannot be stored where the settings say.
    #[error(transparent)]
    Files(#[from] files::Error),
    /// The first query failed.
    #[error("cannot start: {0}")]
    App(#[from] tandem_app::Error),
}

fn pid_note(pid: &str) -> String {
    if pid.is_empty() { String::new() } else { format!(" (process {pid})") }
}

/// A hub that is ready to serve. Dropping it releases the data folder.
#[derive(Debug)]
pub struct Started {
    /// The hub.
    pub hub: Hub,
    /// Where a newly generated operator's token is stored; `None` if it already existed.
    pub token_file: Option<PathBuf>,
    removed_files: mpsc::Receiver<Vec<FileId>>,
    _locks: Vec<File>,
}

/// Opens everything that a hub needs. `resolver` resolves the hosts of webhooks.
pub async fn open(config: Config, clock: Clock, resolver: Resolver) -> Result<Started, Error> {
    let folder = config.data.clone();
    create_private(&folder).map_err(|cause| Error::Folder { path: folder.clone(), cause })?;
    let (database, kind) = database(&config)?;
    let files = Files::of(&config)?;
    let locks = locks(&config, &database)?;
    let (token, token_file) = match &config.admin_token {
        Some(token) => (token.clone(), None),
        None => {
            let path = folder.join("admin-token");
            let token =
                load_or_create_token(&path).map_err(|cause| Error::Folder { path: path.clone(), cause })?;
            (token, Some(path))
        }
    };
    let (effects, removed_files) = CommitEffects::new();
    let hook = effects.clone();
    let options =
        Options { writers: config.database_writers, readers: config.database_readers, ..Options::default() };
    let now = clock.now();
    let opened = tokio::task::spawn_blocking(move || {
        Store::open_with(&database, &options, Arc::new(move |effects| hook.execute(effects)), now.0)
    })
    .await;
    let store = match opened {
        Ok(opened) => opened.map_err(Error::Store)?,
        Err(panic) => return Err(Error::Store(tandem_store::Error::Panicked(panic.to_string()))),
    };
    files.claim(&store).await?;
    let db = Db::new(store, clock.clone());
    let allowed = Allowed { http: config.webhook_allow_http, private: config.webhook_allow_private };
    let hub = Arc::new(HubParts {
        access: Access::new(effects.keys, db.clone(), &config, &token).await?,
        rates: Rates::default(),
        liveness: Liveness::new(effects.bus, clock),
        marks: Arc::default(),
        webhooks: Arc::new(Webhooks { receivers: effects.receivers, resolver, allowed }),
        files: Arc::new(files),
        metrics: Arc::default(),
        totals: Totals::new(kind, now),
        writing: TaskTracker::new(),
        db,
        config,
    });
    Ok(Started { hub, token_file, removed_files, _locks: locks })
}

/// The background workers of a hub.
#[derive(Debug)]
pub struct Workers {
    hub: Hub,
    running: watch::Sender<()>,
    ending: Vec<JoinHandle<()>>,
    dispatcher: JoinHandle<()>,
    _locks: Vec<File>,
}

impl Started {
    /// Starts the background workers: timer, webhooks, housekeeping.
    #[must_use]
    pub fn start_workers(self) -> Workers {
        let hub = self.hub;
        let (running, stopped) = watch::channel(());
        let pacing = Pacing::background(stopped);
        #[expect(clippy::disallowed_methods, reason = "compared with the times of files, not with the hub's")]
        let started_at = std::time::SystemTime::now();
        let ending = vec![
            tokio::spawn(housekeeping::sweep(Arc::clone(&hub), pacing.clone())),
            tokio::spawn(housekeeping::apply_retention(hub.db.clone(), hub.config.clone(), pacing.clone())),
            tokio::spawn(files::sweep(Arc::clone(&hub.files), hub.db.clone(), started_at, pacing.clone())),
            tokio::spawn(files::remove_deleted(Arc::clone(&hub.files), self.removed_files, pacing.clone())),
            tokio::spawn(marks::write(hub.db.clone(), Arc::clone(&hub.marks), pacing.clone())),
            tokio::spawn(timer::run(hub.db.clone(), Arc::clone(&hub.metrics), pacing)),
        ];
        let dispatcher = Dispatcher {
            db: hub.db.clone(),
            webhooks: Arc::clone(&hub.webhooks),
            metrics: Arc::clone(&hub.metrics),
        };
        let dispatcher = tokio::spawn(webhooks::dispatch(dispatcher));
        Workers { hub, running, ending, dispatcher, _locks: self._locks }
    }
}

impl Workers {
    /// Stops the workers, each at its next safe point. The data folder is free afterwards.
    pub async fn stop(self) {
        // Their handles to the hub are dropped with them, so the store closes before the lock is released.
        drop(self.running);
        // A receiver may be slow; an interrupted delivery is attempted again.
        self.dispatcher.abort();
        let mut ending = self.ending;
        ending.push(self.dispatcher);
        let last = async {
            for worker in &mut ending {
                let _ = worker.await;
            }
            if let Err(error) = self.hub.write_presence().await {
                tracing::warn!(%error, "could not store the presence of agents");
            }
        };
        if tokio::time::timeout(STOP_WITHIN, last).await.is_err() {
            tracing::warn!("the database does not answer; stopping without it");
            for worker in ending.into_iter().filter(|worker| !worker.is_finished()) {
                worker.abort();
                let _ = worker.await;
            }
        }
    }
}

pub(crate) fn database(config: &Config) -> Result<(Database, Kind), Error> {
    match config.database.as_deref() {
        None => Ok((Database::Sqlite(config.data.join("tandem.db")), Kind::Sqlite)),
        Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
            Ok((Database::Postgres(url.into()), Kind::Postgres))
        }
        Some(url) => match url.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => {
                Ok((Database::Sqlite(path.trim_start_matches("//").into()), Kind::Sqlite))
            }
            _ => Err(Error::UnknownDatabase(url.split(['@', '?']).next_back().unwrap_or_default().into())),
        },
    }
}

/// Creates a folder that only its owner can read. An existing folder is left unchanged.
pub(crate) fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Locks the data folder and the database against other hubs.
pub(crate) fn locks(config: &Config, database: &Database) -> Result<Vec<File>, Error> {
    let mut locks = vec![lock(&config.data, &config.data.join("lock"))?];
    // Two data folders may name the same database.
    if let Database::Sqlite(path) = database
        && config.database.is_some()
    {
        locks.push(lock(path, &path.with_extension("lock"))?);
    }
    Ok(locks)
}

/// Locks a data folder or a database, and writes the process id into the lock file.
fn lock(locked: &Path, path: &Path) -> Result<File, Error> {
    let failed = |cause| Error::Folder { path: locked.to_owned(), cause };
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
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
    file.set_len(0).map_err(failed)?;
    file.rewind().map_err(failed)?;
    writeln!(file, "{}", std::process::id()).map_err(failed)?;
    Ok(file)
}

/// Reads the token from its file, or creates it. Only the owner can read the file.
fn load_or_create_token(path: &Path) -> std::io::Result<String> {
    match std::fs::read_to_string(path) {
        Ok(text) if text.trim().len() >= 16 => return Ok(text.trim().to_owned()),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let token = format!("tda_{}", keys::random_hex::<24>());
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{token}")?;
    file.sync_all()?;
    Ok(token)
}

//! Starting: the data folder and its lock, the operator's token, the store, and the server on top.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tandem_app::keys;
use tandem_store::{Database, Options, Store};
use tokio::net::TcpListener;

use crate::bus::Bus;
use crate::clock::Clock;
use crate::config::Config;
use crate::files::Files;
use crate::housekeeping::Pace;
use crate::http::serve;
use crate::hub::{Hub, HubParts, Reached};
use crate::webhooks::address::Names;
use crate::{files, housekeeping, rest, timer, webhooks};

/// Why the hub did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The data folder cannot be used.
    #[error("cannot use the data folder {path}: {cause}")]
    Folder {
        /// Which folder.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// Another hub uses the data folder.
    #[error(
        "another tandem{} uses {}; stop it first, or choose another folder with --data",
        pid_note(.pid),
        .path.display()
    )]
    Locked {
        /// Which folder.
        path: PathBuf,
        /// The other process, if it says.
        pid: String,
    },
    /// The setting names no database we know.
    #[error("the database must be sqlite:PATH or postgres://…, not {0:?}")]
    UnknownDatabase(String),
    /// The database cannot be used.
    #[error("cannot use the database: {0}")]
    Store(tandem_store::Error),
    /// The files cannot be kept where the settings say.
    #[error(transparent)]
    Files(#[from] files::Error),
    /// The first look into the database failed.
    #[error("cannot start: {0}")]
    App(#[from] tandem_app::Error),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {cause}{}", in_use_note(.cause))]
    Listen {
        /// Which address.
        address: std::net::SocketAddr,
        /// Why.
        cause: std::io::Error,
    },
}

fn pid_note(pid: &str) -> String {
    if pid.is_empty() { String::new() } else { format!(" (process {pid})") }
}

fn in_use_note(cause: &std::io::Error) -> &'static str {
    match cause.kind() {
        std::io::ErrorKind::AddrInUse => {
            "; another program has it: stop that one, or choose another with --listen"
        }
        _ => "",
    }
}

/// A hub that is ready to serve. Dropping it gives the data folder back.
#[derive(Debug)]
pub struct Started {
    /// The hub.
    pub hub: Hub,
    /// Whether the operator's token was made just now, and where it is kept.
    pub token_file: Option<PathBuf>,
    _locks: Vec<File>,
}

/// Opens everything a hub needs.
pub async fn open(config: Config, clock: Clock) -> Result<Started, Error> {
    open_with(config, clock, Names::System).await
}

/// The same, with a say in how names become addresses.
pub async fn open_with(config: Config, clock: Clock, names: Names) -> Result<Started, Error> {
    let folder = config.data.clone();
    create_private(&folder).map_err(|cause| Error::Folder { path: folder.clone(), cause })?;
    let (database, kind) = database(&config)?;
    let files = Files::of(&config)?;
    let locks = locks(&config, &database)?;
    let (token, token_file) = match &config.admin_token {
        Some(token) => (token.clone(), None),
        None => {
            let path = folder.join("admin-token");
            let token = kept_token(&path).map_err(|cause| Error::Folder { path: path.clone(), cause })?;
            (token, Some(path))
        }
    };
    let options =
        Options { writers: config.database_writers, readers: config.database_readers, ..Options::default() };
    let now_ms = clock.now().0;
    let reached = Reached { bus: Arc::new(Bus::local()), receivers: Arc::default(), names };
    let woken = reached.clone();
    let opened = tokio::task::spawn_blocking(move || {
        Store::open_with(&database, &options, Arc::new(move |told| woken.wake(told)), now_ms)
    })
    .await;
    let store = match opened {
        Ok(opened) => opened.map_err(Error::Store)?,
        Err(panic) => return Err(Error::Store(tandem_store::Error::Panicked(panic.to_string()))),
    };
    files.claim(&store).await?;
    let hub = HubParts::new(store, reached, files, config, kind, clock, &token).await?;
    Ok(Started { hub, token_file, _locks: locks })
}

/// Serves until `stop` resolves and everything under way is answered.
pub async fn run(started: Started, listener: TcpListener, stop: impl Future<Output = ()>) {
    let hub = Arc::clone(&started.hub);
    let (keep_house, going) = tokio::sync::watch::channel(());
    let pace = Pace::beside_a_hub(going);
    let sweeper = tokio::spawn(housekeeping::sweep(Arc::clone(&hub), pace.clone()));
    let retention = tokio::spawn(housekeeping::retain(Arc::clone(&hub), pace.clone()));
    let dispatcher = tokio::spawn(webhooks::dispatch(Arc::clone(&hub)));
    #[expect(clippy::disallowed_methods, reason = "compared with the times of files, not with the hub's")]
    let started_at = std::time::SystemTime::now();
    let file_sweep = tokio::spawn(files::sweep(Arc::clone(&hub), started_at, pace.clone()));
    let timer = tokio::spawn(timer::run(Arc::clone(&hub), pace));
    serve::serve(listener, rest::router(Arc::clone(&hub)), Arc::clone(&hub), stop).await;
    // Their handles on the hub go with them, so that the store closes before the lock does.
    drop(keep_house);
    for worker in [sweeper, retention, timer, file_sweep] {
        let _ = worker.await;
    }
    // A receiver may take its time; a try that is cut off is made again.
    dispatcher.abort();
    let _ = dispatcher.await;
    if let Err(error) = hub.write_presence().await {
        tracing::warn!(%error, "could not write down who was heard of");
    }
}

/// Listens, with a message that says what to do when that does not work.
pub async fn listen(config: &Config) -> Result<TcpListener, Error> {
    let address = config.listen;
    TcpListener::bind(address).await.map_err(|cause| Error::Listen { address, cause })
}

pub(crate) fn database(config: &Config) -> Result<(Database, &'static str), Error> {
    match config.database.as_deref() {
        None => Ok((Database::Sqlite(config.data.join("tandem.db")), "sqlite")),
        Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
            Ok((Database::Postgres(url.into()), "postgres"))
        }
        Some(url) => match url.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => {
                Ok((Database::Sqlite(path.trim_start_matches("//").into()), "sqlite"))
            }
            _ => Err(Error::UnknownDatabase(url.split(['@', '?']).next_back().unwrap_or_default().into())),
        },
    }
}

/// Makes a folder that only its owner can look into; one that is there stays as it is.
pub(crate) fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Keeps every other hub away from the data folder and the database.
pub(crate) fn locks(config: &Config, database: &Database) -> Result<Vec<File>, Error> {
    let mut locks = vec![lock(&config.data, &config.data.join("lock"))?];
    // A database of its own place may be named from two folders.
    if let Database::Sqlite(path) = database
        && config.database.is_some()
    {
        locks.push(lock(path, &path.with_extension("lock"))?);
    }
    Ok(locks)
}

/// Takes the lock on a data folder or a database and writes down who has it.
fn lock(locked: &Path, path: &Path) -> Result<File, Error> {
    let failed = |cause| Error::Folder { path: locked.to_owned(), cause };
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            // Only for the message; without it, the message says a little less.
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

/// The token in a file that only its owner can read; made if there is none.
fn kept_token(path: &Path) -> std::io::Result<String> {
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

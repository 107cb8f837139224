//! Starts a hub: data folder and lock, operator's token, store, background workers.

pub(crate) mod data_folder;
pub mod token;

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt as _;
use tandem_api::system::Database as Kind;
use tandem_app::keys;
use tandem_core::{IdSource, Timestamp};
use tandem_store::dump::EPOCH;
use tandem_store::{Database, Options, Store};
use tokio::sync::{Semaphore, watch};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{Instant, timeout_at};
use tokio_util::task::TaskTracker;

use crate::callers::budget::Budget;
use crate::callers::keys::{Access, hub_secret};
use crate::callers::rates::Rates;
use crate::clock::Clock;
use crate::cluster::presences;
use crate::cluster::{self, Cluster, Membership, Topology};
use crate::config::{BusCredentials, Config};
use crate::db::Db;
use crate::delivery::bus::{self, Inbox};
use crate::delivery::liveness::Liveness;
use crate::delivery::marks;
use crate::delivery::webhooks::address::{Allowed, Resolver};
use crate::delivery::webhooks::{self, Dispatcher, Webhooks};
use crate::effects::CommitEffects;
use crate::files::{self, Files};
use crate::hub::{Hub, HubParts};
use crate::remotes::{self, Remotes};
use crate::signing::SigningKeys;
use crate::start::data_folder::NewFolder;
use crate::start::token::TokenPlace;
use crate::upkeep::disk_space::DiskSpace;
use crate::upkeep::housekeeping::{self, Pacing};
use crate::upkeep::timer;
use crate::upkeep::totals::Totals;

/// Why the hub did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The data folder cannot be used.
    #[error("cannot use the data folder {path}: {cause}")]
    Folder { path: PathBuf, cause: std::io::Error },
    /// Another hub uses the data folder.
    #[error(
        "another tandem{} uses {}; stop it first, or choose another folder with --data",
        pid_note(.pid),
        .path.display()
    )]
    Locked {
        path: PathBuf,
        /// The process id of the other hub, if known.
        pid: String,
    },
    /// The folder belongs to a hub, and the database is empty.
    #[error(
        "the data folder {folder} belongs to the hub with the database {database}, but the selected database is empty; \
         select the hub's database with --database, or another folder with --data. Nothing was changed"
    )]
    OtherDatabase {
        folder: PathBuf,
        /// The database of its hub, without the password.
        database: String,
    },
    /// The folder belongs to another hub than the database.
    #[error(
        "the data folder {folder} belongs to another hub, with the database {database}; its files would be deleted. \
         Select that database with --database, or another folder with --data"
    )]
    OtherHub {
        folder: PathBuf,
        /// The database of its hub, without the password.
        database: String,
    },
    /// The setting `database` is invalid. It is not shown, because it may contain a password.
    #[error("the database must be sqlite:PATH or postgres://user:password@host/name{}", scheme_note(.scheme))]
    UnknownDatabase {
        /// The scheme of the setting, if it has one.
        scheme: Option<String>,
    },
    /// The database cannot be used.
    #[error("cannot use the database: {0}")]
    Store(tandem_store::Error),
    /// The files cannot be stored where the settings say.
    #[error(transparent)]
    Files(#[from] files::Error),
    /// The node does not fit to another one that runs.
    #[error("cannot start: {0}")]
    Cluster(cluster::Refusal),
    /// The keys that sign cards and pushes are not what they should be.
    #[error("the hub's signing keys cannot be made, or those in the database cannot be read")]
    SigningKeys,
    /// A setting is wrong.
    #[error(transparent)]
    Config(#[from] crate::config::Error),
    /// The first query failed.
    #[error("cannot start: {0}")]
    App(#[from] tandem_app::Error),
}

fn scheme_note(scheme: &Option<String>) -> String {
    scheme.as_ref().map_or_else(String::new, |scheme| format!(", not {scheme}://…"))
}

fn pid_note(pid: &str) -> String {
    if pid.is_empty() { String::new() } else { format!(" (process {pid})") }
}

/// A hub that is ready to serve. Dropping it releases the data folder.
#[derive(Debug)]
pub struct Started {
    pub hub: Hub,
    /// Where the operator finds the token.
    pub token: TokenPlace,
    bus: BusParts,
    /// Removed again if the hub is dropped before its workers start.
    new_folder: NewFolder,
    _locks: Vec<File>,
}

/// What the workers of the bus need.
#[derive(Debug)]
struct BusParts {
    inbox: Inbox,
    credentials: Option<BusCredentials>,
}

/// Opens everything that a hub needs. `resolver` resolves the hosts of webhooks.
pub async fn open(config: Config, clock: Clock, resolver: Resolver) -> Result<Started, Error> {
    // Boxed, because it is too large to be a part of the futures of its callers.
    Box::pin(open_with(config, clock, resolver, Arc::new(IdSource::new(keys::fill_random)))).await
}

async fn open_store(
    database: Database,
    options: Options,
    effects: CommitEffects,
    now: Timestamp,
) -> Result<Store, Error> {
    let opened = tokio::task::spawn_blocking(move || {
        Store::open_with(&database, &options, Arc::new(move |committed| effects.execute(committed)), now.0)
    })
    .await;
    opened.unwrap_or_else(|panic| Err(tandem_store::Error::Panicked(panic.to_string()))).map_err(Error::Store)
}

/// The same with a source of ids. Nodes within one process of a test share it: their clock stands still, so ids of
/// different sources would have no order.
pub async fn open_with(
    config: Config,
    clock: Clock,
    resolver: Resolver,
    ids: Arc<IdSource>,
) -> Result<Started, Error> {
    let (database, kind) = database(&config)?;
    let files = Files::of(&config)?;
    let credentials = BusCredentials::read(&config)?;
    let (settings, place) = (config.clone(), database.clone());
    let checked = tokio::task::spawn_blocking(move || data_folder::refuse_foreign(&settings, &place)).await;
    checked.unwrap_or_else(|panic| Err(Error::Store(tandem_store::Error::Panicked(panic.to_string()))))?;
    let mut new_folder = data_folder::create(&config.data)?;
    let locks = data_folder::lock_new(&config, &database, &mut new_folder)?;
    let membership = Membership {
        id: data_folder::node_id(&config.data, &database)?,
        files: config.files_place(),
        advertise: config.advertise.clone(),
        started_at: clock.now(),
    };
    let holder = membership.id.to_string();
    data_folder::make_database_private(&database)?;
    let now = clock.now();
    let topology = Arc::new(Topology::new(config.bus_kind(), &database));
    let effects = CommitEffects::new(Arc::clone(&topology), Arc::clone(&files.removals));
    let options =
        Options { writers: config.database_writers, readers: config.database_readers, ..Options::default() };
    let store = open_store(database, options, effects.clone(), now).await?;
    data_folder::claim(&config, &store).await?;
    let db = Db::new(store, clock.clone(), ids);
    let cluster = Cluster::new(membership, Arc::clone(&topology), db.clone()).await?;
    cluster.join().await?.map_err(Error::Cluster)?;
    files.claim(db.store(), cluster.is_first().await?).await?;
    let operator = token::find(&config, &db, topology.is_clustered()).await?;
    let CommitEffects { inbox, plot_counts, .. } = effects;
    let rates = Rates::new(keys::sha256(cluster.secret()), topology, cluster.live());
    let allowed = Allowed { http: config.webhook_allow_http, private: config.webhook_allow_private };
    let access =
        Access::new(inbox.keys.clone(), Arc::clone(&inbox.bus), db.clone(), &config, operator.hash).await?;
    let epoch = keys::hex(hub_secret(db.store(), EPOCH).await?.get(..8).unwrap_or_default());
    let signing = SigningKeys::load(db.store()).await?;
    let hub = Arc::new(HubParts {
        signing,
        access,
        cluster,
        rates,
        budget: Budget::new(config.budget_bytes()),
        liveness: Liveness::new(Arc::clone(&inbox.bus), clock),
        marks: Arc::default(),
        epoch,
        webhooks: Arc::new(Webhooks {
            receivers: Arc::clone(&inbox.receivers),
            resolver,
            allowed,
            holder,
            lookups: Semaphore::new(webhooks::LOOKUPS_MAX),
            writing: Semaphore::new(webhooks::WRITING_MAX),
        }),
        remotes: Remotes::new(Arc::clone(&inbox.remotes)),
        files: Arc::new(files),
        disk_space: DiskSpace::default(),
        metrics: Arc::default(),
        plot_counts,
        totals: Totals::new(kind, now),
        writing: TaskTracker::new(),
        db,
        config,
    });
    let bus = BusParts { inbox, credentials };
    Ok(Started { hub, token: operator.place, bus, new_folder, _locks: locks })
}

/// The background workers of a hub.
#[derive(Debug)]
pub struct Workers {
    hub: Hub,
    running: watch::Sender<()>,
    ending: Vec<JoinHandle<()>>,
    _locks: Vec<File>,
}

impl Started {
    /// Starts the background workers: timer, webhooks, housekeeping.
    #[must_use]
    pub fn start_workers(self) -> Workers {
        self.new_folder.keep();
        let hub = self.hub;
        let BusParts { inbox, credentials } = self.bus;
        let (running, stopped) = watch::channel(());
        let pacing = Pacing::background(stopped);
        #[expect(clippy::disallowed_methods, reason = "compared with the times of files, not with the hub's")]
        let started_at = std::time::SystemTime::now();
        let dispatcher = Dispatcher {
            hub: Arc::clone(&hub),
            db: hub.db.clone(),
            webhooks: Arc::clone(&hub.webhooks),
            metrics: Arc::clone(&hub.metrics),
            plot_counts: Arc::clone(&hub.plot_counts),
            is_shared: hub.cluster.topology.has_shared_database(),
        };
        let ending = [
            webhooks::dispatch(dispatcher, pacing.clone()).boxed(),
            remotes::serve(Arc::clone(&hub), pacing.clone()).boxed(),
            bus::poll(hub.db.clone(), inbox.clone(), Arc::clone(&hub.cluster.topology), pacing.clone())
                .boxed(),
            bus::run_nats(Arc::clone(&hub), inbox, credentials, pacing.clone()).boxed(),
            presences::write(Arc::clone(&hub), pacing.clone()).boxed(),
            cluster::renew(Arc::clone(&hub), pacing.clone()).boxed(),
            housekeeping::sweep(Arc::clone(&hub), pacing.clone()).boxed(),
            housekeeping::apply_retention(hub.db.clone(), hub.config.clone(), pacing.clone()).boxed(),
            files::sweep(Arc::clone(&hub.files), hub.db.clone(), started_at, pacing.clone()).boxed(),
            files::remove_deleted(Arc::clone(&hub.files), pacing.clone()).boxed(),
            marks::write(hub.db.clone(), Arc::clone(&hub.marks), pacing.clone()).boxed(),
            timer::run(hub.db.clone(), Arc::clone(&hub.metrics), pacing).boxed(),
        ]
        .map(tokio::spawn)
        .into();
        Workers { hub, running, ending, _locks: self._locks }
    }
}

impl Workers {
    /// Stops the workers, each at its next safe point, at the latest at the deadline. The data folder is free
    /// afterwards.
    pub async fn stop(self, deadline: Instant) {
        // Their handles to the hub are dropped with them, so the store closes before the lock is released. It shares
        // the deadline: the process ends soon after it.
        self.hub.db.store().close_by(deadline.into_std());
        drop(self.running);
        let aborts: Vec<_> = self.ending.iter().map(JoinHandle::abort_handle).collect();
        let stopped = async {
            for worker in self.ending {
                let _ = worker.await;
            }
            if let Err(error) = self.hub.write_presence().await {
                tracing::warn!(%error, "could not store the presence of agents");
            }
            if let Err(error) = self.hub.write_plot_counts(0).await {
                tracing::warn!(%error, "could not store the figures of the last minute");
            }
            if let Err(error) = self.hub.cluster.leave().await {
                tracing::warn!(%error, "could not remove this node's row; it runs out within 20 seconds");
            }
        };
        if timeout_at(deadline, stopped).await.is_err() {
            tracing::warn!("some background work did not stop in time; it is repeated after the start");
            aborts.iter().for_each(AbortHandle::abort);
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
            _ => {
                let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_owned());
                let is_word = |scheme: &String| scheme.bytes().all(|b| b.is_ascii_alphabetic());
                Err(Error::UnknownDatabase { scheme: scheme.filter(is_word) })
            }
        },
    }
}

//! What every request has at hand.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use tandem_api::admin::Overview;
use tandem_api::agents::Seen;
use tandem_app::challenge::Challenges;
use tandem_app::keys::{self, KeyHash};
use tandem_app::sealed::Parties;
use tandem_app::ticket::Tickets;
use tandem_app::{Error, admin, agents, sealed, tasks};
use tandem_core::agents::{Agent, Reach};
use tandem_core::{AgentId, IdSource, Now, TaskId, Timestamp};
use tandem_store::admin::Totals;
use tandem_store::{Store, Told, Tx};

use crate::bus::{Bus, End};
use crate::clock::Clock;
use crate::config::Config;
use crate::files::Files;
use crate::keys::KnownKeys;
use crate::mcp::Sessions;
use crate::metrics::Metrics;
use crate::presence::Presence;
use crate::rates::Rates;
use crate::webhooks::Receivers;
use crate::webhooks::address::Names;

/// How many agents' last signs of life are written down in one transaction.
const PRESENCES_WRITTEN_MAX: usize = 500;
/// How long a count of everything is good for.
const TOTALS_KEPT_MS: i64 = 10_000;

/// How often a use case is put off because tasks expire under its eyes; each time lets go of up to 200 of them.
const OVERDUE_ROUNDS: usize = 50;

/// A use case as the store runs it: possibly more than once, when it loses a race or comes too late.
pub trait UseCase<T>: Fn(&mut Tx<'_>, &Now) -> Result<T, Error> + Send + Sync + 'static {}
impl<T, F: Fn(&mut Tx<'_>, &Now) -> Result<T, Error> + Send + Sync + 'static> UseCase<T> for F {}

/// What carries news out of the hub.
#[derive(Debug, Clone)]
pub struct Reached {
    /// Wake-ups.
    pub bus: Arc<Bus>,
    /// Webhooks.
    pub receivers: Arc<Receivers>,
    /// How names become addresses.
    pub names: Names,
}

impl Reached {
    /// Tells whoever waits that there is news. Called on the store's thread, so it never waits.
    pub fn wake(&self, told: Vec<Told>) {
        self.receivers.told(&told);
        self.bus.wake(told);
    }
}

/// The hub: a handle that is cheap to clone.
pub type Hub = Arc<HubParts>;

/// What a hub consists of.
#[derive(Debug)]
pub struct HubParts {
    /// The way to the database.
    pub store: Store,
    /// Where the time comes from.
    pub clock: Clock,
    /// The settings.
    pub config: Config,
    /// Which database it is.
    pub database: &'static str,
    /// The keys seen so far.
    pub keys: KnownKeys,
    /// The rate limits.
    pub rates: Rates,
    /// Who was heard of lately.
    pub presence: Presence,
    /// Wake-ups.
    pub bus: Arc<Bus>,
    /// MCP sessions.
    pub sessions: Arc<Sessions>,
    /// Who has a webhook, and which of them have news.
    pub receivers: Arc<Receivers>,
    /// How names become addresses.
    pub names: Names,
    /// The bytes of files.
    pub files: Files,
    /// Proof of work.
    pub challenges: Challenges,
    /// Tickets for browsers.
    pub tickets: Tickets,
    /// The figures.
    pub metrics: Metrics,
    /// When this process started.
    pub started_at: Timestamp,
    admin_token: KeyHash,
    ids: Arc<IdSource>,
    totals: Mutex<Option<(Timestamp, Totals)>>,
}

impl HubParts {
    /// A hub on an open store that wakes `reached`. `admin_token` is the operator's.
    pub async fn new(
        store: Store,
        reached: Reached,
        files: Files,
        config: Config,
        database: &'static str,
        clock: Clock,
        admin_token: &str,
    ) -> Result<Hub, Error> {
        let challenge = hub_secret(&store, "challenge").await?;
        let ticket = hub_secret(&store, "ticket").await?;
        Ok(Arc::new(Self {
            challenges: Challenges::new(&challenge, config.pow_difficulty),
            tickets: Tickets::new(&ticket),
            started_at: clock.now(),
            files,
            store,
            bus: reached.bus,
            receivers: reached.receivers,
            names: reached.names,
            clock,
            config,
            database,
            keys: KnownKeys::default(),
            rates: Rates::default(),
            sessions: Arc::default(),
            presence: Presence::default(),
            metrics: Metrics::new(),
            admin_token: keys::sha256(admin_token.as_bytes()),
            ids: Arc::new(IdSource::new(keys::fill_random)),
            totals: Mutex::new(None),
        }))
    }

    /// What the hub really sees of an agent.
    #[must_use]
    pub fn seen(&self, agent: &Agent) -> Seen {
        let now = self.clock.now();
        let open = self.bus.open_way(&agent.id);
        let heard = self.presence.last_seen(&agent.id);
        let last_seen_at = if open.is_some() { Some(now) } else { heard.max(agent.last_seen_at) };
        let live = open.filter(|way| matches!(way, Reach::Socket | Reach::Stream));
        let reach = match (live, agent.webhook_active, last_seen_at) {
            (Some(way), _, _) => way,
            (None, true, _) => Reach::Webhook,
            (None, false, Some(_)) => Reach::Polling,
            (None, false, None) => Reach::Never,
        };
        Seen { online: open.is_some() || self.presence.is_online(&agent.id, now), last_seen_at, reach }
    }

    /// The parties of a task of the caller's with their public keys, if its content is encrypted.
    pub async fn parties_of(&self, by: &AgentId, id: &TaskId) -> Result<Option<Parties>, Error> {
        let (by, id) = (by.clone(), id.clone());
        self.read(move |tx, now| sealed::parties_of(tx, &by, &id, now)).await
    }

    /// Notes that their target has seen these tasks, and when; the sender can tell by their `delivery`.
    pub async fn note_fetched(&self, target: &AgentId, ids: Vec<TaskId>) -> Result<Option<Timestamp>, Error> {
        if ids.is_empty() {
            return Ok(None);
        }
        let target = target.clone();
        self.write(move |tx, now| {
            tasks::mark_fetched(tx, &target, &ids, now)?;
            Ok(Some(now.at))
        })
        .await
    }

    /// Writes down who was heard of since the last time.
    pub async fn write_presence(&self) -> Result<(), Error> {
        loop {
            let seen = self.presence.take_unwritten(PRESENCES_WRITTEN_MAX);
            if seen.is_empty() {
                return Ok(());
            }
            self.write(move |tx, _| agents::write_last_seen(tx, &seen)).await?;
        }
    }

    /// The time, with a source of ids.
    #[must_use]
    pub fn now(&self) -> Now {
        Now::new(self.clock.now(), Arc::clone(&self.ids))
    }

    /// Whether a key with this hash is the operator's token.
    #[must_use]
    pub fn is_admin(&self, hash: &KeyHash) -> bool {
        keys::same_hash(hash, &self.admin_token)
    }

    /// Whose key this is. A key that was seen before is known without asking the database.
    pub async fn agent_of(&self, hash: KeyHash) -> Result<Option<AgentId>, Error> {
        let state = self.keys.state();
        let found = self.store.read(move |tx| agents::by_key(tx, &hash)).await?;
        if let Some(agent) = &found {
            self.keys.remember(hash, agent.clone(), state);
        }
        Ok(found)
    }

    /// Ends everything that an agent's key has opened.
    pub fn end_key(&self, agent: &AgentId) {
        self.keys.forget(agent);
        self.bus.end(agent, End::KeyRotated);
        self.sessions.end_all(agent);
    }

    /// Ends MCP sessions that nobody uses any more.
    pub fn end_idle_sessions(&self) {
        let idle_ms = i64::from(self.config.mcp_session_idle_seconds) * 1_000;
        self.sessions.end_idle(self.clock.now(), idle_ms);
    }

    /// Runs a use case that changes something.
    pub async fn write<T: Send + 'static>(&self, use_case: impl UseCase<T>) -> Result<T, Error> {
        let use_case = Arc::new(use_case);
        self.in_time(|now| {
            let use_case = Arc::clone(&use_case);
            self.store.write(move |tx| use_case(tx, &now))
        })
        .await
    }

    /// Runs a use case that only looks.
    pub async fn read<T: Send + 'static>(&self, use_case: impl UseCase<T>) -> Result<T, Error> {
        let use_case = Arc::new(use_case);
        self.in_time(|now| {
            let use_case = Arc::clone(&use_case);
            self.store.read(move |tx| use_case(tx, &now))
        })
        .await
    }

    /// Runs a use case; if it meets tasks that have expired without anybody noticing, they expire first.
    async fn in_time<T, R: Future<Output = Result<T, Error>>>(
        &self,
        run: impl Fn(Now) -> R,
    ) -> Result<T, Error> {
        for _ in 0..OVERDUE_ROUNDS {
            let overdue = match run(self.now()).await {
                Err(Error::Overdue(overdue)) => overdue,
                other => return other,
            };
            let now = self.now();
            self.store.write(move |tx| tasks::expire(tx, &overdue, &now)).await?;
        }
        run(self.now()).await
    }

    /// The answer to a malformed request about a task: hidden tasks stay hidden, and for others the
    /// answer tells where they stand.
    pub async fn refuse_on_task(&self, by: AgentId, id: TaskId, error: Error) -> Error {
        // Errors are not cloned; what the use case needs to know is only whether the task may be seen.
        match self.read(move |tx, now| tasks::standing(tx, &by, &id, now)).await {
            Ok(standing) => error.on_task(standing),
            Err(hidden) => hidden,
        }
    }

    /// The hub at a glance. Stored things are counted at most once in ten seconds.
    pub async fn overview(&self) -> Result<Overview, Error> {
        let now = self.clock.now();
        let kept = self.totals.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (counted_at, totals) = match kept {
            Some((at, totals)) if (0..TOTALS_KEPT_MS).contains(&now.ms_since(at)) => (at, totals),
            _ => {
                let totals = self.read(|tx, _| admin::totals(tx)).await?;
                *self.totals.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, totals.clone()));
                (now, totals)
            }
        };
        Ok(Overview {
            version: env!("CARGO_PKG_VERSION"),
            database: self.database,
            started_at: self.started_at,
            uptime_seconds: now.ms_since(self.started_at) / 1_000,
            agents: totals.agents,
            agents_online: self.presence.online(now),
            open_sockets: self.bus.open().0,
            open_streams: self.bus.open().1,
            connections: totals.connections,
            messages: totals.messages,
            events: totals.events,
            tasks: totals.tasks.into_iter().collect(),
            counted_at,
            store: self.store.stats().figures().map(|(name, figure)| (camel_case(name), figure)).into(),
        })
    }
}

fn camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let (initial, rest) = part.split_at(part.len().min(1));
        format!("{name}{}{rest}", initial.to_uppercase())
    })
}

/// A secret of the hub's own that its database keeps.
pub(crate) async fn hub_secret(store: &Store, name: &'static str) -> Result<Vec<u8>, Error> {
    let mut fresh = [0; 32];
    keys::fill_random(&mut fresh);
    store.write(move |tx| admin::hub_secret(tx, name, &fresh)).await
}

/// JSON text of an answer.
pub(crate) fn json<T: Serialize>(value: &T) -> String {
    #[expect(clippy::expect_used, reason = "our wire types have text keys and finite numbers only")]
    serde_json::to_string(value).expect("wire types are JSON")
}

//! What every request has at hand.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use tandem_api::admin::Overview;
use tandem_app::challenge::Challenges;
use tandem_app::keys::{self, KeyHash};
use tandem_app::{Error, admin, agents};
use tandem_core::{AgentId, IdSource, Now, TaskId, Timestamp};
use tandem_store::admin::Totals;
use tandem_store::{Store, Tx};

use crate::clock::Clock;
use crate::config::Config;
use crate::keys::KnownKeys;
use crate::metrics::Metrics;
use crate::presence::Presence;
use crate::rates::Rates;

/// How long a count of everything is good for.
const TOTALS_KEPT_MS: i64 = 10_000;

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
    /// Proof of work.
    pub challenges: Challenges,
    /// The figures.
    pub metrics: Metrics,
    /// When this process started.
    pub started_at: Timestamp,
    admin_token: KeyHash,
    ids: Arc<IdSource>,
    totals: Mutex<Option<(Timestamp, Totals)>>,
}

impl HubParts {
    /// A hub on an open store. `admin_token` is the operator's.
    pub async fn new(
        store: Store,
        config: Config,
        database: &'static str,
        clock: Clock,
        admin_token: &str,
    ) -> Result<Hub, Error> {
        let mut fresh = [0; 32];
        keys::fill_random(&mut fresh);
        let secret = store.write(move |tx| admin::hub_secret(tx, "challenge", &fresh)).await?;
        Ok(Arc::new(Self {
            challenges: Challenges::new(&secret, config.pow_difficulty),
            started_at: clock.now(),
            store,
            clock,
            config,
            database,
            keys: KnownKeys::default(),
            rates: Rates::default(),
            presence: Presence::default(),
            metrics: Metrics::new(),
            admin_token: keys::sha256(admin_token.as_bytes()),
            ids: Arc::new(IdSource::new(keys::fill_random)),
            totals: Mutex::new(None),
        }))
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
        let found = self.store.read(move |tx| agents::by_key(tx, &hash)).await?;
        if let Some(agent) = &found {
            self.keys.remember(hash, agent.clone());
        }
        Ok(found)
    }

    /// Runs a use case that changes something.
    pub async fn write<T: Send + 'static>(
        &self,
        use_case: impl Fn(&mut Tx<'_>, &Now) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let now = self.now();
        self.store.write(move |tx| use_case(tx, &now)).await
    }

    /// Runs a use case that only looks.
    pub async fn read<T: Send + 'static>(
        &self,
        use_case: impl Fn(&mut Tx<'_>, &Now) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let now = self.now();
        self.store.read(move |tx| use_case(tx, &now)).await
    }

    /// The answer to a malformed request about a task: hidden tasks stay hidden, and for others the
    /// answer tells where they stand.
    pub async fn refuse_on_task(&self, by: AgentId, id: TaskId, error: Error) -> Error {
        // Errors are not cloned; what the use case needs to know is only whether the task may be seen.
        let standing = self.read(move |tx, _| {
            let task = tandem_app::tasks::view(tx, &by, &id)?;
            Ok(task.role_of(&by).map(|role| task.standing(role)))
        });
        match standing.await {
            Ok(Some(standing)) => error.on_task(standing),
            Ok(None) => Error::NotFound("task"),
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
            connections: totals.connections,
            messages: totals.messages,
            events: totals.events,
            tasks: totals.tasks.into_iter().collect(),
            counted_at,
            store: self.store.stats().figures().into_iter().collect(),
        })
    }
}

/// JSON text of an answer.
pub(crate) fn json<T: Serialize>(value: &T) -> String {
    #[expect(clippy::expect_used, reason = "our wire types have text keys and finite numbers only")]
    serde_json::to_string(value).expect("wire types are JSON")
}

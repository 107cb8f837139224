//! Webhook workers: they deliver events to receivers. Each agent has at most one worker, so a slow receiver delays
//! only itself.

pub mod address;
mod send;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use tandem_app::webhooks::{self, Attempt, Claim};
use tandem_app::{Error, keys};
use tandem_core::AgentId;
use tandem_store::EventNotice;
use tandem_store::webhooks::Delivery;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use crate::db::Db;
use crate::metrics::Metrics;
use address::{Allowed, Resolver};

/// Interval of the check for due retries.
const POLL_EVERY: Duration = Duration::from_millis(250);
/// Receivers served concurrently.
const WORKERS_MAX: usize = 256;
/// Concurrent requests to one receiver.
const REQUESTS_MAX: usize = 4;
/// Agents per query when the hub starts.
const PAGE: i64 = 1_000;

/// The receivers, and the resolver of their hosts.
#[derive(Debug)]
pub struct Webhooks {
    pub(crate) receivers: Arc<Receivers>,
    pub(crate) resolver: Resolver,
    /// Addresses that the settings allow.
    pub(crate) allowed: Allowed,
}

/// What delivering webhooks needs.
#[derive(Debug, Clone)]
pub(crate) struct Dispatcher {
    pub(crate) db: Db,
    pub(crate) webhooks: Arc<Webhooks>,
    pub(crate) metrics: Arc<Metrics>,
}

/// The agents with a webhook, and those with something to deliver.
#[derive(Debug, Default)]
pub(crate) struct Receivers {
    active: RwLock<HashSet<AgentId>>,
    woken: Mutex<HashSet<AgentId>>,
    bell: Notify,
}

impl Receivers {
    /// Records which agents have new events. Runs on the store's thread, so it never waits.
    pub(crate) fn notify(&self, notices: &[EventNotice]) {
        let active = self.active.read().unwrap_or_else(PoisonError::into_inner);
        for notice in notices.iter().filter(|notice| active.contains(&notice.agent)) {
            self.wake(notice.agent.clone());
        }
    }

    /// Records that a webhook was changed. It counts as active until its worker has checked.
    pub(crate) fn changed(&self, agent: AgentId) {
        self.set(&agent, true);
        self.wake(agent);
    }

    /// Makes a worker check an agent's queue.
    fn wake(&self, agent: AgentId) {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner).insert(agent);
        self.bell.notify_one();
    }

    fn set(&self, agent: &AgentId, active: bool) {
        let mut known = self.active.write().unwrap_or_else(PoisonError::into_inner);
        if active {
            known.insert(agent.clone());
        } else {
            known.remove(agent);
        }
    }

    fn take_woken(&self) -> HashSet<AgentId> {
        std::mem::take(&mut *self.woken.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_empty(&self) -> bool {
        self.active.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// The agents being served; true if new events arrived meanwhile.
type Running = Arc<Mutex<HashMap<AgentId, bool>>>;

/// Serves receivers until it is dropped. Attempts in progress are repeated later.
pub(crate) async fn dispatch(with: Dispatcher) {
    if let Err(error) = load(&with).await {
        tracing::error!(%error, "could not load the webhooks");
    }
    let running = Running::default();
    let room = Arc::new(Semaphore::new(WORKERS_MAX));
    let mut workers = JoinSet::new();
    let mut look = tokio::time::interval(POLL_EVERY);
    loop {
        tokio::select! {
            () = with.webhooks.receivers.bell.notified() => {}
            _ = look.tick() => add_due(&with).await,
            Some(_) = workers.join_next() => continue,
        }
        for agent in with.webhooks.receivers.take_woken() {
            let mut serving = running.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(again) = serving.get_mut(&agent) {
                *again = true;
                continue;
            }
            serving.insert(agent.clone(), false);
            drop(serving);
            workers.spawn(serve(with.clone(), agent, Arc::clone(&running), Arc::clone(&room)));
        }
    }
}

/// Loads the agents with a webhook. Each may have missed events while the hub was down.
async fn load(with: &Dispatcher) -> Result<(), Error> {
    let mut after = String::new();
    loop {
        let from = after.clone();
        let page = with.db.read(move |tx, _| webhooks::active_agents(tx, &from, PAGE)).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.to_string();
        for agent in page {
            with.webhooks.receivers.set(&agent, true);
            with.webhooks.receivers.wake(agent);
        }
    }
}

async fn add_due(with: &Dispatcher) {
    if with.webhooks.receivers.is_empty() {
        return;
    }
    match with.db.read(|tx, now| webhooks::due_agents(tx, now, PAGE)).await {
        Ok(due) => due.into_iter().for_each(|agent| with.webhooks.receivers.wake(agent)),
        Err(error) => tracing::warn!(%error, "could not check for due webhooks"),
    }
}

/// Serves one receiver until nothing is due.
async fn serve(with: Dispatcher, agent: AgentId, running: Running, room: Arc<Semaphore>) {
    let Ok(_place) = room.acquire().await else { return };
    loop {
        match serve_batch(&with, &agent).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, agent = agent.as_str(), "could not deliver webhooks of an agent")
            }
        }
        let mut serving = running.lock().unwrap_or_else(PoisonError::into_inner);
        match serving.get_mut(&agent) {
            Some(again) if *again => *again = false,
            _ => {
                serving.remove(&agent);
                return;
            }
        }
    }
}

/// Attempts the due deliveries. Returns false when nothing is left.
async fn serve_batch(with: &Dispatcher, agent: &AgentId) -> Result<bool, Error> {
    let of = agent.clone();
    let batch = match with.db.write(move |tx, now| webhooks::claim(tx, &of, now)).await? {
        Claim::Off => return deactivate(with, agent).await,
        Claim::Idle => return Ok(false),
        Claim::More => return Ok(true),
        Claim::Batch(batch) => batch,
    };
    let (url, secret) = (batch.url.as_str(), batch.secret.as_deref());
    let tries = batch.deliveries.into_iter().map(|delivery| attempt_delivery(with, url, secret, delivery));
    let attempts: Vec<Attempt> = stream::iter(tries).buffer_unordered(REQUESTS_MAX).collect().await;
    let (of, url) = (agent.clone(), batch.url.clone());
    with.db.write(move |tx, now| webhooks::record(tx, &of, &url, &attempts, now)).await?;
    Ok(true)
}

/// Removes an agent from those with a webhook, and checks again afterwards, because it may have been activated
/// meanwhile. Returns true if it is active.
async fn deactivate(with: &Dispatcher, agent: &AgentId) -> Result<bool, Error> {
    with.webhooks.receivers.set(agent, false);
    let of = agent.clone();
    let active = with.db.read(move |tx, _| webhooks::is_active(tx, &of)).await?;
    if active {
        with.webhooks.receivers.set(agent, true);
    }
    Ok(active)
}

async fn attempt_delivery(with: &Dispatcher, url: &str, secret: Option<&str>, delivery: Delivery) -> Attempt {
    let started = Instant::now();
    let outcome = send::send(with, url, secret, &delivery).await;
    let took = started.elapsed();
    let mut random = [0; 1];
    keys::fill_random(&mut random);
    let attempts = Attempt {
        delivery,
        outcome,
        took_ms: i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
        jitter: f64::from(random[0]) / 255.0,
    };
    with.metrics.webhook(attempts.delivered(), took.as_secs_f64());
    attempts
}

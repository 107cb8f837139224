//! Webhooks: the workers that carry events to receivers. Each agent has at most one worker, so a slow
//! receiver delays nobody but itself.

pub mod address;
mod send;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use tandem_app::webhooks::{self, Taken, Tried};
use tandem_app::{Error, keys};
use tandem_core::AgentId;
use tandem_store::Told;
use tandem_store::webhooks::Delivery;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use crate::hub::Hub;

/// How often the queue is asked for retries that have fallen due.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How many receivers are served at once.
const WORKERS_MAX: usize = 256;
/// How many requests one receiver gets at once.
const REQUESTS_MAX: usize = 4;
/// How many agents are read at a time when the hub starts.
const PAGE: i64 = 1_000;

/// Which agents have a webhook, and which of them have news.
#[derive(Debug, Default)]
pub struct Receivers {
    active: RwLock<HashSet<AgentId>>,
    told: Mutex<HashSet<AgentId>>,
    bell: Notify,
}

impl Receivers {
    /// Notes who has news. Called on the store's thread, so it never waits.
    pub fn told(&self, told: &[Told]) {
        let active = self.active.read().unwrap_or_else(PoisonError::into_inner);
        for news in told {
            if active.contains(&news.agent) {
                self.wake(news.agent.clone());
            }
        }
    }

    /// Has an agent's queue looked at.
    pub fn wake(&self, agent: AgentId) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(agent);
        self.bell.notify_one();
    }

    /// Notes whether an agent's webhook is switched on.
    pub fn set(&self, agent: &AgentId, active: bool) {
        let mut known = self.active.write().unwrap_or_else(PoisonError::into_inner);
        if active {
            known.insert(agent.clone());
        } else {
            known.remove(agent);
        }
    }

    fn take_told(&self) -> HashSet<AgentId> {
        std::mem::take(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_empty(&self) -> bool {
        self.active.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// Who is being served; true when there was news in the meantime.
type Running = Arc<Mutex<HashMap<AgentId, bool>>>;

/// Serves receivers until it is dropped; tries under way end with it and are made again later.
pub(crate) async fn dispatch(hub: Hub) {
    if let Err(error) = load(&hub).await {
        tracing::error!(%error, "webhooks cannot start");
    }
    let running = Running::default();
    let room = Arc::new(Semaphore::new(WORKERS_MAX));
    let mut workers = JoinSet::new();
    let mut look = tokio::time::interval(LOOK_EVERY);
    loop {
        tokio::select! {
            () = hub.receivers.bell.notified() => {}
            _ = look.tick() => add_due(&hub).await,
            Some(_) = workers.join_next() => continue,
        }
        for agent in hub.receivers.take_told() {
            let mut serving = running.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(again) = serving.get_mut(&agent) {
                *again = true;
                continue;
            }
            serving.insert(agent.clone(), false);
            drop(serving);
            workers.spawn(serve(Arc::clone(&hub), agent, Arc::clone(&running), Arc::clone(&room)));
        }
    }
}

/// Finds out who has a webhook; each may have missed something while the hub was down.
async fn load(hub: &Hub) -> Result<(), Error> {
    let mut after = String::new();
    loop {
        let from = after.clone();
        let page = hub.read(move |tx, _| webhooks::active_agents(tx, &from, PAGE)).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.to_string();
        for agent in page {
            hub.receivers.set(&agent, true);
            hub.receivers.wake(agent);
        }
    }
}

async fn add_due(hub: &Hub) {
    if hub.receivers.is_empty() {
        return;
    }
    match hub.read(|tx, now| webhooks::due_agents(tx, now, PAGE)).await {
        Ok(due) => due.into_iter().for_each(|agent| hub.receivers.wake(agent)),
        Err(error) => tracing::warn!(%error, "cannot read which webhooks are due"),
    }
}

/// Serves one receiver until it has nothing due.
async fn serve(hub: Hub, agent: AgentId, running: Running, room: Arc<Semaphore>) {
    let Ok(_place) = room.acquire().await else { return };
    loop {
        match serve_batch(&hub, &agent).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, agent = agent.as_str(), "cannot serve a webhook"),
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

/// Tries what is due; false when there is no more to do.
async fn serve_batch(hub: &Hub, agent: &AgentId) -> Result<bool, Error> {
    let of = agent.clone();
    let batch = match hub.write(move |tx, now| webhooks::take(tx, &of, now)).await? {
        Taken::Nothing => return Ok(false),
        Taken::More => return Ok(true),
        Taken::Batch(batch) => batch,
    };
    let (url, secret) = (batch.url.as_str(), batch.secret.as_deref());
    let tries = batch.deliveries.into_iter().map(|delivery| try_once(hub, url, secret, delivery));
    let tried: Vec<Tried> = stream::iter(tries).buffer_unordered(REQUESTS_MAX).collect().await;
    let (of, url) = (agent.clone(), batch.url.clone());
    let active = hub.write(move |tx, now| webhooks::record(tx, &of, &url, &tried, now)).await?;
    if !active {
        // Asked again afterwards: whoever switches it on in this moment comes before or after that look.
        hub.receivers.set(agent, false);
        let of = agent.clone();
        if hub.read(move |tx, _| webhooks::is_active(tx, &of)).await? {
            hub.receivers.set(agent, true);
            return Ok(true);
        }
    }
    Ok(active)
}

async fn try_once(hub: &Hub, url: &str, secret: Option<&str>, delivery: Delivery) -> Tried {
    let started = Instant::now();
    let outcome = send::send(hub, url, secret, &delivery).await;
    let took = started.elapsed();
    let mut random = [0; 1];
    keys::fill_random(&mut random);
    let tried = Tried {
        delivery,
        outcome,
        took_ms: i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
        jitter: f64::from(random[0]) / 255.0,
    };
    hub.metrics.webhook(tried.delivered(), took.as_secs_f64());
    tried
}

//! Webhook workers: they deliver events to receivers. Receivers take turns, and slow ones have places of their own, so
//! no receiver delays another.

pub mod address;
pub mod dns;
mod schedule;
mod send;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tandem_app::webhooks::{self, Attempt, Batch, Claim};
use tandem_app::{Error, keys};
use tandem_core::{AgentId, Timestamp};
use tandem_store::webhooks::Delivery;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::db::Db;
use crate::housekeeping::Pacing;
use crate::metrics::Metrics;
use address::{Allowed, Resolver};
pub(crate) use schedule::Receivers;
use schedule::{Pace, Turn, TurnEnd};

/// Interval of the check for due retries.
const POLL_EVERY: Duration = Duration::from_millis(250);
/// A receiver that takes longer is slow: it continues in a place for slow receivers.
const QUICK_MAX: Duration = Duration::from_millis(500);
/// Pause before a failed query is repeated.
const STORE_PAUSE: Duration = Duration::from_secs(1);
/// How often the results of a turn are written before they are given up and the deliveries repeated. The lease outlasts
/// this.
const RECORD_TRIES: usize = 5;
/// Concurrent lookups on behalf of requests that set a URL.
pub(crate) const LOOKUPS_MAX: usize = 64;
/// Agents per query.
const PAGE: i64 = 1_000;

/// The receivers, and the resolver of their hosts.
#[derive(Debug)]
pub struct Webhooks {
    pub(crate) receivers: Arc<Receivers>,
    pub(crate) resolver: Resolver,
    /// Addresses that the settings allow.
    pub(crate) allowed: Allowed,
    /// Who holds the leases that this process takes.
    pub(crate) holder: String,
    /// Limits the lookups on behalf of requests.
    pub(crate) lookups: Semaphore,
}

/// What delivering webhooks needs.
#[derive(Debug, Clone)]
pub(crate) struct Dispatcher {
    pub(crate) db: Db,
    pub(crate) webhooks: Arc<Webhooks>,
    pub(crate) metrics: Arc<Metrics>,
}

/// Serves receivers until the hub stops.
pub(crate) async fn dispatch(with: Dispatcher, mut pacing: Pacing) {
    let mut turns = JoinSet::new();
    tokio::select! {
        () = pacing.stopped() => {}
        // Neither ends by itself.
        _ = async { tokio::join!(load(&with), run_turns(&with, &mut turns)) } => {}
    }
    // Receivers that answer at once get the chance to do so. The other attempts are repeated after the start.
    let _ = timeout(QUICK_MAX, async { while turns.join_next().await.is_some() {} }).await;
}

async fn run_turns(with: &Dispatcher, turns: &mut JoinSet<()>) {
    let receivers = &with.webhooks.receivers;
    let mut look = interval(POLL_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut due_after = None;
    loop {
        tokio::select! {
            () = receivers.rung() => {}
            _ = look.tick() => {
                receivers.wake_postponed();
                due_after = add_due(with, due_after).await;
            }
            Some(_) = turns.join_next() => {}
        }
        while let Some(turn) = receivers.next_turn() {
            turns.spawn(serve(with.clone(), turn));
        }
    }
}

/// Loads the agents with a webhook, and wakes those that have missed events while the hub was down.
async fn load(with: &Dispatcher) {
    let mut after = String::new();
    loop {
        match load_page(with, &after).await {
            Ok(Some(last)) => after = last.to_string(),
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "could not load the webhooks; trying again");
                sleep(STORE_PAUSE).await;
            }
        }
    }
}

async fn load_page(with: &Dispatcher, after: &str) -> Result<Option<AgentId>, Error> {
    let receivers = &with.webhooks.receivers;
    let from = after.to_owned();
    let page = with.db.read(move |tx, _| webhooks::active_agents(tx, &from, PAGE)).await?;
    let Some(last) = page.last().cloned() else { return Ok(None) };
    // Activated first: an event that is appended before the second query is in its result, a later one wakes its agent.
    receivers.activate(&page);
    let (from, to) = (after.to_owned(), last.clone());
    let waiting = with.db.read(move |tx, _| webhooks::waiting_agents(tx, &from, &to)).await?;
    waiting.iter().for_each(|agent| receivers.wake(agent));
    Ok(Some(last))
}

/// Wakes one page of the agents with a due delivery. Returns where the next page starts, so that those at the front
/// that have to wait for their turn do not hide the others.
async fn add_due(with: &Dispatcher, after: Option<(Timestamp, AgentId)>) -> Option<(Timestamp, AgentId)> {
    if with.webhooks.receivers.is_empty() {
        return None;
    }
    let from = after.clone();
    match with.db.read(move |tx, now| webhooks::due_agents(tx, from.as_ref(), now, PAGE)).await {
        Ok(mut due) => {
            // Another process may have activated one.
            due.iter().for_each(|(_, agent)| with.webhooks.receivers.wake_due(agent));
            let is_full = i64::try_from(due.len()).is_ok_and(|found| found == PAGE);
            due.pop().filter(|_| is_full)
        }
        Err(error) => {
            tracing::warn!(%error, "could not check for due webhooks");
            after
        }
    }
}

/// Gives a receiver its turn.
async fn serve(with: Dispatcher, mut turn: Turn) {
    match serve_turn(&with, &mut turn).await {
        Ok(end) => turn.end = end,
        Err(error) => {
            let agent = turn.agent.as_str();
            tracing::warn!(%error, agent, "could not deliver webhooks of an agent; trying again");
        }
    }
}

/// Attempts some of the due deliveries.
async fn serve_turn(with: &Dispatcher, turn: &mut Turn) -> Result<TurnEnd, Error> {
    let (of, holder, requests_max) =
        (turn.agent.clone(), with.webhooks.holder.clone(), turn.pace().requests_max());
    let claimed = with.db.write(move |tx, now| webhooks::claim(tx, &of, &holder, requests_max, now));
    let batch = match claimed.await? {
        Claim::Off => return Ok(TurnEnd::Off),
        Claim::Idle => return Ok(TurnEnd::Idle),
        Claim::More => return Ok(TurnEnd::More),
        Claim::Batch(batch) => batch,
    };
    let url: Arc<str> = batch.url.as_str().into();
    let attempts: Arc<[Attempt]> = attempt_batch(with, turn, batch).await.into();
    for tries in 1.. {
        let (of, holder) = (turn.agent.clone(), with.webhooks.holder.clone());
        let (url, attempts) = (Arc::clone(&url), Arc::clone(&attempts));
        match with.db.write(move |tx, now| webhooks::record(tx, &of, &holder, &url, &attempts, now)).await {
            Ok(()) => break,
            Err(error) if tries == RECORD_TRIES => return Err(error),
            Err(error) => {
                tracing::warn!(%error, "could not record webhook deliveries; trying again");
                sleep(STORE_PAUSE).await;
            }
        }
    }
    Ok(TurnEnd::More)
}

/// Attempts deliveries concurrently. If the receiver is slow and there is no place for another slow one, the unfinished
/// attempts are dropped: they are repeated when there is.
async fn attempt_batch(with: &Dispatcher, turn: &mut Turn, batch: Batch) -> Vec<Attempt> {
    let (url, secret) = (batch.url.as_str(), batch.secret.as_deref());
    let mut sending: FuturesUnordered<_> =
        batch.deliveries.into_iter().map(|delivery| attempt_delivery(with, url, secret, delivery)).collect();
    let mut attempts = Vec::new();
    let mut quick = std::pin::pin!(sleep(QUICK_MAX));
    let mut is_quick = turn.pace() <= Pace::New;
    let mut measured = Pace::Quick;
    loop {
        tokio::select! {
            sent = sending.next() => match sent {
                Some((attempt, pace)) => {
                    attempts.push(attempt);
                    measured = measured.max(pace);
                }
                None => break,
            },
            () = &mut quick, if is_quick => {
                is_quick = false;
                measured = measured.max(Pace::Slow);
                if !turn.slow_down() {
                    break;
                }
            }
        }
    }
    turn.measured = Some(measured);
    attempts
}

async fn attempt_delivery(
    with: &Dispatcher,
    url: &str,
    secret: Option<&str>,
    mut delivery: Delivery,
) -> (Attempt, Pace) {
    let started = Instant::now();
    let outcome = send::send(with, url, secret, &mut delivery).await;
    let took = started.elapsed();
    let mut random = [0; 1];
    keys::fill_random(&mut random);
    let attempt = Attempt {
        delivery,
        outcome,
        took_ms: i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
        jitter: f64::from(random[0]) / 255.0,
    };
    with.metrics.webhook(attempt.delivered(), took.as_secs_f64());
    let pace = match took {
        took if took >= send::TIME_MAX => Pace::Silent,
        took if took > QUICK_MAX => Pace::Slow,
        _ => Pace::Quick,
    };
    (attempt, pace)
}

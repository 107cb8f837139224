//! Webhook workers: they deliver events to receivers. Receivers take turns, and slow ones have places of their own, so
//! no receiver delays another.

pub mod address;
pub mod dns;
mod push;
mod schedule;
mod send;
mod work;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream::FuturesUnordered;
use futures_util::{Stream, StreamExt as _};
use tandem_app::webhooks::{self, Attempt, Batch, Claim};
use tandem_app::{Error, keys};
use tandem_core::AgentId;
use tandem_seal::webhooks::headers;
use tandem_store::webhooks::Delivery;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::Hub;
use crate::db::{Answer, Db};
use crate::upkeep::housekeeping::Pacing;
use crate::upkeep::metrics::Metrics;
use crate::upkeep::plot_counts::PlotCounts;
use address::{Allowed, Resolver};
pub(crate) use schedule::Receivers;
use schedule::{Pace, ReceiverId, Turn, TurnEnd};
use send::{Post, SendResult};

/// A receiver that takes longer is slow: it continues in a place for slow receivers.
const QUICK_MAX: Duration = Duration::from_millis(500);
/// Pause before a failed query is repeated.
const STORE_PAUSE: Duration = Duration::from_secs(1);
/// How often the results of a turn are written before they are given up and the deliveries repeated.
const RECORD_TRIES: usize = 5;
/// Time from the claim until the attempts have to start. With [`send::TIME_MAX`], they end ten seconds before the lease
/// does, so that clocks that differ by less than that let no other node repeat them. A process that was suspended for
/// longer than this sends nothing.
const START_MAX: Duration = Duration::from_secs(10);
/// Concurrent lookups on behalf of requests that set a URL.
pub(crate) const LOOKUPS_MAX: usize = 64;
/// Pushes that are written at the same time.
pub(crate) const WRITING_MAX: usize = 8;

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
    /// Limits the pushes that are being written: each may have some megabytes in memory.
    pub(crate) writing: Semaphore,
}

/// What delivering webhooks needs.
#[derive(Debug, Clone)]
pub(crate) struct Dispatcher {
    pub(crate) hub: Hub,
    pub(crate) db: Db,
    pub(crate) webhooks: Arc<Webhooks>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) plot_counts: Arc<PlotCounts>,
    /// Whether other processes may use the same database.
    pub(crate) is_shared: bool,
}

/// Serves receivers until the hub stops.
pub(crate) async fn dispatch(with: Dispatcher, mut pacing: Pacing) {
    let mut turns = JoinSet::new();
    tokio::select! {
        () = pacing.stopped() => {}
        // Neither ends by itself.
        _ = async { tokio::join!(work::find(&with), push::find(&with), run_turns(&with, &mut turns)) } => {}
    }
    // Receivers that answer at once get the chance to do so. The other attempts are repeated after the start.
    let _ = timeout(QUICK_MAX, async { while turns.join_next().await.is_some() {} }).await;
}

async fn run_turns(with: &Dispatcher, turns: &mut JoinSet<()>) {
    let receivers = &with.webhooks.receivers;
    loop {
        tokio::select! {
            () = receivers.rung() => {}
            Some(_) = turns.join_next() => {}
        }
        while let Some(turn) = receivers.next_turn() {
            turns.spawn(serve(with.clone(), turn));
        }
    }
}

/// Gives a receiver its turn.
async fn serve(with: Dispatcher, mut turn: Turn) {
    let served = match turn.of.clone() {
        ReceiverId::Webhook(agent) => serve_webhook(&with, &mut turn, &agent).await,
        ReceiverId::Push { task, id, .. } => Box::pin(push::serve(&with, &mut turn, &task, &id)).await,
    };
    match served {
        Ok(end) => turn.end = end,
        Err(error) => {
            let (ReceiverId::Webhook(agent) | ReceiverId::Push { owner: agent, .. }) = &turn.of;
            let agent = agent.as_str();
            tracing::warn!(%error, agent, "could not deliver webhooks of an agent; trying again");
        }
    }
}

/// Attempts some of the due deliveries.
async fn serve_webhook(with: &Dispatcher, turn: &mut Turn, agent: &AgentId) -> Result<TurnEnd, Error> {
    let claimed_at = Instant::now();
    let (of, holder, requests_max) =
        (agent.clone(), with.webhooks.holder.clone(), turn.pace().requests_max());
    let claimed = with.db.write(move |tx, now| webhooks::claim(tx, &of, &holder, requests_max, now));
    let batch = match claimed.await? {
        Claim::Off => return Ok(TurnEnd::Off),
        Claim::Idle => return Ok(TurnEnd::Idle),
        Claim::More => return Ok(TurnEnd::More),
        Claim::Batch(batch) => batch,
    };
    let url: Arc<str> = batch.url.as_str().into();
    let attempts: Arc<[Attempt]> = attempt_batch(with, turn, batch, claimed_at + START_MAX).await.into();
    recorded(|| {
        let (of, holder) = (agent.clone(), with.webhooks.holder.clone());
        let (url, attempts) = (Arc::clone(&url), Arc::clone(&attempts));
        with.db.write(move |tx, now| webhooks::record(tx, &of, &holder, &url, &attempts, now))
    })
    .await?;
    Ok(TurnEnd::More)
}

/// Writes what came of a turn, more than once if the store cannot be reached.
async fn recorded<'a>(write: impl Fn() -> Answer<'a, ()>) -> Result<(), Error> {
    for tries in 1.. {
        match write().await {
            Ok(()) => break,
            Err(error) if tries == RECORD_TRIES => return Err(error),
            Err(error) => {
                tracing::warn!(%error, "could not record webhook deliveries; trying again");
                sleep(STORE_PAUSE).await;
            }
        }
    }
    Ok(())
}

/// Attempts deliveries concurrently.
async fn attempt_batch(with: &Dispatcher, turn: &mut Turn, batch: Batch, start_by: Instant) -> Vec<Attempt> {
    if Instant::now() > start_by {
        return Vec::new();
    }
    let end_by = start_by + send::TIME_MAX;
    let (url, secret) = (batch.url.as_str(), batch.secret.as_deref());
    let sending: FuturesUnordered<_> = batch
        .deliveries
        .into_iter()
        .map(|delivery| attempt_delivery(with, url, secret, delivery, end_by))
        .collect();
    attempt_all(turn, sending).await
}

/// Makes the attempts of a turn. If the receiver is slow and there is no place for another slow one, the unfinished attempts
/// are dropped: they are repeated when there is.
async fn attempt_all<A>(turn: &mut Turn, sending: impl Stream<Item = (A, Pace)>) -> Vec<A> {
    let mut sending = std::pin::pin!(sending);
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
    end_by: Instant,
) -> (Attempt, Pace) {
    let timestamp = with.db.time().0 / 1_000;
    // Nothing needs the body afterwards.
    let body = std::mem::take(&mut delivery.body);
    let headers = headers(secret, delivery.id.as_str(), timestamp, &body);
    let post = Post { url, content_type: "application/json", headers, body };
    let (tried, pace) = attempt_once(with, post, end_by).await;
    let Tried { outcome, took_ms, jitter } = tried;
    let attempt = Attempt { delivery, outcome, took_ms, jitter };
    with.plot_counts.count_attempt(&attempt.delivery.agent, attempt.delivered());
    (attempt, pace)
}

/// What came of one attempt.
struct Tried {
    outcome: SendResult,
    took_ms: i64,
    jitter: f64,
}

async fn attempt_once(with: &Dispatcher, post: Post<'_>, end_by: Instant) -> (Tried, Pace) {
    let started = Instant::now();
    let end_by = end_by.min(started + send::TIME_MAX);
    let outcome = send::send(with, post, end_by).await;
    let took = started.elapsed();
    let mut random = [0; 1];
    keys::fill_random(&mut random);
    with.metrics.webhook(matches!(outcome, Ok((200..=299, _))), took.as_secs_f64());
    let pace = match took {
        took if took >= send::TIME_MAX => Pace::Silent,
        took if took > QUICK_MAX => Pace::Slow,
        _ => Pace::Quick,
    };
    let took_ms = i64::try_from(took.as_millis()).unwrap_or(i64::MAX);
    (Tried { outcome, took_ms, jitter: f64::from(random[0]) / 255.0 }, pace)
}

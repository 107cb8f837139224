//! The timer: finds due deadlines and handles each once. An idle check reads one index row.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use tandem_app::Error;
use tandem_app::{deadlines, guests};
use tandem_core::Timestamp;
use tandem_core::deadlines::Deadline;

use crate::db::Db;
use crate::upkeep::housekeeping::Pacing;
use crate::upkeep::metrics::Metrics;

/// Interval between checks.
const POLL_EVERY: Duration = Duration::from_millis(200);
/// How far a clock is set back at least. A smaller step only delays a lease by as much.
const SET_BACK_MS: i64 = 1_000;
/// Deadlines handled concurrently; they share commits.
const CONCURRENT_MAX: usize = 64;

/// Handles due deadlines until the hub stops.
pub(crate) async fn run(db: Db, metrics: Arc<Metrics>, mut pacing: Pacing) {
    let mut look = tokio::time::interval(POLL_EVERY);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut looked_at = None;
    while pacing.tick(&mut look).await {
        let now = db.time();
        // At the start, nobody knows how the clock was before.
        if looked_at.is_none_or(|before: Timestamp| now.ms_since(before) < -SET_BACK_MS)
            && let Err(error) = rewind(&db).await
        {
            tracing::warn!(%error, "could not shorten leases from before the clock was set back");
            continue;
        }
        looked_at = Some(now);
        loop {
            match pass(&db, &metrics).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!(%error, "could not check for due deadlines");
                    break;
                }
            }
        }
    }
}

/// Shortens leases that the clock, set back, would have last too long.
async fn rewind(db: &Db) -> Result<(), Error> {
    while db.write(deadlines::rewind).await? {}
    Ok(())
}

/// Claims and handles one batch. Returns whether there may be more.
async fn pass(db: &Db, metrics: &Metrics) -> Result<bool, Error> {
    let (any_due, any_expired) = db.read(deadlines::any_due).await?;
    metrics.timer_checks.inc();
    let mut more = false;
    if any_due {
        let claimed = db.write(deadlines::claim).await?;
        stream::iter(claimed.deadlines)
            .for_each_concurrent(CONCURRENT_MAX, |deadline| handle(db, metrics, deadline))
            .await;
        more = claimed.more;
    }
    if any_expired {
        more |= db.write(guests::expire).await?;
    }
    Ok(more)
}

/// Handles one deadline. If that fails, the lease of the claim runs out and it is handled again; other deadlines are
/// not delayed.
async fn handle(db: &Db, metrics: &Metrics, deadline: Deadline) {
    let late_ms = db.time().ms_since(deadline.due_at);
    let (task, due) = (deadline.task.clone(), deadline.due);
    match db.write(move |tx, now| deadlines::handle(tx, &deadline, now)).await {
        Ok(()) => metrics.deadline_handled(late_ms),
        Err(error) => {
            tracing::error!(%error, task = task.as_str(), due = due.as_str(), "could not handle a deadline");
        }
    }
}

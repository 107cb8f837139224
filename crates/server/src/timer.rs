//! The timer: looks for deadlines that have come, and has each handled once. Waiting costs one look at the
//! first row of an index.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use tandem_app::Error;
use tandem_app::deadlines;
use tandem_core::deadlines::Deadline;

use crate::housekeeping::Pace;
use crate::hub::Hub;

/// How often to look.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How many deadlines are handled at once; they share commits like everything else that waits.
const AT_ONCE: usize = 64;

/// Handles due work until it is told to stop, between two looks.
pub(crate) async fn run(hub: Hub, mut pace: Pace) {
    let mut look = tokio::time::interval(LOOK_EVERY);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    while pace.tick(&mut look).await {
        loop {
            match pass(&hub).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!(%error, "cannot look for due work");
                    break;
                }
            }
        }
    }
}

/// Claims one batch and handles it; true when there may be more.
async fn pass(hub: &Hub) -> Result<bool, Error> {
    if !hub.read(deadlines::any_due).await? {
        return Ok(false);
    }
    let claimed = hub.write(deadlines::claim).await?;
    stream::iter(claimed.deadlines).for_each_concurrent(AT_ONCE, |deadline| meet(hub, deadline)).await;
    Ok(claimed.more)
}

/// Handles one deadline. If that fails, others are not held up: the claim runs out, and it is tried again.
async fn meet(hub: &Hub, deadline: Deadline) {
    let late_ms = hub.clock.now().ms_since(deadline.due_at);
    let (task, due) = (deadline.task.clone(), deadline.due);
    match hub.write(move |tx, now| deadlines::meet(tx, &deadline, now)).await {
        Ok(()) => hub.metrics.deadline_met(late_ms),
        Err(error) => {
            tracing::error!(%error, task = task.as_str(), due = due.as_str(), "could not handle a deadline");
        }
    }
}

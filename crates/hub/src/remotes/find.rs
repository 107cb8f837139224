//! The work list: which remotes have something to do. It is read from the database, so that each node finds what another one
//! could not finish. The effects of commits only make it faster.

use std::time::Duration;

use tandem_app::{Error, remotes};
use tandem_core::{AgentId, Timestamp};
use tokio::time::{MissedTickBehavior, interval};

use crate::HubParts;

/// Interval of the check for what is due.
const DUE_EVERY: Duration = Duration::from_millis(250);
/// A page of all remotes is looked through with every fourth of them.
const PAGE_EVERY: u32 = 4;
/// Remotes per query.
const PAGE: i64 = 500;

/// Finds work until the hub stops. A slow database delays only this, never the remotes whose turn it is.
pub(super) async fn find(hub: &HubParts) {
    let mut look = interval(DUE_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut due_after, mut page_after) = (None, String::new());
    let mut has_looked = false;
    let is_shared = hub.cluster.topology.has_shared_database();
    for count in 0_u32.. {
        look.tick().await;
        hub.remotes.queue.wake_postponed();
        // Only this process can have added a remote to its own database, and it knows of that.
        let may_be_new = !has_looked || is_shared || !hub.remotes.queue.is_empty();
        if may_be_new && count.is_multiple_of(PAGE_EVERY) {
            page_after = match look_through(hub, page_after.clone()).await {
                Ok(next) => {
                    has_looked = true;
                    next
                }
                Err(error) => {
                    tracing::warn!(%error, "could not look through the remotes");
                    page_after
                }
            };
        }
        if !hub.remotes.queue.is_empty() {
            due_after = add_due(hub, due_after).await;
        }
    }
}

/// Looks at one page of all remotes: which of them have events that nobody has looked at. Returns where to go on.
async fn look_through(hub: &HubParts, after: String) -> Result<String, Error> {
    let from = after.clone();
    let page = hub.db.read(move |tx, _| remotes::all(tx, &from, PAGE)).await?;
    let Some(last) = page.last().cloned() else { return Ok(String::new()) };
    hub.remotes.queue.know(&page);
    let (holder, to) = (hub.webhooks.holder.clone(), last.clone());
    let behind = hub.db.read(move |tx, now| remotes::behind(tx, &holder, &after, &to, now)).await?;
    hub.remotes.queue.wake(&behind);
    let is_full = i64::try_from(page.len()).is_ok_and(|found| found == PAGE);
    Ok(if is_full { last.to_string() } else { String::new() })
}

/// Wakes one page of the remotes with something due. Returns where the next page starts, so that those at the front that have to
/// wait for their turn do not hide the others.
async fn add_due(hub: &HubParts, after: Option<(Timestamp, AgentId)>) -> Option<(Timestamp, AgentId)> {
    let from = after.clone();
    match hub.db.read(move |tx, now| remotes::due(tx, from.as_ref(), now, PAGE)).await {
        Ok(due) => {
            let is_full = i64::try_from(due.len()).is_ok_and(|found| found == PAGE);
            let next = due.last().cloned().filter(|_| is_full);
            let agents: Vec<AgentId> = due.into_iter().map(|(_, agent)| agent).collect();
            hub.remotes.queue.wake(&agents);
            next
        }
        Err(error) => {
            tracing::warn!(%error, "could not check for due work of remotes");
            after
        }
    }
}

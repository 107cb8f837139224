//! The work list: which receivers have something to deliver. It is read from the database, so that each node finds the
//! work that another one could not finish. The effects of commits only make it faster.

use std::time::Duration;

use tandem_app::{Error, webhooks};
use tandem_core::{AgentId, Timestamp};
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::delivery::webhooks::{Dispatcher, STORE_PAUSE};

/// Interval of the check for due deliveries.
const DUE_EVERY: Duration = Duration::from_millis(250);
/// The check for events that nobody delivers comes with every fourth of them, and so do the checks of a node that
/// knows of no webhook.
const BEHIND_EVERY: u32 = 4;
/// Agents per query.
const PAGE: i64 = 1_000;

/// Finds work until the hub stops. A slow database delays only this, never the receivers whose turn it is.
pub(super) async fn find(with: &Dispatcher) {
    tokio::join!(load(with), poll(with));
}

async fn poll(with: &Dispatcher) {
    let mut look = interval(DUE_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut due_after, mut behind_after) = (None, None);
    for count in 0_u32.. {
        look.tick().await;
        let is_fourth = count.is_multiple_of(BEHIND_EVERY);
        let receivers = &with.webhooks.receivers;
        receivers.wake_postponed();
        // Only this process can have added a webhook to its own database.
        if receivers.is_empty() && !(with.is_shared && is_fourth) {
            continue;
        }
        due_after = add_due(with, due_after).await;
        if is_fourth || behind_after.is_some() {
            behind_after = add_behind(with, behind_after).await;
        }
    }
}

/// Loads the agents with a webhook, so that their events wake them at once, and those whose deliveries this node had
/// when it was stopped.
async fn load(with: &Dispatcher) {
    let mut after = String::new();
    loop {
        match load_page(with, &after).await {
            Ok(Some(last)) => after = last.to_string(),
            // What was left when the hub was down does not wait for the next check.
            Ok(None) => {
                add_due(with, None).await;
                add_behind(with, None).await;
                return;
            }
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
    receivers.activate(&page);
    let (from, to) = (after.to_owned(), last.clone());
    with.db.write(move |tx, _| webhooks::list_missing(tx, &from, &to)).await?;
    let (from, to, holder) = (after.to_owned(), last.clone(), with.webhooks.holder.clone());
    let interrupted =
        with.db.read(move |tx, _| webhooks::interrupted_agents(tx, &holder, &from, &to)).await?;
    receivers.wake_listed(&interrupted);
    Ok(Some(last))
}

/// Wakes one page of the agents with a due delivery. Returns where the next page starts, so that those at the front
/// that have to wait for their turn do not hide the others.
async fn add_due(with: &Dispatcher, after: Option<(Timestamp, AgentId)>) -> Option<(Timestamp, AgentId)> {
    let from = after.clone();
    match with.db.read(move |tx, now| webhooks::due_agents(tx, from.as_ref(), now, PAGE)).await {
        Ok(due) => {
            let next = due.last().cloned().filter(|_| is_full(due.len()));
            let agents: Vec<AgentId> = due.into_iter().map(|(_, agent)| agent).collect();
            with.webhooks.receivers.wake_listed(&agents);
            next
        }
        Err(error) => {
            tracing::warn!(%error, "could not check for due webhooks");
            after
        }
    }
}

/// Wakes one page of the agents with events that nobody delivers. Returns where the next page starts.
async fn add_behind(with: &Dispatcher, after: Option<AgentId>) -> Option<AgentId> {
    let from = after.as_ref().map_or("", AgentId::as_str).to_owned();
    match with.db.read(move |tx, now| webhooks::behind_agents(tx, &from, now, PAGE)).await {
        Ok(mut behind) => {
            with.webhooks.receivers.wake_listed(&behind);
            let is_full = is_full(behind.len());
            behind.pop().filter(|_| is_full)
        }
        Err(error) => {
            tracing::warn!(%error, "could not check for undelivered events");
            after
        }
    }
}

fn is_full(found: usize) -> bool {
    i64::try_from(found).is_ok_and(|found| found == PAGE)
}

//! The caller's event log.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::value::RawValue;
use tandem_api::events::{AckCursor, Acknowledged, EventView, EventsPage, EventsQuery};
use tandem_api::text::HubText;
use tandem_app::Invalid;
pub use tandem_app::events::Newest;
use tandem_app::events::{self, LogPage};
use tandem_core::TaskId;
use tandem_store::events::Logged;
use tokio::time::timeout;

use crate::delivery::bus::Transport;
use crate::delivery::feed::{Feed, Start};
use crate::{Caller, Error, Hub, HubParts, Listed};

/// Maximum duration of a long poll.
const WAIT_SECONDS_MAX: i64 = 60;

/// The caller's events, oldest first. With `wait`, the response comes as soon as there is an event.
pub async fn read(hub: &Hub, caller: &Caller, query: EventsQuery) -> Result<EventsPage, Error> {
    for (name, value) in [("after", query.after), ("wait", query.wait)] {
        if value.is_some_and(|value| value < 0) {
            return Err(Invalid::field(name, "must not be negative").into());
        }
    }
    // A cursor of another epoch means nothing here.
    let after = query.after.filter(|_| query.epoch.is_none_or(|epoch| epoch == hub.epoch));
    let mut page = read_log(hub, caller, after).await?;
    let wait = query.wait.unwrap_or(0).min(WAIT_SECONDS_MAX);
    if page.events.is_empty() && wait > 0 {
        let mut feed = Feed::open(hub, &caller.agent, Start::After(page.cursor), Transport::Poll).await?;
        // A key that ended before the feed was open does not end the wait.
        hub.access.check(caller).await?;
        let waited = timeout(Duration::from_secs(wait.unsigned_abs()), feed.next()).await;
        hub.access.check(caller).await?;
        if let Ok(fed) = waited {
            fed?;
            page = read_log(hub, caller, Some(page.cursor)).await?;
        }
    }
    if page.is_new && !caller.is_person {
        hub.marks.polled(&caller.agent, page.cursor, events::assigned_tasks(&page.events), hub.time());
    }
    let events = page.events.into_iter().map(view).collect();
    Ok(EventsPage { events, cursor: page.cursor, has_more: page.has_more, epoch: HubText::new(&hub.epoch) })
}

async fn read_log(hub: &HubParts, caller: &Caller, after: Option<i64>) -> Result<LogPage, Error> {
    let by = caller.agent.clone();
    hub.read(caller, move |tx, _| events::read(tx, &by, after)).await
}

/// Converts a stored event into its wire type.
#[must_use]
pub fn view(event: Logged) -> EventView {
    EventView {
        id: event.seq,
        kind: event.kind.into(),
        task_id: event.task,
        from_agent_id: event.from,
        data: RawValue::from_string(event.data).unwrap_or_default(),
        created_at: event.at,
    }
}

/// Events on one page of the log.
const PAGE: i64 = 50;

/// The caller's events, newest first, for people. Reading them leaves no mark: the agent has not seen them.
pub async fn newest(hub: &HubParts, caller: &Caller, wanted: Newest) -> Result<Listed<EventView>, Error> {
    let by = caller.agent.clone();
    let page = hub.read(caller, move |tx, _| events::newest(tx, &by, &wanted, PAGE)).await?;
    Ok(Listed::new(page, view, ToString::to_string))
}

/// Acknowledges the log up to a cursor. Reading without `after` starts there.
pub async fn acknowledge(hub: &HubParts, caller: &Caller, body: AckCursor) -> Result<Acknowledged, Error> {
    let by = caller.agent.clone();
    let cursor = hub.write(caller, move |tx, _| events::acknowledge(tx, &by, body.cursor)).await?;
    Ok(Acknowledged { acknowledged: true, cursor, epoch: HubText::new(&hub.epoch) })
}

/// Titles of tasks, by their ids.
pub type Titles = HashMap<TaskId, String>;

/// The titles of the tasks that events are about, as far as the caller may see them.
pub async fn titles_of(hub: &HubParts, caller: &Caller, events: &[EventView]) -> Result<Titles, Error> {
    let mut ids: Vec<TaskId> = events.iter().filter_map(|event| event.task_id.clone()).collect();
    ids.sort();
    ids.dedup();
    let by = caller.agent.clone();
    Ok(hub.read(caller, move |tx, _| tandem_app::tasks::titles(tx, &by, &ids)).await?.into_iter().collect())
}

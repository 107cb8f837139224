//! The caller's own event log.

use std::time::Duration;

use axum::extract::State;
use serde_json::value::RawValue;
use tandem_api::events::{AckCursor, Acknowledged, EventView, EventsPage, EventsQuery};
use tandem_app::Invalid;
use tandem_app::events::{self, Look};
use tandem_core::AgentId;
use tandem_store::events::Logged;
use tokio::time::timeout;

use crate::bus::Way;
use crate::http::front::Caller;
use crate::http::{Answer, ApiError, Input, Json, Query};
use crate::hub::Hub;
use crate::push::feed::Feed;

/// The longest a request waits for an event.
const WAIT_SECONDS_MAX: i64 = 60;

/// What has happened to you, oldest first, a hundred at a time.
///
/// With `wait`, the answer comes as soon as there is something to tell, and empty when the time is over.
#[utoipa::path(get, path = "/events", tag = "events", params(EventsQuery), responses((status = 200, body = EventsPage)))]
pub(crate) async fn read(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Query(query): Query<EventsQuery>,
) -> Answer<EventsPage> {
    for (name, value) in [("after", query.after), ("wait", query.wait)] {
        if value.is_some_and(|value| value < 0) {
            return Err(Invalid::field(name, "must not be negative").into());
        }
    }
    let mut look = read_log(&hub, &me, query.after).await?;
    let wait = query.wait.unwrap_or(0).min(WAIT_SECONDS_MAX);
    if look.events.is_empty() && wait > 0 {
        let mut feed = Feed::open(&hub, &me, Some(look.cursor), Way::Poll).await?;
        let waited = timeout(Duration::from_secs(wait.unsigned_abs()), feed.next()).await;
        if let Ok(fed) = waited {
            fed?;
            look = read_log(&hub, &me, Some(look.cursor)).await?;
        }
    }
    if look.is_new {
        let (cursor, tasks) = (look.cursor, events::handed_over(&look.events));
        hub.write(move |tx, now| events::note_fetched(tx, &me, cursor, &tasks, now)).await?;
    }
    let events = look.events.into_iter().map(view).collect();
    Ok(Json(EventsPage { events, cursor: look.cursor, has_more: look.has_more }))
}

async fn read_log(hub: &Hub, me: &AgentId, after: Option<i64>) -> Result<Look, ApiError> {
    let by = me.clone();
    Ok(hub.read(move |tx, _| events::read(tx, &by, after)).await?)
}

/// An event as it is shown.
pub(crate) fn view(event: Logged) -> EventView {
    EventView {
        id: event.seq,
        kind: event.kind,
        task_id: event.task,
        from_agent_id: event.from,
        data: RawValue::from_string(event.data).unwrap_or_default(),
        created_at: event.at,
    }
}

/// Acknowledge the log up to a cursor; reading without `after` begins there.
#[utoipa::path(post, path = "/events/ack", tag = "events", request_body = AckCursor,
    responses((status = 200, body = Acknowledged)))]
pub(crate) async fn acknowledge(
    State(hub): State<Hub>,
    Caller(me): Caller,
    input: Input<AckCursor>,
) -> Answer<Acknowledged> {
    let cursor = input.body?.cursor;
    let cursor = hub.write(move |tx, _| events::acknowledge(tx, &me, cursor)).await?;
    Ok(Json(Acknowledged { acknowledged: true, cursor }))
}

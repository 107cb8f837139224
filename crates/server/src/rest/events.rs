//! The caller's own event log.

use axum::extract::State;
use tandem_api::events::{AckCursor, Acknowledged, EventView, EventsPage, EventsQuery};
use tandem_app::{Invalid, events};

use crate::http::front::Caller;
use crate::http::{Answer, Input, Json, Query};
use crate::hub::Hub;

/// What has happened to you, oldest first, a hundred at a time.
#[utoipa::path(get, path = "/events", tag = "events", params(EventsQuery), responses((status = 200, body = EventsPage)))]
pub(crate) async fn read(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Query(query): Query<EventsQuery>,
) -> Answer<EventsPage> {
    if query.after.is_some_and(|after| after < 0) {
        return Err(Invalid::field("after", "must not be negative").into());
    }
    let look = hub.read(move |tx, _| events::read(tx, &me, query.after)).await?;
    let events = look
        .events
        .into_iter()
        .map(|event| EventView {
            id: event.seq,
            kind: event.kind,
            task_id: event.task,
            from_agent_id: event.from,
            data: serde_json::from_str(&event.data).unwrap_or_default(),
            created_at: event.at,
        })
        .collect();
    Ok(Json(EventsPage { events, cursor: look.cursor, has_more: look.has_more }))
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

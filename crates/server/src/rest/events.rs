//! The caller's event log.

use axum::extract::State;
use tandem_api::events::{AckCursor, Acknowledged, EventsPage, EventsQuery, TicketView};
use tandem_hub::Hub;
use tandem_hub::ops::{events, tickets};

use crate::http::visitor::Authenticated;
use crate::http::{Answer, Input, Json, Query};

/// Read your event log, oldest first, up to 100 events per page.
///
/// With `wait`, the answer comes as soon as there is an event. It is empty if none comes in time.
#[utoipa::path(get, path = "/events", tag = "events", params(EventsQuery), responses((status = 200, body = EventsPage)))]
pub(crate) async fn read(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Query(query): Query<EventsQuery>,
) -> Answer<EventsPage> {
    Ok(Json(events::read(&hub, &caller, query).await?))
}

/// Acknowledge the log up to a cursor. Reading without `after` starts there.
#[utoipa::path(post, path = "/events/ack", tag = "events", request_body = AckCursor,
    responses((status = 200, body = Acknowledged)))]
pub(crate) async fn acknowledge(State(hub): State<Hub>, input: Input<AckCursor>) -> Answer<Acknowledged> {
    Ok(Json(events::acknowledge(&hub, &input.caller, input.body).await?))
}

/// Get a ticket for a browser's WebSocket.
///
/// Valid for one connection within 30 seconds, while your key is valid.
#[utoipa::path(post, path = "/ws/ticket", tag = "push", responses((status = 200, body = TicketView)))]
pub(crate) async fn ticket(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
) -> Answer<TicketView> {
    Ok(Json(tickets::issue(&hub, &caller).await?))
}

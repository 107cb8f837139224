//! Tickets: a browser cannot send a key with a WebSocket, so it buys a ticket with it first.

use axum::extract::State;
use serde::Serialize;
use tandem_core::{AgentId, Timestamp};
use utoipa::ToSchema;

use crate::http::front::Caller;
use crate::http::{Answer, ApiError, Json};
use crate::hub::Hub;

/// A ticket for one socket or stream.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TicketView {
    /// Goes into the address as `?ticket=`.
    pub ticket: String,
    /// Until when it can be used, once.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// A ticket for a browser's WebSocket.
///
/// Good for one connection within 30 seconds, as long as the key is that bought it.
#[utoipa::path(post, path = "/ws/ticket", tag = "push", responses((status = 200, body = TicketView)))]
pub(crate) async fn issue(State(hub): State<Hub>, Caller(me): Caller) -> Answer<TicketView> {
    let by = me.clone();
    let mark = hub.read(move |tx, _| tandem_app::ticket::key_mark(tx, &by)).await?;
    let mark = mark.ok_or(ApiError::Unauthorized)?;
    let (ticket, expires_at) = hub.tickets.issue(&me, &mark, hub.clock.now());
    Ok(Json(TicketView { ticket, expires_at }))
}

/// Whose ticket this is; it cannot be used again.
pub(crate) async fn redeem(hub: &Hub, ticket: &str) -> Result<AgentId, ApiError> {
    let paid = hub.tickets.check(ticket, hub.clock.now()).ok_or(ApiError::Unauthorized)?;
    let agent = paid.agent.clone();
    let used = hub.write(move |tx, _| tandem_app::ticket::redeem(tx, &paid)).await?;
    if used { Ok(agent) } else { Err(ApiError::Unauthorized) }
}

//! The caller's inbox and updates.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::events::{AckCursor, Acknowledged};
use tandem_api::inbox::InboxView;
use tandem_api::tasks::PageQuery;
use tandem_api::updates::UpdatesView;
use tandem_hub::Hub;
use tandem_hub::ops::{inbox, updates};

use crate::http::visitor::{Authenticated, SentUri};
use crate::http::{Answer, ApiError, Input, Json, Query, json, json_response, linked};

/// List your inbox.
///
/// Submitted tasks, tasks that need your approval, threads with unread messages, and broadcasts: by priority, then
/// oldest first. A broadcast stays until its event is acknowledged with `POST /events/ack` or `POST /updates/ack`.
#[utoipa::path(get, path = "/inbox", tag = "updates", params(PageQuery),
    responses((status = 200, body = InboxView)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let mut view = inbox::list(&hub, &caller, query).await?;
    // REST sends the cursor in a header, as for all lists.
    let next = view.next_cursor.take();
    Ok(linked(json_response(StatusCode::OK, json(&view)), next.as_ref().map(|next| next.as_str()), &uri))
}

/// Get your pending tasks, approvals and unseen messages.
#[utoipa::path(get, path = "/updates", tag = "updates", responses((status = 200, body = UpdatesView)))]
pub(crate) async fn updates(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
) -> Answer<UpdatesView> {
    Ok(Json(updates::check(&hub, &caller).await?))
}

/// Acknowledge messages up to a cursor.
#[utoipa::path(post, path = "/updates/ack", tag = "updates", request_body = AckCursor,
    responses((status = 200, body = Acknowledged)))]
pub(crate) async fn acknowledge(State(hub): State<Hub>, input: Input<AckCursor>) -> Answer<Acknowledged> {
    Ok(Json(updates::acknowledge(&hub, &input.caller, input.body).await?))
}

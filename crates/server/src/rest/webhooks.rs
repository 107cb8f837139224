//! The caller's webhook deliveries.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::tasks::PageQuery;
use tandem_api::webhooks::DeliveryView;
use tandem_app::webhooks;
use tandem_core::DeliveryId;
use tandem_store::webhooks::Delivery;

use crate::http::front::{Caller, SentUri};
use crate::http::{ApiError, Input, Param, Query, paging};
use crate::hub::Hub;
use crate::rest::connections::Nothing;
use crate::rest::id;

/// How much of a request the log shows.
const REQUEST_BYTES_MAX: usize = 4 * 1024;

fn view(delivery: Delivery) -> DeliveryView {
    let mut request = delivery.body;
    request.truncate(request.floor_char_boundary(REQUEST_BYTES_MAX));
    DeliveryView {
        id: delivery.id,
        event: delivery.event_type,
        event_id: delivery.event_seq,
        url: delivery.url,
        status: delivery.state,
        attempts: delivery.attempts,
        next_attempt_at: delivery.next_at,
        last_attempt_at: delivery.answered_at,
        request,
        response_status: delivery.answer_status,
        response: delivery.answer,
        error: delivery.error,
        duration_ms: delivery.took_ms,
        created_at: delivery.created_at,
    }
}

/// What was sent to your webhook, newest first.
#[utoipa::path(get, path = "/webhooks/deliveries", tag = "webhooks", params(PageQuery),
    responses((status = 200, body = Vec<DeliveryView>)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Caller(me): Caller,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let limit = paging::LIST.of(query.limit)?;
    let before = paging::place(query.cursor.as_deref())?;
    let page = hub.read(move |tx, _| webhooks::list(tx, &me, before.as_ref(), limit)).await?;
    let views: Vec<DeliveryView> = page.items.into_iter().map(view).collect();
    paging::list(&views, page.next.as_ref().map(paging::cursor).as_deref(), &uri)
}

/// Send a delivery again.
///
/// Under the same `webhook-id`, at once, with all its tries before it.
#[utoipa::path(post, path = "/webhooks/deliveries/{id}/replay", tag = "webhooks", params(("id" = String, Path)),
    responses((status = 200, body = DeliveryView)))]
pub(crate) async fn replay(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(delivery): Param<String>,
    input: Input<Nothing>,
) -> Result<Response, ApiError> {
    let delivery: DeliveryId = id(&delivery, "delivery")?;
    input.body?;
    let by = me.clone();
    let answer = hub
        .answer_once(&me, input.key, StatusCode::OK, move |tx, now| {
            Ok(view(webhooks::replay(tx, &by, &delivery, now)?))
        })
        .await;
    hub.receivers.wake(me);
    answer
}

/// Send your webhook a test.
///
/// An event of type `ping`; how it went stands in the log of deliveries.
#[utoipa::path(post, path = "/webhooks/ping", tag = "webhooks", responses((status = 201, body = DeliveryView)))]
pub(crate) async fn ping(
    State(hub): State<Hub>,
    Caller(me): Caller,
    input: Input<Nothing>,
) -> Result<Response, ApiError> {
    input.body?;
    let by = me.clone();
    let answer = hub
        .answer_once(&me, input.key, StatusCode::CREATED, move |tx, now| {
            Ok(view(webhooks::ping(tx, &by, now)?))
        })
        .await;
    hub.receivers.wake(me);
    answer
}

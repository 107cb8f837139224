//! The caller's webhook deliveries.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::tasks::PageQuery;
use tandem_api::webhooks::DeliveryView;
use tandem_hub::Hub;
use tandem_hub::ops::{parse_id, webhooks};

use crate::http::input::EmptyBody;
use crate::http::visitor::{Authenticated, SentUri};
use crate::http::{self, ApiError, Input, Param, Query, answer};

/// List the deliveries to your webhook, newest first.
#[utoipa::path(get, path = "/webhooks/deliveries", tag = "webhooks", params(PageQuery),
    responses((status = 200, body = Vec<DeliveryView>)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    Ok(http::list(&webhooks::list(&hub, &caller, query).await?, &uri))
}

/// Send a delivery again.
///
/// It is sent at once with the same `webhook-id`, and with all retries.
#[utoipa::path(post, path = "/webhooks/deliveries/{id}/replay", tag = "webhooks", params(("id" = String, Path)),
    responses((status = 200, body = DeliveryView)))]
pub(crate) async fn replay(
    State(hub): State<Hub>,
    Param(delivery): Param<String>,
    input: Input<EmptyBody>,
) -> Result<Response, ApiError> {
    let delivery = webhooks::replay(&hub, &input.caller, &parse_id(&delivery, "delivery")?).await?;
    Ok(answer(&input.caller, StatusCode::OK, &delivery))
}

/// Send a test event to your webhook.
///
/// An event of type `ping`; the list of deliveries shows the result.
#[utoipa::path(post, path = "/webhooks/ping", tag = "webhooks", responses((status = 201, body = DeliveryView)))]
pub(crate) async fn ping(State(hub): State<Hub>, input: Input<EmptyBody>) -> Result<Response, ApiError> {
    let delivery = webhooks::ping(&hub, &input.caller).await?;
    Ok(answer(&input.caller, StatusCode::CREATED, &delivery))
}

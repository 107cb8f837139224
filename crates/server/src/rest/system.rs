//! The hub about itself.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use tandem_api::system::{Health, Ready};

use crate::http::front::{Address, Identity};
use crate::http::{Answer, ApiError, Json};
use crate::hub::Hub;

/// The hub is there.
#[utoipa::path(get, path = "/health", tag = "hub", security(()), responses((status = 200, body = Health)))]
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// The hub can work: its database answers and is up to date.
#[utoipa::path(get, path = "/ready", tag = "hub", security(()), responses((status = 200, body = Ready)))]
pub(crate) async fn ready(State(hub): State<Hub>) -> Answer<Ready> {
    hub.read(|tx, _| tandem_app::admin::ping(tx)).await?;
    Ok(Json(Ready { status: "ready", database: hub.database }))
}

/// Figures for Prometheus; for the operator, and for this machine.
#[utoipa::path(get, path = "/metrics", tag = "hub", responses((status = 200, content_type = "text/plain", body = String)))]
pub(crate) async fn metrics(
    State(hub): State<Hub>,
    address: Address,
    headers: HeaderMap,
    identity: axum::Extension<Identity>,
) -> Result<Response, ApiError> {
    // Behind a proxy everything comes from this machine, so there the token is needed.
    let forwarded = hub.config.behind_proxy || headers.contains_key("x-forwarded-for");
    let local = address.ip.to_canonical().is_loopback() && !forwarded;
    match identity.0 {
        Identity::Admin => {}
        _ if local => {}
        Identity::Agent(_) => return Err(ApiError::AdminOnly),
        Identity::Guest | Identity::Unknown => return Err(ApiError::Unauthorized),
    }
    let page = hub.metrics.page(&hub.store.stats().figures(), hub.bus.open());
    let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], page).into_response())
}

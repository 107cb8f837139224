//! Health, readiness and metrics.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use tandem_api::system::{Health, HealthStatus, Ready, ReadyStatus};
use tandem_api::text::HubText;
use tandem_hub::metrics::MetricsFormat;
use tandem_hub::ops::admin;
use tandem_hub::{Error, Hub};

use crate::http::visitor::{FromAddress, Identity};
use crate::http::{Answer, ApiError, Json, error, origin};

/// Check that the hub is running.
#[utoipa::path(get, path = "/health", tag = "hub", security(()), responses((status = 200, body = Health)))]
pub(crate) async fn health(State(hub): State<Hub>) -> Json<Health> {
    Json(Health {
        status: HealthStatus::Ok,
        version: HubText::new(env!("CARGO_PKG_VERSION")),
        public_url: hub.config.public_address().map(HubText::new),
    })
}

/// Check that the hub is ready: its database answers and is up to date, writing works, and it is not stopping.
#[utoipa::path(get, path = "/ready", tag = "hub", security(()), responses((status = 200, body = Ready)))]
pub(crate) async fn ready(State(hub): State<Hub>) -> Answer<Ready> {
    let warnings = admin::check_ready(&hub).await?;
    Ok(Json(Ready { status: ReadyStatus::Ready, database: hub.totals.database, warnings }))
}

/// Get metrics for Prometheus. Only for the operator, and for clients on the same machine.
#[utoipa::path(get, path = "/metrics", tag = "hub", responses((status = 200, content_type = "text/plain", body = String)))]
pub(crate) async fn metrics(
    State(hub): State<Hub>,
    FromAddress(address): FromAddress,
    headers: HeaderMap,
    identity: Identity,
) -> Result<Response, ApiError> {
    // Behind a proxy all requests come from this machine, so the token is required. A web page can point its own name
    // to this machine, but cannot send another `Host` than that name.
    let forwarded = hub.config.is_behind_proxy() || headers.contains_key("x-forwarded-for");
    let local =
        address.ip.to_canonical().is_loopback() && !forwarded && origin::is_for_this_machine(&headers);
    match identity {
        Identity::Admin => {}
        _ if local => {}
        Identity::Agent(..) => return Err(error::admin_only().into()),
        Identity::Nobody | Identity::Unknown | Identity::Browser(_) => {
            return Err(Error::unauthorized().into());
        }
    }
    let accepted =
        headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok()).unwrap_or_default();
    // A scraper that reads OpenMetrics names it; everybody else reads the older format.
    let (format, kind) = if accepted.contains("application/openmetrics-text") {
        (MetricsFormat::OpenMetrics, "application/openmetrics-text; version=1.0.0; charset=utf-8")
    } else {
        (MetricsFormat::Text, "text/plain; version=0.0.4; charset=utf-8")
    };
    let page = hub.metrics_page(format);
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], page).into_response())
}

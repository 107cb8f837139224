//! Everything of an agent's, as one JSON document.

use axum::body::Body;
use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use tandem_hub::Hub;
use tandem_hub::ops::export;

use crate::http::ApiError;
use crate::http::export::{document, stream};
use crate::http::visitor::Authenticated;

/// Export all your data.
///
/// One JSON object: your profile, connections, tasks with their messages, files (up to 45 MB of bytes in total),
/// decisions, blocks and events; no secrets. It is complete if `__exportComplete` is present. Once in ten minutes.
#[utoipa::path(get, path = "/agents/me/export", tag = "agents",
    responses((status = 200, description = "The export", content_type = "application/json")))]
pub(crate) async fn export(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    method: Method,
) -> Result<Response, ApiError> {
    if method == Method::HEAD {
        // The router answers HEAD with this handler too, and would throw the export away.
        export::check(&hub, &caller).await?;
        return Ok(document(Body::empty()));
    }
    Ok(stream(&hub, &caller).await?)
}

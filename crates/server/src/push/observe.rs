//! `GET /debug/events`: for the operator, that something happened to somebody, and never what.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use futures_util::stream::unfold;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

use crate::http::front::Admin;
use crate::hub::Hub;
use crate::push::stream::event_stream;

/// How often a line is sent that says nothing.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Every event of the hub, without content.
///
/// A stream for the operator, from now on. `{"type":"gap","missed":n}` says that it was too slow.
#[utoipa::path(get, path = "/debug/events", tag = "admin",
    responses((status = 200, content_type = "text/event-stream", body = String)))]
pub(crate) async fn observe(State(hub): State<Hub>, _: Admin) -> Response {
    let observed = hub.bus.observe();
    let hello = Some(": from now on\n\n".to_owned());
    let chunks = unfold((hello, observed), |(hello, mut observed)| async move {
        if let Some(hello) = hello {
            return Some((Ok::<_, Infallible>(Bytes::from(hello)), (None, observed)));
        }
        let chunk = match timeout(KEEP_ALIVE, observed.recv()).await {
            Err(_) => ": still here\n\n".to_owned(),
            Ok(Ok(told)) => {
                let seen = json!({
                    "type": told.kind.as_str(), "agentId": told.agent, "taskId": told.task, "cursor": told.seq,
                    "createdAt": told.at,
                });
                format!("data: {seen}\n\n")
            }
            Ok(Err(RecvError::Lagged(missed))) => {
                format!("data: {}\n\n", json!({ "type": "gap", "missed": missed }))
            }
            Ok(Err(RecvError::Closed)) => return None,
        };
        Some((Ok(Bytes::from(chunk)), (None, observed)))
    });
    event_stream(Body::from_stream(chunks))
}

//! `GET /debug/events`: all events of the hub, for the operator, without content.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use futures_util::stream::unfold;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

use crate::http::event_stream::event_stream;
use crate::http::visitor::Admin;
use tandem_hub::Hub;

/// Interval of keep-alive comments.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Stream all events of the hub, without content.
///
/// For the operator; only new events. `{"type":"gap","missed":n}` means that the client was too slow.
#[utoipa::path(get, path = "/debug/events", tag = "admin",
    responses((status = 200, content_type = "text/event-stream", body = String)))]
pub(crate) async fn observe(State(hub): State<Hub>, _: Admin) -> Response {
    let observed = hub.liveness.bus.observe();
    let hello = Some(": from now on\n\n".to_owned());
    let chunks = unfold((hello, observed), |(hello, mut observed)| async move {
        if let Some(hello) = hello {
            return Some((Ok::<_, Infallible>(Bytes::from(hello)), (None, observed)));
        }
        let chunk = match timeout(KEEP_ALIVE, observed.recv()).await {
            Err(_) => ": still here\n\n".to_owned(),
            Ok(Ok(notice)) => {
                let seen = json!({
                    "type": notice.kind.as_str(), "agentId": notice.agent, "taskId": notice.task, "cursor": notice.seq,
                    "createdAt": notice.at,
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

//! MCP at `/mcp`, in both eras: sessions for clients up to 2025-11-25, none for 2026-07-28.
//!
//! The protocol is the SDK's. Here is what it cannot know: whose key opens a session, what a body may weigh, and when
//! a session ends.

mod call;
mod fence;
mod fixtures;
mod handler;
mod prompts;
mod resources;
mod sampling;
mod schema;
mod sessions;
mod tools;
mod wake;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use http_body_util::BodyExt as _;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tandem_core::AgentId;

use crate::bus::Way;
use crate::config::Config;
use crate::http::ApiError;
use crate::http::front::Caller;
use crate::hub::Hub;
use crate::mcp::handler::Handler;
use crate::mcp::sessions::{OpenStream, Refused};
pub use crate::mcp::sessions::{SESSIONS_MAX, Sessions};
use crate::push::feed::Feed;

/// The most bytes of a request: a file of 50 MiB in base64, and the call around it.
const BODY_BYTES_MAX: usize = 72 * 1024 * 1024;
/// Requests above this many bytes wait for room in memory.
const SMALL_BYTES_MAX: u64 = 1024 * 1024;
/// The header that names a session.
const SESSION: &str = "mcp-session-id";
/// From this revision on there are no sessions.
const STATELESS_SINCE: &str = "2026-07-28";

type Service = StreamableHttpService<Handler, LocalSessionManager>;

/// `/mcp` on a hub.
pub(crate) fn routes(hub: &Hub) -> Router<Hub> {
    let of_handler = Arc::clone(hub);
    let service = Service::new(
        move || Ok(Handler { hub: Arc::clone(&of_handler) }),
        Arc::clone(&hub.sessions.manager),
        config(&hub.config),
    );
    let hub = Arc::clone(hub);
    let endpoint = async move |Caller(me): Caller, request: Request| -> Result<Response, ApiError> {
        endpoint(&hub, &service, &me, request).await
    };
    Router::new().route("/mcp", any(endpoint))
}

fn config(config: &Config) -> StreamableHttpServerConfig {
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    let mut origins: Vec<String> =
        ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"].map(str::to_owned).to_vec();
    if !config.listen.ip().is_unspecified() {
        hosts.push(config.listen.ip().to_string());
    }
    if let Some(url) = config.public_address() {
        let authority = url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
        hosts.push(authority.to_owned());
        let scheme = url.split("://").next().unwrap_or_default();
        origins.push(match (authority.contains(':'), scheme) {
            (true, _) => format!("{scheme}://{authority}"),
            (false, "https") => format!("https://{authority}:443"),
            (false, _) => format!("{scheme}://{authority}:80"),
        });
    }
    hosts.extend(
        config.mcp_hosts.split(',').map(str::trim).filter(|host| !host.is_empty()).map(str::to_owned),
    );
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES_MAX)
}

async fn endpoint(
    hub: &Hub,
    service: &Service,
    me: &AgentId,
    request: Request,
) -> Result<Response, ApiError> {
    let method = request.method().clone();
    let session = session_of(request.headers());
    match &session {
        Some(id) => hub.sessions.enter(id, me, hub.clock.now()).map_err(|refused| match refused {
            Refused::Unknown => ApiError::NoSession,
            Refused::Foreign => ApiError::ForeignSession,
        })?,
        None if method == Method::DELETE => return Err(ApiError::NoSession),
        None => {}
    }
    match (method, session) {
        (Method::GET, Some(id)) => open_stream(hub, service, me, &id, request).await,
        (Method::DELETE, Some(id)) => {
            hub.sessions.end(&id);
            Ok(StatusCode::NO_CONTENT.into_response())
        }
        (_, session) => {
            // Held until the answer begins: by then the body has been read.
            let room = match request.body().size_hint().upper() {
                Some(small) if small <= SMALL_BYTES_MAX => None,
                _ => Some(hub.files.in_memory.acquire().await.map_err(|_| ApiError::Panicked)?),
            };
            let response = answer(service, request).await;
            drop(room);
            if let (None, Some(id)) = (session, session_of(response.headers()))
                && !hub.sessions.begin(&id, me, hub.clock.now())
            {
                return Err(ApiError::TooManySessions);
            }
            Ok(response)
        }
    }
}

/// The session a message names, in the revisions that have some.
fn session_of(headers: &HeaderMap) -> Option<String> {
    let version = headers.get("mcp-protocol-version").and_then(|version| version.to_str().ok());
    if version.is_some_and(|version| version >= STATELESS_SINCE) {
        return None;
    }
    Some(headers.get(SESSION)?.to_str().unwrap_or_default().to_owned())
}

async fn answer(service: &Service, request: Request) -> Response {
    service.handle(request).await.map(|body| Body::new(body.map_err(|never| match never {})))
}

/// Opens the stream on which the hub speaks first.
async fn open_stream(
    hub: &Hub,
    service: &Service,
    me: &AgentId,
    id: &str,
    request: Request,
) -> Result<Response, ApiError> {
    let feed = Feed::open(hub, me, None, Way::Stream).await?;
    let response = answer(service, request).await;
    if response.status() != StatusCode::OK {
        return Ok(response);
    }
    let (open, first) = hub.sessions.open(id);
    if let Some(unread) = first {
        tokio::spawn(wake::push(Arc::clone(hub), id.into(), me.clone(), feed, unread));
    }
    Ok(response.map(|body| Body::new(Read { body, _open: open })))
}

/// A stream's body, and the note that it is read.
struct Read {
    body: Body,
    _open: OpenStream,
}

impl HttpBody for Read {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

//! MCP at `/mcp`, in both eras: sessions for clients up to 2025-11-25, none for 2026-07-28.
//!
//! The protocol is the SDK's. Here is what it cannot know: whose key opens a session, what a body may weigh, and when
//! a session ends.

mod bodies;
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
mod workers;

use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use http_body_util::BodyExt as _;
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use tandem_core::AgentId;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::http::front::Caller;
use crate::http::input::SMALL_BYTES_MAX;
use crate::http::{ApiError, Json};
use crate::hub::Hub;
use crate::mcp::bodies::{Answered, Read};
use crate::mcp::handler::Handler;
use crate::mcp::sessions::Refused;
pub use crate::mcp::sessions::{SESSIONS_MAX, Sessions};
use crate::mcp::wake::{News, Reserved};
use crate::mcp::workers::Workers;
use crate::rest::files;

/// The most bytes of a request: a file of 50 MiB in base64, and the call around it.
const BODY_BYTES_MAX: usize = 72 * 1024 * 1024;
/// The header that names a session.
const SESSION: &str = "mcp-session-id";

type Service = StreamableHttpService<Handler, Workers>;

/// `/mcp` on a hub.
pub(crate) fn routes(hub: &Hub) -> Router<Hub> {
    let of_handler = Arc::clone(hub);
    let service = Service::new(
        move || Ok(Handler { hub: Arc::clone(&of_handler) }),
        Arc::clone(&hub.sessions.workers),
        config(&hub.config),
    );
    let hub = Arc::clone(hub);
    let endpoint = async move |Caller(me): Caller, request: Request| -> Result<Response, ApiError> {
        endpoint(&hub, &service, me, request).await
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
        origins.push(origin(url.split("://").next().unwrap_or_default(), authority));
    }
    for host in config.mcp_hosts.split(',').map(str::trim).filter(|host| !host.is_empty()) {
        hosts.push(host.to_owned());
        origins.extend(["http", "https"].map(|scheme| origin(scheme, host)));
    }
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES_MAX)
}

/// An origin as the SDK compares them: always with a port.
fn origin(scheme: &str, authority: &str) -> String {
    match (authority.contains(':'), scheme) {
        (true, _) => format!("{scheme}://{authority}"),
        (false, "https") => format!("https://{authority}:443"),
        (false, _) => format!("{scheme}://{authority}:80"),
    }
}

async fn endpoint(
    hub: &Hub,
    service: &Service,
    me: AgentId,
    mut request: Request,
) -> Result<Response, ApiError> {
    let method = request.method().clone();
    let Some(id) = session_of(request.headers()) else {
        // What is not looked at here must not be believed further on.
        request.headers_mut().remove(SESSION);
        return match method {
            Method::DELETE => Err(ApiError::NoSession),
            Method::POST => begin(hub, service, me, gathered(hub, request).await?).await,
            _ => answer(service, request).await,
        };
    };
    let entered = hub.sessions.enter(&id, &me, hub.clock.now());
    let alive = entered.map_err(|refused| match refused {
        Refused::Unknown => ApiError::NoSession,
        Refused::Foreign => ApiError::ForeignSession,
    })?;
    match method {
        Method::GET if resumes_an_answer(request.headers()) => {
            let response = answer(service, request).await?;
            Ok(response.map(|body| Body::new(Answered::new(body, alive, None))))
        }
        Method::GET => {
            drop(alive);
            open_stream(hub, service, &me, &id, request).await
        }
        Method::DELETE => {
            // The SDK knows which hosts and origins may ask. It is not to end the session: that lives until every answer
            // in it has been read.
            request.headers_mut().insert(SESSION, HeaderValue::from_static("none"));
            let checked = answer(service, request).await?;
            if !checked.status().is_success() {
                return Ok(checked);
            }
            hub.sessions.end(&id);
            Ok(Json(serde_json::json!({ "ended": true })).into_response())
        }
        Method::POST => {
            let (mut parts, body) = gathered(hub, request).await?.into_parts();
            let gone = CancellationToken::new();
            parts.extensions.insert(Gone(gone.clone()));
            let read = gone.drop_guard();
            let response = answer(service, Request::from_parts(parts, body)).await?;
            if response.status().is_server_error() && hub.sessions.enter(&id, &me, hub.clock.now()).is_err() {
                // It has ended while it was asked.
                return Err(ApiError::NoSession);
            }
            Ok(response.map(|body| Body::new(Answered::new(body, alive, Some(read)))))
        }
        _ => answer(service, request).await,
    }
}

/// The session a message names, in the revisions that have some.
fn session_of(headers: &HeaderMap) -> Option<String> {
    let version = headers.get("mcp-protocol-version").and_then(|version| version.to_str().ok());
    if version.is_some_and(|version| version >= ProtocolVersion::NO_INITIALIZE.as_str()) {
        return None;
    }
    Some(headers.get(SESSION)?.to_str().unwrap_or_default().to_owned())
}

/// Whether a client asks for the rest of an answer: that has its request's number behind a slash.
fn resumes_an_answer(headers: &HeaderMap) -> bool {
    headers.get("last-event-id").is_some_and(|id| id.as_bytes().contains(&b'/'))
}

/// Whether whoever sent a message in a session has hung up. The call goes on: its answer may be asked for again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gone(CancellationToken);

impl Gone {
    pub(crate) fn has_hung_up(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// What the SDK says to a request. Its refusals are plain text; here they look like all others.
async fn answer(service: &Service, request: Request) -> Result<Response, ApiError> {
    let response = service.handle(request).await.map(|body| Body::new(body.map_err(|never| match never {})));
    let status = response.status();
    let content = response.headers().get(header::CONTENT_TYPE);
    if !status.is_client_error() || content.is_some_and(|content| content == "application/json") {
        return Ok(response);
    }
    let said = axum::body::to_bytes(response.into_body(), SMALL_BYTES_MAX).await.unwrap_or_default();
    let mut said = String::from_utf8_lossy(&said).into_owned();
    if said.contains("Host header") {
        said.push_str("; the operator can allow it by public_url or mcp_hosts");
    }
    // It takes JSON that is none for another media type.
    let status = if said.starts_with("fail to deserialize") { StatusCode::BAD_REQUEST } else { status };
    Err(ApiError::NoMessage(said, status))
}

/// A request whose body is there. A large one has waited for room in memory, and keeps it until it is done with.
async fn gathered(hub: &Hub, request: Request) -> Result<Request, ApiError> {
    let (mut parts, body) = request.into_parts();
    let (bytes, room) = files::gathered(hub, body, BODY_BYTES_MAX).await?;
    if let Some(room) = room {
        // Nothing else needs so much, and a call that waits must not keep the room meanwhile.
        if !Head::of(&bytes).is_some_and(|head| head.is_upload()) {
            return Err(ApiError::BodyTooLarge(SMALL_BYTES_MAX));
        }
        // The parts of a request go with its message into the tool.
        parts.extensions.insert(Arc::new(room));
    }
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// Answers a message that belongs to no session, and notes the one that it may begin.
async fn begin(hub: &Hub, service: &Service, me: AgentId, request: Request) -> Result<Response, ApiError> {
    let (mut parts, body) = request.into_parts();
    let bytes = body.collect().await.map_err(|_| ApiError::Panicked)?.to_bytes();
    // What cannot be read here is left to the SDK, which may make more of it.
    let method = Head::of(&bytes).map(|head| head.method.unwrap_or_default().into_owned());
    if method.as_deref() == Some("subscriptions/listen") {
        parts.extensions.insert(Reserved::new(News::open(hub, &me).await?));
    }
    let request = Request::from_parts(parts, Body::from(bytes));
    if method.is_some_and(|method| method != "initialize") {
        return answer(service, request).await;
    }
    // By itself, so that a client that hangs up leaves no session behind that nobody knows.
    let (hub, service) = (Arc::clone(hub), service.clone());
    let begun = tokio::spawn(async move {
        let response = answer(&service, request).await?;
        match session_of(response.headers()) {
            Some(id) if !hub.sessions.begin(&id, &me, hub.clock.now()) => Err(ApiError::TooManySessions),
            _ => Ok(response),
        }
    });
    begun.await.map_err(|_| ApiError::Panicked)?
}

/// As much of a message as has to be known before it is answered.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<HeadParams<'a>>,
}

#[derive(Deserialize)]
struct HeadParams<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
}

impl<'a> Head<'a> {
    fn of(bytes: &'a Bytes) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    fn is_upload(&self) -> bool {
        let tool = self.params.as_ref().and_then(|params| params.name.as_deref());
        self.method.as_deref() == Some("tools/call") && tool == Some("upload_file")
    }
}

/// Opens the stream on which the hub speaks first.
async fn open_stream(
    hub: &Hub,
    service: &Service,
    me: &AgentId,
    id: &str,
    request: Request,
) -> Result<Response, ApiError> {
    let opening = hub.sessions.opening(id).await.ok_or(ApiError::NoSession)?;
    let news = if opening.is_served { None } else { Some(News::open(hub, me).await?) };
    let response = answer(service, request).await?;
    if response.status() != StatusCode::OK {
        return Ok(response);
    }
    let mut open = hub.sessions.open(id).ok_or(ApiError::NoSession)?;
    if let (Some(served), Some(news)) = (open.to_serve.take(), news) {
        tokio::spawn(wake::push(Arc::clone(hub), id.into(), me.clone(), news, served));
    }
    Ok(response.map(|body| Body::new(Read::new(body, open))))
}

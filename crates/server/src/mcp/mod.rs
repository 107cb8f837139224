//! MCP at `/mcp`, in both variants: with sessions for clients up to 2025-11-25, without sessions for 2026-07-28.
//!
//! The SDK implements the protocol. This module adds what the SDK cannot know: which key owns a session, size limits,
//! and when a session ends.

mod bodies;
mod call;
mod extension;
pub mod fence;
mod forward;
mod handler;
pub(crate) mod hosts;
mod message;
mod prompts;
mod reply;
mod resources;
mod sampling;
mod schema;
mod sessions;
pub mod shared;
mod tools;
mod wake;
mod workers;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;
use rmcp::model::{ErrorCode, ProtocolVersion};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tandem_core::AgentId;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use tandem_api::error::Code;
use tandem_hub::{Caller, Config, Error, Hub};

use crate::http::input::SMALL_BYTES_MAX;
use crate::http::nodes::PassedOn;
use crate::http::visitor::Authenticated;
use crate::http::{ApiError, Json};
use crate::mcp::bodies::{AnswerBody, StreamBody};
pub use crate::mcp::extension::{Extension, Offers};
use crate::mcp::forward::Owner;
use crate::mcp::handler::Handler;
use crate::mcp::hosts::Hosts;
use crate::mcp::message::Read;
use crate::mcp::sessions::SessionError;
pub use crate::mcp::sessions::{SESSIONS_MAX, Sessions};
use crate::mcp::wake::{InboxFeed, Reserved};
use crate::mcp::workers::Workers;

/// Size limit of a request: a file of 50 MiB in base64, and the call around it.
const BODY_BYTES_MAX: usize = 72 * 1024 * 1024;
/// The path of the endpoint.
pub(crate) const PATH: &str = "/mcp";
/// Characters of an unknown host that are repeated in the response and in the log.
const HOST_CHARS_MAX: usize = 100;
/// What a session costs, mostly in the SDK's channels.
const SESSION_BYTES: usize = 64 * 1024;
/// The header with the session id.
const SESSION: &str = "mcp-session-id";

#[derive(Clone)]
struct Surface {
    hub: Hub,
    sessions: Arc<Sessions>,
    service: Service,
    hosts: Hosts,
}

type Service = StreamableHttpService<Handler, Workers>;

/// The routes of `/mcp`.
pub(crate) fn routes(
    hub: &Hub,
    sessions: &Arc<Sessions>,
    extension: Option<Arc<dyn Extension>>,
) -> Router<Hub> {
    let handler = Handler { hub: Arc::clone(hub), sessions: Arc::clone(sessions), extension };
    let service =
        Service::new(move || Ok(handler.clone()), Arc::clone(&sessions.workers), config(&hub.config));
    let hosts = Hosts::new(&hub.config);
    let surface = Surface { hub: Arc::clone(hub), sessions: Arc::clone(sessions), service, hosts };
    let endpoint = async move |Authenticated(caller): Authenticated, request: Request| {
        endpoint(&surface, caller, request).await.map_err(ApiError)
    };
    Router::new().route(PATH, any(endpoint))
}

/// The SDK checks origins. It would refuse IP addresses that the hub does not know to be its own, so hosts are checked
/// here.
fn config(config: &Config) -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_allowed_origins(hosts::origins(config))
        .enforce_origin_validation()
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES_MAX)
}

async fn endpoint(surface: &Surface, caller: Caller, mut request: Request) -> Result<Response, Error> {
    let hub = &surface.hub;
    surface.hosts.check(request.headers())?;
    match session_of(request.headers()).map(|id| forward::owner(hub, &id)) {
        None => {}
        // A node passes on what a client has sent, and never what another node has.
        Some(Owner::Other(_)) if request.extensions().get::<PassedOn>().is_some() => return Err(no_session()),
        Some(Owner::Other(node)) => return forward::forward(hub, &node, caller.address.ip, request).await,
        Some(Owner::This(id)) => {
            let id = HeaderValue::from_str(&id).map_err(|_| no_session())?;
            request.headers_mut().insert(SESSION, id);
        }
    }
    let mut response = respond(surface, caller, request).await?;
    forward::name_node(hub, response.headers_mut());
    Ok(response)
}

/// Handles a request for a session of this node, or for none.
async fn respond(surface: &Surface, caller: Caller, mut request: Request) -> Result<Response, Error> {
    let Surface { hub, sessions, service, .. } = surface;
    let me = caller.agent.clone();
    let method = request.method().clone();
    let Some(id) = session_of(request.headers()) else {
        // An unchecked session id must not be trusted later.
        request.headers_mut().remove(SESSION);
        return match method {
            Method::DELETE => Err(no_session()),
            Method::POST => match message::read(hub, &caller, request).await? {
                Read::Message(request, method) => begin(surface, caller, request, method).await,
                Read::Broken(refusal) => Ok(refusal),
            },
            _ => answer(service, request).await,
        };
    };
    let entered = sessions.enter(&id, &me, hub.time());
    let handle = entered.map_err(|refused| match refused {
        SessionError::Unknown => no_session(),
        SessionError::Foreign => Error::new(Code::ForeignSession, "this session belongs to another key"),
    })?;
    match method {
        Method::GET if resumes_an_answer(request.headers()) => {
            let response = answer(service, request).await?;
            Ok(response.map(|body| Body::new(AnswerBody::new(body, handle, None))))
        }
        Method::GET => {
            drop(handle);
            open_stream(surface, &me, &id, request).await
        }
        Method::DELETE => {
            // The SDK checks the host and the origin. It must not end the session, which lives until all responses in
            // it are read.
            request.headers_mut().insert(SESSION, HeaderValue::from_static("none"));
            let checked = answer(service, request).await?;
            if !checked.status().is_success() {
                return Ok(checked);
            }
            sessions.end(&id);
            Ok(Json(serde_json::json!({ "ended": true })).into_response())
        }
        Method::POST => {
            let (mut parts, body) = match message::read(hub, &caller, request).await? {
                Read::Message(request, _) => request.into_parts(),
                Read::Broken(refusal) => return Ok(refusal),
            };
            let disconnect = CancellationToken::new();
            parts.extensions.insert(ClientDisconnect(disconnect.clone()));
            let read = disconnect.drop_guard();
            let response = answer(service, Request::from_parts(parts, body)).await?;
            if response.status().is_server_error() && sessions.enter(&id, &me, hub.time()).is_err() {
                // The session ended during the request.
                return Err(no_session());
            }
            Ok(response.map(|body| Body::new(AnswerBody::new(body, handle, Some(read)))))
        }
        _ => answer(service, request).await,
    }
}

/// The session id of a message, in protocol revisions that have sessions.
fn session_of(headers: &HeaderMap) -> Option<String> {
    let version = headers.get("mcp-protocol-version").and_then(|version| version.to_str().ok());
    if version.is_some_and(|version| version >= ProtocolVersion::NO_INITIALIZE.as_str()) {
        return None;
    }
    Some(headers.get(SESSION)?.to_str().unwrap_or_default().to_owned())
}

/// Whether a client asks for the rest of a response: its event id ends with a slash and the request number.
fn resumes_an_answer(headers: &HeaderMap) -> bool {
    headers.get("last-event-id").is_some_and(|id| id.as_bytes().contains(&b'/'))
}

/// Whether the client of a message has disconnected. The call continues, because its result can be requested again.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientDisconnect(CancellationToken);

impl ClientDisconnect {
    pub(crate) fn is_disconnected(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Passes a request to the SDK. Its plain-text errors are converted to the hub's error format.
async fn answer(service: &Service, request: Request) -> Result<Response, Error> {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let is_json = message::is_json(request.headers());
    let response = service.handle(request).await.map(|body| Body::new(body.map_err(|never| match never {})));
    let status = response.status();
    let content = response.headers().get(header::CONTENT_TYPE);
    if !status.is_client_error() || content.is_some_and(|content| content == "application/json") {
        return Ok(response);
    }
    let allow = response.headers().get(header::ALLOW).cloned();
    let said = axum::body::to_bytes(response.into_body(), SMALL_BYTES_MAX).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    let code = match status {
        StatusCode::FORBIDDEN => {
            let origin = origin.as_ref().map(|origin| String::from_utf8_lossy(origin.as_bytes()));
            return Err(foreign_host("origin", &origin.unwrap_or_default()));
        }
        StatusCode::NOT_ACCEPTABLE => Code::NotAcceptable,
        StatusCode::METHOD_NOT_ALLOWED => {
            let mut refused = ApiError(Error::new(Code::MethodNotAllowed, said)).into_response();
            let allow = allow.unwrap_or(HeaderValue::from_static("GET, POST, DELETE"));
            refused.headers_mut().insert(header::ALLOW, allow);
            return Ok(refused);
        }
        // The SDK says so of JSON that is no message.
        StatusCode::UNSUPPORTED_MEDIA_TYPE if is_json => {
            let why = "the body is not a JSON-RPC message of MCP";
            return Ok(message::refusal(ErrorCode::INVALID_REQUEST, why));
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Code::UnsupportedMediaType,
        StatusCode::NOT_FOUND => Code::NotFound,
        _ => Code::Validation,
    };
    Err(Error::new(code, said).with_status(status.as_u16()))
}

/// The error for an unknown host or origin. The operator finds the same in the log.
fn foreign_host(what: &str, value: &str) -> Error {
    let value: String = value.chars().take(HOST_CHARS_MAX).collect();
    tracing::warn!(%what, %value, "refused an MCP request; mcp_hosts or public_url can allow its host name");
    let why = format!(
        "MCP is not served for the {what} {value}; the operator can add its host name to the setting mcp_hosts, or set \
         public_url"
    );
    Error::new(Code::ForeignHost, why)
}

fn no_session() -> Error {
    Error::new(Code::NotFound, "there is no such session; start a new one with initialize")
}

fn too_many_sessions() -> Error {
    let why = format!("you have {SESSIONS_MAX} MCP sessions in use; end one first");
    Error::new(Code::TooManySessions, why).retry_after(60)
}

/// Handles a message without a session, and records the session that it may start.
async fn begin(
    surface: &Surface,
    caller: Caller,
    mut request: Request,
    method: Option<String>,
) -> Result<Response, Error> {
    let Surface { hub, sessions, service, .. } = surface.clone();
    if method.as_deref() == Some("subscriptions/listen") {
        let inbox = InboxFeed::open(&hub, &caller.agent).await?;
        // A key that ended before that could not end it.
        hub.access.check(&caller).await?;
        request.extensions_mut().insert(Reserved::new(inbox));
    }
    if method.is_some_and(|method| method != "initialize") {
        return answer(&service, request).await;
    }
    // Spawned, so that a client that disconnects leaves no unknown session behind.
    let begun = async move {
        let held = hub.budget.hold(&caller, SESSION_BYTES)?;
        let response = answer(&service, request).await?;
        let Some(id) = session_of(response.headers()) else { return Ok(response) };
        if !sessions.begin(&id, &caller, held, hub.time()) {
            return Err(too_many_sessions());
        }
        // A key that ended before the session was noted could not end it.
        hub.access.check(&caller).await.inspect_err(|_| sessions.end(&id))?;
        Ok(response)
    };
    let begun = tokio::spawn(begun.in_current_span().boxed());
    begun.await.map_err(|_| Error::internal())?
}

/// Opens the server stream of a session.
async fn open_stream(surface: &Surface, me: &AgentId, id: &str, request: Request) -> Result<Response, Error> {
    let Surface { hub, sessions, service, .. } = surface;
    let opening = sessions.opening(id).await.ok_or_else(no_session)?;
    let inbox = if opening.is_served { None } else { Some(InboxFeed::open(hub, me).await?) };
    let response = answer(service, request).await?;
    if response.status() != StatusCode::OK {
        return Ok(response);
    }
    let mut open = sessions.open(id).ok_or_else(no_session)?;
    if let (Some(served), Some(inbox)) = (open.to_serve.take(), inbox) {
        let pushing = wake::push(Arc::clone(hub), Arc::clone(sessions), id.into(), me.clone(), inbox, served);
        tokio::spawn(pushing.in_current_span().boxed());
    }
    Ok(response.map(|body| Body::new(StreamBody::new(body, open))))
}

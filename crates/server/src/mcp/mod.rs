//! MCP at `/mcp`, in both variants: with sessions for clients up to 2025-11-25, without sessions for 2026-07-28.
//!
//! The SDK implements the protocol. This module adds what the SDK cannot know: which key owns a session, size limits,
//! and when a session ends.

mod bodies;
mod call;
pub mod fence;
mod forward;
mod handler;
mod message;
mod prompts;
mod reply;
mod resources;
mod sampling;
mod schema;
mod sdk;
mod sessions;
pub mod shared;
mod tools;
mod wake;
mod workers;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use futures_util::FutureExt as _;
use rmcp::ServerHandler;
use rmcp::model::ProtocolVersion;
use tandem_api::error::Code;
use tandem_hub::{Caller, Error, Hub};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::http::hosts::Hosts;
use crate::http::nodes::PassedOn;
use crate::http::visitor::Authenticated;
use crate::http::{ApiError, Json};
use crate::mcp::bodies::{AnswerBody, StreamBody};
use crate::mcp::forward::Owner;
pub use crate::mcp::handler::Handler;
use crate::mcp::message::Read;
use crate::mcp::sdk::Sdk;
pub use crate::mcp::sessions::{SESSIONS_MAX, Sessions};
use crate::mcp::sessions::{Session, SessionError};
use crate::mcp::wake::InboxFeed;

/// Size limit of a request: a file of 50 MiB in base64, and the call around it.
const BODY_BYTES_MAX: usize = 72 * 1024 * 1024;
/// The path of the endpoint.
pub(crate) const PATH: &str = "/mcp";
/// What a session costs, mostly in the SDK's channels.
const SESSION_BYTES: usize = 64 * 1024;
/// The header with the session id.
const SESSION: &str = "mcp-session-id";
/// The header with the revision of the protocol.
const VERSION: &str = "mcp-protocol-version";

#[derive(Clone)]
struct Surface {
    hub: Hub,
    sessions: Arc<Sessions>,
    hosts: Hosts,
    sdk: Sdk,
}

/// The routes of `/mcp`, with a handler around the hub's.
pub(crate) fn routes<H: ServerHandler>(
    hub: &Hub,
    sessions: &Arc<Sessions>,
    extend: fn(Handler) -> H,
) -> Router<Hub> {
    let surface = Surface {
        hub: Arc::clone(hub),
        sessions: Arc::clone(sessions),
        hosts: Hosts::new(&hub.config),
        sdk: sdk::new(Handler::new(hub, sessions), extend),
    };
    let endpoint = async move |Authenticated(caller): Authenticated, request: Request| {
        endpoint(&surface, caller, request).await.map_err(ApiError)
    };
    Router::new().route(PATH, any(endpoint))
}

async fn endpoint(surface: &Surface, caller: Caller, mut request: Request) -> Result<Response, Error> {
    let hub = &surface.hub;
    surface.hosts.check(&request)?;
    match session_of(request.headers()).map(|id| forward::owner(hub, &id)) {
        // A session id of another revision must not be trusted later.
        None => drop(request.headers_mut().remove(SESSION)),
        // A node passes on what a client has sent, and never what another node has.
        Some(Owner::Other(_)) if request.extensions().get::<PassedOn>().is_some() => return Err(no_session()),
        Some(Owner::Other(node)) => {
            return forward::forward(hub, &node, caller.address.ip, request).boxed().await;
        }
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
async fn respond(surface: &Surface, caller: Caller, request: Request) -> Result<Response, Error> {
    let session = match session_of(request.headers()) {
        Some(id) => Some(enter(surface, &caller, &id)?),
        None => None,
    };
    match (request.method(), session) {
        (&Method::POST, Some(session)) => ask(surface, &caller, session, request).await,
        (&Method::POST, None) => begin(surface, caller, request).await,
        (&Method::GET, Some(session)) if resumes_an_answer(request.headers()) => {
            let response = answer_in(surface, &session, request).await?;
            Ok(response.map(|body| Body::new(AnswerBody::new(body, session, None))))
        }
        (&Method::GET, Some(session)) => open_stream(surface, session, request).boxed().await,
        (&Method::DELETE, Some(session)) => {
            check_version(request.headers())?;
            // The SDK's session lives until all responses in it are read.
            surface.sessions.end(&session.id);
            Ok(Json(serde_json::json!({ "ended": true })).into_response())
        }
        (&Method::DELETE, None) => Err(no_session()),
        _ => answer(surface, request, None).await,
    }
}

/// Enters a session of the caller.
fn enter(surface: &Surface, caller: &Caller, id: &str) -> Result<Arc<Session>, Error> {
    let entered = surface.sessions.enter(id, &caller.agent, surface.hub.time());
    entered.map_err(|refused| match refused {
        SessionError::Unknown => no_session(),
        SessionError::Foreign => Error::new(Code::ForeignSession, "this session belongs to another key"),
    })
}

/// The session id of a message, in protocol revisions that have sessions.
fn session_of(headers: &HeaderMap) -> Option<String> {
    let version = headers.get(VERSION).and_then(|version| version.to_str().ok());
    if version.is_some_and(|version| version >= ProtocolVersion::NO_INITIALIZE.as_str()) {
        return None;
    }
    Some(headers.get(SESSION)?.to_str().unwrap_or_default().to_owned())
}

/// Refuses a revision of the protocol that does not exist. The SDK does this for requests that it sees.
fn check_version(headers: &HeaderMap) -> Result<(), Error> {
    let is_known = |given: &HeaderValue| {
        ProtocolVersion::KNOWN_VERSIONS.iter().any(|version| given.as_bytes() == version.as_str().as_bytes())
    };
    match headers.get(VERSION).is_none_or(is_known) {
        true => Ok(()),
        false => Err(Error::new(Code::Validation, "this MCP-Protocol-Version is not supported")),
    }
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

fn no_session() -> Error {
    Error::new(Code::NotFound, "there is no such session; start a new one with initialize")
}

fn too_many_sessions() -> Error {
    let why = format!("you have {SESSIONS_MAX} MCP sessions in use; end one first");
    Error::new(Code::TooManySessions, why).retry_after(60)
}

/// Passes a request to the SDK, with the feed of one that listens. Its plain-text errors are converted to the hub's format.
async fn answer(surface: &Surface, request: Request, inbox: Option<InboxFeed>) -> Result<Response, Error> {
    let is_json = message::is_json(request.headers());
    let response = (surface.sdk)(request, inbox).await;
    if response.status().is_client_error() { sdk::refusal(response, is_json).await } else { Ok(response) }
}

/// The same in a session, which may end meanwhile.
async fn answer_in(surface: &Surface, session: &Session, request: Request) -> Result<Response, Error> {
    let response = answer(surface, request, None).await?;
    let has_failed = response.status().is_server_error();
    if has_failed && session.has_ended() { Err(no_session()) } else { Ok(response) }
}

/// Handles a message in a session.
async fn ask(
    surface: &Surface,
    caller: &Caller,
    session: Arc<Session>,
    request: Request,
) -> Result<Response, Error> {
    let (mut parts, body) = match message::read(&surface.hub, caller, request).await? {
        Read::Message(request, _) => request.into_parts(),
        Read::Broken(refusal) => return Ok(refusal),
    };
    let disconnect = CancellationToken::new();
    parts.extensions.insert(ClientDisconnect(disconnect.clone()));
    let read = disconnect.drop_guard();
    let response = answer_in(surface, &session, Request::from_parts(parts, body)).await?;
    Ok(response.map(|body| Body::new(AnswerBody::new(body, session, Some(read)))))
}

/// Handles a message without a session, and records the session that it may start.
async fn begin(surface: &Surface, caller: Caller, request: Request) -> Result<Response, Error> {
    let hub = &surface.hub;
    let (request, method) = match message::read(hub, &caller, request).await? {
        Read::Message(request, method) => (request, method),
        Read::Broken(refusal) => return Ok(refusal),
    };
    match method.as_deref() {
        // The SDK may understand a message that the hub does not.
        None | Some("initialize") => {}
        Some("subscriptions/listen") => {
            let inbox = InboxFeed::open(hub, &caller.agent).boxed().await?;
            // A key that ended before that could not end it.
            hub.access.check(&caller).await?;
            return answer(surface, request, Some(inbox)).await;
        }
        Some(_) => return answer(surface, request, None).await,
    }
    // Spawned, so that a client that disconnects leaves no unknown session behind.
    let surface = surface.clone();
    let begun = async move {
        let Surface { hub, sessions, .. } = &surface;
        let held = hub.budget.hold(&caller, SESSION_BYTES)?;
        let response = answer(&surface, request, None).await?;
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
async fn open_stream(surface: &Surface, session: Arc<Session>, request: Request) -> Result<Response, Error> {
    let Surface { hub, sessions, .. } = surface;
    let opening = session.begin_stream().await.ok_or_else(no_session)?;
    let inbox =
        if opening.is_served() { None } else { Some(InboxFeed::open(hub, &session.caller.agent).await?) };
    let response = answer_in(surface, &session, request).await?;
    if response.status() != StatusCode::OK {
        return Ok(response);
    }
    let open = opening.opened().ok_or_else(no_session)?;
    if let (Some(server), Some(inbox)) = (open.to_serve(), inbox) {
        let pushing = wake::push(Arc::clone(hub), Arc::clone(sessions), session, inbox, server);
        tokio::spawn(pushing.in_current_span().boxed());
    }
    Ok(response.map(|body| Body::new(StreamBody::new(body, open))))
}

//! The middleware of every request: authentication, rate limits, size limits, metrics and the request id.

use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use tandem_app::keys::{self, KeyHash};
use tandem_core::AgentId;
use tandem_hub::ops::sign_ins::Session;
use tandem_hub::rates::{Rate, RateKind};
use tandem_hub::{Address, Caller, Error, Holder, Hub, RequestMemory, RunToCompletion};
use tracing::Instrument as _;

use crate::http::counted_body::{REQUEST_BYTES, hold_body};
use crate::http::error::show_rate;
use crate::http::unread_body::UnreadBody;
use crate::http::{ApiError, browser, error, forwarded, nodes, origin};
use crate::{mcp, web};

/// Size limit of all headers together.
pub(crate) const HEADER_BYTES_MAX: usize = 32 * 1024;
/// Size limit of path and query.
const TARGET_BYTES_MAX: usize = 8 * 1024;
/// Routes without a rate limit: monitoring calls them often, and they are cheap.
const UNLIMITED: [&str; 3] = ["/health", "/ready", "/metrics"];

/// The same for the constant files of the dashboard: strangers at an address must not take them from people who are signed
/// in there.
fn is_unlimited(path: &str) -> bool {
    UNLIMITED.contains(&path) || path.starts_with("/static/")
}

/// The address of the TCP peer.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

/// The address of the hub that the client has connected to.
#[derive(Debug, Clone, Copy)]
pub struct Local(pub SocketAddr);

#[derive(Debug, Clone)]
pub enum Identity {
    /// No key.
    Guest,
    /// An unknown key.
    Unknown,
    /// An agent, with the hash of its key.
    Agent(AgentId, KeyHash),
    Admin,
    /// A browser in which somebody is signed in to the dashboard. It counts for pages only: no route of the API takes a
    /// cookie.
    Browser(Arc<Session>),
}

/// Requires an agent's key.
#[derive(Debug, Clone)]
pub struct Authenticated(pub Caller);

impl<S: Sync> FromRequestParts<S> for Authenticated {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        match (parts.extensions.get::<Identity>(), parts.extensions.get::<Address>()) {
            (Some(Identity::Agent(agent, key_hash)), Some(address)) => {
                let caller = Caller::new(agent.clone(), *key_hash, address.clone());
                Ok(Self(caller.with_memory(parts.extensions.get())))
            }
            _ => Err(Error::unauthorized().into()),
        }
    }
}

/// Requires the operator's token.
#[derive(Debug, Clone, Copy)]
pub struct Admin;

impl<S: Sync> FromRequestParts<S> for Admin {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        match parts.extensions.get::<Identity>() {
            Some(Identity::Admin) => Ok(Self),
            Some(Identity::Agent(..)) => Err(error::admin_only().into()),
            _ => Err(Error::unauthorized().into()),
        }
    }
}

#[derive(Debug, Clone)]
pub struct FromAddress(pub Address);

impl<S: Sync> FromRequestParts<S> for FromAddress {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Address>().cloned().map(Self).ok_or_else(|| Error::internal().into())
    }
}

/// Removes a leading double slash and `/api/v1` before routing, so that both forms of a path are equal.
pub fn normalise(uri: &mut Uri) {
    let path = uri.path();
    let collapsed = path.trim_start_matches('/');
    let bare = match collapsed.strip_prefix("api/v1") {
        Some("") => "",
        Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/'),
        _ => collapsed,
    };
    if path.len() == bare.len() + 1 {
        return;
    }
    let target = match uri.query() {
        Some(query) => format!("/{bare}?{query}"),
        None => format!("/{bare}"),
    };
    if let Ok(rewritten) = target.parse() {
        *uri = rewritten;
    }
}

/// The URI as the client sent it, for links.
#[derive(Debug, Clone)]
pub struct SentUri(pub Uri);

impl<S: Sync> FromRequestParts<S> for SentUri {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_else(|| Self(parts.uri.clone())))
    }
}

/// What log lines of a request have in common, for work on it that is done in another task.
#[derive(Debug, Clone)]
pub(crate) struct RequestSpan(pub(crate) tracing::Span);

/// Wraps every handler.
pub async fn front(State(hub): State<Hub>, mut request: Request, next: Next) -> Response {
    let arrived = Instant::now();
    let id = request_id(request.headers());
    let method = request.method().clone();
    let route =
        request.extensions().get::<MatchedPath>().map_or("none".to_owned(), |path| path.as_str().to_owned());
    // Every log line of this request carries its id, also in the store's threads. The span has the highest level: a filter
    // that lets errors through must let it through with them.
    let span = tracing::error_span!("request", id);
    request.extensions_mut().insert(RequestSpan(span.clone()));
    let response = respond(&hub, request, next, &id).instrument(span.clone()).await;

    let took = arrived.elapsed();
    let status = response.status().as_u16();
    hub.metrics.request(method.as_str(), &route, status, took.as_secs_f64());
    if status == 429 {
        hub.metrics.rate_limited.inc();
    }
    let _in_request = span.entered();
    // Other server errors say that the hub is busy; under load there would be a line for each request.
    if status == 500 {
        tracing::error!(%method, route, status, took_ms = took.as_millis(), "answered");
    } else {
        tracing::debug!(%method, route, status, took_ms = took.as_millis(), "answered");
    }
    response
}

async fn respond(hub: &Hub, request: Request, next: Next, id: &str) -> Response {
    let page = origin::allowed_page(&hub.config, request.headers());
    if let Some(page) = page.clone().filter(|_| origin::is_preflight(&request)) {
        let mut response = finish(origin::preflight(), id, None);
        origin::share(page, response.headers_mut());
        return response;
    }
    let is_page = web::is_page(request.uri().path());
    let (mut request, unread_body) = UnreadBody::watch(request);
    let mut rate = None;
    let admitted = admit(hub, &mut request, &mut rate).await;
    let response = match admitted {
        Err(error) => ApiError(error).into_response(),
        Ok(memory) => {
            let is_read = is_read(request.method());
            let handled = AssertUnwindSafe(handle(hub, request, next)).catch_unwind().await;
            let response = handled.unwrap_or_else(|_| ApiError(Error::internal()).into_response());
            match memory {
                Some(memory) => hold_body(response, memory.take(), is_read).await,
                None => response,
            }
        }
    };
    let response = if is_page { web::app::as_page(response) } else { response };
    let mut response = finish(response, id, rate);
    if let Some(page) = page {
        origin::share(page, response.headers_mut());
    }
    if !unread_body.discard().await {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Runs a handler. One that may write runs to completion even if its client disconnects; otherwise it would stop at any
/// `await`. MCP does this by itself for each tool.
async fn handle(hub: &Hub, request: Request, next: Next) -> Response {
    if is_read(request.method()) || request.uri().path() == mcp::PATH {
        return next.run(request).await;
    }
    RunToCompletion::new(&hub.writing, next.run(request).in_current_span()).await
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Authenticates a request, applies the rate limits, and takes the memory of a request.
async fn admit(
    hub: &Hub,
    request: &mut Request,
    rate: &mut Option<Rate>,
) -> Result<Option<RequestMemory>, Error> {
    // Headers of nodes are for no one else to see, and count only where nodes pass requests on.
    let passed_on = nodes::take(request.headers_mut(), hub.cluster.secret())
        .filter(|_| request.uri().path() == mcp::PATH);
    let head_bytes = check_size(request)?;
    origin::check(&hub.config, request)?;
    let address = passed_on.map_or_else(|| address(hub, request), |passed| Address::new(passed.client));
    let now = hub.time();
    let limit = hub.config.rate_limit_max;
    let key = bearer(request.headers()).map(|key| keys::sha256(key.as_bytes()));
    let token = if key.is_none() { browser::token(hub, request) } else { None };
    let identity = identify(hub, key, token, &address, rate).await?;
    // A failed lookup counts on every route. What another node has passed on was counted there.
    let is_counted = !is_unlimited(request.uri().path()) && passed_on.is_none();
    if matches!(identity, Identity::Unknown) || is_counted {
        let counted = match &identity {
            Identity::Agent(agent, _) => hub.rates.count(RateKind::Requests, agent.as_str(), limit, now),
            Identity::Admin => None,
            Identity::Browser(session) => {
                hub.rates.count(RateKind::Requests, &browser::counted_by(&session.hash), limit, now);
                // Counted by whoever is signed in: a new session must not be a new budget.
                let who = session.agents().next().map_or(&*address.key, |agent| agent.as_str());
                hub.rates.count(RateKind::Requests, &format!("browser {who}"), limit, now)
            }
            Identity::Guest | Identity::Unknown => {
                hub.rates.count(RateKind::Requests, &address.key, limit, now)
            }
        };
        *rate = counted;
        if let Some(exhausted) = counted.filter(|counted| !counted.allowed) {
            return Err(exhausted.into());
        }
    }
    if let Identity::Agent(agent, _) = &identity {
        hub.liveness.record_request(agent, now);
    }
    // Monitoring must see a hub that is full.
    let holder = holder(&identity, &address).filter(|_| !UNLIMITED.contains(&request.uri().path()));
    let held = holder.map(|holder| hub.budget.hold(holder, REQUEST_BYTES + head_bytes)).transpose()?;
    let memory = held.map(RequestMemory::new);
    if let Some(memory) = memory.clone() {
        request.extensions_mut().insert(memory);
    }
    request.extensions_mut().insert(identity);
    request.extensions_mut().insert(address);
    if let Some(passed_on) = passed_on {
        request.extensions_mut().insert(passed_on);
    }
    Ok(memory)
}

/// Who sends a request, by its key or by the session of its browser.
async fn identify(
    hub: &Hub,
    key: Option<KeyHash>,
    token: Option<String>,
    address: &Address,
    rate: &mut Option<Rate>,
) -> Result<Identity, Error> {
    let (now, limit) = (hub.time(), hub.config.rate_limit_max);
    Ok(match key {
        None => match token {
            Some(token) => browser::identify(hub, &token, address, rate).await?,
            None => Identity::Guest,
        },
        Some(hash) if hub.access.is_admin(&hash) => Identity::Admin,
        Some(hash) => match hub.access.known(&hash) {
            Some(agent) => Identity::Agent(agent, hash),
            None => {
                // Every key is looked up, because a valid one must be found whatever others at its address send. An
                // address without requests left waits for its turn instead.
                let left = hub.rates.peek(RateKind::Requests, &address.key, limit, now);
                let over = left.filter(|left| !left.allowed);
                let found = match over {
                    None => hub.access.look_up(hash, address.into()).await,
                    Some(_) => hub.access.look_up_in_turn(hash, address.into()).await,
                };
                let found = found.map_err(|error| {
                    *rate = hub.rates.count(RateKind::Requests, &address.key, limit, now);
                    // A refusal, as of a suspended agent, counts like a wrong key.
                    over.filter(|_| !error.is_internal()).map_or(error, Into::into)
                });
                found?.map_or(Identity::Unknown, |agent| Identity::Agent(agent, hash))
            }
        },
    })
}

/// Who the memory of a request is held for; nobody if the operator sends it.
fn holder(identity: &Identity, address: &Address) -> Option<Holder> {
    match identity {
        Identity::Admin => None,
        Identity::Agent(agent, _) => Some(Holder::Agent(agent.clone())),
        Identity::Guest | Identity::Unknown => Some(Holder::from(address)),
        Identity::Browser(session) => {
            let first = session.agents().next().cloned();
            Some(first.map_or_else(|| Holder::from(address), Holder::Agent))
        }
    }
}

/// Checks the size of the head and returns it.
fn check_size(request: &Request) -> Result<usize, Error> {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    if target > TARGET_BYTES_MAX {
        return Err(error::target_too_long(TARGET_BYTES_MAX));
    }
    let headers: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers > HEADER_BYTES_MAX {
        return Err(error::headers_too_large(HEADER_BYTES_MAX));
    }
    Ok(target + headers)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

fn address(hub: &Hub, request: &Request) -> Address {
    let peer = request.extensions().get::<Peer>().map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.0.ip());
    Address::new(forwarded::client(&hub.config, peer, request.headers()))
}

/// The client's request id if it is valid, otherwise a new one.
fn request_id(headers: &HeaderMap) -> String {
    let sane = |text: &&str| {
        (1..=128).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    let given = headers.get("x-request-id").and_then(|value| value.to_str().ok()).filter(sane);
    given.map_or_else(new_request_id, Into::into)
}

pub(crate) fn new_request_id() -> String {
    format!("req_{}", keys::random_hex::<12>())
}

fn finish(mut response: Response, id: &str, rate: Option<Rate>) -> Response {
    let headers = response.headers_mut();
    headers.insert("api-version", HeaderValue::from_static("v1"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert("x-request-id", id);
    }
    // The route may have set its own limit.
    if let Some(rate) = rate.filter(|_| !headers.contains_key("ratelimit-limit")) {
        show_rate(&rate, headers);
    }
    response
}

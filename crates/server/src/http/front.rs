//! The middleware of every request: authentication, rate limits, size limits, metrics and the request id.

use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use tandem_app::keys::{self, KeyHash};
use tandem_core::AgentId;
use tandem_hub::rates::{Rate, RateKind};
use tandem_hub::{Address, Caller, Error, Hub, RunToCompletion};
use tracing::Instrument as _;

use crate::http::error::show_rate;
use crate::http::unread_body::UnreadBody;
use crate::http::{ApiError, error};

/// Size limit of all headers together.
const HEADER_BYTES_MAX: usize = 32 * 1024;
/// Size limit of path and query.
const TARGET_BYTES_MAX: usize = 8 * 1024;
/// Routes without a rate limit: monitoring calls them often, and they are cheap.
const UNLIMITED: [&str; 3] = ["/health", "/ready", "/metrics"];

/// The address of the TCP peer.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

/// The address of the hub that the client has connected to.
#[derive(Debug, Clone, Copy)]
pub struct Local(pub SocketAddr);

/// Who sent a request.
#[derive(Debug, Clone)]
pub enum Identity {
    /// No key.
    Guest,
    /// An unknown key.
    Unknown,
    /// An agent, with the hash of its key.
    Agent(AgentId, KeyHash),
    /// The operator.
    Admin,
}

/// Requires an agent's key.
#[derive(Debug, Clone)]
pub struct Authenticated(pub Caller);

impl<S: Sync> FromRequestParts<S> for Authenticated {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        match (parts.extensions.get::<Identity>(), parts.extensions.get::<Address>()) {
            (Some(Identity::Agent(agent, key_hash)), Some(address)) => {
                Ok(Self(Caller::new(agent.clone(), *key_hash, address.clone())))
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

/// The client's address.
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
    if status >= 500 {
        tracing::error!(%method, route, status, took_ms = took.as_millis(), "answered");
    } else {
        tracing::debug!(%method, route, status, took_ms = took.as_millis(), "answered");
    }
    response
}

async fn respond(hub: &Hub, request: Request, next: Next, id: &str) -> Response {
    let (mut request, unread_body) = UnreadBody::watch(request);
    let mut rate = None;
    let admitted = admit(hub, &mut request, &mut rate).await;
    let response = match admitted {
        Err(error) => ApiError(error).into_response(),
        Ok(()) => {
            let handled = AssertUnwindSafe(next.run(request)).catch_unwind().await;
            handled.unwrap_or_else(|_| ApiError(Error::internal()).into_response())
        }
    };
    let mut response = finish(response, id, rate);
    if !unread_body.discard().await {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Runs the REST handlers. A handler that may write runs to completion even if its client disconnects; otherwise it
/// would stop at any `await`.
pub async fn run_to_completion(State(hub): State<Hub>, request: Request, next: Next) -> Response {
    if matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS) {
        return next.run(request).await;
    }
    RunToCompletion::new(&hub.writing, next.run(request).in_current_span()).await
}

/// Authenticates a request and applies the rate limits.
async fn admit(hub: &Hub, request: &mut Request, rate: &mut Option<Rate>) -> Result<(), Error> {
    check_size(request)?;
    let address = address(hub, request);
    let now = hub.time();
    let limit = hub.config.rate_limit_max;
    let identity = match bearer(request.headers()).map(|key| keys::sha256(key.as_bytes())) {
        None => Identity::Guest,
        Some(hash) if hub.access.is_admin(&hash) => Identity::Admin,
        Some(hash) => match hub.access.known(&hash) {
            Some(agent) => Identity::Agent(agent, hash),
            None => {
                // Look up unknown keys only for addresses that have requests left.
                let left = hub.rates.peek(RateKind::Requests, &address.key, limit, now);
                if let Some(exhausted) = left.filter(|left| !left.allowed) {
                    return Err(exhausted.into());
                }
                let found = hub.access.look_up(hash).await.inspect_err(|_| {
                    *rate = hub.rates.count(RateKind::Requests, &address.key, limit, now);
                });
                found?.map_or(Identity::Unknown, |agent| Identity::Agent(agent, hash))
            }
        },
    };
    // A failed lookup counts on every route.
    if matches!(identity, Identity::Unknown) || !UNLIMITED.contains(&request.uri().path()) {
        let counted = match &identity {
            Identity::Agent(agent, _) => hub.rates.count(RateKind::Requests, agent.as_str(), limit, now),
            Identity::Admin => None,
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
    request.extensions_mut().insert(identity);
    request.extensions_mut().insert(address);
    Ok(())
}

fn check_size(request: &Request) -> Result<(), Error> {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    if target > TARGET_BYTES_MAX {
        return Err(error::target_too_long(TARGET_BYTES_MAX));
    }
    let headers: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers > HEADER_BYTES_MAX {
        return Err(error::headers_too_large(HEADER_BYTES_MAX));
    }
    Ok(())
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

fn address(hub: &Hub, request: &Request) -> Address {
    let direct = request.extensions().get::<Peer>().map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.0.ip());
    let forwarded = || {
        let value = request.headers().get("x-forwarded-for")?.to_str().ok()?;
        // The last entry was added by our own proxy.
        value.rsplit(',').next()?.trim().parse().ok()
    };
    let ip = if hub.config.behind_proxy { forwarded().unwrap_or(direct) } else { direct };
    Address::new(ip)
}

/// The client's request id if it is valid, otherwise a new one.
fn request_id(headers: &HeaderMap) -> String {
    let sane = |text: &&str| {
        (1..=128).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    let given = headers.get("x-request-id").and_then(|value| value.to_str().ok()).filter(sane);
    given.map_or_else(|| format!("req_{}", keys::random_hex::<12>()), Into::into)
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

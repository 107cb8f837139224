//! What happens before and after every handler: who asks, how often, how long it took.

use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use tandem_app::keys;
use tandem_core::AgentId;

use crate::http::ApiError;
use crate::http::leftover::Leftover;
use crate::hub::Hub;
use crate::rates::{Rate, Rated, address_key};

/// The most bytes of all headers together.
const HEADER_BYTES_MAX: usize = 32 * 1024;
/// The most bytes of path and query.
const TARGET_BYTES_MAX: usize = 8 * 1024;
/// Asked by machines, often, and worth nothing to an attacker.
const UNLIMITED: [&str; 3] = ["/health", "/ready", "/metrics"];

/// From where a request came.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

/// Who asks.
#[derive(Debug, Clone)]
pub enum Identity {
    /// Nobody in particular.
    Guest,
    /// Somebody with a key that nobody has.
    Unknown,
    /// An agent.
    Agent(AgentId),
    /// The operator.
    Admin,
}

/// The address a request counts for.
#[derive(Debug, Clone)]
pub struct Address {
    /// The address itself.
    pub ip: IpAddr,
    /// What it is counted under.
    pub key: String,
}

/// The agent that asks; others are turned away.
#[derive(Debug, Clone)]
pub struct Caller(pub AgentId);

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        match parts.extensions.get::<Identity>() {
            Some(Identity::Agent(agent)) => Ok(Self(agent.clone())),
            _ => Err(ApiError::Unauthorized),
        }
    }
}

/// The operator; others are turned away.
#[derive(Debug, Clone, Copy)]
pub struct Admin;

impl<S: Sync> FromRequestParts<S> for Admin {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        match parts.extensions.get::<Identity>() {
            Some(Identity::Admin) => Ok(Self),
            Some(Identity::Agent(_)) => Err(ApiError::AdminOnly),
            _ => Err(ApiError::Unauthorized),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Address {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().cloned().ok_or(ApiError::Panicked)
    }
}

/// Both path forms are one: a leading double slash and `/api/v1` go away before routing.
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

/// The path as the client sent it, for links back to it.
#[derive(Debug, Clone)]
pub struct SentUri(pub Uri);

impl<S: Sync> FromRequestParts<S> for SentUri {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_else(|| Self(parts.uri.clone())))
    }
}

/// Wraps every handler.
pub async fn front(State(hub): State<Hub>, request: Request, next: Next) -> Response {
    let arrived = Instant::now();
    let id = request_id(request.headers());
    let method = request.method().clone();
    let route =
        request.extensions().get::<MatchedPath>().map_or("none".to_owned(), |path| path.as_str().to_owned());

    let (mut request, leftover) = Leftover::watch(request);
    let mut rate = None;
    let admitted = admit(&hub, &mut request, &mut rate).await;
    let response = match admitted {
        Err(error) => error.into_response(),
        Ok(()) => match AssertUnwindSafe(next.run(request)).catch_unwind().await {
            Ok(response) => response,
            Err(_) => ApiError::Panicked.into_response(),
        },
    };
    let mut response = finish(response, &id, rate);
    if !leftover.discard().await {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }

    let took = arrived.elapsed();
    let status = response.status().as_u16();
    hub.metrics.request(method.as_str(), &route, status, took.as_secs_f64());
    if status == 429 {
        hub.metrics.rate_limited.inc();
    }
    if status >= 500 {
        tracing::error!(request.id = id, %method, route, status, took_ms = took.as_millis(), "answered");
    } else {
        tracing::debug!(request.id = id, %method, route, status, took_ms = took.as_millis(), "answered");
    }
    response
}

/// Finds out who asks and whether they may go on asking.
async fn admit(hub: &Hub, request: &mut Request, rate: &mut Option<Rate>) -> Result<(), ApiError> {
    check_size(request)?;
    let address = address(hub, request);
    let now = hub.clock.now();
    let limit = hub.config.rate_limit_max;
    let over = |rate: Rate| ApiError::from(rate);
    let identity = match bearer(request.headers()).map(|key| keys::sha256(key.as_bytes())) {
        None => Identity::Guest,
        Some(hash) if hub.is_admin(&hash) => Identity::Admin,
        Some(hash) => match hub.keys.get(&hash) {
            Some(agent) => Identity::Agent(agent),
            None => {
                // Keys are looked up only for addresses that have guesses left.
                let left = hub.rates.peek(Rated::Requests, &address.key, limit, now);
                if let Some(exhausted) = left.filter(|left| !left.allowed) {
                    return Err(over(exhausted));
                }
                let found = hub.agent_of(hash).await.inspect_err(|_| {
                    *rate = hub.rates.count(Rated::Requests, &address.key, limit, now);
                });
                found?.map_or(Identity::Unknown, Identity::Agent)
            }
        },
    };
    // A key that had to be looked up in vain counts everywhere.
    if matches!(identity, Identity::Unknown) || !UNLIMITED.contains(&request.uri().path()) {
        let counted = match &identity {
            Identity::Agent(agent) => hub.rates.count(Rated::Requests, agent.as_str(), limit, now),
            Identity::Admin => None,
            Identity::Guest | Identity::Unknown => hub.rates.count(Rated::Requests, &address.key, limit, now),
        };
        *rate = counted;
        if let Some(exhausted) = counted.filter(|counted| !counted.allowed) {
            return Err(over(exhausted));
        }
    }
    if let Identity::Agent(agent) = &identity {
        hub.presence.seen(agent, now);
    }
    request.extensions_mut().insert(identity);
    request.extensions_mut().insert(address);
    Ok(())
}

fn check_size(request: &Request) -> Result<(), ApiError> {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    if target > TARGET_BYTES_MAX {
        return Err(ApiError::TargetTooLong(TARGET_BYTES_MAX));
    }
    let headers: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers > HEADER_BYTES_MAX {
        return Err(ApiError::HeadersTooLarge(HEADER_BYTES_MAX));
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
        // The last entry is the one our own proxy added.
        value.rsplit(',').next()?.trim().parse().ok()
    };
    let ip = if hub.config.behind_proxy { forwarded().unwrap_or(direct) } else { direct };
    Address { ip, key: address_key(ip) }
}

/// The client's own id for a request if it is a sane one, else one of ours.
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
    // A limit of a route's own has said so already.
    if let Some(rate) = rate.filter(|_| !headers.contains_key("ratelimit-limit")) {
        rate.show(headers);
    }
    response
}

//! Parses requests into checked types. Invalid input becomes the contract's error.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::RequestExt as _;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use futures_util::FutureExt as _;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Body as _;
use serde::de::DeserializeOwned;
use tandem_app::idempotency::Key;
use tandem_app::{Invalid, keys};
use tandem_core::TaskId;
use tandem_hub::ops::parse_id;
use tandem_hub::{Caller, Error, Held, Holder, Hub};

use crate::http::explain::Object;
use crate::http::unknown::{STRICT_PARAMETER, UnknownNames, UnknownOfRequest};
use crate::http::visitor::{Authenticated, Identity, Visitor};
use crate::http::{ApiError, error, explain};

/// Size limit of a JSON body.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Time limit for a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// A request with a JSON body.
#[derive(Debug)]
pub struct Input<T> {
    /// The caller and its conditions.
    pub caller: Caller,
    pub body: T,
}

impl<T: DeserializeOwned + Send> FromRequest<Hub> for Input<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, hub: &Hub) -> Result<Self, ApiError> {
        let (caller, body) = read(request, hub).await?;
        Ok(Self { caller, body: body? })
    }
}

/// A request about one task. If the body is invalid, the error carries the state of the task. A task that the caller
/// may not see stays hidden in any case.
#[derive(Debug)]
pub struct OnTask<T> {
    /// The caller and its conditions.
    pub caller: Caller,
    pub task: TaskId,
    pub body: T,
}

impl<T: DeserializeOwned + Send> FromRequest<Hub> for OnTask<T> {
    type Rejection = ApiError;

    async fn from_request(mut request: Request, hub: &Hub) -> Result<Self, ApiError> {
        let (_, task) = on_task(&mut request).await?;
        let (caller, body) = read(request, hub).await?;
        let body = hub.on_task(&caller, &task, body).await?;
        Ok(Self { caller, task, body })
    }
}

/// The caller and the task in the path. The key is checked first, so that ids reveal nothing without one.
pub(crate) async fn on_task(request: &mut Request) -> Result<(Caller, TaskId), ApiError> {
    let Authenticated(caller) = request.extract_parts().await?;
    let Param(id): Param<String> = request.extract_parts().await?;
    Ok((caller, parse_id(&id, "task")?))
}

/// Authenticates the caller and parses the body.
pub(crate) async fn read<T: DeserializeOwned>(
    request: Request,
    hub: &Hub,
) -> Result<(Caller, Result<T, Error>), ApiError> {
    // It is boxed, because the code of every route would contain it otherwise.
    let (unknown, caller, body) = receive(request, hub).boxed().await?;
    Ok((caller, body.and_then(|body| Ok(read_noting(unknown.as_ref(), body)?))))
}

/// Reads a type, and notes what it does not know.
fn read_noting<T: DeserializeOwned>(
    of_request: Option<&UnknownOfRequest>,
    body: Object,
) -> Result<T, Invalid> {
    let mut unknown = UnknownNames::default();
    let value = body.read(&mut unknown)?;
    of_request.map_or(Ok(()), |of_request| of_request.note(unknown))?;
    Ok(value)
}

type Received = (Option<UnknownOfRequest>, Caller, Result<Object, Error>);

async fn receive(mut request: Request, hub: &Hub) -> Result<Received, ApiError> {
    let caller: Caller = request.extract_parts_with_state::<Authenticated, _>(hub).await?.0;
    let (parts, body) = request.into_parts();
    let unknown = Visitor::of(&parts)?.unknown.clone();
    let caller = Caller { if_match: if_match(&parts.headers), ..caller };
    let read = read_bytes(hub, &caller, &parts.headers, body).await;
    // The body may have taken its time.
    hub.access.check(&caller).await?;
    let (key, bytes, held) = match read {
        Ok(read) => read,
        Err(error) => return Ok((unknown, caller, Err(error))),
    };
    let caller = Caller { held: Some(Arc::new(held)), ..caller };
    let key = key.map(|key| key_for(key, &parts, &bytes));
    Ok((unknown, caller.with_idempotency_key(key), parse(&parts.headers, &bytes)))
}

/// An idempotency key with the hash of the request for which it was used.
fn key_for(key: String, parts: &Parts, body: &[u8]) -> Key {
    let about = format!("{} {}\n", parts.method, parts.uri);
    Key { key, request_hash: keys::sha256(&[about.as_bytes(), body].concat()) }
}

pub(crate) async fn read_bytes(
    hub: &Hub,
    holder: impl Into<Holder>,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Option<String>, Bytes, Held), Error> {
    let key = idempotency_key(headers)?;
    // Refuse early if the announced length is too large.
    if body.size_hint().lower() > BODY_BYTES_MAX as u64 {
        return Err(error::body_too_large(BODY_BYTES_MAX));
    }
    let mut body = BodyReader::new(body, BODY_BYTES_MAX, hub.budget.hold(holder, 0)?);
    let (bytes, _) = body.read_up_to(BODY_BYTES_MAX).await?;
    Ok((key, bytes.into(), body.into_held()))
}

/// A body, and the memory that it takes as long as this value lives.
pub(crate) struct HeldBody<T> {
    pub body: T,
    pub idempotency: Option<Key>,
    _held: Held,
}

/// Parses the body of a request without a caller.
pub(crate) async fn read_body<T: DeserializeOwned>(
    hub: &Hub,
    holder: impl Into<Holder>,
    request: Request,
) -> Result<HeldBody<T>, Error> {
    let (parts, body) = request.into_parts();
    let (key, bytes, held) = read_bytes(hub, holder, &parts.headers, body).await?;
    let idempotency = key.map(|key| key_for(key, &parts, &bytes));
    let body = read_noting(Visitor::of(&parts)?.unknown.as_ref(), parse(&parts.headers, &bytes)?)?;
    Ok(HeldBody { body, idempotency, _held: held })
}

/// A body without fields.
#[derive(Debug, Clone, Copy, serde::Deserialize)]
pub struct EmptyBody {}

/// The versions in `If-Match`. An unknown tag matches no version.
pub fn if_match(headers: &HeaderMap) -> Option<Vec<i64>> {
    let value = headers.get(header::IF_MATCH)?;
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return None;
    }
    Some(text.split(',').filter_map(|tag| tag.trim().trim_matches('"').parse().ok()).collect())
}

/// Minimum transfer rate of a large body.
const BYTES_PER_SECOND_MIN: u64 = 64 * 1024;
/// A body in memory costs this many times its size: once as bytes, and once as the values that are parsed from it.
const COPIES: usize = 2;

/// A larger body needs a permit for memory.
pub(crate) const SMALL_BYTES_MAX: usize = BODY_BYTES_MAX;

/// Reads a body in chunks, with limits on size, time and memory.
#[derive(Debug)]
pub(crate) struct BodyReader {
    body: Limited<Body>,
    max: usize,
    started: Instant,
    received: u64,
    held: Held,
}

impl BodyReader {
    /// `held` grows by what is kept in memory.
    pub(crate) fn new(body: Body, max: usize, held: Held) -> Self {
        Self { body: Limited::new(body, max), max, started: Instant::now(), received: 0, held }
    }

    /// Gives back the memory of what was read, but for the buffers of a transfer.
    pub(crate) fn hold_only(&mut self, bytes: usize) {
        self.held.shrink_to(bytes);
    }

    /// The memory of the bytes that were read.
    pub(crate) fn into_held(self) -> Held {
        self.held
    }

    /// Reads up to slightly more than `len` bytes. Returns them, and whether the body has ended.
    pub(crate) async fn read_up_to(&mut self, len: usize) -> Result<(Vec<u8>, bool), Error> {
        let mut bytes = Vec::new();
        while bytes.len() <= len {
            match self.chunk().await? {
                Some(chunk) => {
                    self.held.grow(COPIES * chunk.len())?;
                    bytes.extend_from_slice(&chunk);
                }
                None => return Ok((bytes, true)),
            }
        }
        Ok((bytes, false))
    }

    /// Reads the next chunk. A client that sends too slowly gets a timeout.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let due = self.started + BODY_TIMEOUT + Duration::from_secs(self.received / BYTES_PER_SECOND_MIN);
        match tokio::time::timeout_at(due.into(), self.body.frame()).await {
            Err(_) => Err(error::body_timeout()),
            Ok(None) => Ok(None),
            Ok(Some(Ok(frame))) => {
                let data = frame.into_data().unwrap_or_default();
                self.received += data.len() as u64;
                Ok(Some(data))
            }
            Ok(Some(Err(error))) if error.is::<LengthLimitError>() => Err(error::body_too_large(self.max)),
            Ok(Some(Err(_))) => Err(error::body_cut_off()),
        }
    }
}

fn parse(headers: &HeaderMap, bytes: &Bytes) -> Result<Object, Error> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Object::parse(b"{}")?);
    }
    let encoding = headers.get(header::CONTENT_ENCODING).map(|value| value.to_str().unwrap_or_default());
    if encoding.is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
        return Err(error::encoded());
    }
    let content_type = headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
    let essence =
        content_type.map(|text| text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    match essence.as_deref() {
        None => {}
        Some(json)
            if json == "application/json"
                || (json.starts_with("application/") && json.ends_with("+json")) => {}
        Some(_) => return Err(error::not_json()),
    }
    Ok(Object::parse(bytes)?)
}

/// The `Idempotency-Key` header.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Error> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    if text.is_empty() || text.len() > 255 {
        let why = "must be 1 to 255 visible ASCII characters";
        return Err(Invalid::field("Idempotency-Key", why).into());
    }
    Ok(Some(text.to_owned()))
}

/// The idempotency key of a page's form: the value of its field `once`, and what was sent with it.
pub(crate) fn page_key(once: &str, sent: &[u8]) -> Option<Key> {
    let is_ours = (16..=64).contains(&once.len()) && once.is_ascii();
    is_ours.then(|| Key { key: format!("page-{once}"), request_hash: keys::sha256(sent) })
}

/// Parameters of the path. A text that cannot be an id is not found.
#[derive(Debug)]
pub struct Param<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Param<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(value)) => Ok(Self(value)),
            // Without a key, ids reveal nothing.
            Err(_) => match Visitor::of(parts)?.identity {
                Identity::Agent(..) | Identity::Admin => Err(Error::not_found("thing").into()),
                _ => Err(Error::unauthorized().into()),
            },
        }
    }
}

#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let pairs = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        // An empty value counts as missing: `?status=`.
        let given: Vec<(String, String)> =
            pairs.filter(|(_, value)| !value.is_empty()).map(|(n, v)| (n.into(), v.into())).collect();
        let twice = given.iter().enumerate().find(|(at, pair)| given[..*at].iter().any(|p| p.0 == pair.0));
        if let Some((_, (name, _))) = twice {
            return Err(Invalid::field(name, "is there twice").into());
        }
        let mut unknown = UnknownNames::default();
        let given = given.into_iter().filter(|(name, _)| name != STRICT_PARAMETER).collect();
        let query = explain::from_pairs(given, &mut unknown)?;
        Visitor::of(parts)?.unknown.as_ref().map_or(Ok(()), |of_request| of_request.note(unknown))?;
        Ok(Self(query))
    }
}

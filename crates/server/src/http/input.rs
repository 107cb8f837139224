//! Reading a request into checked types; everything that does not fit becomes the contract's error.

use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Body as _;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use tandem_app::idempotency::Key;
use tandem_app::{Error, Invalid, keys};

use crate::http::ApiError;

/// The most bytes of a JSON body.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// How long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// A request body, and the key under which its answer is kept. Reading it never fails by itself, because
/// some routes have something more important to say first.
#[derive(Debug)]
pub struct Input<T> {
    /// The body, or what is wrong with it.
    pub body: Result<T, ApiError>,
    /// The idempotency key the request came with.
    pub key: Option<Key>,
    /// The versions that its `If-Match` names.
    pub versions: Option<Vec<i64>>,
}

impl<T: DeserializeOwned> Input<T> {
    async fn read(request: Request) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let sent_key = idempotency_key(&parts.headers)?;
        // What is announced to be too large is not even begun.
        if body.size_hint().lower() > BODY_BYTES_MAX as u64 {
            return Err(ApiError::BodyTooLarge(BODY_BYTES_MAX));
        }
        let bytes = collect(body).await?;
        let key = sent_key.map(|key| {
            let about = format!("{} {}\n", parts.method, parts.uri);
            Key { key, request_hash: keys::sha256(&[about.as_bytes(), &bytes].concat()) }
        });
        Ok(Self { body: parse(&parts.headers, &bytes), key, versions: if_match(&parts.headers) })
    }
}

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for Input<T> {
    type Rejection = std::convert::Infallible;

    async fn from_request(request: Request, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::read(request).await.unwrap_or_else(|error| Self {
            body: Err(error),
            key: None,
            versions: None,
        }))
    }
}

/// The versions a client would take for the one it saw. A tag that we never gave out matches nothing.
pub fn if_match(headers: &HeaderMap) -> Option<Vec<i64>> {
    let value = headers.get(header::IF_MATCH)?;
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return None;
    }
    Some(text.split(',').filter_map(|tag| tag.trim().trim_matches('"').parse().ok()).collect())
}

/// How many bytes of a large body must come each second after that.
const PACE_MIN: u64 = 64 * 1024;

/// A body above this many bytes is an upload that needs room in memory.
pub(crate) const SMALL_BYTES_MAX: usize = BODY_BYTES_MAX;

/// A body that may be large, as it comes.
#[derive(Debug)]
pub(crate) struct Coming {
    body: Limited<Body>,
    max: usize,
    begun: Instant,
    came: u64,
}

impl Coming {
    pub(crate) fn new(body: Body, max: usize) -> Self {
        Self { body: Limited::new(body, max), max, begun: Instant::now(), came: 0 }
    }

    /// The beginning, of a few more bytes than this at most; and whether that was all.
    pub(crate) async fn beginning(&mut self, len: usize) -> Result<(Vec<u8>, bool), ApiError> {
        let mut bytes = Vec::new();
        while bytes.len() <= len {
            match self.piece().await? {
                Some(piece) => bytes.extend_from_slice(&piece),
                None => return Ok((bytes, true)),
            }
        }
        Ok((bytes, false))
    }

    /// The next piece, if there is one. Whoever sends slowly is cut off.
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, ApiError> {
        let due = self.begun + BODY_TIMEOUT + Duration::from_secs(self.came / PACE_MIN);
        match tokio::time::timeout_at(due.into(), self.body.frame()).await {
            Err(_) => Err(ApiError::BodyTimeout),
            Ok(None) => Ok(None),
            Ok(Some(Ok(frame))) => {
                let data = frame.into_data().unwrap_or_default();
                self.came += data.len() as u64;
                Ok(Some(data))
            }
            Ok(Some(Err(error))) if error.is::<LengthLimitError>() => Err(ApiError::BodyTooLarge(self.max)),
            Ok(Some(Err(_))) => Err(Invalid::field("body", "did not arrive whole").into()),
        }
    }
}

async fn collect(body: Body) -> Result<Bytes, ApiError> {
    Ok(Coming::new(body, BODY_BYTES_MAX).beginning(BODY_BYTES_MAX).await?.0.into())
}

fn parse<T: DeserializeOwned>(headers: &HeaderMap, bytes: &Bytes) -> Result<T, ApiError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return parse_json(b"{}");
    }
    let encoding = headers.get(header::CONTENT_ENCODING).map(|value| value.to_str().unwrap_or_default());
    if encoding.is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
        return Err(ApiError::Encoded);
    }
    let content_type = headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
    let essence =
        content_type.map(|text| text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    match essence.as_deref() {
        None => {}
        Some(json)
            if json == "application/json"
                || (json.starts_with("application/") && json.ends_with("+json")) => {}
        Some(_) => return Err(ApiError::NotJson),
    }
    parse_json(bytes)
}

/// A JSON object, with what is wrong with it named by field.
pub fn parse_json<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, ApiError> {
    // Left to itself, the deserializer takes an array for a struct, and skips over broken text in a field
    // that nobody asked for.
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(Invalid::field("body", "must be UTF-8").into());
    };
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Err(Invalid::field("body", "must be a JSON object").into());
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value: T = named(&mut deserializer)?;
    deserializer.end().map_err(|error| complaint(".", &error.to_string()))?;
    Ok(value)
}

/// The same of an object that was read before.
pub fn parse_object<T: DeserializeOwned>(object: Map<String, Value>) -> Result<T, ApiError> {
    named(Value::Object(object))
}

fn named<'de, T: Deserialize<'de>>(
    deserializer: impl Deserializer<'de, Error = serde_json::Error>,
) -> Result<T, ApiError> {
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let path = error.path().to_string();
        complaint(&path, &error.into_inner().to_string())
    })
}

/// Names the field that does not fit, as far as it can be told.
fn complaint(path: &str, why: &str) -> ApiError {
    let missing = why.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    if let Some(field) = missing {
        return Invalid::field(field, "is required").into();
    }
    let field = path.split(['.', '[']).find(|part| !part.is_empty() && *part != "?").unwrap_or("body");
    Invalid::field(field, in_words(why)).into()
}

/// What the parsers say, in words for whoever sent the request.
fn in_words(why: &str) -> String {
    let (why, place) = match why.split_once(" at line ") {
        Some((why, place)) => (why, format!(" (at line {place})")),
        None => (why, String::new()),
    };
    if let Some((found, expected)) =
        why.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", expected "))
    {
        return format!(
            "must be {}, not {found}",
            expected.replace("i64", "a whole number").replace("f64", "a number")
        );
    }
    if let Some((_, choices)) =
        why.strip_prefix("unknown variant ").and_then(|rest| rest.split_once(", expected "))
    {
        return format!("must be {}", choices.replace('`', ""));
    }
    if let Some((_, expected)) =
        why.strip_prefix("invalid value: ").and_then(|rest| rest.split_once(", expected "))
    {
        return format!("must be {}", expected.replace("i64", "a whole number"));
    }
    if why.starts_with("duplicate field") {
        return "is there twice".into();
    }
    if why.starts_with("invalid digit") || why.starts_with("cannot parse") {
        return "must be a whole number".into();
    }
    if why.starts_with("number too") {
        return "is out of range".into();
    }
    let broken = [
        "EOF",
        "expected",
        "trailing",
        "control character",
        "invalid",
        "lone",
        "unexpected",
        "key must",
        "recursion",
    ];
    if broken.iter().any(|start| why.starts_with(start)) {
        return format!("is not valid JSON: {why}{place}");
    }
    why.to_owned()
}

/// The key that makes a request happen once.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    if text.is_empty() || text.len() > 255 {
        let why = "must be 1 to 255 visible ASCII characters";
        return Err(Invalid::field("Idempotency-Key", why).into());
    }
    Ok(Some(text.to_owned()))
}

/// Parts of the path. One that cannot be an id names nothing.
#[derive(Debug)]
pub struct Param<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Param<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(value)) => Ok(Self(value)),
            Err(_) => Err(Error::NotFound("thing").into()),
        }
    }
}

/// The query string.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let pairs = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        // An empty value is as good as none: `?status=` asks for nothing.
        let given: Vec<_> = pairs.filter(|(_, value)| !value.is_empty()).collect();
        let text = form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish();
        let deserializer = serde_urlencoded::Deserializer::new(form_urlencoded::parse(text.as_bytes()));
        serde_path_to_error::deserialize(deserializer).map(Query).map_err(|error| {
            let path = error.path().to_string();
            match complaint(&path, &error.into_inner().to_string()) {
                ApiError::App(Error::Invalid(mut invalid)) => {
                    if let Some(why) = invalid.0.remove("body") {
                        invalid.0.insert("query".into(), why);
                    }
                    invalid.into()
                }
                other => other,
            }
        })
    }
}

//! The client: sends calls, repeats them where that is safe, and reads the answers.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, LINK, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use serde::de::DeserializeOwned;
use tandem_api::error::{Code, ErrorBody};
use tokio::time::timeout;

use crate::backoff::Backoff;
use crate::call::Call;
use crate::connection::{Body, Connection, Connector};
use crate::page::{Page, cursor_of, next_cursor};
use crate::pool::{Pool, whole};
use crate::{Error, HubUrl, Keyring, Refusal};

pub(crate) const USER_AGENT_VALUE: &str = concat!("tandem/", env!("CARGO_PKG_VERSION"));
/// How long a call is repeated by default.
const PATIENCE: Duration = Duration::from_secs(30);
/// Size limit of a JSON answer. The hub's largest pages are far smaller.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// No answer is worth a longer pause.
const RETRY_AFTER_SECONDS_MAX: u64 = 86_400;
/// Time limit between two parts of a body.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Gives the key that is valid now, if there is one.
type KeySource = dyn Fn() -> Option<String> + Send + Sync;

/// A hub, and the agent that calls it. Clones share their connections.
#[derive(Clone)]
pub struct Client {
    pool: Arc<Pool>,
    /// Whether the hub has ever answered.
    reached: Arc<AtomicBool>,
    key: Arc<RwLock<Option<HeaderValue>>>,
    key_source: Option<Arc<KeySource>>,
    patience: Duration,
    /// Instead of a random key for each POST.
    pub(crate) idempotency_key: Option<String>,
    pub(crate) keyring: Option<Arc<Keyring>>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("hub", self.pool.hub()).finish_non_exhaustive()
    }
}

impl Client {
    /// A client without a key, which can register an agent.
    pub fn new(hub: HubUrl) -> Result<Self, Error> {
        Ok(Self {
            pool: Arc::new(Pool::new(hub)?),
            reached: Arc::default(),
            key: Arc::default(),
            key_source: None,
            patience: PATIENCE,
            idempotency_key: None,
            keyring: None,
        })
    }

    /// The same hub with the API key of an agent or the operator's token.
    #[must_use]
    pub fn with_key(mut self, key: &str) -> Self {
        self.key = Arc::new(RwLock::new(bearer(key)));
        self.key_source = None;
        self
    }

    /// Says where to ask for the key again when the hub refuses it: another program may have replaced it. A source that
    /// gives another key than the refused one makes calls and event streams go on with that one.
    #[must_use]
    pub fn with_key_source(mut self, source: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        self.key_source = Some(Arc::new(source));
        self
    }

    /// Takes over the key of the source. False if there is none, or if it is the one that was refused.
    pub(crate) fn renew_key(&self, refused: Option<&HeaderValue>) -> bool {
        let Some(renewed) = self.key_source.as_ref().and_then(|source| bearer(&source()?)) else {
            return false;
        };
        let is_new = refused != Some(&renewed);
        *self.key.write().unwrap_or_else(PoisonError::into_inner) = Some(renewed);
        is_new
    }

    pub(crate) fn has_key_source(&self) -> bool {
        self.key_source.is_some()
    }

    /// Sets how long a call is repeated when it fails for a passing reason: the hub restarts, the network breaks, or the
    /// hub answers 429 or 503 with a `Retry-After` that fits. The default is 30 seconds; zero turns it off. A hub that
    /// has never answered is not waited for.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sends the next POST with this idempotency key instead of a random one, so that it takes effect once even if the
    /// program that sends it is restarted in between. Use the result for one call.
    #[must_use]
    pub fn with_idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// The hub's address.
    #[must_use]
    pub fn hub(&self) -> &HubUrl {
        self.pool.hub()
    }

    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    /// The value of the `Authorization` header.
    pub(crate) fn key(&self) -> Option<HeaderValue> {
        self.key.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn connector(&self) -> &Connector {
        self.pool.connector()
    }

    /// Sends a call and parses its answer.
    pub(crate) async fn call<T: DeserializeOwned>(&self, call: &Call) -> Result<T, Error> {
        let (_, bytes) = self.answer(call).await?;
        self.parse(&bytes)
    }

    /// Sends a call whose answer is a page of a list.
    pub(crate) async fn page<T: DeserializeOwned>(&self, call: &Call) -> Result<Page<T>, Error> {
        let (headers, bytes) = self.answer(call).await?;
        let next = headers.get(LINK).and_then(|link| link.to_str().ok()).and_then(next_cursor);
        // Whoever follows the cursor would come back here for ever.
        if next.is_some() && next == cursor_of(&call.query) {
            return Err(Error::EndlessList);
        }
        Ok(Page { items: self.parse(&bytes)?, next, bytes: bytes.len() })
    }

    /// Sends any request with a JSON body and returns the answer as text.
    ///
    /// For routes that this version does not know. A POST gets an idempotency key.
    pub async fn request(
        &self,
        method: http::Method,
        path_and_query: &str,
        json: Option<&serde_json::Value>,
    ) -> Result<Bytes, Error> {
        let mut call = match method {
            http::Method::POST => Call::post(path_and_query),
            http::Method::PATCH => Call::patch(path_and_query),
            http::Method::DELETE => Call::delete(path_and_query),
            method => Call { method, ..Call::get(path_and_query) },
        };
        if let Some(json) = json {
            call = call.json(json);
        }
        Ok(self.answer(&call).await?.1)
    }

    /// Sends a call until it succeeds, is refused, or patience ends. It is boxed: a program would compile all of it again
    /// for every kind of call.
    pub(crate) fn answer<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<(HeaderMap, Bytes), Error>> {
        Box::pin(self.repeat(call))
    }

    async fn repeat(&self, call: &Call) -> Result<(HeaderMap, Bytes), Error> {
        let deadline = Instant::now() + self.patience;
        let mut backoff = Backoff::default();
        let mut renewed = false;
        loop {
            let key = self.key();
            let failure = match self.once(call).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            // The hub has done nothing for a key that it does not know.
            if failure.code() == Some(Code::Unauthorized) && !renewed && self.renew_key(key.as_ref()) {
                renewed = true;
                continue;
            }
            let Some(pause) = self.pause_after(&failure, call.repeatable, &mut backoff) else {
                return Err(failure);
            };
            if Instant::now() + pause > deadline {
                return Err(failure);
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// How long to wait before the call is sent again; `None` if that is of no use or not safe.
    pub(crate) fn pause_after(
        &self,
        failure: &Error,
        repeatable: bool,
        backoff: &mut Backoff,
    ) -> Option<Duration> {
        match failure {
            Error::Refused(refusal) => match refusal.body.code {
                // A hub that is not available may have carried out the call all the same.
                Code::Unavailable if !repeatable => None,
                Code::RateLimited | Code::Unavailable => {
                    Some(refusal.retry_after.unwrap_or_default().max(backoff.pause()))
                }
                _ => None,
            },
            Error::Unreachable { .. } => self.reached.load(Ordering::Relaxed).then(|| backoff.pause()),
            Error::Lost { .. } | Error::TimedOut { .. } => repeatable.then(|| backoff.pause()),
            _ => None,
        }
    }

    async fn once(&self, call: &Call) -> Result<(HeaderMap, Bytes), Error> {
        let work = async {
            let (response, connection) = self.send(self.http_request(call)?).await?;
            let headers = response.headers().clone();
            let bytes = self.read(response.into_body()).await?;
            self.pool.put_back(connection);
            Ok((headers, bytes))
        };
        match timeout(call.answer_max, work).await {
            Ok(answered) => answered,
            Err(_) => Err(self.timed_out(call.answer_max)),
        }
    }

    pub(crate) fn timed_out(&self, after: Duration) -> Error {
        Error::TimedOut { hub: self.hub().to_string(), after }
    }

    /// Sends a request and checks its status. The body of the answer is still to be read.
    pub(crate) async fn send(
        &self,
        request: Request<Body>,
    ) -> Result<(Response<Incoming>, Connection), Error> {
        let (response, connection) = self.pool.send(request).await?;
        if response.status().is_success() {
            self.reached.store(true, Ordering::Relaxed);
            return Ok((response, connection));
        }
        let refusal = self.refused(response).await?;
        self.pool.put_back(connection);
        Err(refusal)
    }

    /// Sends a call once, over this connection and no other. `None` if the connection has ended.
    pub(crate) async fn call_over<T: DeserializeOwned>(
        &self,
        connection: &mut Connection,
        call: &Call,
    ) -> Result<Option<T>, Error> {
        if !connection.is_ready().await {
            return Ok(None);
        }
        let response = match connection.try_send(self.http_request(call)?).await {
            Ok(response) => response,
            Err(unanswered) if unanswered.unsent.is_some() => return Ok(None),
            Err(unanswered) => return Err(self.lost(&unanswered.cause)),
        };
        if !response.status().is_success() {
            return Err(self.refused(response).await?);
        }
        let bytes = self.read(response.into_body()).await?;
        self.parse(&bytes).map(Some)
    }

    /// Reads a refusal.
    async fn refused(&self, response: Response<Incoming>) -> Result<Error, Error> {
        self.reached.store(true, Ordering::Relaxed);
        let (parts, body) = response.into_parts();
        let bytes = self.read(body).await?;
        Ok(self.refusal(parts.status, &parts.headers, &bytes))
    }

    /// Returns a connection whose answer has been read to its end.
    pub(crate) fn put_back(&self, connection: Connection) {
        self.pool.put_back(connection);
    }

    /// The error that a refusal stands for.
    pub(crate) fn refusal(&self, status: StatusCode, headers: &HeaderMap, bytes: &[u8]) -> Error {
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let retry_after = text(RETRY_AFTER).and_then(|seconds| seconds.parse().ok());
        let mut retry_after =
            retry_after.map(|seconds: u64| Duration::from_secs(seconds.min(RETRY_AFTER_SECONDS_MAX)));
        let request_id = text(HeaderName::from_static("x-request-id")).map(ToOwned::to_owned);
        let body = match serde_json::from_slice::<ErrorBody>(bytes) {
            Ok(body) => body,
            // A proxy that got no answer from the hub, or none in time. The hub may have carried out the call.
            Err(_) if matches!(status.as_u16(), 502 | 504) => {
                let cause = format!("a proxy answered in its place ({status})");
                return Error::Lost { hub: self.hub().to_string(), cause };
            }
            // A proxy in front of a hub that restarts. Its page for maintenance may name an hour, of which the hub knows
            // nothing.
            Err(_) if status.as_u16() == 503 => {
                retry_after = None;
                ErrorBody::new(Code::Unavailable, format!("the hub is not available ({status})"))
            }
            Err(_) => return self.not_a_hub(format!("status {status} without an error body")),
        };
        Error::Refused(Box::new(Refusal { status: status.as_u16(), body, retry_after, request_id }))
    }

    pub(crate) fn not_a_hub(&self, detail: impl Into<String>) -> Error {
        Error::NotAHub { hub: self.hub().to_string(), detail: detail.into() }
    }

    pub(crate) fn lost(&self, cause: &dyn std::error::Error) -> Error {
        self.pool.lost(cause)
    }

    /// Reads a body into memory.
    pub(crate) async fn read(&self, mut body: Incoming) -> Result<Bytes, Error> {
        let expected = usize::try_from(body.size_hint().lower()).unwrap_or(0);
        let mut bytes = Vec::with_capacity(expected.min(1024 * 1024));
        while let Some(frame) = self.next_frame(&mut body).await? {
            if bytes.len() + frame.len() > ANSWER_BYTES_MAX {
                return Err(self.not_a_hub(format!("an answer of more than {ANSWER_BYTES_MAX} bytes")));
            }
            bytes.extend_from_slice(&frame);
        }
        Ok(bytes.into())
    }

    /// The next part of a body; `None` at its end.
    pub(crate) async fn next_frame(&self, body: &mut Incoming) -> Result<Option<Bytes>, Error> {
        loop {
            let frame = match timeout(SILENCE_MAX, body.frame()).await {
                Err(_) => return Err(self.timed_out(SILENCE_MAX)),
                Ok(None) => return Ok(None),
                Ok(Some(frame)) => frame.map_err(|cause| self.lost(&cause))?,
            };
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
    }

    pub(crate) fn parse<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, Error> {
        serde_json::from_slice(bytes).map_err(|cause| self.not_a_hub(cause.to_string()))
    }

    fn http_request(&self, call: &Call) -> Result<Request<Body>, Error> {
        let mut request = self.head(&call.method, &call.path_and_query())?;
        let key = call.idempotency_key.as_ref().map(|random| self.idempotency_key.as_ref().unwrap_or(random));
        if let Some(key) = key.and_then(|key| HeaderValue::from_str(key).ok()) {
            request.headers_mut().insert("idempotency-key", key);
        }
        request.headers_mut().extend(call.headers.iter().cloned());
        if let Some(bytes) = &call.body {
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            *request.body_mut() = whole(bytes.clone());
        }
        Ok(request)
    }

    /// A request without a body.
    pub(crate) fn head(&self, method: &http::Method, path_and_query: &str) -> Result<Request<Body>, Error> {
        let mut request = Request::builder()
            .method(method)
            .uri(self.hub().target(path_and_query))
            .header(HOST, self.hub().authority())
            .header(USER_AGENT, USER_AGENT_VALUE)
            .body(whole(Bytes::new()))
            .map_err(|cause| self.not_a_hub(cause.to_string()))?;
        if let Some(key) = self.key() {
            request.headers_mut().insert(AUTHORIZATION, key);
        }
        Ok(request)
    }
}

/// The header of a key. One with characters that no header can carry is no key of the hub's: it answers 401.
fn bearer(key: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("Bearer {key}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

//! One request to an address elsewhere. Hosts are resolved and checked as for webhooks, each time; no redirect is followed, no
//! proxy is used, no connection is kept. What an answer may be is bounded in bytes and in time.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Fuse};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, RETRY_AFTER, USER_AGENT};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tandem_core::AgentId;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::sleep_until;

use crate::delivery::webhooks::address::{self, AddressError, Target};
use crate::{Held, Holder, HubParts, tls};

/// Time limit of a request, its answer included.
pub(super) const TIME_MAX: Duration = Duration::from_secs(30);
/// Bytes of an answer that are held at once, its head included.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// What the bytes of an answer cost while they are read as JSON, which may need several times their number.
const PARSED_FACTOR: usize = 3;
/// The longest pause that an answer can ask for.
const RETRY_AFTER_MAX_SECONDS: i64 = 21_600;

/// A request.
pub(super) struct Ask<'a> {
    pub(super) method: Method,
    pub(super) url: &'a str,
    pub(super) headers: Vec<(&'a str, String)>,
    pub(super) body: Option<String>,
    /// Bytes of an answer.
    pub(super) bytes_max: usize,
    /// For whom the memory of the answer is held.
    pub(super) owner: &'a AgentId,
    pub(super) end_by: Instant,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) retry_after_ms: Option<i64>,
    pub(super) body: Vec<u8>,
    pub(super) held: Held,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failed {
    /// The address cannot be used at all.
    Refused(String),
    /// Nothing was sent.
    Unsent(String),
    /// It was sent, and nobody knows what became of it.
    Unclear(String),
    /// The answer is too large.
    TooLarge(usize),
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(why) | Self::Unsent(why) | Self::Unclear(why) => f.write_str(why),
            Self::TooLarge(bytes) => write!(f, "the answer is larger than {bytes} bytes"),
        }
    }
}

/// Sends a request and reads the answer as a whole.
pub(super) async fn fetch(hub: &HubParts, ask: Ask<'_>) -> Result<Answer, Failed> {
    let end_by = ask.end_by.min(Instant::now() + TIME_MAX);
    let (bytes_max, holder) = (ask.bytes_max, Holder::Agent(ask.owner.clone()));
    let mut is_sent = false;
    let attempt = async {
        let (target, request) = prepare(hub, &ask)?;
        let (response, connection) = open(hub, &target, request, &mut is_sent).await?;
        let reading = read(hub, holder, response, bytes_max);
        with_connection(reading, connection).await
    };
    let outcome = before(end_by, attempt).await;
    match outcome {
        Some(outcome) => outcome,
        None => {
            let why = format!("no answer within {} s", TIME_MAX.as_secs());
            Err(if is_sent { Failed::Unclear(why) } else { Failed::Unsent(why) })
        }
    }
}

/// Waits for a result until a moment. The clock is checked first and each time: a process that was suspended must not continue
/// what it had begun before.
async fn before<T>(end_by: Instant, result: impl Future<Output = T>) -> Option<T> {
    let (mut result, mut over) = (pin!(result), pin!(sleep_until(end_by.into())));
    poll_fn(|context| {
        if over.as_mut().poll(context).is_ready() || Instant::now() >= end_by {
            return Poll::Ready(None);
        }
        result.as_mut().poll(context).map(Some)
    })
    .await
}

fn prepare(hub: &HubParts, ask: &Ask<'_>) -> Result<(Target, Request<Full<Bytes>>), Failed> {
    let target = address::parse("url", ask.url, hub.webhooks.allowed)
        .map_err(|_| Failed::Refused(format!("the address {} is not allowed", ask.url)))?;
    let mut request = Request::builder()
        .method(ask.method.clone())
        .uri(&target.path)
        .header(HOST, &target.authority)
        .header(USER_AGENT, concat!("Tandem/", env!("CARGO_PKG_VERSION")));
    if ask.body.is_some() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    if !ask.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(ACCEPT.as_str())) {
        request = request.header(ACCEPT, "application/json");
    }
    for (name, value) in &ask.headers {
        request = request.header(*name, value);
    }
    let body = ask.body.as_ref().map(|body| Bytes::copy_from_slice(body.as_bytes())).unwrap_or_default();
    let request = request.body(Full::from(body));
    Ok((target, request.map_err(|error| Failed::Refused(error.to_string()))?))
}

/// A connection is not a task of its own: it ends with the request, also if that is cancelled.
struct Connection {
    driver: Fuse<BoxFuture<'static, ()>>,
    _sender: http1::SendRequest<Full<Bytes>>,
}

async fn with_connection<T>(reading: impl Future<Output = T>, connection: Connection) -> T {
    let driven = async {
        connection.driver.await;
        // The error reaches the request.
        std::future::pending().await
    };
    tokio::select! {
        outcome = reading => outcome,
        outcome = driven => outcome,
    }
}

async fn open(
    hub: &HubParts,
    target: &Target,
    request: Request<Full<Bytes>>,
    is_sent: &mut bool,
) -> Result<(Response<Incoming>, Connection), Failed> {
    // Resolved each time; the connection uses the checked address without a second query.
    let addresses = address::resolve_allowed(target, &hub.webhooks.resolver, hub.webhooks.allowed).await;
    let addresses = addresses.map_err(|unusable| match unusable {
        AddressError::NotPublic => Failed::Refused(unusable.to_string()),
        AddressError::Unresolved(_) => Failed::Unsent(unusable.to_string()),
    })?;
    let stream = TcpStream::connect(addresses.as_slice())
        .await
        .map_err(|error| Failed::Unsent(format!("cannot connect: {error}")))?;
    if !target.tls {
        return exchange(stream, request, is_sent).await;
    }
    let name = ServerName::try_from(target.host.clone())
        .map_err(|_| Failed::Refused("the host's name is not valid".to_owned()))?;
    let secured = tls::connector().connect(name, stream).await;
    let secured = secured.map_err(|error| Failed::Unsent(format!("TLS failed: {error}")))?;
    exchange(secured, request, is_sent).await
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
    is_sent: &mut bool,
) -> Result<(Response<Incoming>, Connection), Failed> {
    let handshake = http1::Builder::new().max_buf_size(BUFFER_BYTES_MAX).handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(|error| Failed::Unsent(error.to_string()))?;
    let driver = async {
        let _ = connection.await;
    };
    let mut driver = driver.boxed().fuse();
    *is_sent = true;
    let response = {
        let mut sending = pin!(sender.send_request(request));
        poll_fn(|context| {
            if let Poll::Ready(response) = sending.as_mut().poll(context) {
                return Poll::Ready(response);
            }
            // Its end is noticed by the request.
            let _ = driver.poll_unpin(context);
            sending.as_mut().poll(context)
        })
        .await
    };
    let response = response.map_err(|error| Failed::Unclear(format!("the connection failed: {error}")))?;
    Ok((response, Connection { driver, _sender: sender }))
}

async fn read(
    hub: &HubParts,
    holder: Holder,
    response: Response<Incoming>,
    bytes_max: usize,
) -> Result<Answer, Failed> {
    let (status, retry_after_ms) = (response.status().as_u16(), retry_after(response.headers()));
    let no_room = |_| Failed::Unclear("the hub has no memory for the answer at the moment".to_owned());
    let mut held = hub.budget.hold(holder, 0).map_err(no_room)?;
    let mut incoming = response.into_body();
    let mut body: Vec<u8> = Vec::new();
    while let Some(frame) = incoming.frame().await {
        let frame = frame.map_err(|error| Failed::Unclear(format!("the connection failed: {error}")))?;
        let Some(data) = frame.data_ref() else { continue };
        if body.len().saturating_add(data.len()) > bytes_max {
            return Err(Failed::TooLarge(bytes_max));
        }
        held.grow(data.len() * PARSED_FACTOR).map_err(no_room)?;
        body.extend_from_slice(data);
    }
    Ok(Answer { status, retry_after_ms, body, held })
}

fn retry_after(headers: &HeaderMap) -> Option<i64> {
    let seconds: i64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(seconds.clamp(0, RETRY_AFTER_MAX_SECONDS) * 1_000)
}

/// How a stream of events has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// There was no stream.
    None,
    Over,
}

/// Opens a stream of events and calls `heard` with each piece of it that has data. Nothing of it is kept.
pub(super) async fn listen(hub: &HubParts, ask: Ask<'_>, mut heard: impl FnMut()) -> StreamEnd {
    let end_by = ask.end_by;
    let mut is_sent = false;
    let mut is_stream = false;
    let listening = async {
        let Ok((target, request)) = prepare(hub, &ask) else { return };
        let Ok(opened) =
            before(Instant::now() + TIME_MAX, open(hub, &target, request, &mut is_sent)).await.transpose()
        else {
            return;
        };
        let Some((response, connection)) = opened else { return };
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        is_stream = response.status().is_success()
            && kind.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"));
        if !is_stream {
            return;
        }
        let reading = async {
            let mut incoming = response.into_body();
            while let Some(Ok(frame)) = incoming.frame().await {
                // A comment keeps the connection alive and says nothing.
                if frame
                    .data_ref()
                    .is_some_and(|data| !data.starts_with(b":") && !data.trim_ascii().is_empty())
                {
                    heard();
                }
            }
        };
        with_connection(reading, connection).await;
    };
    before(end_by, listening).await;
    if is_stream { StreamEnd::Over } else { StreamEnd::None }
}

//! Sends one POST request to a receiver. It follows no redirect, uses no proxy and keeps no connection.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::sleep_until;

use crate::delivery::webhooks::Dispatcher;
use crate::delivery::webhooks::address::{self, Target};
use crate::tls;

/// Total timeout of an attempt.
pub(crate) const TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of a response that are stored.
const ANSWER_BYTES_MAX: usize = 4 * 1024;
/// Time limit for these bytes, once the status is known.
const ANSWER_BODY_TIMEOUT: Duration = Duration::from_millis(400);
/// Bytes of a response that are held at once, its head included.
const BUFFER_BYTES_MAX: usize = 16 * 1024;

/// Status and start of the response body, or the error.
pub(crate) type SendResult = Result<(u16, String), String>;

/// What is sent.
pub(crate) struct Post<'a> {
    pub(crate) url: &'a str,
    pub(crate) content_type: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

/// Attempts a delivery once.
pub(crate) async fn send(with: &Dispatcher, post: Post<'_>, end_by: Instant) -> SendResult {
    match before(end_by, attempt(with, post)).await {
        Some(outcome) => outcome,
        None => Err(format!("no response within {} s", TIME_MAX.as_secs())),
    }
}

/// Waits for a result until a moment. The clock is checked first and each time: a process that was suspended must not
/// continue what it had begun before.
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

async fn attempt(with: &Dispatcher, post: Post<'_>) -> SendResult {
    let target = address::parse("url", post.url, with.webhooks.allowed)
        .map_err(|_| "the address is not allowed".to_owned())?;
    // Resolved for every attempt; the connection uses the checked address without a second query.
    let addresses = address::resolve_allowed(&target, &with.webhooks.resolver, with.webhooks.allowed)
        .await
        .map_err(|unusable| unusable.to_string())?;
    let request = request(&target, post)?;
    let stream =
        TcpStream::connect(addresses.as_slice()).await.map_err(|error| format!("cannot connect: {error}"))?;
    if !target.tls {
        return exchange(stream, request).await;
    }
    let name =
        ServerName::try_from(target.host.clone()).map_err(|_| "the host's name is not valid".to_owned())?;
    let secured =
        tls::connector().connect(name, stream).await.map_err(|error| format!("TLS failed: {error}"))?;
    exchange(secured, request).await
}

fn request(target: &Target, post: Post<'_>) -> Result<Request<Full<Bytes>>, String> {
    let mut request = Request::post(&target.path)
        .header(HOST, &target.authority)
        .header(CONTENT_TYPE, post.content_type)
        .header(USER_AGENT, concat!("Tandem/", env!("CARGO_PKG_VERSION")));
    for (name, value) in post.headers {
        request = request.header(name, value);
    }
    request.body(Full::from(post.body)).map_err(|error| error.to_string())
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send,
    request: Request<Full<Bytes>>,
) -> SendResult {
    let failed = |error: hyper::Error| format!("the connection failed: {error}");
    let handshake = http1::Builder::new().max_buf_size(BUFFER_BYTES_MAX).handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(failed)?;
    let answered = async {
        match sender.send_request(request).await {
            Ok(response) => Ok((response.status().as_u16(), body_start(response).await)),
            Err(error) => Err(failed(error)),
        }
    };
    // Not a task of its own: the connection ends with the attempt, also if that is cancelled.
    let driven = async {
        // The error reaches the request.
        let _ = connection.await;
        std::future::pending().await
    };
    tokio::select! {
        outcome = answered => outcome,
        outcome = driven => outcome,
    }
}

/// The start of a response body. What does not arrive in time, or cannot be read, is left out, because only the status
/// matters.
async fn body_start(response: Response<Incoming>) -> String {
    let mut body = response.into_body();
    let mut kept = Vec::new();
    let reading = async {
        while kept.len() < ANSWER_BYTES_MAX {
            match body.frame().await {
                Some(Ok(frame)) => kept.extend_from_slice(frame.data_ref().map_or(&[][..], Bytes::as_ref)),
                Some(Err(_)) | None => break,
            }
        }
    };
    let _ = tokio::time::timeout(ANSWER_BODY_TIMEOUT, reading).await;
    kept.truncate(ANSWER_BYTES_MAX);
    String::from_utf8_lossy(&kept).replace('\0', "\u{fffd}")
}

//! Requests of the harness: each has a time limit, and an answer that did not come is no answer.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::{Method, Request};
use serde_json::Value;
use tandem_client::Connection;

/// How long a request may take before it counts as unanswered.
const ANSWER_MAX: Duration = Duration::from_secs(4);

/// What came back.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Status(u16, Value),
    /// Nothing: it is unknown whether the request took effect.
    None(String),
}

impl Answer {
    /// Whether the hub decided: it did something, or it refused and did nothing. A server error may be either.
    pub(crate) fn is_decided(&self) -> bool {
        matches!(self, Self::Status(status, _) if *status < 500 && *status != 429)
    }

    pub(crate) fn is(&self, expected: u16) -> bool {
        matches!(self, Self::Status(status, _) if *status == expected)
    }

    pub(crate) fn success(&self) -> Option<&Value> {
        match self {
            Self::Status(200..300, body) => Some(body),
            _ => None,
        }
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Status(status, body) => write!(f, "{status} {body}"),
            Self::None(why) => write!(f, "no answer: {why}"),
        }
    }
}

/// A request without its receiver.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: Value,
    pub(crate) idempotency_key: Option<String>,
}

impl Ask {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self { method: Method::GET, path: path.into(), body: Value::Null, idempotency_key: None }
    }

    /// A POST with an idempotency key, which may be repeated until it is answered.
    pub(crate) fn post(path: impl Into<String>, body: Value) -> Self {
        let idempotency_key = Some(tandem_app::keys::random_hex::<12>());
        Self { method: Method::POST, path: path.into(), body, idempotency_key }
    }

    /// A POST that takes no idempotency key.
    pub(crate) fn post_once(path: impl Into<String>, body: Value) -> Self {
        Self { idempotency_key: None, ..Self::post(path, body) }
    }

    pub(crate) fn patch(path: impl Into<String>, body: Value) -> Self {
        Self { method: Method::PATCH, path: path.into(), body, idempotency_key: None }
    }

    fn request(&self, key: Option<&str>) -> anyhow::Result<Request<Full<Bytes>>> {
        let mut request = Request::builder().method(self.method.clone()).uri(&self.path);
        request = request.header("host", "localhost").header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        if let Some(key) = &self.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        let body = if self.body.is_null() { String::new() } else { self.body.to_string() };
        Ok(request.body(Full::new(Bytes::from(body)))?)
    }

    /// Sends it once to a node.
    pub(crate) async fn send(&self, node: SocketAddr, key: Option<&str>) -> Answer {
        self.send_within(node, key, ANSWER_MAX).await
    }

    /// Sends it once, with a time limit of its own.
    pub(crate) async fn send_within(&self, node: SocketAddr, key: Option<&str>, limit: Duration) -> Answer {
        match tokio::time::timeout(limit, self.exchange(node, key)).await {
            Ok(Ok((status, body))) => Answer::Status(status, body),
            Ok(Err(cause)) => Answer::None(format!("{cause:#}")),
            Err(_) => Answer::None(format!("nothing within {} ms", limit.as_millis())),
        }
    }

    async fn exchange(&self, node: SocketAddr, key: Option<&str>) -> anyhow::Result<(u16, Value)> {
        let mut connection = Connection::open(&format!("http://{node}").parse()?).await?;
        let response = connection.send(self.request(key)?).await?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.context("the answer broke off")?.to_bytes();
        Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
    }
}

pub(crate) async fn is_ready(node: SocketAddr) -> bool {
    Ask::get("/ready").send_within(node, None, Duration::from_secs(2)).await.is(200)
}

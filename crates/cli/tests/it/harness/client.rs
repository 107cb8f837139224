//! Requests and answers.

use std::net::SocketAddr;

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::{HeaderMap, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use super::documented;

/// Sends requests and reads answers.
#[derive(Debug, Clone)]
pub struct Client {
    pub address: SocketAddr,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Bytes,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// A field of a JSON object as text.
    pub fn text(&self, field: &str) -> String {
        let json = self.json();
        json[field].as_str().unwrap_or_else(|| panic!("no text {field} in {json}")).to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Asserts an error of the contract's shape.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        let json = self.json();
        assert_eq!((self.status, json["code"].as_str()), (status, Some(code)), "{json}");
        assert!(json["error"].as_str().is_some_and(|sentence| !sentence.is_empty()), "{json}");
        json
    }

    /// Asserts success and gives the body.
    #[track_caller]
    pub fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.bytes));
        let json = self.json();
        assert!(!json.is_null());
        json
    }

    /// Where the next page is, as a path.
    pub fn next_link(&self) -> Option<String> {
        let link = self.header("link")?;
        let (path, rel) = link.split_once('>').unwrap();
        assert_eq!(rel, "; rel=\"next\"");
        Some(path.trim_start_matches('<').to_owned())
    }
}

impl Client {
    pub async fn send(&self, method: &str, path: &str, key: Option<&str>, body: Option<Value>) -> Reply {
        let mut request =
            Request::builder().method(method).uri(path).header("host", self.address.to_string());
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let bytes = match body {
            Some(body) => {
                request = request.header("content-type", "application/json");
                Bytes::from(body.to_string())
            }
            None => Bytes::new(),
        };
        self.raw(request.body(Full::new(bytes)).unwrap()).await
    }

    /// A request as it is. No answer of a test is ever a failure of the hub.
    pub async fn raw(&self, request: Request<Full<Bytes>>) -> Reply {
        let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
        let reply = self.try_raw(request).await.expect("the hub answers");
        documented::check(&method, &path, &reply);
        let refusals = [StatusCode::SERVICE_UNAVAILABLE, StatusCode::INSUFFICIENT_STORAGE];
        assert!(reply.status < 500 || refusals.iter().any(|code| *code == reply.status), "{reply:?}");
        assert_eq!(reply.header("api-version"), Some("v1"));
        assert!(reply.header("x-request-id").is_some());
        reply
    }

    pub async fn try_raw(&self, request: Request<Full<Bytes>>) -> Result<Reply, Box<dyn std::error::Error>> {
        let stream = TcpStream::connect(self.address).await?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        let driver = tokio::spawn(connection);
        let response = sender.send_request(request).await?;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await?.to_bytes();
        drop(sender);
        let _ = driver.await;
        Ok(Reply { status: parts.status.as_u16(), headers: parts.headers, bytes })
    }
}

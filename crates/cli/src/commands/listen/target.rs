//! The program that gets the events, and one request to it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HOST, USER_AGENT};
use tandem_client::{Connection, HubUrl};
use tandem_seal::webhooks::headers;
use tokio::time::timeout;

use crate::terminal::time;

/// Time limit for an answer, as for the hub's webhooks.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// The address of a program.
#[derive(Debug, Clone)]
pub(super) struct Target {
    origin: HubUrl,
    /// Path and query.
    path: String,
}

#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) id: String,
    pub(super) body: String,
}

/// How the program answered.
#[derive(Debug)]
pub(super) enum Answer {
    Status(u16),
    Failed(String),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let host_at = text.find("://").map_or(0, |at| at + 3);
        let (origin, path) = match text[host_at..].find(['/', '?']) {
            Some(at) => text.split_at(host_at + at),
            None => (text, "/"),
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        let origin = origin.parse::<HubUrl>().map_err(|_| {
            format!("{text:?} is not the address of a program: give one such as http://localhost:8080/hook")
        })?;
        Ok(Self { origin, path: format!("{slash}{path}") })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.path)
    }
}

impl Target {
    /// Sends an event once, over a connection of its own.
    pub(super) async fn send(&self, secret: &str, delivery: &Delivery) -> Answer {
        match timeout(ANSWER_MAX, self.attempt(secret, delivery)).await {
            Ok(Ok(status)) => Answer::Status(status),
            Ok(Err(cause)) => Answer::Failed(cause),
            Err(_) => Answer::Failed(format!("no answer within {} s", ANSWER_MAX.as_secs())),
        }
    }

    async fn attempt(&self, secret: &str, delivery: &Delivery) -> Result<u16, String> {
        let mut connection = Connection::open(&self.origin).await.map_err(|_| "cannot connect".to_owned())?;
        let origin = self.origin.to_string();
        let host = origin.split_once("://").map_or(origin.as_str(), |(_, host)| host);
        let mut request = Request::post(&self.path)
            .header(HOST, host)
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, concat!("Tandem/", env!("CARGO_PKG_VERSION")));
        let sent_at = time::now().0 / 1_000;
        for (name, value) in headers(Some(secret), &delivery.id, sent_at, &delivery.body) {
            request = request.header(name, value);
        }
        let body = Full::new(Bytes::from(delivery.body.clone())).map_err(|never| match never {});
        let request = request.body(body).map_err(|cause| cause.to_string())?;
        let response = connection.send(request).await.map_err(|cause| cause.to_string())?;
        Ok(response.status().as_u16())
    }
}

//! Short tests of a hub: how long it takes to answer, what its clock says, and whether a socket opens. They change nothing
//! and cause no event.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use http::HeaderMap;
use http::header::{AUTHORIZATION, DATE};
use tandem_api::system::Health;
use tandem_core::Timestamp;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message};

use crate::call::{Call, Method};
use crate::{Client, Error};

/// Time limit for a socket to open and to answer a ping.
const SOCKET_MAX: Duration = Duration::from_secs(10);

/// How the hub answered one request.
#[derive(Debug, Clone)]
pub struct HubProbe {
    /// The hub's version.
    pub health: Health,
    /// From the request to its answer, on an open connection.
    pub took: Duration,
    /// The time in the answer, exact to the second; `None` if it has none.
    pub date: Option<Timestamp>,
}

/// How a socket behaved.
#[derive(Debug, Clone, Copy)]
pub struct PushProbe {
    /// From the start until the hub's greeting, with the connection and TLS.
    pub opened: Duration,
    /// From a ping to its pong.
    pub round_trip: Duration,
}

impl Client {
    /// Asks the hub for its health, twice: the second answer needs no new connection.
    pub async fn probe_hub(&self) -> Result<HubProbe, Error> {
        self.health().await?;
        let started = Instant::now();
        let (headers, bytes) = self.answer(&Call::get("/health")).await?;
        let took = started.elapsed();
        Ok(HubProbe { health: self.parse(&bytes)?, took, date: date_of(&headers) })
    }

    /// Opens a WebSocket for new events, waits for the greeting, sends a ping, and closes it.
    pub async fn probe_push(&self) -> Result<PushProbe, Error> {
        match timeout(SOCKET_MAX, self.ping_socket()).await {
            Ok(probed) => probed,
            Err(_) => Err(Error::TimedOut { hub: self.hub().to_string(), after: SOCKET_MAX }),
        }
    }

    async fn ping_socket(&self) -> Result<PushProbe, Error> {
        let started = Instant::now();
        let failed = |cause: tungstenite::Error| self.not_a_hub(format!("the socket failed: {cause}"));
        let mut request = self.hub().socket("/ws").into_client_request().map_err(failed)?;
        if let Some(key) = self.head(&Method::GET, "/ws")?.headers_mut().remove(AUTHORIZATION) {
            request.headers_mut().insert(AUTHORIZATION, key);
        }
        let stream = self.connector().open().await?;
        let (mut socket, _) = tokio_tungstenite::client_async(request, stream).await.map_err(failed)?;
        let mut pinged: Option<(Duration, Instant)> = None;
        while let Some(frame) = socket.next().await {
            match (frame.map_err(failed)?, pinged) {
                (Message::Text(_), None) => {
                    pinged = Some((started.elapsed(), Instant::now()));
                    socket.send(Message::Ping(Bytes::new())).await.map_err(failed)?;
                }
                (Message::Pong(_), Some((opened, sent))) => {
                    let round_trip = sent.elapsed();
                    // The result is known; the hub also notices an abrupt end.
                    let _ = socket.close(None).await;
                    return Ok(PushProbe { opened, round_trip });
                }
                _ => {}
            }
        }
        Err(self.not_a_hub("the hub closed the socket"))
    }
}

/// The hub's time in an answer, exact to the second.
pub(crate) fn date_of(headers: &HeaderMap) -> Option<Timestamp> {
    let text = headers.get(DATE)?.to_str().ok()?;
    let parsed = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(Timestamp(parsed.as_millisecond()))
}

//! Idle connections of a client.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Incoming;

use crate::connection::{Body, Connection, Connector, Unanswered};
use crate::{Error, HubUrl};

/// Idle connections that are kept.
const IDLE_MAX: usize = 16;
/// How long a connection is kept. Below the time after which hubs and proxies close idle connections.
const IDLE_TIME_MAX: Duration = Duration::from_secs(20);

/// Connections to one hub that wait for their next request.
#[derive(Debug)]
pub(crate) struct Pool {
    connector: Connector,
    hub: HubUrl,
    idle: Mutex<Vec<(Connection, Instant)>>,
}

impl Pool {
    pub(crate) fn new(hub: HubUrl) -> Result<Self, Error> {
        Ok(Self { connector: Connector::new(hub.clone())?, hub, idle: Mutex::default() })
    }

    pub(crate) fn hub(&self) -> &HubUrl {
        &self.hub
    }

    pub(crate) fn connector(&self) -> &Connector {
        &self.connector
    }

    /// Sends a request over an idle connection or a new one. Returns the connection too: [`put_back`](Self::put_back) it
    /// when the body of the answer has been read.
    pub(crate) async fn send(
        &self,
        mut request: Request<Body>,
    ) -> Result<(Response<Incoming>, Connection), Error> {
        while let Some(mut connection) = self.take_idle() {
            if !connection.is_ready().await {
                continue;
            }
            match connection.try_send(request).await {
                Ok(response) => return Ok((response, connection)),
                // The hub had closed the connection in the meantime.
                Err(Unanswered { unsent: Some(unsent), .. }) => request = unsent,
                Err(Unanswered { cause, .. }) => return Err(self.lost(&cause)),
            }
        }
        let mut connection = Connection::over(self.connector.open().await?, &self.hub).await?;
        match connection.try_send(request).await {
            Ok(response) => Ok((response, connection)),
            Err(Unanswered { cause, .. }) => Err(self.lost(&cause)),
        }
    }

    /// Keeps a connection for the next request.
    pub(crate) fn put_back(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX {
            idle.push((connection, Instant::now()));
        }
    }

    fn take_idle(&self) -> Option<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(_, since)| since.elapsed() < IDLE_TIME_MAX);
        idle.pop().map(|(connection, _)| connection)
    }

    pub(crate) fn lost(&self, cause: &dyn std::error::Error) -> Error {
        Error::Lost { hub: self.hub.to_string(), cause: deepest(cause) }
    }
}

/// The innermost cause, which says most.
fn deepest(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// A body of these bytes.
pub(crate) fn whole(bytes: Bytes) -> Body {
    use http_body_util::BodyExt as _;
    Body::new(http_body_util::Full::new(bytes).map_err(|never| match never {}))
}

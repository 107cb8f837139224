//! Connections to an S3 service. They are kept for the next request, because opening one with TLS takes as long as a
//! small request. It follows no redirect and uses no proxy.

use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::settings::Endpoint;
use crate::tls;

/// Time limit for a connection, TLS included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const NO_CONNECTION: &str = "the service does not accept connections in time";
/// Connections that are kept.
const KEPT_MAX: usize = 16;
/// How long a connection is kept. Below the time after which services close idle connections.
const KEPT_TIME_MAX: Duration = Duration::from_secs(15);

type Sender = SendRequest<Full<Bytes>>;

/// The connections to one service.
pub(super) struct Connections {
    pub(super) endpoint: Endpoint,
    /// Also those whose answer is still being read; they are not ready.
    kept: Mutex<Vec<(Sender, Instant)>>,
}

impl Connections {
    pub(super) fn to(endpoint: Endpoint) -> Self {
        Self { endpoint, kept: Mutex::default() }
    }

    /// Sends a request and returns the head of the answer, or what failed.
    pub(super) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, String> {
        let mut sender = match self.take() {
            Some(sender) => sender,
            None => match timeout(CONNECT_TIMEOUT, self.connect()).await {
                Ok(opened) => opened?,
                Err(_) => return Err(NO_CONNECTION.to_owned()),
            },
        };
        match sender.send_request(request).await {
            Ok(response) => {
                self.keep(sender);
                Ok(response)
            }
            Err(error) => {
                // The service may have closed the others too, so a retry takes a new one.
                self.kept().clear();
                Err(innermost(&error))
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<(Sender, Instant)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Sender> {
        let mut kept = self.kept();
        kept.retain(|(sender, since)| !sender.is_closed() && since.elapsed() < KEPT_TIME_MAX);
        let ready = kept.iter().rposition(|(sender, _)| sender.is_ready())?;
        Some(kept.swap_remove(ready).0)
    }

    fn keep(&self, sender: Sender) {
        let mut kept = self.kept();
        if kept.len() < KEPT_MAX {
            kept.push((sender, Instant::now()));
        }
    }

    async fn connect(&self) -> Result<Sender, String> {
        let Endpoint { tls, host, port, .. } = &self.endpoint;
        let stream = connect_to_any(host, *port).await?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        if !tls {
            return open(stream).await;
        }
        let name =
            ServerName::try_from(host.clone()).map_err(|_| "the host's name is not valid".to_owned())?;
        let secured = tls::connector().connect(name, stream).await;
        open(secured.map_err(|error| format!("TLS failed: {error}"))?).await
    }
}

/// Tries the addresses of a host in turn. Each has an equal share of the time, so that one that never answers leaves
/// time for the next.
async fn connect_to_any(host: &str, port: u16) -> Result<TcpStream, String> {
    let addresses: Vec<_> = lookup_host((host, port)).await.map_err(|error| error.to_string())?.collect();
    let share = CONNECT_TIMEOUT / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
    let mut cause = "the host has no address".to_owned();
    for address in addresses {
        match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => cause = error.to_string(),
            Err(_) => cause = NO_CONNECTION.to_owned(),
        }
    }
    Err(cause)
}

async fn open(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<Sender, String> {
    let (sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| innermost(&error))?;
    // It ends with its sender and its last answer; a failure shows in the requests.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(sender)
}

/// The text of the cause at the end of the chain.
pub(super) fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

//! One HTTP/1.1 connection to a hub, with TLS if its address says so.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::answered_io::AnsweredIo;
use crate::{Error, HubUrl};

/// Time limit for a connection, TLS included.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// The body of a request.
pub(crate) type Body = UnsyncBoxBody<Bytes, io::Error>;

/// A byte stream to a hub.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Opens byte streams to one hub.
#[derive(Clone)]
pub(crate) struct Connector {
    hub: HubUrl,
    /// Only for a hub with TLS: loading certificates takes time.
    tls: Option<TlsConnector>,
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").field("hub", &self.hub).finish_non_exhaustive()
    }
}

impl Connector {
    pub(crate) fn new(hub: HubUrl) -> Result<Self, Error> {
        let tls = if hub.is_secure() { Some(TlsConnector::from(Arc::new(tls_config()?))) } else { None };
        Ok(Self { hub, tls })
    }

    /// Opens a stream.
    pub(crate) async fn open(&self) -> Result<Box<dyn Stream>, Error> {
        let unreachable =
            |cause: String| Error::Unreachable { hub: self.hub.to_string(), cause: plain_cause(cause) };
        match tokio::time::timeout(CONNECT_MAX, self.connect()).await {
            Ok(opened) => opened.map_err(|cause| unreachable(cause.to_string())),
            Err(_) => Err(unreachable(format!("no connection within {} seconds", CONNECT_MAX.as_secs()))),
        }
    }

    async fn connect(&self) -> io::Result<Box<dyn Stream>> {
        let tcp = TcpStream::connect((self.hub.host(), self.hub.port())).await?;
        tcp.set_nodelay(true)?;
        let Some(tls) = &self.tls else { return Ok(Box::new(tcp)) };
        let name = ServerName::try_from(self.hub.host().to_owned()).map_err(io::Error::other)?;
        Ok(Box::new(tls.connect(name, tcp).await?))
    }
}

/// The text of a cause without the number of the operating system's error.
fn plain_cause(cause: String) -> String {
    match cause.rfind(" (os error ") {
        Some(at) => cause[..at].to_owned(),
        None => cause,
    }
}

fn tls_config() -> Result<rustls::ClientConfig, Error> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = rustls::RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        let why = found.errors.first().map_or_else(|| "none found".to_owned(), ToString::to_string);
        return Err(Error::Tls(format!("this machine has no usable root certificates ({why})")));
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|cause| Error::Tls(cause.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// One HTTP/1.1 connection, for programs that measure a hub or send unusual requests. [`Client`](crate::Client) keeps
/// connections by itself.
#[derive(Debug)]
pub struct Connection {
    sender: SendRequest<Body>,
}

impl Connection {
    /// Connects to a hub.
    pub async fn open(hub: &HubUrl) -> Result<Self, Error> {
        Self::over(Connector::new(hub.clone())?.open().await?, hub).await
    }

    pub(crate) async fn over(stream: Box<dyn Stream>, hub: &HubUrl) -> Result<Self, Error> {
        let lost = |cause: hyper::Error| Error::Lost { hub: hub.to_string(), cause: cause.to_string() };
        let (sender, connection) =
            http1::handshake(TokioIo::new(AnsweredIo::new(stream))).await.map_err(lost)?;
        // It ends with its sender; a failure shows in the requests.
        tokio::spawn(
            async move {
                let _ = connection.await;
            }
            .boxed(),
        );
        Ok(Self { sender })
    }

    /// Sends a request as it is and returns the head of the answer.
    pub async fn send<B>(&mut self, request: Request<B>) -> Result<Response<Incoming>, hyper::Error>
    where
        B: hyper::body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.sender.ready().await?;
        let boxed = request.map(|body| UnsyncBoxBody::new(body.map_err(io::Error::other)));
        self.sender.send_request(boxed).await
    }

    /// Waits until the connection can take a request. False if it has ended.
    pub(crate) async fn is_ready(&mut self) -> bool {
        self.sender.ready().await.is_ok()
    }

    /// Sends a request. An error says whether nothing was sent.
    pub(crate) async fn try_send(
        &mut self,
        request: Request<Body>,
    ) -> Result<Response<Incoming>, Unanswered> {
        self.sender
            .try_send_request(request)
            .await
            .map_err(|mut failed| Unanswered { unsent: failed.take_message(), cause: failed.into_error() })
    }
}

/// A request without an answer.
#[derive(Debug)]
pub(crate) struct Unanswered {
    /// The request, if nothing of it was sent.
    pub(crate) unsent: Option<Request<Body>>,
    pub(crate) cause: hyper::Error,
}

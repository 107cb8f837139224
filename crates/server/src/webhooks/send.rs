//! One POST to a receiver: no redirect is followed, no proxy asked, nothing kept open.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tandem_app::webhooks::sign;
use tandem_store::webhooks::Delivery;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::hub::Hub;
use crate::webhooks::address::{self, Target};

/// How long a receiver may take for everything.
const TIME_MAX: Duration = Duration::from_secs(10);
/// How much of an answer is kept.
const ANSWER_BYTES_MAX: usize = 4 * 1024;

/// The receiver's status and the beginning of its answer, or why there was none.
pub(crate) type Outcome = Result<(u16, String), String>;

/// Tries a delivery once.
pub(crate) async fn send(hub: &Hub, url: &str, secret: Option<&str>, delivery: &Delivery) -> Outcome {
    match timeout(TIME_MAX, attempt(hub, url, secret, delivery)).await {
        Ok(outcome) => outcome,
        Err(_) => Err(format!("no answer within {} s", TIME_MAX.as_secs())),
    }
}

async fn attempt(hub: &Hub, url: &str, secret: Option<&str>, delivery: &Delivery) -> Outcome {
    let target = address::parse(url, &hub.config).map_err(|_| "the address is not allowed".to_owned())?;
    // Looked at for every try, and connected to without a second look-up.
    let addresses = address::vetted(&target, &hub.names, &hub.config).await?;
    let request = request(hub, &target, secret, delivery)?;
    let stream =
        TcpStream::connect(addresses.as_slice()).await.map_err(|error| format!("cannot connect: {error}"))?;
    if !target.tls {
        return exchange(stream, request).await;
    }
    let name =
        ServerName::try_from(target.host.clone()).map_err(|_| "the host's name is not valid".to_owned())?;
    let secured = connector().connect(name, stream).await.map_err(|error| format!("TLS failed: {error}"))?;
    exchange(secured, request).await
}

fn request(
    hub: &Hub,
    target: &Target,
    secret: Option<&str>,
    delivery: &Delivery,
) -> Result<Request<Full<Bytes>>, String> {
    let timestamp = hub.clock.now().0 / 1_000;
    let mut request = Request::post(&target.path)
        .header(HOST, &target.authority)
        .header(CONTENT_TYPE, "application/json")
        .header(USER_AGENT, concat!("Tandem/", env!("CARGO_PKG_VERSION")))
        .header("webhook-id", delivery.id.as_str())
        .header("webhook-timestamp", timestamp)
        .header("x-pairai-timestamp", timestamp);
    if let Some(secret) = secret {
        let (plain, standard) = sign(secret, &delivery.id, timestamp, &delivery.body);
        request = request.header("x-pairai-signature", plain).header("webhook-signature", standard);
    }
    request.body(Full::from(delivery.body.clone())).map_err(|error| error.to_string())
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Outcome {
    let failed = |error: hyper::Error| format!("the connection failed: {error}");
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    let driver = tokio::spawn(connection);
    let outcome = match sender.send_request(request).await {
        Ok(response) => Ok((response.status().as_u16(), beginning(response).await)),
        Err(error) => Err(failed(error)),
    };
    driver.abort();
    outcome
}

/// The beginning of an answer. What cannot be read is left out: the status is what counts.
async fn beginning(response: Response<Incoming>) -> String {
    let mut body = response.into_body();
    let mut kept = Vec::new();
    while kept.len() < ANSWER_BYTES_MAX {
        match body.frame().await {
            Some(Ok(frame)) => kept.extend_from_slice(frame.data_ref().map_or(&[][..], Bytes::as_ref)),
            Some(Err(_)) | None => break,
        }
    }
    kept.truncate(ANSWER_BYTES_MAX);
    String::from_utf8_lossy(&kept).replace('\0', "\u{fffd}")
}

/// Reading the machine's certificates takes a while, so it is done once, when first needed.
fn connector() -> TlsConnector {
    static CONNECTOR: OnceLock<TlsConnector> = OnceLock::new();
    let connect = || {
        let mut roots = rustls::RootCertStore::empty();
        // A certificate that cannot be read vouches for nobody; the rest still do.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let config = rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        TlsConnector::from(Arc::new(config))
    };
    CONNECTOR.get_or_init(connect).clone()
}

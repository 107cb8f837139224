//! Sessions of several nodes. A session lives in the memory of the node that began it, and its id names that node. Every
//! other node passes requests for it on, bodies and streams as they arrive.
//!
//! If the node of a session is gone, so is the session: the answer is 404, and a client begins a new one.

use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use futures_util::FutureExt as _;
use http_body_util::Limited;
use hyper::body::{Body as HttpBody, Frame, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tandem_api::error::Code;
use tandem_core::NodeId;
use tandem_hub::{Error, Hub};
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;

use super::{BODY_BYTES_MAX, SESSION, no_session};
use crate::http::nodes;

/// Separates the node from the rest of a session id. No id of a node contains it.
const SEPARATOR: char = '.';
/// How long connecting to a node may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long an answer may take to begin: longer than any call waits for news.
const ANSWER_MAX: Duration = Duration::from_secs(120);
/// How often it is checked that the other node still runs and this one does not stop.
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// What is held of a response at once.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// Headers that belong to one connection, and one that this node answers itself.
const OF_CONNECTION: [HeaderName; 9] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::EXPECT,
];

/// Where a session lives.
pub(super) enum Owner {
    /// Here, under this id.
    This(String),
    Other(NodeId),
}

/// Finds out where a session lives.
pub(super) fn owner(hub: &Hub, id: &str) -> Owner {
    let Some((node, own)) = id.split_once(SEPARATOR) else { return Owner::This(id.to_owned()) };
    match node.parse::<NodeId>() {
        Ok(node) if node != *hub.cluster.id() => Owner::Other(node),
        _ => Owner::This(own.to_owned()),
    }
}

/// Names this node in the id of a session that a response contains.
pub(super) fn name_node(hub: &Hub, headers: &mut HeaderMap) {
    if !hub.cluster.topology.is_clustered() {
        return;
    }
    let Some(id) = headers.get(SESSION).and_then(|id| id.to_str().ok()) else { return };
    if let Ok(named) = HeaderValue::from_str(&format!("{}{SEPARATOR}{id}", hub.cluster.id())) {
        headers.insert(SESSION, named);
    }
}

/// Passes a request on to the node of its session.
pub(super) async fn forward(
    hub: &Hub,
    node: &NodeId,
    client: IpAddr,
    request: Request,
) -> Result<Response, Error> {
    let Some(found) = hub.cluster.node(node).await?.filter(|found| !found.advertise.is_empty()) else {
        return Err(no_session());
    };
    let connecting = tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(&found.advertise)).await;
    let stream = match connecting {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Err(unreachable(node, &error.to_string())),
        Err(_) => return Err(unreachable(node, "it does not answer")),
    };
    // Messages are small and written at once.
    let _ = stream.set_nodelay(true);
    let handshake = http1::Builder::new().max_buf_size(BUFFER_BYTES_MAX).handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(|error| unreachable(node, &error.to_string()))?;
    // Ends with the response, also if the client leaves before that: the other node notices it like here.
    let connection = AbortOnDropHandle::new(tokio::spawn(
        async move {
            // The error reaches the request or its response.
            let _ = connection.await;
        }
        .boxed(),
    ));
    let request = outgoing(hub, client, request);
    let mut gone = Box::pin(gone(hub.clone(), node.clone()));
    let response = tokio::select! {
        response = sender.send_request(request) => response.map_err(|error| interrupted(node, &error.to_string()))?,
        () = &mut gone => return Err(interrupted(node, "it stopped")),
        () = tokio::time::sleep(ANSWER_MAX) => return Err(interrupted(node, "it does not answer")),
    };
    let (mut parts, body) = response.into_parts();
    for name in OF_CONNECTION {
        parts.headers.remove(name);
    }
    Ok(Response::from_parts(parts, Body::new(PassedBody { body, gone, _connection: connection })))
}

/// The request for the other node.
fn outgoing(hub: &Hub, client: IpAddr, request: Request) -> hyper::Request<Limited<Body>> {
    let (mut parts, body) = request.into_parts();
    let target = parts.uri.path_and_query().cloned();
    let mut outgoing = hyper::Request::new(Limited::new(body, BODY_BYTES_MAX));
    *outgoing.method_mut() = parts.method;
    if let Some(target) = target {
        *outgoing.uri_mut() = target.into();
    }
    for name in OF_CONNECTION {
        parts.headers.remove(name);
    }
    nodes::sign(&mut parts.headers, hub.cluster.secret(), client);
    *outgoing.headers_mut() = parts.headers;
    outgoing
}

/// The session's node cannot be reached, so its session is lost for this client.
fn unreachable(node: &NodeId, why: &str) -> Error {
    tracing::warn!(node = node.as_str(), why, "the node of an MCP session cannot be reached");
    no_session()
}

/// The node stopped during the request. Nobody knows whether it was carried out, so the client must not repeat it
/// without a look; its next request learns that the session is gone.
fn interrupted(node: &NodeId, why: &str) -> Error {
    tracing::warn!(node = node.as_str(), why, "an MCP request to another node was interrupted");
    let why = "the node of this session stopped during the request; it may have been carried out";
    Error::new(Code::Unavailable, why).retry_after(1)
}

/// Waits until a node is gone, or this one stops.
async fn gone(hub: Hub, node: NodeId) {
    loop {
        tokio::time::sleep(CHECK_EVERY).await;
        // Without the database, nobody knows.
        if hub.writing.is_closed() || matches!(hub.cluster.node(&node).await, Ok(None)) {
            return;
        }
    }
}

type Gone = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A response of another node. It ends when that node is gone.
struct PassedBody {
    body: Incoming,
    gone: Gone,
    _connection: AbortOnDropHandle<()>,
}

impl HttpBody for PassedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            return Poll::Ready(frame);
        }
        self.gone.as_mut().poll(context).map(|()| None)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }
}

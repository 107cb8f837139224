//! The accept loop: plain HTTP/1.1 with limits on connections, headers and time.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::FutureExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;
use tower::ServiceExt as _;

use crate::http::client_io::{BUFFER_BYTES_MAX, ClientIo, HeadMeter};
use crate::http::connection::Connection;
use crate::http::front::normalise;
use crate::http::refusal::{refuse, refuse_now};
use crate::http::slots::{Slot, Slots};
use crate::http::visitor::SentUri;
use tandem_hub::{Address, Error, Holder, Hub};

/// Time limit for the headers, and for idle connections.
const HEADER_TIMEOUT: Duration = Duration::from_secs(75);
/// Time in which a client must accept a byte of its response.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit for open requests after the stop signal.
const DRAIN: Duration = Duration::from_secs(7);
/// Time limit for the background workers after the stop signal.
const WORKERS_STOP: Duration = Duration::from_secs(9);
/// Time limit for everything after the stop signal: the process has ended then.
pub const GRACE: Duration = Duration::from_secs(10);
/// Time over which the sockets and streams of a node that stops move to other nodes.
const HAND_OVER: Duration = Duration::from_secs(2);
/// Connections that are being refused at once. Others are closed without waiting for them to read the response.
const REFUSALS_MAX: usize = 256;

/// Serves until `stop` resolves, then lets open requests finish. Returns the time limit of the background workers.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    hub: Hub,
    stop: impl Future<Output = ()>,
) -> Instant {
    let slots = Slots::new(hub.config.max_connections, hub.config.connections_per_address());
    let refusals = Arc::new(Semaphore::new(REFUSALS_MAX));
    let (stopping, stopped) = watch::channel(());
    let draining = Duration::from_secs(hub.config.drain_seconds.into());
    let mut stop = std::pin::pin!(async {
        stop.await;
        hub.cluster.start_draining();
        tokio::time::sleep(draining).await;
    });
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, or the client has already left; pause instead of a busy loop.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        match admit(&hub, &slots, peer.ip()) {
            Ok((slot, meter)) => {
                let served = connection(stream, peer.ip(), slot, meter, router.clone(), stopped.clone());
                let hub = Arc::clone(&hub);
                hub.metrics.connections.inc();
                tokio::spawn(
                    async move {
                        served.await;
                        hub.metrics.connections.dec();
                    }
                    .boxed(),
                );
            }
            Err(error) => {
                hub.metrics.refused_connections.inc();
                refuse_within(&refusals, stream, error);
            }
        }
    }
    let stopped_at = Instant::now();
    drop(listener);
    drop(stopping);
    hub.writing.close();
    // Clients that reconnect to another node come one after the other.
    hub.liveness.bus.stop(if hub.cluster.topology.is_clustered() { HAND_OVER } else { Duration::ZERO }).await;
    let drained = async {
        // WebSockets have left their connections, but keep their slots; they close by themselves.
        while slots.taken() > 0 || hub.liveness.bus.open() != (0, 0) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // Some requests continue after their connection is closed.
        hub.writing.wait().await;
    };
    if tokio::time::timeout_at(stopped_at + DRAIN, drained).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
    stopped_at + WORKERS_STOP
}

/// Refuses a connection: with a response if not too many are being refused already.
fn refuse_within(refusals: &Arc<Semaphore>, stream: TcpStream, error: Error) {
    match Arc::clone(refusals).try_acquire_owned() {
        Ok(permit) => {
            tokio::spawn(
                async move {
                    refuse(stream, error).await;
                    drop(permit);
                }
                .boxed(),
            );
        }
        Err(_) => refuse_now(stream, &error),
    }
}

/// Takes a slot and the memory of an idle connection.
fn admit(hub: &Hub, slots: &Arc<Slots>, ip: IpAddr) -> Result<(Slot, Arc<HeadMeter>), Error> {
    let address = Address::new(ip);
    // The connections of a proxy belong to many clients.
    let is_proxy = hub.config.behind_proxy || hub.config.trusted_proxies.contains(ip.to_canonical());
    let owner = (!is_proxy).then(|| Arc::clone(&address.key));
    let slot = slots.take(owner.clone())?;
    Ok((slot, HeadMeter::new(&hub.budget, Holder::Connections(owner), address)?))
}

/// Serves one connection until the client leaves, or the hub stops and the current request is answered. What is known of
/// it goes with each request, because a WebSocket outlives its connection and keeps its slot.
async fn connection(
    stream: TcpStream,
    peer: IpAddr,
    slot: Slot,
    meter: Arc<HeadMeter>,
    router: Router,
    mut stopped: watch::Receiver<()>,
) {
    // Responses are small and written at once; waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let known = Connection::new(peer, stream.local_addr().ok(), slot);
    let stream = ClientIo::new(stream, Arc::clone(&meter), WRITE_TIMEOUT);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Arc::clone(&known));
        if let Some(sent) = normalise(request.uri_mut()) {
            request.extensions_mut().insert(SentUri(sent));
        }
        let (router, meter) = (router.clone(), Arc::clone(&meter));
        async move {
            meter.end_head();
            let mut response = router.oneshot(request).await;
            if meter.was_large()
                && let Ok(response) = &mut response
            {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            // After a handshake follow the frames of a WebSocket; on a connection that is closed, the rest of a body.
            let goes_on = |response: &Response| {
                response.status() != StatusCode::SWITCHING_PROTOCOLS
                    && !response.headers().contains_key(header::CONNECTION)
            };
            if response.as_ref().is_ok_and(goes_on) {
                meter.begin_head();
            }
            response
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(BUFFER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    // A client that disconnects early is not an error.
    tokio::select! {
        _ = connection.as_mut() => {}
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

//! The accept loop: plain HTTP/1.1 with limits on connections, headers and time.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt as _;

use crate::http::front::{Local, Peer, SentUri, normalise};
use crate::http::write_timeout::WriteTimeout;
use tandem_hub::Hub;

/// Time limit for the headers, and for idle connections.
const HEADER_TIMEOUT: Duration = Duration::from_secs(75);
/// Write timeout.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit for open requests after the stop signal.
const DRAIN: Duration = Duration::from_secs(10);

/// Serves until `stop` resolves, then lets open requests finish.
pub async fn serve(listener: TcpListener, router: Router, hub: Hub, stop: impl Future<Output = ()>) {
    let connections_max = u32::try_from(hub.config.max_connections).unwrap_or(u32::MAX);
    let connections = Arc::new(Semaphore::new(connections_max as usize));
    let (stopping, stopped) = watch::channel(());
    let mut stop = std::pin::pin!(stop);
    loop {
        // Acquire a permit first: beyond the limit, connections wait in the kernel's queue.
        let permit = tokio::select! {
            permit = Arc::clone(&connections).acquire_owned() => permit,
            () = &mut stop => break,
        };
        let Ok(permit) = permit else { break };
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
        let served = connection(stream, Peer(peer), router.clone(), stopped.clone());
        let hub = Arc::clone(&hub);
        hub.metrics.connections.inc();
        tokio::spawn(async move {
            served.await;
            hub.metrics.connections.dec();
            drop(permit);
        });
    }
    drop(listener);
    drop(stopping);
    hub.writing.close();
    hub.liveness.bus.stop();
    // All permits returned means all connections are closed.
    let drained = async {
        let _ = connections.acquire_many(connections_max).await;
        // Some requests continue after their connection is closed.
        hub.writing.wait().await;
        // WebSockets have left their connections; they close by themselves.
        while hub.liveness.bus.open() != (0, 0) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    if tokio::time::timeout(DRAIN, drained).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
}

/// Serves one connection until the client leaves, or the hub stops and the current request is answered.
async fn connection(stream: TcpStream, peer: Peer, router: Router, mut stopped: watch::Receiver<()>) {
    // Responses are small and written at once; waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let local = stream.local_addr().ok().map(Local);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(peer);
        if let Some(local) = local {
            request.extensions_mut().insert(local);
        }
        let sent = SentUri(request.uri().clone());
        request.extensions_mut().insert(sent);
        normalise(request.uri_mut());
        router.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(WriteTimeout::new(stream, READ_TIMEOUT)), service)
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

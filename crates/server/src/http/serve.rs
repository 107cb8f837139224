//! The accept loop: plain HTTP/1.1 with bounds on connections, headers and patience.

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

use crate::http::front::{Peer, SentUri, normalise};
use crate::http::patience::Patient;
use crate::hub::Hub;

/// How long a client may take over its headers, or sit idle between requests.
const HEADER_TIMEOUT: Duration = Duration::from_secs(75);
/// How long an answer waits for a client that takes nothing of it.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// How long requests under way may take after the signal to stop.
const DRAIN: Duration = Duration::from_secs(10);

/// Serves until `stop` resolves, then lets requests under way finish.
pub async fn serve(listener: TcpListener, router: Router, hub: Hub, stop: impl Future<Output = ()>) {
    let connections_max = u32::try_from(hub.config.max_connections).unwrap_or(u32::MAX);
    let connections = Arc::new(Semaphore::new(connections_max as usize));
    let (stopping, stopped) = watch::channel(());
    let mut stop = std::pin::pin!(stop);
    loop {
        // A permit first: beyond the bound, connections wait in the kernel's queue.
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
                // Out of file handles, or the client left already; neither is worth a busy loop.
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
    hub.bus.stop();
    // Every permit back means every connection gone.
    let drained = async {
        let _ = connections.acquire_many(connections_max).await;
        // Sockets have left their connections behind; they say goodbye by themselves.
        while hub.bus.open() != (0, 0) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    if tokio::time::timeout(DRAIN, drained).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
}

/// Serves one connection until the client leaves, or the hub stops and the request under way is answered.
async fn connection(stream: TcpStream, peer: Peer, router: Router, mut stopped: watch::Receiver<()>) {
    // Answers are small and written whole; waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(peer);
        let sent = SentUri(request.uri().clone());
        request.extensions_mut().insert(sent);
        normalise(request.uri_mut());
        router.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(Patient::new(stream, READ_TIMEOUT)), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    // A client that hangs up in the middle is its own affair.
    tokio::select! {
        _ = connection.as_mut() => {}
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

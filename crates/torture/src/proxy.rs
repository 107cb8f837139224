//! A TCP proxy between a node and a service, which can cut, stall and delay.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What the proxy does with bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Forwards them.
    Open,
    /// Forwards them late.
    Late(Duration),
    /// Keeps connections open and forwards nothing, as a network that drops every packet.
    Stalled,
    /// Ends connections and refuses new ones.
    Cut,
}

/// The state that all connections follow: the way, and how often all connections were ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    way: Way,
    ended: u64,
}

/// A proxy on a port of its own, which ends with its owner.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) port: u16,
    state: Arc<watch::Sender<State>>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// A proxy to a port of the loopback.
    pub(crate) async fn start(to: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let (state, _) = watch::channel(State { way: Way::Open, ended: 0 });
        let state = Arc::new(state);
        let watched = Arc::clone(&state);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if watched.borrow().way != Way::Cut {
                    tokio::spawn(connect(
                        stream,
                        SocketAddr::from(([127, 0, 0, 1], to)),
                        watched.subscribe(),
                    ));
                }
            }
        });
        Ok(Self { port, state, accepting })
    }

    pub(crate) fn set(&self, way: Way) {
        self.state.send_modify(|state| {
            state.way = way;
            state.ended += u64::from(way == Way::Cut);
        });
    }

    /// Ends every connection; new ones are accepted.
    pub(crate) fn end_all(&self) {
        self.state.send_modify(|state| state.ended += 1);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.end_all();
    }
}

async fn connect(near: TcpStream, to: SocketAddr, mut state: watch::Receiver<State>) {
    let Ok(far) = TcpStream::connect(to).await else { return };
    // Otherwise every message would be late.
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let ended = state.borrow().ended;
    let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
    let there = forward(near_in, far_out, state.clone());
    let back = forward(far_in, near_out, state.clone());
    tokio::select! {
        () = there => {}
        () = back => {}
        _ = state.wait_for(|state| state.ended != ended) => {}
    }
}

async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut state: watch::Receiver<State>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let way = state.borrow().way;
        if let Way::Late(by) = way {
            tokio::time::sleep(by).await;
        }
        // Also if it was stalled while the bytes were late.
        if state.wait_for(|state| state.way != Way::Stalled).await.is_err() {
            return;
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

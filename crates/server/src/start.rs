//! The life of the server: listen, serve, drain.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use rmcp::ServerHandler;
use tandem_hub::start::Started;
use tandem_hub::{Config, Hub};
use tokio::net::TcpListener;

use crate::http::{router, serve};
use crate::mcp::{self, Sessions};

/// Interval of the check for idle MCP sessions.
const IDLE_SESSIONS_EVERY: Duration = Duration::from_secs(60);

/// The address cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {cause}{}", in_use_note(.cause))]
pub struct ListenError {
    address: SocketAddr,
    cause: std::io::Error,
}

fn in_use_note(cause: &std::io::Error) -> &'static str {
    match cause.kind() {
        std::io::ErrorKind::AddrInUse => {
            "; another program has it: stop that one, or choose another with --listen"
        }
        _ => "",
    }
}

/// Listens on the address in the settings.
pub async fn listen(config: &Config) -> Result<TcpListener, ListenError> {
    let address = config.listen;
    TcpListener::bind(address).await.map_err(|cause| ListenError { address, cause })
}

/// All surfaces of one hub.
#[derive(Debug)]
pub struct Server {
    started: Started,
    /// The MCP sessions. They end with the key that opened them.
    pub sessions: Arc<Sessions>,
    mcp: Router<Hub>,
}

impl Server {
    /// Creates a server for an open hub.
    #[must_use]
    pub fn new(started: Started) -> Self {
        let sessions: Arc<Sessions> = Arc::default();
        let ending = Arc::clone(&sessions);
        started.hub.access.on_key_end(move |agent| ending.end_all(agent));
        let mcp = mcp::routes(&started.hub, &sessions, |handler| handler);
        Self { started, sessions, mcp }
    }

    /// Serves MCP with a handler around the hub's, for a program that embeds the server and offers more.
    pub fn extend_mcp<H: ServerHandler>(&mut self, extend: fn(mcp::Handler) -> H) {
        self.mcp = mcp::routes(&self.started.hub, &self.sessions, extend);
    }

    #[must_use]
    pub fn hub(&self) -> &Hub {
        &self.started.hub
    }

    /// Serves until `stop` resolves and all open requests are answered.
    pub async fn run(self, listener: TcpListener, stop: impl Future<Output = ()>) {
        let hub = Arc::clone(&self.started.hub);
        if let Ok(address) = listener.local_addr() {
            hub.cluster.listens_on(address);
        }
        let workers = self.started.start_workers();
        let idle = tokio::spawn(end_idle_sessions(Arc::clone(&hub), Arc::clone(&self.sessions)));
        let router = router::router(Arc::clone(&hub), self.mcp);
        let deadline = serve::serve(listener, router, hub, stop).await;
        idle.abort();
        let _ = idle.await;
        workers.stop(deadline).await;
    }
}

async fn end_idle_sessions(hub: Hub, sessions: Arc<Sessions>) {
    let idle_ms = i64::from(hub.config.mcp_session_idle_seconds) * 1_000;
    let mut tick = tokio::time::interval(IDLE_SESSIONS_EVERY);
    loop {
        tick.tick().await;
        sessions.end_idle(hub.time(), idle_ms);
    }
}

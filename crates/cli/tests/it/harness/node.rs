//! One running process of a hub, inside the test's own: a thread with a runtime.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use tandem_core::IdSource;
use tandem_hub::webhooks::address::Resolver;
use tandem_hub::{Clock, Config};
use tandem_server::Server;
use tandem_server::mcp::Sessions;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::Client;

/// Adds to a server before it runs.
pub type Extend = fn(&mut Server);

/// A running node.
#[derive(Debug)]
pub struct Node {
    pub client: Client,
    pub hub: tandem_hub::Hub,
    pub sessions: Arc<Sessions>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Node {
    pub async fn start(config: Config, clock: Clock, names: Resolver, extend: Option<Extend>) -> Self {
        let ids = Arc::new(IdSource::new(tandem_app::keys::fill_random));
        Self::start_with(config, clock, names, extend, ids).await
    }

    /// With a source of ids that other nodes share.
    pub async fn start_with(
        config: Config,
        clock: Clock,
        names: Resolver,
        extend: Option<Extend>,
        ids: Arc<IdSource>,
    ) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let (ready, started) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async move {
                let started =
                    Box::pin(tandem_hub::start::open_with(config, clock, names, ids)).await.unwrap();
                let mut server = Server::new(started);
                if let Some(extend) = extend {
                    extend(&mut server);
                }
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                ready.send((address, Arc::clone(server.hub()), Arc::clone(&server.sessions))).ok();
                let stop = async move {
                    let _ = stopped.await;
                };
                server.run(listener, stop).await;
            });
        });
        let (address, hub, sessions): (SocketAddr, _, _) = started.await.expect("the hub starts");
        Self { client: Client { address }, hub, sessions, stop: Some(stop), thread: Some(thread) }
    }

    /// Asks the node to stop, and does not wait.
    pub fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }

    /// Waits until the node has stopped.
    pub fn join(&mut self) -> std::thread::Result<()> {
        self.stop();
        self.thread.take().map_or(Ok(()), JoinHandle::join)
    }

    /// How many `reads` or `writes` wait in the store.
    pub fn waiting_for(&self, what: &str) -> u64 {
        let figures = self.hub.db.store().stats().figures();
        figures.iter().find(|(name, _)| *name == format!("waiting_{what}")).unwrap().1
    }

    /// Jobs that wait in the store.
    pub fn waiting(&self) -> Vec<(&'static str, u64)> {
        let figures = self.hub.db.store().stats().figures();
        figures.into_iter().filter(|(name, value)| name.starts_with("waiting") && *value > 0).collect()
    }
}

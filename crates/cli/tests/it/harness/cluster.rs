//! Several nodes on one database, and a front that sends each connection to the next of them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tandem_hub::Config;
use tandem_hub::bus::LinkState;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::{Node, Place, eventually_ok};

/// Nodes of a cluster.
pub const NODES: usize = 3;

/// Whether tests on PostgreSQL run against a cluster.
pub fn is_wanted() -> bool {
    std::env::var("TANDEM_TEST_CLUSTER").is_ok_and(|value| value == "1")
}

/// The NATS server of the tests.
pub fn nats() -> String {
    std::env::var("TANDEM_TEST_NATS")
        .expect("TANDEM_TEST_NATS is not set: run the tests by ./check, or under scripts/with-nats")
}

/// The settings of one node of a cluster. The first has the folder of the place as its data folder.
pub fn config(place: &Place, config: &Config, number: usize) -> Config {
    let mut config = config.clone();
    config.bus.get_or_insert_with(nats);
    if config.files_bucket.is_empty() {
        let shared = config.data.join("files");
        std::fs::create_dir_all(&shared).unwrap();
        config.shared_files = Some(shared);
    }
    if number > 0 {
        config.data = place.node_folder(number);
    }
    config
}

/// Waits until all nodes hear of each other.
pub async fn settle(nodes: &[Node]) {
    for node in nodes {
        eventually_ok(async || {
            let (live, state) = (node.hub.cluster.live_nodes(), node.hub.liveness.bus.link_state());
            let hears = state.is_none_or(|state| state == LinkState::Hearing);
            if live == nodes.len() && hears { Ok(()) } else { Err(format!("{live} nodes, {state:?}")) }
        })
        .await;
    }
}

/// Accepts connections and passes each on to the next node.
#[derive(Debug)]
pub struct Front {
    pub address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

impl Front {
    pub async fn start(nodes: Vec<SocketAddr>) -> Self {
        let (stop, mut stopped) = oneshot::channel::<()>();
        let (ready, started) = oneshot::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
            runtime.unwrap().block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                ready.send(listener.local_addr().unwrap()).ok();
                let next = Arc::new(AtomicUsize::new(0));
                loop {
                    let client = tokio::select! {
                        accepted = listener.accept() => accepted.unwrap().0,
                        _ = &mut stopped => return,
                    };
                    let node = nodes[next.fetch_add(1, Ordering::Relaxed) % nodes.len()];
                    tokio::spawn(pass(client, node));
                }
            });
        });
        Self { address: started.await.unwrap(), _stop: stop }
    }
}

async fn pass(mut client: TcpStream, node: SocketAddr) {
    let Ok(mut node) = TcpStream::connect(node).await else { return };
    let _ = (client.set_nodelay(true), node.set_nodelay(true));
    // Either side may break the connection at any time.
    let _ = tokio::io::copy_bidirectional(&mut client, &mut node).await;
}

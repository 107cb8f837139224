//! PostgreSQL, NATS and the nodes, each node with proxies of its own in front of both.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tandem_bench::services::{Nats, Postgres};
use tokio::sync::Mutex;

use crate::http::{Answer, Ask};
use crate::node::{Node, Places};
use crate::proxy::Proxy;

/// How long a request is repeated before the hub counts as unavailable.
const PATIENCE: Duration = Duration::from_secs(120);

/// The ways of a node to its services.
#[derive(Debug)]
pub(crate) struct Ways {
    pub(crate) database: Proxy,
    /// None for a single node.
    pub(crate) bus: Option<Proxy>,
}

/// Everything that runs. Fields are dropped in their order: nodes before services, and the folder last.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Node>,
    pub(crate) ways: Vec<Ways>,
    pub(crate) nats: Mutex<Option<Nats>>,
    pub(crate) postgres: Mutex<Postgres>,
    turn: AtomicUsize,
    folder: Folder,
}

/// A temporary folder, removed when it is dropped unless it is to be kept.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    keep: AtomicBool,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.keep.load(Relaxed) {
            eprintln!("tandem-torture: logs and data are in {}", self.path.display());
        } else if std::fs::remove_dir_all(&self.path).is_err() && self.path.exists() {
            eprintln!("tandem-torture: could not remove {}", self.path.display());
        }
    }
}

impl Cluster {
    /// Starts everything, each node's clock off by so many milliseconds. `tandem` is the program that nodes run.
    pub(crate) async fn start(
        tandem: &Path,
        parent: Option<&Path>,
        clock_offsets_ms: &[i64],
        keep: bool,
    ) -> anyhow::Result<Self> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let path = parent.join(format!("tandem-torture-{}", tandem_app::keys::random_hex::<6>()));
        std::fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        let folder = Folder { path: path.clone(), keep: AtomicBool::new(keep) };
        let postgres = Postgres::start(&path).await?;
        let several = clock_offsets_ms.len() > 1;
        let nats = if several { Some(Nats::start(&path).await?) } else { None };
        let files = path.join("files");
        std::fs::create_dir_all(&files)?;
        let (mut nodes, mut ways) = (Vec::new(), Vec::new());
        for number in 0..clock_offsets_ms.len() {
            let database = Proxy::start(postgres.port()).await?;
            let bus = match &nats {
                Some(nats) => Some(Proxy::start(nats.port()).await?),
                None => None,
            };
            let places = Places {
                tandem: tandem.to_path_buf(),
                folder: path.join(format!("node-{number}")),
                database: postgres.url_at(database.port),
                bus: bus.as_ref().map(|bus| format!("nats://127.0.0.1:{}", bus.port)),
                files: files.clone(),
            };
            nodes.push(Node::new(number, places)?);
            ways.push(Ways { database, bus });
        }
        let turn = AtomicUsize::new(0);
        let (nats, postgres) = (Mutex::new(nats), Mutex::new(postgres));
        let cluster = Self { nodes, ways, nats, postgres, turn, folder };
        for (node, offset) in cluster.nodes.iter().zip(clock_offsets_ms) {
            // One after the other: the first applies the migrations.
            node.start(*offset)?;
            node.ready().await?;
            node.end_fault();
        }
        Ok(cluster)
    }

    /// Keeps the folder, for a look at the logs.
    pub(crate) fn keep_folder(&self) {
        self.folder.keep.store(true, Relaxed);
    }

    /// The address of the next node in turn.
    pub(crate) fn next_node(&self) -> &Node {
        &self.nodes[self.turn.fetch_add(1, Relaxed) % self.nodes.len()]
    }

    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.nodes.iter().map(|node| node.address).collect()
    }

    /// Waits until every node is ready.
    pub(crate) async fn ready(&self) -> anyhow::Result<()> {
        for node in &self.nodes {
            node.ready().await?;
        }
        Ok(())
    }

    /// Sends a request to one node after the other until one has decided about it.
    pub(crate) async fn persist(&self, ask: &Ask, key: &str) -> anyhow::Result<Answer> {
        let until = Instant::now() + PATIENCE;
        loop {
            // An agent that is just being registered has no key.
            let key = Some(key).filter(|key| !key.is_empty());
            let answer = ask.send(self.next_node().address, key).await;
            if answer.is_decided() {
                return Ok(answer);
            }
            if Instant::now() > until {
                anyhow::bail!(
                    "{} {} got no answer for {} s; last: {answer}",
                    ask.method,
                    ask.path,
                    PATIENCE.as_secs()
                );
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// The same for a request that must succeed.
    pub(crate) async fn succeed(&self, ask: &Ask, key: &str) -> anyhow::Result<serde_json::Value> {
        let answer = self.persist(ask, key).await?;
        answer
            .success()
            .cloned()
            .with_context(|| format!("{} {} was answered with {answer}", ask.method, ask.path))
    }
}

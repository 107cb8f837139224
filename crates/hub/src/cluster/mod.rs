//! The nodes of a hub: processes that share one PostgreSQL database.
//!
//! Each node has a row in the database that it renews. A row that is not renewed runs out, and the node counts as gone.
//! These times are real time also in tests that move the hub's clock: a node lives in real time.

mod figures;
pub(crate) mod presences;
mod renew;
mod topology;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tandem_app::cluster::{self, NODE_LIFE_MS};
pub use tandem_app::cluster::{Node, Refusal};
use tandem_app::keys;
use tandem_core::{NodeId, Timestamp};
use tokio::sync::Notify;

use crate::callers::keys::hub_secret;
use crate::clock::Clock;
use crate::db::Db;
pub(crate) use figures::Figures;
pub(crate) use renew::renew;
pub use topology::Topology;

/// How old the list of nodes may be.
const LIST_AGE: Duration = Duration::from_secs(1);
/// How old the list of nodes may be for somebody who does not find a node in it, which may have started just now.
const MISS_AGE: Duration = Duration::from_millis(100);
/// Pause before a node asks again whether another one that is in its way still runs.
const JOIN_PAUSE: Duration = Duration::from_millis(500);

/// What a node is started with.
#[derive(Debug, Clone)]
pub(crate) struct Membership {
    pub(crate) id: NodeId,
    /// Where it stores files: `own`, `shared`, or the name of a bucket after `bucket:`.
    pub(crate) files: String,
    /// Where other nodes reach it, if the settings say so.
    pub(crate) advertise: Option<String>,
    pub(crate) started_at: Timestamp,
}

/// This node, and what it knows of the others.
#[derive(Debug)]
pub struct Cluster {
    membership: Membership,
    pub topology: Arc<Topology>,
    advertise: Mutex<String>,
    secret: Vec<u8>,
    db: Db,
    clock: Clock,
    /// The nodes that ran when somebody last looked.
    known: Mutex<Known>,
    /// One look at a time.
    looking: tokio::sync::Mutex<()>,
    live: Arc<AtomicUsize>,
    draining: AtomicBool,
    /// Whether another process has the id of this node.
    has_twin: AtomicBool,
    /// Somebody wants the next renewal to be soon.
    hurry: Notify,
}

#[derive(Debug, Default)]
struct Known {
    nodes: Arc<[Node]>,
    read_at: Option<Instant>,
}

impl Cluster {
    pub(crate) async fn new(
        membership: Membership,
        topology: Arc<Topology>,
        db: Db,
    ) -> Result<Self, tandem_app::Error> {
        Ok(Self {
            secret: hub_secret(db.store(), "cluster").await?,
            advertise: Mutex::new(membership.advertise.clone().unwrap_or_default()),
            membership,
            topology,
            db,
            clock: Clock::System,
            known: Mutex::default(),
            looking: tokio::sync::Mutex::default(),
            live: Arc::new(AtomicUsize::new(1)),
            draining: AtomicBool::new(false),
            has_twin: AtomicBool::new(false),
            hurry: Notify::new(),
        })
    }

    /// The id of this node. It stays when the node is started again.
    #[must_use]
    pub fn id(&self) -> &NodeId {
        &self.membership.id
    }

    /// A secret that only the nodes of this hub know, because it is in their database.
    #[must_use]
    pub fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// Real time, also in tests that move the hub's clock.
    pub(crate) fn real_time(&self) -> Timestamp {
        self.clock.now()
    }

    /// How many nodes ran at the last look, with this one.
    #[must_use]
    pub fn live_nodes(&self) -> usize {
        self.live.load(Relaxed).max(1)
    }

    /// The same figure, for the rate limits.
    pub(crate) fn live(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.live)
    }

    /// The other nodes that ran at the last look.
    pub(crate) fn others(&self) -> Vec<NodeId> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.nodes.iter().map(|node| &node.id).filter(|id| *id != self.id()).cloned().collect()
    }

    /// Renews this node's row soon, and learns which other nodes run.
    pub(crate) fn look_soon(&self) {
        self.hurry.notify_one();
    }

    /// Forgets a node that has said that it stops.
    pub(crate) fn forget(&self, id: &NodeId) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.nodes = known.nodes.iter().filter(|node| node.id != *id).cloned().collect();
    }

    /// What distinguishes this hub from others at the same message broker. It says nothing about the secret.
    pub(crate) fn subject_name(&self) -> String {
        let mut name = keys::hex(&keys::sha256(&[b"subject", self.secret()].concat()));
        name.truncate(16);
        name
    }

    /// Says that this node stops, so that nobody is sent to it any more.
    pub fn start_draining(&self) {
        self.draining.store(true, Relaxed);
    }

    /// Whether this node stops.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.load(Relaxed)
    }

    /// Whether another process has the id of this node.
    pub(crate) fn has_twin(&self) -> bool {
        self.has_twin.load(Relaxed)
    }

    /// Where other nodes reach this one.
    #[must_use]
    pub fn advertise(&self) -> String {
        self.own_advertise().clone()
    }

    fn own_advertise(&self) -> MutexGuard<'_, String> {
        self.advertise.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where other nodes reach this one if it listens on this address.
    #[must_use]
    pub fn address(&self, listens_on: SocketAddr) -> String {
        self.membership.advertise.clone().unwrap_or_else(|| listens_on.to_string())
    }

    /// Says where this node listens. Other nodes reach it there unless the settings name another address.
    pub fn listens_on(&self, address: SocketAddr) {
        if self.membership.advertise.is_none() {
            *self.own_advertise() = address.to_string();
        }
    }

    /// A node that runs.
    pub async fn node(&self, id: &NodeId) -> Result<Option<Node>, crate::Error> {
        if !self.topology.has_shared_database() {
            return Ok((id == self.id()).then(|| self.own_row(String::new())));
        }
        let find = |nodes: &[Node]| nodes.iter().find(|node| node.id == *id).cloned();
        if let Some(node) = find(&self.nodes_read_within(LIST_AGE).await?) {
            return Ok(Some(node));
        }
        Ok(find(&self.nodes_read_within(MISS_AGE).await?))
    }

    /// All nodes that run, by their ids.
    pub async fn nodes(&self) -> Result<Arc<[Node]>, crate::Error> {
        if !self.topology.has_shared_database() {
            return Ok(Arc::new([self.own_row(String::new())]));
        }
        self.nodes_read_within(LIST_AGE).await
    }

    async fn nodes_read_within(&self, age: Duration) -> Result<Arc<[Node]>, crate::Error> {
        if let Some(nodes) = self.known_within(age) {
            return Ok(nodes);
        }
        let _turn = self.looking.lock().await;
        if let Some(nodes) = self.known_within(age) {
            return Ok(nodes);
        }
        let now = self.clock.now();
        let nodes = self.db.read(move |tx, _| cluster::nodes(tx, now)).await?;
        Ok(self.learn(nodes))
    }

    fn known_within(&self, age: Duration) -> Option<Arc<[Node]>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = known.read_at.is_some_and(|at| at.elapsed() <= age);
        is_new.then(|| Arc::clone(&known.nodes))
    }

    fn learn(&self, nodes: Vec<Node>) -> Arc<[Node]> {
        let nodes: Arc<[Node]> = nodes.into();
        self.live.store(nodes.len(), Relaxed);
        self.db.store().set_beside_others(nodes.len() > 1);
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) =
            Known { nodes: Arc::clone(&nodes), read_at: Some(Instant::now()) };
        nodes
    }

    fn own_row(&self, figures: String) -> Node {
        let membership = &self.membership;
        Node {
            id: membership.id.clone(),
            advertise: self.advertise(),
            version: env!("CARGO_PKG_VERSION").into(),
            bus: self.topology.bus().as_str().into(),
            files: membership.files.clone(),
            started_at: membership.started_at,
            until: self.clock.now().plus_ms(NODE_LIFE_MS),
            figures,
        }
    }

    /// Takes part. If another node is in the way, waits until that one has shown that it runs, or its row has run out
    /// because it was killed.
    pub(crate) async fn join(&self) -> Result<Result<(), Refusal>, tandem_app::Error> {
        if !self.topology.has_shared_database() {
            return Ok(Ok(()));
        }
        let mut first_seen = None;
        loop {
            let (node, now) = (self.own_row(String::new()), self.clock.now());
            let (refusal, until) = match self.db.write(move |tx, _| cluster::join(tx, &node, now)).await? {
                Ok(()) => return Ok(Ok(())),
                Err(refused) => refused,
            };
            match first_seen {
                None => {
                    tracing::warn!("another node of this hub may be running: waiting for a sign of it");
                    first_seen = Some(until);
                }
                Some(seen) if seen != until => return Ok(Err(refusal)),
                Some(_) => {}
            }
            tokio::time::sleep(JOIN_PAUSE).await;
        }
    }

    /// Whether no node runs that started before this one.
    pub(crate) async fn is_first(&self) -> Result<bool, tandem_app::Error> {
        let now = self.clock.now();
        let nodes = self.db.read(move |tx, _| cluster::nodes(tx, now)).await?;
        let own = (self.membership.started_at, self.id());
        Ok(nodes.iter().all(|node| (node.started_at, &node.id) >= own))
    }

    /// Leaves, because the process stops.
    pub(crate) async fn leave(&self) -> Result<(), tandem_app::Error> {
        if !self.topology.has_shared_database() {
            return Ok(());
        }
        let (id, started_at, now) = (self.id().clone(), self.membership.started_at, self.clock.now());
        self.db.write(move |tx, _| cluster::leave(tx, &id, started_at, now)).await
    }
}

//! Starts a hub for a test and speaks to it as a foreign client would: JSON over HTTP. With TANDEM_TEST_CLUSTER=1, a hub
//! on PostgreSQL is three nodes, and each connection goes to the next of them.

mod client;
pub mod cluster;
mod documented;
mod held;
pub mod nats;
mod node;
mod nodes;
mod place;
mod socket;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use tandem_app::tasks::{self, Defaults, NewTask};
use tandem_core::agents::Reach;
use tandem_core::{AgentId, IdSource, Now};
use tandem_hub::webhooks::address::Resolver;
use tandem_hub::{Clock, Config};
use tandem_server::mcp::Sessions;
use tandem_store::Tx;

pub use client::{Client, Reply};
pub use held::Held;
pub use node::{Extend, Node};
pub use nodes::Nodes;
pub use place::{Db, Place};
pub use socket::Socket;

pub const ADMIN_TOKEN: &str = "operator-token-of-the-tests";

/// When a test begins: a round number, so that tests can reckon with it.
const START_MS: i64 = 1_800_000_000_000;

/// A running hub.
#[derive(Debug)]
pub struct Harness {
    pub client: Client,
    pub clock: Arc<AtomicI64>,
    pub hub: tandem_hub::Hub,
    pub sessions: Arc<Sessions>,
    /// All processes of the hub. `hub` and `sessions` are those of the first one.
    pub nodes: Vec<Node>,
    _front: Option<cluster::Front>,
    /// Kept until the hub is gone.
    pub place: Arc<Place>,
}

impl Harness {
    pub async fn start(db: Db) -> Self {
        Self::start_with(db, |_| {}).await
    }

    pub async fn start_with(db: Db, set: impl FnOnce(&mut Config)) -> Self {
        let place = Arc::new(Place::new(db));
        let mut config = place.config();
        set(&mut config);
        let clock = Arc::new(AtomicI64::new(START_MS));
        Self::start_at(place, config, clock).await
    }

    pub async fn start_at(place: Arc<Place>, config: Config, clock: Arc<AtomicI64>) -> Self {
        Self::start_named(place, config, clock, Resolver::system()).await
    }

    /// With more for MCP to offer.
    pub async fn start_extended(db: Db, extend: Extend) -> Self {
        let place = Arc::new(Place::new(db));
        let config = place.config();
        let clock = Arc::new(AtomicI64::new(START_MS));
        Self::start_whole(place, config, clock, Resolver::system(), Some(extend)).await
    }

    /// With a say in how names become addresses.
    pub async fn start_named(
        place: Arc<Place>,
        config: Config,
        clock: Arc<AtomicI64>,
        names: Resolver,
    ) -> Self {
        Self::start_whole(place, config, clock, names, None).await
    }

    async fn start_whole(
        place: Arc<Place>,
        config: Config,
        clock: Arc<AtomicI64>,
        names: Resolver,
        extend: Option<Extend>,
    ) -> Self {
        drop(tandem_server::logs::init());
        let count = if cluster::is_wanted() && config.database.is_some() { cluster::NODES } else { 1 };
        let ids = Arc::new(IdSource::new(tandem_app::keys::fill_random));
        let mut nodes = Vec::new();
        for number in 0..count {
            let config = if count > 1 { cluster::config(&place, &config, number) } else { config.clone() };
            let hub_clock = Clock::Manual(Arc::clone(&clock));
            let (names, ids) = (names.clone(), Arc::clone(&ids));
            nodes.push(Node::start_with(config, hub_clock, names, extend, ids).await);
        }
        if count > 1 {
            cluster::settle(&nodes).await;
        }
        Self::of_nodes(nodes, place, clock).await
    }

    /// Several nodes on one database, whatever the environment says. They hear of each other.
    pub async fn start_cluster(set: impl Fn(usize, &mut Config)) -> Self {
        let hub = Self::start_cluster_unsettled(set).await;
        cluster::settle(&hub.nodes).await;
        hub
    }

    /// The same, and they may not hear of each other yet.
    pub async fn start_cluster_unsettled(set: impl Fn(usize, &mut Config)) -> Self {
        drop(tandem_server::logs::init());
        let (place, clock) = (Arc::new(Place::new(Db::Postgres)), Arc::new(AtomicI64::new(START_MS)));
        let mut nodes = Vec::new();
        for number in 0..cluster::NODES {
            let mut config = cluster::config(&place, &place.config(), number);
            set(number, &mut config);
            let hub_clock = Clock::Manual(Arc::clone(&clock));
            nodes.push(Node::start(config, hub_clock, Resolver::system(), None).await);
        }
        Self::of_nodes(nodes, place, clock).await
    }

    async fn of_nodes(nodes: Vec<Node>, place: Arc<Place>, clock: Arc<AtomicI64>) -> Self {
        let (hub, sessions) = (Arc::clone(&nodes[0].hub), Arc::clone(&nodes[0].sessions));
        let mut front = None;
        if nodes.len() > 1 {
            let addresses = nodes.iter().map(|node| node.client.address).collect();
            front = Some(cluster::Front::start(addresses).await);
        }
        let client = match &front {
            Some(front) => Client { address: front.address },
            None => nodes[0].client.clone(),
        };
        Self { client, clock, hub, sessions, nodes, _front: front, place }
    }

    /// The same hub with all requests to its first node, for what each node counts by itself: several tell each other a
    /// moment later.
    #[must_use]
    pub fn at_one_node(mut self) -> Self {
        self.client = self.nodes[0].client.clone();
        self
    }

    /// Waits until everything that was answered is marked as fetched, which happens after the answer.
    pub async fn marks_are_written(&self) {
        let waiting = || self.nodes.iter().map(|node| node.hub.waiting_marks()).sum::<usize>();
        eventually(async || (waiting() == 0).then_some(())).await;
    }

    /// How an agent is connected best, on any node.
    pub fn reach(&self, agent: &AgentId) -> Option<Reach> {
        self.nodes.iter().filter_map(|node| node.hub.liveness.bus.reach(agent)).min()
    }

    /// Number of open sockets and streams on all nodes.
    pub fn open(&self) -> (usize, usize) {
        let open = self.nodes.iter().map(|node| node.hub.liveness.bus.open());
        open.fold((0, 0), |sum, open| (sum.0 + open.0, sum.1 + open.1))
    }

    /// Makes plain tasks in bulk.
    pub async fn fill(&self, from: &Agent, to: &Agent, count: usize, ttl_seconds: Option<i64>) {
        let (by, to): (AgentId, _) = (from.id.parse().unwrap(), to.id.clone());
        let defaults = Defaults { ttl_seconds, check_in_seconds: Some(0), max_messages: 200 };
        let make = move |tx: &mut Tx<'_>, now: &Now| {
            for _ in 0..count {
                let (to, title) = (to.clone().try_into().unwrap(), "hay".to_owned().try_into().unwrap());
                tasks::create(tx, &by, &NewTask::plain(to, title), &defaults, now)?;
            }
            Ok(())
        };
        self.hub.db.write(make).await.unwrap();
    }

    /// Ends MCP sessions that nobody has used for as long as the settings say.
    pub fn end_idle_sessions(&self) {
        let idle_ms = i64::from(self.hub.config.mcp_session_idle_seconds) * 1_000;
        for node in &self.nodes {
            node.sessions.end_idle(self.hub.time(), idle_ms);
        }
    }

    pub fn advance_ms(&self, ms: i64) {
        self.clock.fetch_add(ms, Ordering::SeqCst);
    }

    /// Waits until the timer has come by and handled what was due: it looks once before it handles something, and once
    /// more afterwards.
    pub async fn timer_has_looked(&self) {
        for node in &self.nodes {
            let checks = || node.hub.metrics.timer_checks.get();
            let before = checks();
            eventually(async || (checks() >= before + 3).then_some(())).await;
        }
    }

    pub async fn agent(&self, name: &str) -> Agent {
        self.agent_with(json!({ "name": name })).await
    }

    pub async fn agent_with(&self, body: Value) -> Agent {
        let reply = self.client.send("POST", "/agents", None, Some(body)).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        Agent {
            id: reply.text("id"),
            name: reply.text("name"),
            key: reply.text("apiKey"),
            client: self.client.clone(),
        }
    }

    /// Two agents that are connected.
    pub async fn pair(&self) -> (Agent, Agent) {
        let (ada, bob) = (self.agent("Ada").await, self.agent("Bob").await);
        ada.pair_with(&bob).await;
        (ada, bob)
    }

    /// A request with the operator's token.
    pub async fn admin(&self, method: &str, path: &str) -> Reply {
        self.client.send(method, path, Some(ADMIN_TOKEN), None).await
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        self.nodes.iter_mut().for_each(Node::stop);
        let joined: Vec<_> = self.nodes.iter_mut().map(Node::join).collect();
        if std::thread::panicking() {
            return;
        }
        for joined in joined {
            joined.expect("the server stops cleanly");
        }
        let waiting = || self.nodes.iter().flat_map(Node::waiting).collect::<Vec<_>>();
        // What was asked right before the stop is still taken; what stays is lost.
        let deadline = std::time::Instant::now() + PATIENCE;
        while !waiting().is_empty() && std::time::Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert_eq!(waiting(), [], "no job may be left behind");
    }
}

/// An agent and its key.
#[derive(Debug, Clone)]
pub struct Agent {
    pub id: String,
    pub name: String,
    pub key: String,
    pub client: Client,
}

impl Agent {
    pub async fn get(&self, path: &str) -> Reply {
        self.client.send("GET", path, Some(&self.key), None).await
    }
    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.client.send("POST", path, Some(&self.key), Some(body)).await
    }
    pub async fn post_empty(&self, path: &str) -> Reply {
        self.client.send("POST", path, Some(&self.key), None).await
    }
    pub async fn patch(&self, path: &str, body: Value) -> Reply {
        self.client.send("PATCH", path, Some(&self.key), Some(body)).await
    }
    pub async fn delete(&self, path: &str) -> Reply {
        self.client.send("DELETE", path, Some(&self.key), None).await
    }

    /// Connects by a code; gives the connection's id.
    pub async fn pair_with(&self, other: &Agent) -> String {
        let code = self.post_empty("/pair/generate").await.text("code");
        let connected = other.post("/pair/connect", json!({ "code": code })).await;
        connected.ok(201);
        connected.text("connectionId")
    }

    /// Makes a task and gives its id.
    pub async fn task(&self, target: &Agent) -> String {
        self.task_with(target, json!({})).await
    }

    pub async fn task_with(&self, target: &Agent, more: Value) -> String {
        let mut body = json!({ "targetAgentId": target.id, "title": "A task" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let reply = self.post("/tasks", body).await;
        reply.ok(201);
        reply.text("id")
    }

    pub async fn set(&self, task: &str, status: &str) -> Reply {
        self.patch(&format!("/tasks/{task}"), json!({ "status": status })).await
    }

    pub async fn view(&self, task: &str) -> Value {
        self.get(&format!("/tasks/{task}")).await.ok(200)
    }

    /// All of the log, from its beginning.
    pub async fn events(&self) -> Vec<Value> {
        let mut all = Vec::new();
        let mut after = 0;
        loop {
            let page = self.get(&format!("/events?after={after}")).await.ok(200);
            all.extend(page["events"].as_array().unwrap().clone());
            after = page["cursor"].as_i64().unwrap();
            if !page["hasMore"].as_bool().unwrap() {
                return all;
            }
        }
    }

    /// The kinds of all events in the log.
    pub async fn event_kinds(&self) -> Vec<String> {
        self.events().await.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }

    /// Gives everything the log holds from now on: the events that `act` causes.
    pub async fn last_event(&self) -> Value {
        self.events().await.pop().expect("the log is not empty")
    }
}

/// How long a test waits for something that should happen at once.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// Waits until `state` gives something. If it never does, the test fails with the place where it waited.
#[track_caller]
pub fn eventually<T>(mut state: impl AsyncFnMut() -> Option<T>) -> impl Future<Output = T> {
    let place = std::panic::Location::caller();
    let missing = move || format!("{place}: it did not happen within {PATIENCE:?}");
    async move { eventually_ok(async || state().await.ok_or_else(missing)).await }
}

/// Waits until `state` is as it should be; if it never is, the test fails with what was wrong last.
pub async fn eventually_ok<T, W: std::fmt::Display>(mut state: impl AsyncFnMut() -> Result<T, W>) -> T {
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        match state().await {
            Ok(found) => return found,
            Err(wrong) => assert!(std::time::Instant::now() < deadline, "{wrong}"),
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

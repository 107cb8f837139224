//! Presence: an agent with a socket is online on every node, and one that went silent is offline on every node.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::agents::Agent;
use crate::chains::{Chain, Channel};
use crate::cluster::Cluster;
use crate::dice::Dice;
use crate::http::{Answer, Ask};
use crate::ledger::{Breach, Ledger, add};

/// After how long presence must be true.
const TRUE_AFTER: Duration = Duration::from_secs(20);
/// How long a request makes an agent online.
const REQUEST_COUNTS: Duration = Duration::from_secs(60);
/// Nodes write presence in batches, and their clocks are up to five seconds apart.
const ALLOWANCE: Duration = Duration::from_secs(10);
/// How long a steady listener stays on one node, in milliseconds.
const STAY_MS: (usize, usize) = (60_000, 90_000);
/// The pause between two checks.
const PAUSE: Duration = Duration::from_secs(2);

/// Agents that are watched by another one.
pub(crate) struct Watched {
    pub(crate) watcher: Arc<Agent>,
    /// Has a socket all the time, and does nothing else.
    steady: Arc<Chain>,
    /// Had a connection once.
    silent: (Arc<Agent>, Instant),
}

impl Watched {
    pub(crate) async fn start(cluster: &Cluster, ledger: &Arc<Ledger>) -> anyhow::Result<Self> {
        let watcher = Agent::register(cluster, "watcher").await?;
        let (steady, silent) =
            (Agent::register(cluster, "steady").await?, Agent::register(cluster, "silent").await?);
        Agent::pair(cluster, &watcher, &steady).await?;
        Agent::pair(cluster, &watcher, &silent).await?;
        Ok(Self {
            watcher,
            steady: Chain::new(&steady, Channel::Socket, ledger),
            silent: (silent, Instant::now()),
        })
    }

    /// Keeps the steady agent connected.
    pub(crate) fn listen(&self, cluster: &Arc<Cluster>, dice: Dice) -> impl Future<Output = ()> + use<> {
        Arc::clone(&self.steady).listen(Arc::clone(cluster), dice, STAY_MS)
    }

    pub(crate) async fn watch(&self, cluster: &Cluster, ledger: &Ledger) {
        loop {
            for node in &cluster.nodes {
                // Before and after the question: a fault in between explains a wrong answer.
                let connected = self.connected(cluster);
                let answer = Ask::get("/connections").send(node.address, Some(&self.watcher.key())).await;
                if !node.is_settled_for(TRUE_AFTER) {
                    continue;
                }
                if connected && self.connected(cluster) {
                    expect(ledger, node.number, &answer, &self.steady.agent, true);
                }
                if self.silent.1.elapsed() > REQUEST_COUNTS + TRUE_AFTER + ALLOWANCE {
                    expect(ledger, node.number, &answer, &self.silent.0, false);
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Whether the steady agent has been connected long enough to a node without a fault.
    fn connected(&self, cluster: &Cluster) -> bool {
        let node = self.steady.connected_for(TRUE_AFTER);
        node.is_some_and(|node| cluster.nodes[node].is_settled_for(TRUE_AFTER))
    }
}

fn expect(ledger: &Ledger, node: usize, answer: &Answer, agent: &Agent, online: bool) {
    let Some(connections) = answer.success() else { return };
    let shown = connections.as_array().context("no list").ok().and_then(|all| {
        let of = all.iter().find(|connection| connection["agentId"] == agent.id.as_str());
        of.and_then(|connection| connection["online"].as_bool())
    });
    add(&ledger.presence_checks, 1);
    if shown != Some(online) {
        let what = format!("node {node} shows {} as online: {shown:?}, and not {online}", agent.name);
        ledger.breach(Breach::Presence, what);
    }
}

//! The faults, in an order that the seed chooses: every kind once, then all of them again in another order.

use std::time::Duration;

use serde::Serialize;
use tandem_bench::services::Shutdown;

use crate::cluster::Cluster;
use crate::dice::Dice;
use crate::proxy::Way;

/// Clock offsets in milliseconds, one of which a node gets when it starts.
const OFFSETS_MS: [i64; 3] = [0, 2_500, 5_000];
/// How long a node is frozen: longer than its leases and its rows of presence last.
const FROZEN_MS: (usize, usize) = (21_000, 24_000);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fault {
    NodeKilled,
    NodeFrozen,
    NatsKilled,
    NatsRestarted,
    NatsCutFromNode,
    NatsStalledForNode,
    NatsLateForNode,
    PostgresRestarted,
    PostgresCrashed,
    PostgresCutFromNode,
    PostgresStalledForNode,
    PostgresLateForNode,
}

impl Fault {
    /// The kinds that make the network to a service worse for one node.
    pub(crate) fn is_partition(self) -> bool {
        matches!(
            self,
            Self::NatsCutFromNode
                | Self::NatsStalledForNode
                | Self::NatsLateForNode
                | Self::PostgresCutFromNode
                | Self::PostgresStalledForNode
                | Self::PostgresLateForNode
        )
    }

    /// Every kind that makes sense with so many nodes.
    pub(crate) fn all(nodes: usize) -> Vec<Self> {
        use Fault::{
            NatsCutFromNode, NatsKilled, NatsLateForNode, NatsRestarted, NatsStalledForNode, NodeFrozen,
            NodeKilled, PostgresCrashed, PostgresCutFromNode, PostgresLateForNode, PostgresRestarted,
            PostgresStalledForNode,
        };
        let mut all = vec![
            NodeKilled,
            PostgresCutFromNode,
            PostgresRestarted,
            PostgresStalledForNode,
            PostgresCrashed,
            PostgresLateForNode,
            NodeFrozen,
        ];
        if nodes > 1 {
            all.extend([NatsKilled, NatsRestarted, NatsCutFromNode, NatsStalledForNode, NatsLateForNode]);
        }
        all
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::NodeKilled => "a node killed and started again",
            Self::NodeFrozen => "a node frozen and woken",
            Self::NatsKilled => "NATS killed and started later",
            Self::NatsRestarted => "NATS restarted",
            Self::NatsCutFromNode => "NATS cut off from a node",
            Self::NatsStalledForNode => "NATS silent for a node",
            Self::NatsLateForNode => "NATS late for a node",
            Self::PostgresRestarted => "PostgreSQL restarted",
            Self::PostgresCrashed => "PostgreSQL stopped at once and recovered",
            Self::PostgresCutFromNode => "connections of a node to PostgreSQL cut",
            Self::PostgresStalledForNode => "PostgreSQL silent for a node",
            Self::PostgresLateForNode => "PostgreSQL late for a node",
        }
    }

    fn is_of_nats(self) -> bool {
        matches!(
            self,
            Self::NatsKilled
                | Self::NatsRestarted
                | Self::NatsCutFromNode
                | Self::NatsStalledForNode
                | Self::NatsLateForNode
        )
    }

    /// Whether it may end a node's work between a request to a webhook and its record.
    pub(crate) fn interrupts_webhooks(self) -> bool {
        !self.is_of_nats() && self != Self::PostgresLateForNode
    }
}

/// Draws faults: all kinds in a random order, again and again.
#[derive(Debug)]
pub(crate) struct Deck {
    kinds: Vec<Fault>,
    left: Vec<Fault>,
    dice: Dice,
}

impl Deck {
    pub(crate) fn new(kinds: Vec<Fault>, seed: u64) -> Self {
        Self { kinds, left: Vec::new(), dice: Dice::new(seed) }
    }

    /// The next fault, and dice for its details.
    pub(crate) fn next(&mut self) -> (Fault, Dice) {
        if self.left.is_empty() {
            self.left = self.kinds.clone();
            self.dice.shuffle(&mut self.left);
        }
        let fault = self.left.pop().unwrap_or(Fault::NodeKilled);
        (fault, Dice::new(self.dice.next()))
    }
}

/// Clock offsets for the start of a cluster: the first two nodes are furthest apart.
pub(crate) fn clock_offsets(nodes: usize) -> Vec<i64> {
    [0, 5_000, 2_500].into_iter().cycle().take(nodes).collect()
}

/// Makes the fault, and ends it again.
pub(crate) async fn run(cluster: &Cluster, fault: Fault, mut dice: Dice) -> anyhow::Result<()> {
    let place = dice.below(cluster.nodes.len());
    let node = &cluster.nodes[place];
    let ways = &cluster.ways[place];
    // Without NATS, presence and ended keys must be as true as with it.
    let no_node = fault.is_of_nats();
    let all_nodes = matches!(fault, Fault::PostgresRestarted | Fault::PostgresCrashed);
    let is_concerned = move |number: usize| !no_node && (all_nodes || number == place);
    let concerned = || cluster.nodes.iter().filter(move |node| is_concerned(node.number));
    concerned().for_each(crate::node::Node::begin_fault);
    let time = dice.ms(3_000, 8_000);
    match fault {
        Fault::NodeKilled => {
            node.kill().await?;
            tokio::time::sleep(dice.ms(0, 3_000)).await;
            node.start(OFFSETS_MS[dice.below(OFFSETS_MS.len())])?;
        }
        Fault::NodeFrozen => {
            node.freeze()?;
            tokio::time::sleep(dice.ms(FROZEN_MS.0, FROZEN_MS.1)).await;
            node.wake()?;
        }
        Fault::NatsKilled | Fault::NatsRestarted => {
            if let Some(nats) = cluster.nats.lock().await.as_mut() {
                nats.kill().await?;
                if fault == Fault::NatsKilled {
                    tokio::time::sleep(time).await;
                }
                nats.start_again().await?;
            }
        }
        Fault::PostgresRestarted | Fault::PostgresCrashed => {
            let crash = fault == Fault::PostgresCrashed;
            let mut postgres = cluster.postgres.lock().await;
            postgres.stop(if crash { Shutdown::Immediate } else { Shutdown::Fast }).await?;
            tokio::time::sleep(dice.ms(0, 2_000)).await;
            postgres.start_again().await?;
        }
        Fault::PostgresCutFromNode => {
            // Again and again, so that some cuts fall between a commit and its answer.
            for _ in 0..20 {
                ways.database.end_all();
                tokio::time::sleep(dice.ms(20, 400)).await;
            }
        }
        Fault::NatsCutFromNode => hold(ways.bus.as_ref(), Way::Cut, time).await,
        Fault::NatsStalledForNode => {
            hold(ways.bus.as_ref(), Way::Stalled, time).await;
            // What was held back arrives late, or not at all.
            if let Some(bus) = ways.bus.as_ref().filter(|_| dice.percent(50)) {
                bus.end_all();
            }
        }
        Fault::NatsLateForNode => {
            hold(ways.bus.as_ref(), Way::Late(Duration::from_millis(150)), time).await;
        }
        Fault::PostgresStalledForNode => {
            hold(Some(&ways.database), Way::Stalled, time).await;
            if dice.percent(50) {
                ways.database.end_all();
            }
        }
        Fault::PostgresLateForNode => {
            hold(Some(&ways.database), Way::Late(Duration::from_millis(20)), time).await;
        }
    }
    cluster.ready().await?;
    concerned().for_each(crate::node::Node::end_fault);
    Ok(())
}

async fn hold(proxy: Option<&crate::proxy::Proxy>, way: Way, time: Duration) {
    if let Some(proxy) = proxy {
        proxy.set(way);
        tokio::time::sleep(time).await;
        proxy.set(Way::Open);
    }
}

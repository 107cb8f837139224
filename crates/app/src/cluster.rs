//! Several nodes on one database: which of them run, and what each knows of agents.

use tandem_core::{AgentId, NodeId, Timestamp};
pub use tandem_store::nodes::{Node, Watched};
pub use tandem_store::presences::Sighting;
use tandem_store::{Tx, nodes, presences};

use crate::Error;

/// How long a node counts as running after it last renewed its row.
pub const NODE_LIFE_MS: i64 = 20_000;
/// How long the row of a node that is gone is kept, for whoever looks into the database.
const NODE_KEPT_MS: i64 = 3_600_000;
/// Nodes of one hub.
const NODES_MAX: i64 = 1_000;

/// Why a node may not take part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// This node has no bus, and another one runs.
    #[error(
        "another node of this hub is running ({other}); start all nodes with --bus nats://HOST, or all of them with \
         --bus none if one node may hear of another's changes a second late"
    )]
    NoBus { other: String },
    /// The other node wants to be alone.
    #[error(
        "another node of this hub is running without --bus ({other}); restart it with the same --bus as this one"
    )]
    OtherHasNoBus { other: String },
    /// One node uses NATS and the other does not.
    #[error(
        "another node of this hub is running with another --bus ({other}): the bus of this one is {own}, that of the \
         other is {theirs}; all nodes need the same"
    )]
    OtherBus {
        other: String,
        /// The kind of this node's bus.
        own: String,
        /// The kind of the other's bus.
        theirs: String,
    },
    /// The files of this node are in its own folder.
    #[error(
        "another node of this hub is running ({other}), and files in the data folder of one node are not on the \
         others; name a folder that all nodes mount with --shared-files, or a bucket with the setting files_bucket"
    )]
    OwnFiles { other: String },
    /// The other node stores files elsewhere.
    #[error(
        "another node of this hub stores files elsewhere ({other}): here {own}, there {theirs}; all nodes need the \
         same files_bucket, or the same folder as --shared-files"
    )]
    OtherFiles {
        other: String,
        /// Where this node stores them.
        own: String,
        /// Where the other one does.
        theirs: String,
    },
}

/// Takes part, or says why not and until when the row of the other node lasts. The time is real time, also in tests.
pub fn join(tx: &mut Tx<'_>, node: &Node, now: Timestamp) -> Result<Result<(), (Refusal, Timestamp)>, Error> {
    nodes::lock(tx)?;
    for other in nodes::list(tx, now, NODES_MAX)? {
        if other.id != node.id
            && let Some(refusal) = refusal(node, &other)
        {
            return Ok(Err((refusal, other.until)));
        }
    }
    nodes::sweep(tx, Timestamp(now.0 - NODE_KEPT_MS))?;
    // What an earlier process of this node said about agents is no longer true.
    nodes::remove(tx, &node.id)?;
    nodes::put(tx, node)?;
    Ok(Ok(()))
}

fn refusal(node: &Node, other: &Node) -> Option<Refusal> {
    let name = match other.advertise.as_str() {
        "" => other.id.to_string(),
        address => format!("{} at {address}", other.id),
    };
    if node.bus.is_empty() {
        return Some(Refusal::NoBus { other: name });
    }
    if other.bus.is_empty() {
        return Some(Refusal::OtherHasNoBus { other: name });
    }
    if node.bus != other.bus {
        return Some(Refusal::OtherBus { other: name, own: node.bus.clone(), theirs: other.bus.clone() });
    }
    if node.files == "own" {
        return Some(Refusal::OwnFiles { other: name });
    }
    if node.files != other.files {
        return Some(Refusal::OtherFiles {
            other: name,
            own: node.files.clone(),
            theirs: other.files.clone(),
        });
    }
    None
}

/// Renews a node's row. Returns all nodes that run, and whether another process has this node's id.
pub fn renew(tx: &mut Tx<'_>, node: &Node, now: Timestamp) -> Result<(Vec<Node>, bool), Error> {
    let has_twin = is_of_another_process(tx, &node.id, node.started_at, now)?;
    nodes::put(tx, node)?;
    Ok((nodes::list(tx, now, NODES_MAX)?, has_twin))
}

/// Removes a node that stops, unless another process has its id.
pub fn leave(tx: &mut Tx<'_>, id: &NodeId, started_at: Timestamp, now: Timestamp) -> Result<(), Error> {
    if is_of_another_process(tx, id, started_at, now)? { Ok(()) } else { Ok(nodes::remove(tx, id)?) }
}

fn is_of_another_process(
    tx: &mut Tx<'_>,
    id: &NodeId,
    started_at: Timestamp,
    now: Timestamp,
) -> Result<bool, Error> {
    Ok(nodes::find(tx, id, now)?.is_some_and(|found| found.started_at != started_at))
}

/// A node that runs.
pub fn node(tx: &mut Tx<'_>, id: &NodeId, now: Timestamp) -> Result<Option<Node>, Error> {
    Ok(nodes::find(tx, id, now)?)
}

/// All nodes that run, by their ids.
pub fn nodes(tx: &mut Tx<'_>, now: Timestamp) -> Result<Vec<Node>, Error> {
    Ok(nodes::list(tx, now, NODES_MAX)?)
}

/// The last event and the key of each of these agents, where they still exist.
pub fn watch(tx: &mut Tx<'_>, agents: &[AgentId]) -> Result<Vec<(AgentId, Watched)>, Error> {
    Ok(nodes::watch(tx, agents)?.into_iter().map(|watched| (watched.agent.clone(), watched)).collect())
}

/// Stores what a node knows of agents.
pub fn write_sightings(tx: &mut Tx<'_>, node: &NodeId, sightings: &[Sighting]) -> Result<(), Error> {
    for sighting in sightings {
        presences::put(tx, node, sighting)?;
    }
    Ok(())
}

/// What the nodes that run, apart from one, know of these agents. The time is real time.
pub fn sightings(
    tx: &mut Tx<'_>,
    agents: &[AgentId],
    except: &NodeId,
    now: Timestamp,
) -> Result<Vec<Sighting>, Error> {
    Ok(presences::list(tx, agents, except, now)?)
}

/// How many agents are connected, or have called since a moment of the hub's clock. `now` is real time.
pub fn count_online(tx: &mut Tx<'_>, called_since: Timestamp, now: Timestamp) -> Result<i64, Error> {
    Ok(presences::count_online(tx, called_since, now)?)
}

/// Removes all that a node has said about agents.
pub fn forget_sightings(tx: &mut Tx<'_>, node: &NodeId) -> Result<(), Error> {
    Ok(presences::remove_of(tx, node)?)
}

/// Removes what a node has said about agents and is no longer true.
pub fn sweep_sightings(tx: &mut Tx<'_>, node: &NodeId, now: Timestamp) -> Result<(), Error> {
    Ok(presences::sweep(tx, node, now)?)
}

//! Which agents are connected to which node, or have called it.

use tandem_core::{AgentId, NodeId, Timestamp};

use crate::declare::{delete, insert};
use crate::nodes::bind_all;
use crate::query::Query;
use crate::table::{columns, select_list};
use crate::{Error, Tx};

/// What one node knows of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    pub agent: AgentId,
    /// How it is connected there best; nothing if it has only called.
    pub reach: Option<String>,
    /// When it last called there.
    pub seen_at: Timestamp,
    /// When this stops being true; it also does when the node stops.
    pub until: Timestamp,
}

columns! {
    "p", sighting: Sighting {
        agent: agent_id,
        reach,
        seen_at,
        until,
    }
}

/// Stores what a node knows of an agent, in place of what it knew before.
pub fn put(tx: &mut Tx<'_>, node: &NodeId, sighting: &Sighting) -> Result<(), Error> {
    insert!(presences { ..sighting: Sighting, node_id: node }, on conflict (agent_id, node_id) replace)
        .send(tx)
}

/// What the nodes that run, apart from one, know of these agents.
pub fn list(
    tx: &mut Tx<'_>,
    agents: &[AgentId],
    except: &NodeId,
    now: Timestamp,
) -> Result<Vec<Sighting>, Error> {
    if agents.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = Query::default();
    query.push("select ").push(&select_list::<Sighting>());
    query.push(" from presences p join nodes n on n.id = p.node_id where n.until > ").bind(now);
    query.push(" and p.until > ").bind(now).push(" and p.node_id <> ").bind(except);
    query.push(" and p.agent_id in (");
    bind_all(&mut query, agents);
    query.push(")");
    tx.list(&query.sql, &query.params)
}

/// How many agents are connected to a node that runs, or have called one since a moment.
pub fn count_online(tx: &mut Tx<'_>, called_since: Timestamp, now: Timestamp) -> Result<i64, Error> {
    tx.get(
        // A node may write what it saw of an agent after the agent was deleted.
        "select count(distinct p.agent_id) from presences p join nodes n on n.id = p.node_id
         join agents a on a.id = p.agent_id and a.deleted_at is null
         where n.until > ?1 and p.until > ?1 and (p.reach is not null or p.seen_at > ?2)",
        &[now.into(), called_since.into()],
    )
}

/// Removes what all nodes have said about an agent.
pub fn remove(tx: &mut Tx<'_>, agent: &AgentId) -> Result<(), Error> {
    delete!(presences where { agent_id: agent }).send(tx)
}

/// Removes all that one node has said.
pub fn remove_of(tx: &mut Tx<'_>, node: &NodeId) -> Result<(), Error> {
    delete!(presences where { node_id: node }).send(tx)
}

/// Removes what one node has said and is no longer true.
pub fn sweep(tx: &mut Tx<'_>, node: &NodeId, now: Timestamp) -> Result<(), Error> {
    delete!(presences where { node_id: node } and "until <= ?2" with now).send(tx)
}

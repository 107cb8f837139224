//! The processes that share this database.

use tandem_core::{AgentId, NodeId, Timestamp};

use crate::declare::{delete, insert, update};
use crate::query::Query;
use crate::table::{columns, select_list, sql};
use crate::{Error, Tx, presences};

/// A process that shares this database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its id, which stays when it is started again.
    pub id: NodeId,
    /// Where other nodes reach it: host and port. Empty until it listens.
    pub advertise: String,
    pub version: String,
    /// `nats`, `none`, or empty for a node that wants to be alone.
    pub bus: String,
    pub files: String,
    pub started_at: Timestamp,
    /// When its row runs out.
    pub until: Timestamp,
    /// Its counters as JSON.
    pub figures: String,
}

impl Node {
    /// Milliseconds since it last renewed its row, if a row lasts so long.
    #[must_use]
    pub fn renewed_ms_ago(&self, life_ms: i64, now: Timestamp) -> i64 {
        (life_ms - self.until.ms_since(now)).max(0)
    }
}

columns! {
    "n", node: Node {
        id,
        advertise,
        version,
        bus,
        files,
        started_at,
        until,
        figures,
    }
}

/// Makes this transaction wait for others that change who takes part, until they are committed.
pub fn lock(tx: &mut Tx<'_>) -> Result<(), Error> {
    // The row is there before any node is.
    update!(hub_secrets { name: "cluster" } where { name: "cluster" }).execute(tx).map(drop)
}

/// Stores a node, in place of its earlier row.
pub fn put(tx: &mut Tx<'_>, node: &Node) -> Result<(), Error> {
    insert!(nodes { ..node: Node }, on conflict (id) replace).send(tx)
}

/// A node whose row has not run out.
pub fn find(tx: &mut Tx<'_>, id: &NodeId, now: Timestamp) -> Result<Option<Node>, Error> {
    tx.find(sql!("select {} from nodes n where n.id = ?1 and n.until > ?2", Node), &[id.into(), now.into()])
}

/// The nodes whose rows have not run out, by their ids.
pub fn list(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<Vec<Node>, Error> {
    let sql = sql!("select {} from nodes n where n.until > ?1 order by n.id limit ?2", Node);
    tx.list(sql, &[now.into(), limit.into()])
}

/// Removes a node and what it said about agents.
pub fn remove(tx: &mut Tx<'_>, id: &NodeId) -> Result<(), Error> {
    presences::remove_of(tx, id)?;
    delete!(nodes where { id: id }).send(tx)
}

/// Removes the nodes whose rows ran out before a moment, and what they said about agents.
pub fn sweep(tx: &mut Tx<'_>, before: Timestamp) -> Result<(), Error> {
    tx.send("delete from nodes where until <= ?1", &[before.into()])?;
    tx.send("delete from presences where node_id not in (select id from nodes)", &[])
}

/// What a node that does not hear of other nodes' commits looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    pub agent: AgentId,
    /// The number of the last event in its log.
    pub last_seq: i64,
    key_hash: Vec<u8>,
    suspended: bool,
}

impl Watched {
    /// The hash of the agent's key, if it is valid.
    #[must_use]
    pub fn key(&self) -> Option<&[u8]> {
        (!self.suspended).then_some(&self.key_hash)
    }
}

columns! {
    "a", watched: Watched {
        agent: id,
        last_seq: "m.last_seq",
        key_hash,
        suspended,
    }
}

/// The last event and the key of each of these agents; nothing of deleted ones.
pub fn watch(tx: &mut Tx<'_>, agents: &[AgentId]) -> Result<Vec<Watched>, Error> {
    if agents.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = Query::default();
    query.push("select ").push(&select_list::<Watched>());
    query.push(
        " from agents a join mailboxes m on m.agent_id = a.id where a.deleted_at is null and a.id in (",
    );
    bind_all(&mut query, agents);
    query.push(")");
    tx.list(&query.sql, &query.params)
}

/// Adds these ids, and the last one again until there are a round number: few different texts are prepared.
pub(crate) fn bind_all(query: &mut Query, agents: &[AgentId]) {
    let width = [1, 10, 100, 500].into_iter().find(|width| *width >= agents.len()).unwrap_or(agents.len());
    let padding = agents.last().into_iter().cycle().take(width - agents.len());
    for (place, agent) in agents.iter().chain(padding).enumerate() {
        if place > 0 {
            query.push(", ");
        }
        query.bind(agent);
    }
}

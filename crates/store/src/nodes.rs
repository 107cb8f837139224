//! The processes that share this database, and which agents are connected to each.

use tandem_core::{NodeId, Timestamp};

use crate::table::{columns, insert, sql, update};
use crate::{Error, Tx};

/// A process that shares this database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its id, which stays when it is started again.
    pub id: NodeId,
    /// Where other nodes reach it: host and port. Empty until it listens.
    pub advertise: String,
    /// The version it runs.
    pub version: String,
    /// `nats`, `none`, or empty for a node that wants to be alone.
    pub bus: String,
    /// Where it stores files.
    pub files: String,
    /// When it started.
    pub started_at: Timestamp,
    /// When its row runs out.
    pub until: Timestamp,
    /// Its counters as JSON.
    pub figures: String,
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
    tx.send("delete from presences where node_id = ?1", &[id.into()])?;
    tx.send("delete from nodes where id = ?1", &[id.into()])
}

/// Removes the nodes whose rows ran out before a moment.
pub fn sweep(tx: &mut Tx<'_>, before: Timestamp) -> Result<(), Error> {
    tx.send("delete from nodes where until <= ?1", &[before.into()])
}

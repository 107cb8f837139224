//! Connections: two rows each, one for either side.

use tandem_core::agents::Connection;
use tandem_core::{AgentId, ConnectionId, Rule, Timestamp};

use crate::query::Query;
use crate::{Error, Row, Tx, agents};

/// Joins two agents. `approvals` are the rules on the first and the second side.
pub fn insert(
    tx: &mut Tx<'_>,
    id: &ConnectionId,
    sides: (&AgentId, &AgentId),
    approvals: (Option<Rule>, Option<Rule>),
    now: Timestamp,
) -> Result<(), Error> {
    for (agent, peer, approval) in [(sides.0, sides.1, approvals.0), (sides.1, sides.0, approvals.1)] {
        tx.send(
            "insert into connections (agent_id, peer_id, connection_id, alias, approval, created_at)
             values (?1, ?2, ?3, null, ?4, ?5)",
            &[agent.into(), peer.into(), id.into(), approval.into(), now.into()],
        )?;
    }
    Ok(())
}

/// The connection between two agents.
pub fn between(tx: &mut Tx<'_>, agent: &AgentId, peer: &AgentId) -> Result<Option<ConnectionId>, Error> {
    let row = tx.optional(
        "select connection_id from connections where agent_id = ?1 and peer_id = ?2",
        &[agent.into(), peer.into()],
    )?;
    row.map(|mut row| row.take()).transpose()
}

/// The agent that this one calls by an alias.
pub fn by_alias(tx: &mut Tx<'_>, agent: &AgentId, alias: &str) -> Result<Option<AgentId>, Error> {
    let row = tx.optional(
        "select peer_id from connections where agent_id = ?1 and alias = ?2",
        &[agent.into(), alias.into()],
    )?;
    row.map(|mut row| row.take()).transpose()
}

/// Ends a connection, on both sides.
pub fn remove(tx: &mut Tx<'_>, id: &ConnectionId) -> Result<(), Error> {
    tx.send("delete from connections where connection_id = ?1", &[id.into()])
}

/// Writes back what a side may change.
pub fn update(tx: &mut Tx<'_>, agent: &AgentId, connection: &Connection) -> Result<(), Error> {
    tx.send(
        "update connections set alias = ?3, approval = ?4 where agent_id = ?1 and peer_id = ?2",
        &[
            agent.into(),
            (&connection.peer.id).into(),
            connection.alias.as_ref().into(),
            connection.approval.into(),
        ],
    )
}

fn from_row(mut row: Row) -> Result<Connection, Error> {
    Ok(Connection {
        id: row.take()?,
        alias: row.take()?,
        approval: row.take()?,
        created_at: row.take()?,
        peer: agents::from_row(&mut row)?,
    })
}

fn selected() -> Query {
    let mut query = Query::default();
    query
        .push("select c.connection_id, c.alias, c.approval, c.created_at, ")
        .push(agents::COLUMNS)
        .push(" from connections c join agents a on a.id = c.peer_id where c.agent_id = ");
    query
}

/// This agent's side of one connection.
pub fn find(tx: &mut Tx<'_>, agent: &AgentId, id: &ConnectionId) -> Result<Option<Connection>, Error> {
    let mut query = selected();
    query.bind(agent).push(" and c.connection_id = ").bind(id);
    tx.optional(&query.sql, &query.params)?.map(from_row).transpose()
}

/// An agent's connections, newest first, from before a place in that order.
pub fn list(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    before: Option<&(Timestamp, ConnectionId)>,
    limit: i64,
) -> Result<Vec<Connection>, Error> {
    let mut query = selected();
    query.bind(agent);
    if let Some((at, id)) = before {
        query.push(" and (c.created_at, c.connection_id) < (").bind(*at).push(", ").bind(id).push(")");
    }
    query.push(" order by c.created_at desc, c.connection_id desc limit ").bind(limit);
    tx.rows(&query.sql, &query.params)?.into_iter().map(from_row).collect()
}

/// What decides whether, and how, one agent's task reaches another.
#[derive(Debug, Clone)]
pub struct Reach {
    /// The sender.
    pub initiator_name: String,
    /// The receiver.
    pub target_name: String,
    /// Whether the two are connected.
    pub connected: bool,
    /// The rule on the receiver's side of the connection.
    pub target_side: Option<Rule>,
    /// The receiver's own rule.
    pub target_default: Option<Rule>,
    /// Whether tasks for the receiver cost credits.
    pub costs_credits: bool,
    /// The sender's balance in millionths of a US dollar.
    pub credits_micro: i64,
    /// How many live tasks the two have already.
    pub live_tasks: i64,
}

/// Looks up everything about the way from one agent to another at once; nothing if either is unknown.
pub fn reach(tx: &mut Tx<'_>, initiator: &AgentId, target: &AgentId) -> Result<Option<Reach>, Error> {
    let (low, high) = pair(initiator, target);
    let row = tx.optional(
        "select i.name, t.name, case when c.peer_id is null then 0 else 1 end, c.approval, t.default_approval,
             t.costs_credits, i.credits_micro, coalesce(p.live_tasks, 0)
         from agents t
         join agents i on i.id = ?1
         left join connections c on c.agent_id = ?2 and c.peer_id = ?1
         left join pairs p on p.low_id = ?3 and p.high_id = ?4
         where t.id = ?2 and t.deleted_at is null",
        &[initiator.into(), target.into(), low.into(), high.into()],
    )?;
    row.map(|mut row| {
        Ok(Reach {
            initiator_name: row.take()?,
            target_name: row.take()?,
            connected: row.take()?,
            target_side: row.take()?,
            target_default: row.take()?,
            costs_credits: row.take()?,
            credits_micro: row.take()?,
            live_tasks: row.take()?,
        })
    })
    .transpose()
}

/// Counts live tasks of two agents up or down.
pub fn count_live(tx: &mut Tx<'_>, one: &AgentId, other: &AgentId, change: i64) -> Result<(), Error> {
    let (low, high) = pair(one, other);
    tx.send(
        "insert into pairs (low_id, high_id, live_tasks) values (?1, ?2, ?3)
         on conflict (low_id, high_id) do update set live_tasks = pairs.live_tasks + excluded.live_tasks",
        &[low.into(), high.into(), change.into()],
    )
}

fn pair<'a>(one: &'a AgentId, other: &'a AgentId) -> (&'a AgentId, &'a AgentId) {
    if one <= other { (one, other) } else { (other, one) }
}

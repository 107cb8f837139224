//! Connections: two rows each, one for either side.

use std::sync::Arc;

use tandem_core::agents::{Agent, Connection};
use tandem_core::{AgentId, ConnectionId, Rule, Timestamp};

use crate::declare::{delete, insert, read, update};
use crate::query::Query;
use crate::statement::Read;
use crate::table::{columns, sql};
use crate::{Error, Tx, Value};

/// Joins two agents. `approvals` are the rules on the first and the second side.
pub fn insert(
    tx: &mut Tx<'_>,
    id: &ConnectionId,
    sides: (&AgentId, &AgentId),
    approvals: (Option<Rule>, Option<Rule>),
    now: Timestamp,
) -> Result<(), Error> {
    for (agent, peer, approval) in [(sides.0, sides.1, approvals.0), (sides.1, sides.0, approvals.1)] {
        insert!(connections {
            agent_id: agent,
            peer_id: peer,
            connection_id: id,
            alias: Value::Null,
            approval: approval,
            created_at: now,
        })
        .send(tx)?;
    }
    Ok(())
}

/// The connection between two agents.
pub fn between(tx: &mut Tx<'_>, agent: &AgentId, peer: &AgentId) -> Result<Option<ConnectionId>, Error> {
    let connection = read!([connection_id]: "connections where agent_id = ?1 and peer_id = ?2",
        of connections { agent_id: 1, peer_id: 2 });
    connection.find(tx, &[agent.into(), peer.into()])
}

pub fn by_alias(tx: &mut Tx<'_>, agent: &AgentId, alias: &str) -> Result<Option<AgentId>, Error> {
    let peer =
        read!([peer_id]: "connections where agent_id = ?1 and alias = ?2", of connections { agent_id: 1 });
    peer.find(tx, &[agent.into(), alias.into()])
}

/// Ends a connection, on both sides.
pub fn remove(tx: &mut Tx<'_>, id: &ConnectionId) -> Result<(), Error> {
    delete!(connections where { connection_id: id }).send(tx)
}

/// Writes back what a side may change.
pub fn update(tx: &mut Tx<'_>, agent: &AgentId, connection: &Connection) -> Result<(), Error> {
    update!(connections { ..connection: Connection[SETTINGS] } where {
        agent_id: agent,
        peer_id: &connection.peer.id,
    })
    .send(tx)
}

/// The columns that a side may change.
const SETTINGS: u8 = 2;

columns! {
    "c", connection: Connection {
        id: connection_id,
        alias [SETTINGS],
        approval [SETTINGS],
        created_at,
        peer: join Agent,
    }
}

/// The other agent of one of this agent's connections.
pub fn peer_of(tx: &mut Tx<'_>, agent: &AgentId, id: &ConnectionId) -> Result<Option<AgentId>, Error> {
    let peer = read!([peer_id]: "connections where connection_id = ?1 and agent_id = ?2",
        of connections { connection_id: 1, agent_id: 2 });
    peer.find(tx, &[id.into(), agent.into()])
}

/// This agent's side of one connection.
pub fn find(tx: &mut Tx<'_>, agent: &AgentId, id: &ConnectionId) -> Result<Option<Connection>, Error> {
    let connection = read!(Connection:
        "connections c join agents a on a.id = c.peer_id where c.agent_id = ?1 and c.connection_id = ?2",
        of connections as c { agent_id: 1, connection_id: 2 }, agents as a; lock c);
    connection.find(tx, &[agent.into(), id.into()])
}

/// An agent's connections, newest first, from before a place in that order.
pub fn list(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    before: Option<&(Timestamp, ConnectionId)>,
    limit: i64,
) -> Result<Vec<Connection>, Error> {
    let mut query = Query::default();
    query.push(sql!(
        "select {} from connections c join agents a on a.id = c.peer_id where c.agent_id = ",
        Connection
    ));
    query.bind(agent);
    if let Some((at, id)) = before {
        query.push(" and (c.created_at, c.connection_id) < (").bind(*at).push(", ").bind(id).push(")");
    }
    query.push(" order by c.created_at desc, c.connection_id desc limit ").bind(limit);
    tx.list(&query.sql, &query.params)
}

/// How many live tasks an agent has with the peers of its newest connections.
pub fn live_tasks(tx: &mut Tx<'_>, agent: &AgentId, limit: i64) -> Result<Vec<(AgentId, i64)>, Error> {
    tx.list(
        "select c.peer_id, coalesce(l.live_tasks, h.live_tasks, 0) from connections c
         left join pairs l on l.low_id = c.agent_id and l.high_id = c.peer_id
         left join pairs h on h.low_id = c.peer_id and h.high_id = c.agent_id
         where c.agent_id = ?1 order by c.created_at desc, c.connection_id desc limit ?2",
        &[agent.into(), limit.into()],
    )
}

/// How many live tasks two agents have.
pub fn live_with(tx: &mut Tx<'_>, one: &AgentId, other: &AgentId) -> Result<i64, Error> {
    let (low, high) = pair(one, other);
    let sql = "select live_tasks from pairs where low_id = ?1 and high_id = ?2";
    Ok(tx.find(sql, &[low.into(), high.into()])?.unwrap_or(0))
}

/// What decides whether, and how, one agent's task reaches another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    pub initiator_name: String,
    pub target_name: String,
    pub connected: bool,
    /// The rule on the receiver's side of the connection.
    pub target_side: Option<Rule>,
    pub target_default: Option<Rule>,
    /// Whether the receiver is an agent elsewhere.
    pub is_remote: bool,
    /// Whether tasks for the receiver cost credits.
    pub costs_credits: bool,
    /// The sender's balance in millionths of a US dollar.
    pub credits_micro: i64,
    /// How many live tasks the two have already; nothing if they never had one.
    pub live_tasks: Option<i64>,
}

columns! {
    "t", reach: Reach {
        initiator_name: "i.name",
        target_name: "t.name",
        connected: "case when c.peer_id is null then 0 else 1 end",
        target_side: "c.approval",
        target_default: "t.default_approval",
        is_remote: "t.is_remote",
        costs_credits: "t.costs_credits",
        credits_micro: "i.credits_micro",
        live_tasks: "p.live_tasks",
    }
}

/// Looks up everything about the way from one agent to another at once; nothing if either is unknown.
pub fn reach(tx: &mut Tx<'_>, initiator: &AgentId, target: &AgentId) -> Result<Option<Reach>, Error> {
    let (low, high) = pair(initiator, target);
    let reach = read!(Reach:
        "agents t
         join agents i on i.id = ?1
         left join connections c on c.agent_id = ?2 and c.peer_id = ?1
         left join pairs p on p.low_id = ?3 and p.high_id = ?4
         where t.id = ?2 and t.deleted_at is null and i.deleted_at is null",
        of agents as t { id: 2 } uses [deleted_at],
        agents as i { id: 1 } uses [deleted_at],
        connections as c { agent_id: 2, peer_id: 1 },
        pairs as p { low_id: 3, high_id: 4 } uses []);
    reach.find(tx, &[initiator.into(), target.into(), low.into(), high.into()])
}

fn locked_pair() -> &'static Arc<Read> {
    read!([live_tasks]: "pairs where low_id = ?1 and high_id = ?2",
        of pairs { low_id: 1, high_id: 2 } uses []; lock pairs)
}

/// Locks what two agents share: their connection, blocks between them, and the number of their live tasks. Whoever
/// changes one of these, or decides by it, does this first. Returns whether there was a row to lock; if not,
/// [`create_pair`] makes it.
pub fn lock_pair(tx: &mut Tx<'_>, one: &AgentId, other: &AgentId) -> Result<bool, Error> {
    if !tx.locks_rows() {
        return Ok(true);
    }
    let (low, high) = pair(one, other);
    let found = locked_pair().peek::<i64>(tx, &[low.into(), high.into()])?;
    // What is not read yet is there most likely; if not, the job learns so when it runs again.
    Ok(found.is_none_or(|found| found.is_some()))
}

/// Says that [`lock_pair`] will be called, so that the row is locked in its turn.
pub fn expect_pair(tx: &mut Tx<'_>, one: &AgentId, other: &AgentId) -> Result<(), Error> {
    let (low, high) = pair(one, other);
    locked_pair().expect(tx, &[low.into(), high.into()])
}

/// Makes the row of two agents and locks it.
pub fn create_pair(tx: &mut Tx<'_>, one: &AgentId, other: &AgentId) -> Result<(), Error> {
    if !tx.locks_rows() {
        return Ok(());
    }
    let (low, high) = pair(one, other);
    insert!(pairs { low_id: low, high_id: high, live_tasks: 0_i64 }, on conflict (low_id, high_id) ignore)
        .execute(tx)?;
    locked_pair().exists(tx, &[low.into(), high.into()]).map(drop)
}

/// Counts live tasks of two agents up or down.
pub fn count_live(tx: &mut Tx<'_>, one: &AgentId, other: &AgentId, change: i64) -> Result<(), Error> {
    lock_pair(tx, one, other)?;
    let (low, high) = pair(one, other);
    insert!(pairs { low_id: low, high_id: high, live_tasks: change }, on conflict (low_id, high_id) add)
        .send(tx)
}

/// A relation that has ended, and whose live tasks are to be cancelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancellation {
    pub by: AgentId,
    pub peer: AgentId,
    /// Whether tasks inside networks are cancelled too.
    pub network_tasks: bool,
    /// When it ended; later tasks are left alone.
    pub ended_at: Timestamp,
}

columns! {
    "c", cancellation: Cancellation {
        by: by_id,
        peer: peer_id,
        network_tasks,
        ended_at,
    }
}

/// Notes that tasks are still to be cancelled. If those inside networks were to be cancelled before, they still are.
pub fn insert_cancellation(tx: &mut Tx<'_>, cancellation: &Cancellation) -> Result<(), Error> {
    let Cancellation { by, peer, network_tasks, ended_at } = cancellation;
    let before = read!(1: "cancellations where by_id = ?1 and peer_id = ?2 and network_tasks = 1",
        of cancellations { by_id: 1, peer_id: 2 });
    let network_tasks = *network_tasks || before.exists(tx, &[by.into(), peer.into()])?;
    let cancellation =
        &Cancellation { by: by.clone(), peer: peer.clone(), network_tasks, ended_at: *ended_at };
    insert!(cancellations { ..cancellation: Cancellation }, on conflict (by_id, peer_id) replace).send(tx)
}

/// One of the relations whose tasks are still to be cancelled.
pub fn next_cancellation(tx: &mut Tx<'_>) -> Result<Option<Cancellation>, Error> {
    tx.find(sql!("select {} from cancellations c order by c.ended_at limit 1", Cancellation), &[])
}

/// Notes that all tasks of a relation are cancelled.
pub fn remove_cancellation(tx: &mut Tx<'_>, done: &Cancellation) -> Result<(), Error> {
    delete!(cancellations where { by_id: &done.by, peer_id: &done.peer }).send(tx)
}

fn pair<'a>(one: &'a AgentId, other: &'a AgentId) -> (&'a AgentId, &'a AgentId) {
    if one <= other { (one, other) } else { (other, one) }
}

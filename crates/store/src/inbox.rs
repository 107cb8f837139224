//! What waits for an agent: by priority, then oldest first.

use tandem_core::tasks::{HELD_LANES, is_overdue};
use tandem_core::{AgentId, MessageId, NetworkId, Role, Status, TaskId, Timestamp};

use crate::query::Query;
use crate::{Error, Row, Tx};

/// How many broadcasts one look goes through.
const BROADCASTS_MAX: i64 = 1_000;

/// Why something waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A task to take.
    Task,
    /// A task to let in or to decline.
    Approval,
    /// A thread with something unread.
    Messages,
    /// Something that was said to a network.
    Broadcast,
}

/// A place in the order: rank of the priority, time, kind, and the id of the task or the message.
pub type Place = (i64, Timestamp, Kind, String);

/// Something that waits.
#[derive(Debug, Clone)]
pub struct Item {
    /// Why.
    pub kind: Kind,
    /// The rank of its priority.
    pub rank: i64,
    /// The task.
    pub task: Option<TaskId>,
    /// The message, for a broadcast.
    pub message: Option<MessageId>,
    /// The network, for a broadcast.
    pub network: Option<NetworkId>,
    /// The task's title, or the network's name.
    pub title: String,
    /// Whom it is from.
    pub from: AgentId,
    /// That agent's name.
    pub from_name: String,
    /// How many messages are unread.
    pub unread: i64,
    /// Since when it waits.
    pub at: Timestamp,
    /// Whether it has run out meanwhile.
    pub overdue: bool,
    /// Whether its target has not fetched it before.
    pub unfetched: bool,
}

impl Item {
    /// Its place in the order.
    #[must_use]
    pub fn place(&self) -> Place {
        let task = self.task.as_ref().map(TaskId::as_str);
        let id = task.or(self.message.as_ref().map(MessageId::as_str)).unwrap_or_default();
        (self.rank, self.at, self.kind, id.to_owned())
    }
}

/// Tasks that wait for their target, or at its gate, from after a place.
pub fn waiting(
    tx: &mut Tx<'_>,
    target: &AgentId,
    kind: Kind,
    after: Option<&Place>,
    limit: i64,
    now: Timestamp,
) -> Result<Vec<Item>, Error> {
    let first_lane = if kind == Kind::Approval { HELD_LANES } else { 0 };
    let mut query = Query::default();
    query.push(
        "select t.id, t.title, t.initiator_id, a.name, t.rank, t.target_unread, t.created_at, t.status,
             t.acknowledged_at, t.expires_at, t.fetched_at
         from tasks t join agents a on a.id = t.initiator_id where t.target_id = ",
    );
    query.bind(target).push(" and t.status = 'submitted' and t.lane >= ").bind(first_lane);
    query.push(" and t.lane < ").bind(first_lane + HELD_LANES);
    push_after(&mut query, ["t.lane", "t.created_at", "t.id"], first_lane, kind, after);
    query.push(" order by t.lane, t.created_at, t.id limit ").bind(limit);
    let from_row = |mut row: Row| {
        let (task, title) = (Some(row.take()?), row.take()?);
        let (from, from_name, rank) = (row.take()?, row.take()?, row.take()?);
        let (unread, at): (i64, Timestamp) = (row.take()?, row.take()?);
        let status: Status = row.take()?;
        let overdue = is_overdue(status, row.take()?, row.take()?, now);
        let unfetched = row.take::<Option<Timestamp>>()?.is_none();
        let (message, network) = (None, None);
        Ok(Item {
            kind,
            rank,
            task,
            message,
            network,
            title,
            from,
            from_name,
            unread,
            at,
            overdue,
            unfetched,
        })
    };
    tx.rows(&query.sql, &query.params)?.into_iter().map(from_row).collect()
}

/// Threads in which a party has something unread, from after a place.
pub fn threads(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    role: Role,
    after: Option<&Place>,
    limit: i64,
) -> Result<Vec<Item>, Error> {
    let (own, other) = if role == Role::Target { ("target", "initiator") } else { ("initiator", "target") };
    let since = format!("t.{own}_unread_since");
    let mut query = Query::default();
    query.push(&format!(
        "select t.id, t.title, t.{other}_id, a.name, t.rank, t.{own}_unread, {since}
         from tasks t join agents a on a.id = t.{other}_id where {since} is not null and t.{own}_id = "
    ));
    query.bind(agent);
    push_after(&mut query, ["t.rank", &since, "t.id"], 0, Kind::Messages, after);
    query.push(&format!(" order by t.rank, {since}, t.id limit ")).bind(limit);
    let from_row = |mut row: Row| {
        Ok(Item {
            kind: Kind::Messages,
            task: Some(row.take()?),
            title: row.take()?,
            from: row.take()?,
            from_name: row.take()?,
            rank: row.take()?,
            unread: row.take()?,
            at: row.take()?,
            message: None,
            network: None,
            overdue: false,
            unfetched: false,
        })
    };
    tx.rows(&query.sql, &query.params)?.into_iter().map(from_row).collect()
}

/// Keeps what stands behind a place; the kinds stand in their order where everything else is equal.
fn push_after(query: &mut Query, columns: [&str; 3], first: i64, kind: Kind, after: Option<&Place>) {
    let Some((rank, at, place, id)) = after else { return };
    let [a, b, c] = columns;
    let rank = rank + first;
    if kind == *place {
        query.push(&format!(" and ({a}, {b}, {c}) > (")).bind(rank).push(", ").bind(*at).push(", ");
        query.bind(id.as_str()).push(")");
    } else {
        let compare = if kind > *place { ">=" } else { ">" };
        query.push(&format!(" and ({a}, {b}) {compare} (")).bind(rank).push(", ").bind(*at).push(")");
    }
}

/// What was said to an agent's networks and told to it after a number in its log, oldest first.
pub fn broadcasts(tx: &mut Tx<'_>, agent: &AgentId, after: i64, rank: i64) -> Result<Vec<Item>, Error> {
    let rows = tx.rows(
        "select m.id, m.network_id, n.name, m.sender_id, a.name, e.created_at from events e
         join network_messages m on m.id = e.message_id join networks n on n.id = m.network_id
         join agents a on a.id = m.sender_id
         join network_members mine on mine.network_id = m.network_id and mine.agent_id = ?1
         where e.agent_id = ?1 and e.seq > ?2 and e.type = 'broadcast.created' order by e.seq limit ?3",
        &[agent.into(), after.into(), BROADCASTS_MAX.into()],
    )?;
    rows.into_iter()
        .map(|mut row| {
            Ok(Item {
                kind: Kind::Broadcast,
                rank,
                task: None,
                message: Some(row.take()?),
                network: Some(row.take()?),
                title: row.take()?,
                from: row.take()?,
                from_name: row.take()?,
                unread: 1,
                at: row.take()?,
                overdue: false,
                unfetched: false,
            })
        })
        .collect()
}

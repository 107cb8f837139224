//! What waits for an agent: by priority, then oldest first.

use tandem_core::tasks::{HELD_LANES, is_overdue};
use tandem_core::{AgentId, MessageId, NetworkId, Role, Status, TaskId, Timestamp};

use crate::query::Query;
use crate::table::{columns, sql};
use crate::{Error, Tx};

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub kind: Kind,
    pub rank: i64,
    pub task: Option<TaskId>,
    /// The message, for a broadcast.
    pub message: Option<MessageId>,
    /// The network, for a broadcast.
    pub network: Option<NetworkId>,
    /// The task's title, or the network's name.
    pub title: String,
    /// Who wrote it: the task's initiator, or the network's owner.
    pub title_by: AgentId,
    pub from: AgentId,
    pub from_name: String,
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

/// A task that waits for its target, as a query finds it.
struct WaitingTask {
    task: TaskId,
    title: String,
    from: AgentId,
    from_name: String,
    rank: i64,
    unread: i64,
    at: Timestamp,
    status: Status,
    acknowledged_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    fetched_at: Option<Timestamp>,
}

columns! {
    "t", waiting: WaitingTask {
        task: id,
        title,
        from: initiator_id,
        from_name: "a.name",
        rank,
        unread: target_unread,
        at: created_at,
        status,
        acknowledged_at,
        expires_at,
        fetched_at,
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
    query.push(sql!(
        "select {} from tasks t join agents a on a.id = t.initiator_id where t.target_id = ",
        WaitingTask
    ));
    query.bind(target).push(" and t.status = 'submitted' and t.lane >= ").bind(first_lane);
    query.push(" and t.lane < ").bind(first_lane + HELD_LANES);
    push_after(&mut query, ["t.lane", "t.created_at", "t.id"], first_lane, kind, after);
    query.push(" order by t.lane, t.created_at, t.id limit ").bind(limit);
    let item = |found: WaitingTask| Item {
        kind,
        rank: found.rank,
        task: Some(found.task),
        message: None,
        network: None,
        title: found.title,
        title_by: found.from.clone(),
        from: found.from,
        from_name: found.from_name,
        unread: found.unread,
        at: found.at,
        overdue: is_overdue(found.status, found.acknowledged_at, found.expires_at, now),
        unfetched: found.fetched_at.is_none(),
    };
    Ok(tx.list(&query.sql, &query.params)?.into_iter().map(item).collect())
}

/// A thread with something unread, as a query finds it.
struct Thread {
    task: TaskId,
    title: String,
    title_by: AgentId,
    from: AgentId,
    from_name: String,
    rank: i64,
    unread: i64,
    at: Timestamp,
}

// The two parties have columns of their own; `own_` and `other_` stand for whose.
columns! {
    "t", thread: Thread {
        task: id,
        title,
        title_by: initiator_id,
        from: other_id,
        from_name: "a.name",
        rank,
        unread: own_unread,
        at: own_unread_since,
    }
}

/// Threads in which a party has something unread, from after a place.
pub fn threads(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    role: Role,
    after: Option<&Place>,
    limit: i64,
) -> Result<Vec<Item>, Error> {
    let (own, other) =
        if role == Role::Target { ("target_", "initiator_") } else { ("initiator_", "target_") };
    let selected = sql!(
        "select {} from tasks t join agents a on a.id = t.other_id
         where t.own_unread_since is not null and t.own_id = ",
        Thread
    );
    let since = format!("t.{own}unread_since");
    let mut query = Query::default();
    query.push(&selected.replace("own_", own).replace("other_", other)).bind(agent);
    push_after(&mut query, ["t.rank", &since, "t.id"], 0, Kind::Messages, after);
    query.push(&format!(" order by t.rank, {since}, t.id limit ")).bind(limit);
    let item = |found: Thread| Item {
        kind: Kind::Messages,
        rank: found.rank,
        task: Some(found.task),
        message: None,
        network: None,
        title: found.title,
        title_by: found.title_by,
        from: found.from,
        from_name: found.from_name,
        unread: found.unread,
        at: found.at,
        overdue: false,
        unfetched: false,
    };
    Ok(tx.list(&query.sql, &query.params)?.into_iter().map(item).collect())
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

/// A broadcast, as a query finds it.
struct Heard {
    message: MessageId,
    network: NetworkId,
    title: String,
    title_by: AgentId,
    from: AgentId,
    from_name: String,
    at: Timestamp,
}

columns! {
    "m", heard: Heard {
        message: id,
        network: network_id,
        title: "n.name",
        title_by: "n.owner_id",
        from: sender_id,
        from_name: "a.name",
        at: "e.created_at",
    }
}

/// How much earlier than an acknowledged event a later one may have been stamped: the clock may have been set back.
const CLOCK_SLACK_SECONDS: i64 = 3_600;

/// What was said to an agent's networks and told to it after a number in its log, oldest first, from after a place.
pub fn broadcasts(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    seen: i64,
    rank: i64,
    after: Option<&Place>,
    limit: i64,
) -> Result<Vec<Item>, Error> {
    if after.is_some_and(|place| place.0 > rank) {
        return Ok(Vec::new());
    }
    // What was acknowledged is passed over by its time; only the last of it is read again.
    let acknowledged: Option<Timestamp> = tx.find(
        "select created_at from events where agent_id = ?1 and seq <= ?2 order by seq desc limit 1",
        &[agent.into(), seen.into()],
    )?;
    let oldest = acknowledged.map_or(Timestamp(0), |at| at.plus_seconds(-CLOCK_SLACK_SECONDS));
    // Other kinds stand before broadcasts where everything else is equal.
    let start = after.filter(|place| place.0 == rank).map(|(_, at, kind, id)| match kind {
        Kind::Broadcast => (*at, id.as_str()),
        Kind::Task | Kind::Approval | Kind::Messages => (*at, ""),
    });
    let (at, id) = start.unwrap_or_default().max((oldest, ""));
    let sql = sql!(
        "select {} from events e
         join network_messages m on m.id = e.message_id join networks n on n.id = m.network_id
         join agents a on a.id = m.sender_id
         join network_members mine on mine.network_id = m.network_id and mine.agent_id = ?1
         where e.agent_id = ?1 and e.type = 'broadcast.created' and (e.created_at, e.message_id) > (?2, ?3)
             and e.seq > ?4
         order by e.created_at, e.message_id limit ?5",
        Heard
    );
    let item = |found: Heard| Item {
        kind: Kind::Broadcast,
        rank,
        task: None,
        message: Some(found.message),
        network: Some(found.network),
        title: found.title,
        title_by: found.title_by,
        from: found.from,
        from_name: found.from_name,
        unread: 1,
        at: found.at,
        overdue: false,
        unfetched: false,
    };
    let found = tx.list(sql, &[agent.into(), at.into(), id.into(), seen.into(), limit.into()])?;
    Ok(found.into_iter().map(item).collect())
}

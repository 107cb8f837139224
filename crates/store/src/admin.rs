//! What an operator sees: counts and agents, never content.

use tandem_core::agents::Agent;
use tandem_core::tasks::Priority;
use tandem_core::webhooks::State;
use tandem_core::{AgentId, Approval, DeliveryId, Status, TaskId, Timestamp};

use crate::query::Query;
use crate::table::{columns, sql};
use crate::{Error, Tx, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    Agents,
    /// Sides of connections; each connection has two.
    ConnectionSides,
    Messages,
    Events,
    /// Tasks, by status.
    Tasks,
}

impl Counted {
    /// The table, and a column that an index has in its order.
    fn table_and_key(self) -> (&'static str, &'static str) {
        match self {
            Self::Agents => ("agents", "id"),
            Self::ConnectionSides => ("connections", "connection_id"),
            Self::Messages => ("messages", "id"),
            Self::Events => ("events", "agent_id"),
            Self::Tasks => ("tasks", "id"),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// How many there are, by status where they have one.
    pub by_status: Vec<(String, i64)>,
    /// After which key the next part begins; none after the last one.
    pub next: Option<String>,
}

/// Counts some rows from after a key, so that no count holds up others, however much there is.
pub fn count_some(tx: &mut Tx<'_>, what: Counted, after: &str, some: i64) -> Result<Counts, Error> {
    let (table, key) = what.table_and_key();
    let end = format!("select {key} from {table} where {key} > ?1 order by {key} limit 1 offset ?2");
    let next: Option<String> = tx.find(&end, &[after.into(), some.into()])?;
    let (status, group) = if what == Counted::Tasks { ("status", " group by status") } else { ("''", "") };
    let until = if next.is_some() { format!(" and {key} <= ?2") } else { String::new() };
    let sql = format!("select {status}, count(*) from {table} where {key} > ?1{until}{group}");
    let params: Vec<Value<'_>> =
        [Some(after), next.as_deref()].into_iter().flatten().map(Value::from).collect();
    Ok(Counts { by_status: tx.list(&sql, &params)?, next })
}

/// All agents, newest first, from before a place in that order.
pub fn list_agents(
    tx: &mut Tx<'_>,
    before: Option<&(Timestamp, AgentId)>,
    limit: i64,
) -> Result<Vec<Agent>, Error> {
    let mut query = Query::default();
    query.push(sql!("select {} from agents a", Agent));
    if let Some((at, id)) = before {
        query.push(" where (a.created_at, a.id) < (").bind(*at).push(", ").bind(id).push(")");
    }
    query.push(" order by a.created_at desc, a.id desc limit ").bind(limit);
    tx.list(&query.sql, &query.params)
}

/// What an operator sees of a task: whose it is and where it stands, and no word of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRow {
    pub id: TaskId,
    pub status: Status,
    pub priority: Priority,
    pub attempt: i64,
    pub encrypted: bool,
    pub initiator: AgentId,
    pub target: AgentId,
    pub messages: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

columns! {
    "t", task: TaskRow {
        id,
        status,
        priority,
        attempt,
        encrypted,
        initiator: initiator_id,
        target: target_id,
        messages: message_count,
        created_at,
        updated_at,
    }
}

/// Tasks in the order of their ids, which is that of their age unless clients made them, newest first.
pub fn list_tasks(tx: &mut Tx<'_>, before: Option<&TaskId>, limit: i64) -> Result<Vec<TaskRow>, Error> {
    let mut query = Query::default();
    query.push(sql!("select {} from tasks t", TaskRow));
    if let Some(id) = before {
        query.push(" where t.id < ").bind(id);
    }
    query.push(" order by t.id desc limit ").bind(limit);
    tx.list(&query.sql, &query.params)
}

/// What an operator sees of an event: whose log it is in and what kind it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    pub agent: AgentId,
    pub seq: i64,
    pub kind: String,
    pub task: Option<TaskId>,
    /// Through whom.
    pub from: Option<AgentId>,
    pub at: Timestamp,
}

columns! {
    "e", event: EventRow {
        agent: agent_id,
        seq,
        kind: type,
        task: task_id,
        from: from_agent_id,
        at: created_at,
    }
}

/// One agent's events, or everybody's log by log, newest first within each, from before a place.
pub fn list_events(
    tx: &mut Tx<'_>,
    agent: Option<&AgentId>,
    before: Option<&(AgentId, i64)>,
    limit: i64,
) -> Result<Vec<EventRow>, Error> {
    let mut query = Query::default();
    query.push(sql!("select {} from events e where 1 = 1", EventRow));
    if let Some(agent) = agent {
        query.push(" and e.agent_id = ").bind(agent);
    }
    if let Some((agent, seq)) = before {
        query.push(" and (e.agent_id, e.seq) < (").bind(agent).push(", ").bind(*seq).push(")");
    }
    query.push(" order by e.agent_id desc, e.seq desc limit ").bind(limit);
    tx.list(&query.sql, &query.params)
}

/// What an operator sees of a delivery: how it went, and not where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRow {
    pub id: DeliveryId,
    pub agent: AgentId,
    pub event_type: String,
    pub state: State,
    pub attempts: i64,
    pub answer_status: Option<i64>,
    pub next_at: Option<Timestamp>,
    pub created_at: Timestamp,
}

columns! {
    "d", delivery: DeliveryRow {
        id,
        agent: agent_id,
        event_type,
        state,
        attempts,
        answer_status,
        next_at,
        created_at,
    }
}

/// Deliveries, newest first, from before an id.
pub fn list_deliveries(
    tx: &mut Tx<'_>,
    before: Option<&DeliveryId>,
    limit: i64,
) -> Result<Vec<DeliveryRow>, Error> {
    let mut query = Query::default();
    query.push(sql!("select {} from deliveries d", DeliveryRow));
    if let Some(id) = before {
        query.push(" where d.id < ").bind(id);
    }
    query.push(" order by d.id desc limit ").bind(limit);
    tx.list(&query.sql, &query.params)
}

/// Writes a row as it is, to learn whether the database can be written.
pub fn probe_write(tx: &mut Tx<'_>) -> Result<(), Error> {
    tx.execute("update schema_migrations set name = name where version = 1", &[]).map(drop)
}

/// Answers when the database does.
pub fn ping(tx: &mut Tx<'_>) -> Result<(), Error> {
    tx.get::<i64>("select 1", &[]).map(drop)
}

/// A live task as an operator sees it: how old it is and where it stands, and no word of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldTask {
    pub id: TaskId,
    pub status: Status,
    pub approval: Option<Approval>,
    pub stalled_at: Option<Timestamp>,
    pub initiator: AgentId,
    pub initiator_name: String,
    pub target: AgentId,
    pub target_name: String,
    pub created_at: Timestamp,
}

columns! {
    "t", task: OldTask {
        id,
        status,
        approval,
        stalled_at,
        initiator: initiator_id,
        initiator_name: "i.name",
        target: target_id,
        target_name: "g.name",
        created_at,
    }
}

/// The oldest live tasks among those with ids after one and up to another, as they are counted.
pub fn oldest_some(
    tx: &mut Tx<'_>,
    after: &str,
    until: Option<&str>,
    limit: i64,
) -> Result<Vec<OldTask>, Error> {
    let mut query = Query::default();
    query.push(sql!(
        "select {} from tasks t join agents i on i.id = t.initiator_id join agents g on g.id = t.target_id
         where t.status in ('submitted', 'working', 'input-required', 'auth-required') and t.id > ",
        OldTask
    ));
    query.bind(after);
    if let Some(until) = until {
        query.push(" and t.id <= ").bind(until);
    }
    query.push(" order by t.created_at, t.id limit ").bind(limit);
    tx.list(&query.sql, &query.params)
}

/// An agent whose webhook does not get through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenWebhook {
    pub agent: AgentId,
    pub name: String,
    /// Whether the hub still tries.
    pub active: bool,
    pub failing_since: Option<Timestamp>,
}

columns! {
    "a", agent: BrokenWebhook {
        agent: id,
        name,
        active: webhook_active,
        failing_since: webhook_failing_since,
    }
}

/// Agents with such a webhook among those with ids after one and up to another, as they are counted.
pub fn broken_webhooks_some(
    tx: &mut Tx<'_>,
    after: &str,
    until: Option<&str>,
    limit: i64,
) -> Result<Vec<BrokenWebhook>, Error> {
    let mut query = Query::default();
    query.push(sql!(
        "select {} from agents a where a.webhook_url is not null and a.deleted_at is null
         and (a.webhook_active = 0 or a.webhook_failing_since is not null) and a.id > ",
        BrokenWebhook
    ));
    query.bind(after);
    if let Some(until) = until {
        query.push(" and a.id <= ").bind(until);
    }
    query.push(" order by a.id limit ").bind(limit);
    tx.list(&query.sql, &query.params)
}

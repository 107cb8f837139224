//! What an operator sees: counts and agents, never content.

use tandem_core::agents::Agent;
use tandem_core::tasks::Priority;
use tandem_core::webhooks::State;
use tandem_core::{AgentId, DeliveryId, Status, TaskId, Timestamp};

use crate::query::Query;
use crate::{Error, Tx, agents};

/// How much there is of everything.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// Registered agents.
    pub agents: i64,
    /// Connections between two agents.
    pub connections: i64,
    /// Messages.
    pub messages: i64,
    /// Events in all logs.
    pub events: i64,
    /// Tasks by status.
    pub tasks: Vec<(String, i64)>,
}

/// Counts everything. The cost grows with what is stored: ask rarely and keep the answer.
pub fn totals(tx: &mut Tx<'_>) -> Result<Totals, Error> {
    let mut row = tx.one(
        "select (select count(*) from agents), (select count(*) from connections),
             (select count(*) from messages), (select count(*) from events)",
        &[],
    )?;
    let mut totals = Totals {
        agents: row.take()?,
        connections: row.take::<i64>()? / 2,
        messages: row.take()?,
        events: row.take()?,
        tasks: Vec::new(),
    };
    for mut row in tx.rows("select status, count(*) from tasks group by status order by status", &[])? {
        totals.tasks.push((row.take()?, row.take()?));
    }
    Ok(totals)
}

/// All agents, newest first, from before a place in that order.
pub fn list_agents(
    tx: &mut Tx<'_>,
    before: Option<&(Timestamp, AgentId)>,
    limit: i64,
) -> Result<Vec<Agent>, Error> {
    let mut query = Query::default();
    query.push("select ").push(agents::COLUMNS).push(" from agents a");
    if let Some((at, id)) = before {
        query.push(" where (a.created_at, a.id) < (").bind(*at).push(", ").bind(id).push(")");
    }
    query.push(" order by a.created_at desc, a.id desc limit ").bind(limit);
    tx.rows(&query.sql, &query.params)?.into_iter().map(|mut row| agents::from_row(&mut row)).collect()
}

/// What an operator sees of a task: whose it is and where it stands, and no word of it.
#[derive(Debug, Clone)]
pub struct TaskRow {
    /// The task.
    pub id: TaskId,
    /// Where it stands.
    pub status: Status,
    /// Its priority.
    pub priority: Priority,
    /// Which try this is.
    pub attempt: i64,
    /// Whether its content is encrypted.
    pub encrypted: bool,
    /// Who made it.
    pub initiator: AgentId,
    /// Whom it is for.
    pub target: AgentId,
    /// How many messages it has.
    pub messages: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Tasks in the order of their ids, which is that of their age unless clients made them, newest first.
pub fn list_tasks(tx: &mut Tx<'_>, before: Option<&TaskId>, limit: i64) -> Result<Vec<TaskRow>, Error> {
    let mut query = Query::default();
    query.push(
        "select id, status, priority, attempt, encrypted, initiator_id, target_id, message_count, created_at,
             updated_at from tasks",
    );
    if let Some(id) = before {
        query.push(" where id < ").bind(id);
    }
    query.push(" order by id desc limit ").bind(limit);
    tx.rows(&query.sql, &query.params)?
        .into_iter()
        .map(|mut row| {
            Ok(TaskRow {
                id: row.take()?,
                status: row.take()?,
                priority: row.take()?,
                attempt: row.take()?,
                encrypted: row.take()?,
                initiator: row.take()?,
                target: row.take()?,
                messages: row.take()?,
                created_at: row.take()?,
                updated_at: row.take()?,
            })
        })
        .collect()
}

/// What an operator sees of an event: whose log it is in and what kind it is.
#[derive(Debug, Clone)]
pub struct EventRow {
    /// Whose log.
    pub agent: AgentId,
    /// Its number there.
    pub seq: i64,
    /// What happened.
    pub kind: String,
    /// On which task.
    pub task: Option<TaskId>,
    /// Through whom.
    pub from: Option<AgentId>,
    /// When.
    pub at: Timestamp,
}

/// One agent's events, or everybody's log by log, newest first within each, from before a place.
pub fn list_events(
    tx: &mut Tx<'_>,
    agent: Option<&AgentId>,
    before: Option<&(AgentId, i64)>,
    limit: i64,
) -> Result<Vec<EventRow>, Error> {
    let mut query = Query::default();
    query.push("select agent_id, seq, type, task_id, from_agent_id, created_at from events where 1 = 1");
    if let Some(agent) = agent {
        query.push(" and agent_id = ").bind(agent);
    }
    if let Some((agent, seq)) = before {
        query.push(" and (agent_id, seq) < (").bind(agent).push(", ").bind(*seq).push(")");
    }
    query.push(" order by agent_id desc, seq desc limit ").bind(limit);
    let rows = tx.rows(&query.sql, &query.params)?;
    rows.into_iter()
        .map(|mut row| {
            Ok(EventRow {
                agent: row.take()?,
                seq: row.take()?,
                kind: row.take()?,
                task: row.take()?,
                from: row.take()?,
                at: row.take()?,
            })
        })
        .collect()
}

/// What an operator sees of a delivery: how it went, and not where to.
#[derive(Debug, Clone)]
pub struct DeliveryRow {
    /// The delivery.
    pub id: DeliveryId,
    /// Whose receiver.
    pub agent: AgentId,
    /// What happened.
    pub event_type: String,
    /// Where it stands.
    pub state: State,
    /// How often it was tried.
    pub attempts: i64,
    /// What the receiver answered.
    pub answer_status: Option<i64>,
    /// When it is tried next.
    pub next_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Deliveries, newest first, from before an id.
pub fn list_deliveries(
    tx: &mut Tx<'_>,
    before: Option<&DeliveryId>,
    limit: i64,
) -> Result<Vec<DeliveryRow>, Error> {
    let mut query = Query::default();
    query.push(
        "select id, agent_id, event_type, state, attempts, answer_status, next_at, created_at from deliveries",
    );
    if let Some(id) = before {
        query.push(" where id < ").bind(id);
    }
    query.push(" order by id desc limit ").bind(limit);
    tx.rows(&query.sql, &query.params)?
        .into_iter()
        .map(|mut row| {
            Ok(DeliveryRow {
                id: row.take()?,
                agent: row.take()?,
                event_type: row.take()?,
                state: row.take()?,
                attempts: row.take()?,
                answer_status: row.take()?,
                next_at: row.take()?,
                created_at: row.take()?,
            })
        })
        .collect()
}

/// Answers when the database does.
pub fn ping(tx: &mut Tx<'_>) -> Result<(), Error> {
    tx.one("select 1", &[]).map(drop)
}

//! Tasks and their logs.

use tandem_core::messages;
use tandem_core::tasks::{Priority, Task};
use tandem_core::text::{SearchText, searchable};
use tandem_core::{AgentId, Role, Status, TaskId, Timestamp};

use crate::query::{Query, contains_pattern};
use crate::{Error, Row, Tx, Value};

/// How many of an agent's tasks, in each role and status, one search by title or party goes through.
const SEARCH_SCAN_MAX: i64 = 5_000;

const COLUMNS: &str = "t.id, t.initiator_id, i.name, t.target_id, g.name, t.title, t.description, t.status, \
     t.status_reason, t.approval, t.requires_review, t.priority, t.attempt, \
     t.initiator_session_key, t.target_session_key, t.initiator_unread, t.target_unread, \
     t.message_count, t.log_count, t.version, t.queued_at, t.pushed_at, t.fetched_at, t.started_at, \
     t.completed_at, t.created_at, t.updated_at";

const JOINED: &str = " join agents i on i.id = t.initiator_id join agents g on g.id = t.target_id ";

fn from_row(mut row: Row) -> Result<Task, Error> {
    Ok(Task {
        id: row.take()?,
        initiator: row.take()?,
        initiator_name: row.take()?,
        target: row.take()?,
        target_name: row.take()?,
        title: row.take()?,
        description: row.take()?,
        status: row.take()?,
        status_reason: row.take()?,
        approval: row.take()?,
        requires_review: row.take()?,
        priority: row.take()?,
        attempt: row.take()?,
        initiator_session_key: row.take()?,
        target_session_key: row.take()?,
        initiator_unread: row.take()?,
        target_unread: row.take()?,
        message_count: row.take()?,
        log_count: row.take()?,
        version: row.take()?,
        queued_at: row.take()?,
        pushed_at: row.take()?,
        fetched_at: row.take()?,
        started_at: row.take()?,
        completed_at: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}

impl From<Priority> for Value {
    fn from(priority: Priority) -> Self {
        Self::Text(priority.as_str().into())
    }
}
impl From<messages::Kind> for Value {
    fn from(kind: messages::Kind) -> Self {
        Self::Text(kind.as_str().into())
    }
}
impl From<messages::ContentType> for Value {
    fn from(content_type: messages::ContentType) -> Self {
        Self::Text(content_type.as_str().into())
    }
}

/// Whether any task has this id.
pub fn exists(tx: &mut Tx<'_>, id: &TaskId) -> Result<bool, Error> {
    Ok(tx.optional("select 1 from tasks where id = $1", &[id.into()])?.is_some())
}

/// Adds a task.
pub fn insert(tx: &mut Tx<'_>, task: &Task) -> Result<(), Error> {
    tx.send(
        "insert into tasks (id, initiator_id, target_id, title, search_title, description, status, approval,
             requires_review, priority, attempt, initiator_session_key, initiator_unread, target_unread,
             message_count, log_count, version, queued_at, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, 0, 0, $16, $13, $14, $15, $15)",
        &[
            (&task.id).into(),
            (&task.initiator).into(),
            (&task.target).into(),
            (&task.title).into(),
            searchable(&task.title).into(),
            task.description.as_ref().into(),
            task.status.into(),
            task.approval.into(),
            task.requires_review.into(),
            task.priority.into(),
            task.attempt.into(),
            task.initiator_session_key.as_ref().into(),
            task.version.into(),
            task.queued_at.into(),
            task.created_at.into(),
            task.log_count.into(),
        ],
    )
}

/// The task with this id.
pub fn find(tx: &mut Tx<'_>, id: &TaskId) -> Result<Option<Task>, Error> {
    let sql = format!("select {COLUMNS} from tasks t{JOINED}where t.id = $1");
    tx.optional(&sql, &[id.into()])?.map(from_row).transpose()
}

/// Writes back a task after a change of its status or its fields.
pub fn update(tx: &mut Tx<'_>, task: &Task) -> Result<(), Error> {
    tx.send(
        "update tasks set title = $2, search_title = $3, description = $4, status = $5, status_reason = $6,
             approval = $7, attempt = $8, initiator_session_key = $9, target_session_key = $10, version = $11,
             queued_at = $12, started_at = $13, completed_at = $14, updated_at = $15, initiator_unread = $16,
             target_unread = $17, message_count = $18, log_count = $19
         where id = $1",
        &[
            (&task.id).into(),
            (&task.title).into(),
            searchable(&task.title).into(),
            task.description.as_ref().into(),
            task.status.into(),
            task.status_reason.as_ref().into(),
            task.approval.into(),
            task.attempt.into(),
            task.initiator_session_key.as_ref().into(),
            task.target_session_key.as_ref().into(),
            task.version.into(),
            task.queued_at.into(),
            task.started_at.into(),
            task.completed_at.into(),
            task.updated_at.into(),
            task.initiator_unread.into(),
            task.target_unread.into(),
            task.message_count.into(),
            task.log_count.into(),
        ],
    )
}

/// Writes back what a new message changes: none of it is in an index, so this is the cheap way.
pub fn update_counts(tx: &mut Tx<'_>, task: &Task) -> Result<(), Error> {
    tx.send(
        "update tasks set message_count = $2, initiator_unread = $3, target_unread = $4, updated_at = $5
         where id = $1",
        &[
            (&task.id).into(),
            task.message_count.into(),
            task.initiator_unread.into(),
            task.target_unread.into(),
            task.updated_at.into(),
        ],
    )
}

/// Notes that the target was pushed to; the first time counts.
pub fn mark_pushed(tx: &mut Tx<'_>, id: &TaskId, target: &AgentId, now: Timestamp) -> Result<(), Error> {
    tx.send(
        "update tasks set pushed_at = $3 where id = $1 and target_id = $2 and pushed_at is null",
        &[id.into(), target.into(), now.into()],
    )
}

/// Notes that the target fetched a task; the first time counts.
pub fn mark_fetched(tx: &mut Tx<'_>, id: &TaskId, target: &AgentId, now: Timestamp) -> Result<(), Error> {
    tx.send(
        "update tasks set fetched_at = $3 where id = $1 and target_id = $2 and fetched_at is null",
        &[id.into(), target.into(), now.into()],
    )
}

/// One line of a task's history.
#[derive(Debug, Clone)]
pub struct LogLine {
    /// Where it stood; nothing at its creation.
    pub from: Option<Status>,
    /// Where it stands since.
    pub to: Status,
    /// Who moved it: an agent's id or `system`.
    pub actor: String,
    /// What was said about it.
    pub detail: Option<String>,
    /// In which try.
    pub attempt: i64,
    /// When.
    pub at: Timestamp,
}

/// Adds a line to a task's history, under its number there.
pub fn log(tx: &mut Tx<'_>, id: &TaskId, number: i64, line: &LogLine) -> Result<(), Error> {
    tx.send(
        "insert into task_log (task_id, number, from_status, to_status, actor, detail, attempt, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        &[
            id.into(),
            number.into(),
            line.from.into(),
            line.to.into(),
            (&line.actor).into(),
            line.detail.as_ref().into(),
            line.attempt.into(),
            line.at.into(),
        ],
    )
}

/// A task's history, oldest first, from after a line's number.
pub fn log_lines(tx: &mut Tx<'_>, id: &TaskId, after: i64, limit: i64) -> Result<Vec<LogLine>, Error> {
    let rows = tx.rows(
        "select from_status, to_status, actor, detail, attempt, created_at from task_log
         where task_id = $1 and number > $2 order by number limit $3",
        &[id.into(), after.into(), limit.into()],
    )?;
    rows.into_iter()
        .map(|mut row| {
            Ok(LogLine {
                from: row.take()?,
                to: row.take()?,
                actor: row.take()?,
                detail: row.take()?,
                attempt: row.take()?,
                at: row.take()?,
            })
        })
        .collect()
}

/// Removes a task with its messages and its history; tells how many messages there were.
pub fn delete(tx: &mut Tx<'_>, id: &TaskId) -> Result<u64, Error> {
    let messages = tx.execute("delete from messages where task_id = $1", &[id.into()])?;
    tx.send("delete from task_log where task_id = $1", &[id.into()])?;
    tx.send("delete from tasks where id = $1", &[id.into()])?;
    Ok(messages)
}

/// Counts an ended (or, with -1, a reopened) task for its target's record.
pub fn count_ended(tx: &mut Tx<'_>, target: &AgentId, completed: bool, change: i64) -> Result<(), Error> {
    tx.send(
        "update mailboxes set tasks_ended = tasks_ended + $2, tasks_completed = tasks_completed + $3
         where agent_id = $1",
        &[target.into(), change.into(), Value::Int(if completed { change } else { 0 })],
    )
}

/// The live tasks of two agents, oldest first. The target is compared in a way that no index serves: the
/// index by status finds the few live ones, the one by parties would go through all there ever were.
pub fn live_between(tx: &mut Tx<'_>, one: &AgentId, other: &AgentId, limit: i64) -> Result<Vec<Task>, Error> {
    let mut found = Vec::new();
    for (initiator, target) in [(one, other), (other, one)] {
        let sql = format!(
            "select {COLUMNS} from tasks t{JOINED}where t.initiator_id = $1 and t.target_id || '' = $2
                 and t.status in ('submitted', 'working', 'input-required', 'auth-required')
             order by t.created_at, t.id limit $3"
        );
        let rows = tx.rows(&sql, &[initiator.into(), target.into(), limit.into()])?;
        for row in rows {
            found.push(from_row(row)?);
        }
    }
    found.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
    Ok(found)
}

/// Which tasks a list is asked for.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only in this status.
    pub status: Option<Status>,
    /// Only where the caller has this role.
    pub role: Option<Role>,
    /// Only with this other party.
    pub with: Option<AgentId>,
    /// Only with this in their title.
    pub text: Option<SearchText>,
    /// Only from before this place in the order.
    pub before: Option<(Timestamp, TaskId)>,
    /// How many at most.
    pub limit: i64,
}

/// An agent's tasks, newest first. Drafts for it are not among them.
pub fn list(tx: &mut Tx<'_>, by: &AgentId, filter: &Filter) -> Result<Vec<Task>, Error> {
    let mut query = Query::default();
    query.push("select ").push(COLUMNS).push(" from (");
    let mut first = true;
    for role in [Role::Initiator, Role::Target] {
        if filter.role.is_some_and(|only| only != role) {
            continue;
        }
        // The index keeps each status in order; a list of all is put together from them.
        for status in Status::ALL {
            let hidden = role == Role::Target && status == Status::Draft;
            if hidden || filter.status.is_some_and(|only| only != status) {
                continue;
            }
            if !first {
                query.push(" union all ");
            }
            first = false;
            push_side(&mut query, by, role, status, filter);
        }
    }
    // Drafts for it: there are none that it may see.
    if first {
        return Ok(Vec::new());
    }
    query.push(") found join tasks t on t.id = found.id").push(JOINED);
    query.push("order by t.created_at desc, t.id desc limit ").bind(filter.limit);
    tx.rows(&query.sql, &query.params)?.into_iter().map(from_row).collect()
}

/// The ids of one role's tasks in one status, found by an index and cut to a page. What the index does not
/// hold is looked for among a bounded number of the newest.
fn push_side(query: &mut Query, by: &AgentId, role: Role, status: Status, filter: &Filter) {
    let (own, other) = match role {
        Role::Target => ("target_id", "initiator_id"),
        Role::Initiator | Role::Hub => ("initiator_id", "target_id"),
    };
    let searched = filter.text.is_some() || filter.with.is_some();
    let more = if searched { ", search_title, initiator_id, target_id" } else { "" };
    query
        .push("select id from (select id")
        .push(more)
        .push(" from tasks where ")
        .push(own)
        .push(" = ")
        .bind(by);
    query.push(" and status = ").bind(status);
    // A draft that was given up was never published.
    if role == Role::Target && status == Status::Cancelled {
        query.push(" and queued_at is not null");
    }
    if let Some((at, id)) = &filter.before {
        query.push(" and (created_at, id) < (").bind(*at).push(", ").bind(id).push(")");
    }
    let scan = if searched { SEARCH_SCAN_MAX } else { filter.limit };
    query.push(" order by created_at desc, id desc limit ").bind(scan).push(") newest where 1 = 1");
    if let Some(with) = &filter.with {
        query.push(" and ").push(other).push(" = ").bind(with);
    }
    if let Some(text) = &filter.text {
        query.push(" and search_title like ").bind(contains_pattern(&searchable(text.as_str())));
        query.push(" escape '!'");
    }
}

/// The tasks held at an agent's gate, newest first.
pub fn held(
    tx: &mut Tx<'_>,
    target: &AgentId,
    before: Option<&(Timestamp, TaskId)>,
    limit: i64,
) -> Result<Vec<Task>, Error> {
    let mut query = Query::default();
    query.push("select ").push(COLUMNS).push(" from tasks t").push(JOINED);
    query.push("where t.approval = 'pending' and t.status = 'submitted' and t.target_id = ").bind(target);
    if let Some((at, id)) = before {
        query.push(" and (t.created_at, t.id) < (").bind(*at).push(", ").bind(id).push(")");
    }
    query.push(" order by t.created_at desc, t.id desc limit ").bind(limit);
    tx.rows(&query.sql, &query.params)?.into_iter().map(from_row).collect()
}

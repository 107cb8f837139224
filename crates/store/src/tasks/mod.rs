//! Tasks: their rows, and what else belongs to them.

mod list;
mod log;

use tandem_core::tasks::{Side, Task, Terms};
use tandem_core::text::searchable;
use tandem_core::{AgentId, TaskId, Timestamp};

use crate::{Error, Row, Tx, Value};

pub use list::{Filter, Found, ahead, children, held, list, live_between, newest_open};
pub use log::{LogLine, log, log_lines};

const COLUMNS: &str = "t.id, t.initiator_id, i.name, t.target_id, g.name, t.title, t.description, t.encrypted, \
     t.description_keys, t.sender_signature, t.status, \
     t.status_reason, t.approval, t.requires_review, t.priority, t.attempt, \
     t.ttl_seconds, t.check_in_seconds, t.lease_seconds, t.on_stall, t.max_attempts, t.max_messages, \
     t.initiator_session_key, t.initiator_unread, t.initiator_unread_since, t.initiator_said, \
     t.initiator_read, t.initiator_acked, \
     t.target_session_key, t.target_unread, t.target_unread_since, t.target_said, t.target_read, \
     t.target_acked, t.message_count, t.spoken_count, t.log_count, t.version, t.queued_at, t.pushed_at, \
     t.fetched_at, t.acknowledged_at, t.expires_at, t.lease_until, t.parent_id, t.parent_shared, \
     t.network_id, t.result, t.progress, t.progress_note, t.usage_micro, t.started_at, t.completed_at, t.created_at, \
     t.updated_at";

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
        encrypted: row.take()?,
        description_keys: row.take()?,
        sender_signature: row.take()?,
        status: row.take()?,
        status_reason: row.take()?,
        approval: row.take()?,
        requires_review: row.take()?,
        priority: row.take()?,
        attempt: row.take()?,
        terms: Terms {
            ttl_seconds: row.take()?,
            check_in_seconds: row.take()?,
            lease_seconds: row.take()?,
            on_stall: row.take()?,
            max_attempts: row.take()?,
            max_messages: row.take()?,
        },
        initiator_side: side_from_row(&mut row)?,
        target_side: side_from_row(&mut row)?,
        message_count: row.take()?,
        spoken_count: row.take()?,
        log_count: row.take()?,
        version: row.take()?,
        queued_at: row.take()?,
        pushed_at: row.take()?,
        fetched_at: row.take()?,
        acknowledged_at: row.take()?,
        expires_at: row.take()?,
        lease_until: row.take()?,
        parent: row.take()?,
        parent_shared: row.take()?,
        network: row.take()?,
        result: row.take()?,
        progress: row.take()?,
        progress_note: row.take()?,
        usage_micro: row.take()?,
        started_at: row.take()?,
        completed_at: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}

fn side_from_row(row: &mut Row) -> Result<Side, Error> {
    Ok(Side {
        session_key: row.take()?,
        unread: row.take()?,
        unread_since: row.take()?,
        said: row.take()?,
        read: row.take()?,
        acked: row.take()?,
    })
}

/// Whether any task has this id.
pub fn exists(tx: &mut Tx<'_>, id: &TaskId) -> Result<bool, Error> {
    Ok(tx.optional("select 1 from tasks where id = ?1", &[id.into()])?.is_some())
}

/// Adds a task. What a new task has none of, its row has by default.
pub fn insert(tx: &mut Tx<'_>, task: &Task) -> Result<(), Error> {
    tx.send(
        "insert into tasks (id, initiator_id, target_id, title, search_title, description, status, approval,
             requires_review, priority, rank, lane, attempt, initiator_session_key, initiator_unread,
             target_unread, message_count, log_count, version, queued_at, created_at, updated_at, ttl_seconds,
             expires_at, check_in_seconds, lease_seconds, on_stall, max_attempts, max_messages, parent_id,
             parent_shared, network_id, encrypted, description_keys, sender_signature)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 0, 0, 0, ?15, ?16, ?17, ?18, ?18,
             ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31)",
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
            task.priority.rank().into(),
            task.lane().into(),
            task.attempt.into(),
            task.initiator_side.session_key.as_ref().into(),
            task.log_count.into(),
            task.version.into(),
            task.queued_at.into(),
            task.created_at.into(),
            task.terms.ttl_seconds.into(),
            task.expires_at.into(),
            task.terms.check_in_seconds.into(),
            task.terms.lease_seconds.into(),
            task.terms.on_stall.into(),
            task.terms.max_attempts.into(),
            task.terms.max_messages.into(),
            task.parent.as_ref().into(),
            task.parent_shared.into(),
            task.network.as_ref().into(),
            task.encrypted.into(),
            task.description_keys.as_ref().into(),
            task.sender_signature.as_ref().into(),
        ],
    )
}

/// The task with this id.
pub fn find(tx: &mut Tx<'_>, id: &TaskId) -> Result<Option<Task>, Error> {
    let sql = format!("select {COLUMNS} from tasks t{JOINED}where t.id = ?1");
    tx.optional(&sql, &[id.into()])?.map(from_row).transpose()
}

/// Writes back a task after a change of its status or its fields.
pub fn update(tx: &mut Tx<'_>, task: &Task) -> Result<(), Error> {
    tx.send(
        "update tasks set title = ?2, search_title = ?3, description = ?4, status = ?5, status_reason = ?6,
             approval = ?7, lane = ?8, attempt = ?9, initiator_session_key = ?10, target_session_key = ?11,
             version = ?12, queued_at = ?13, started_at = ?14, completed_at = ?15, log_count = ?16,
             max_messages = ?17, expires_at = ?18, result = ?19,
             usage_micro = ?20, description_keys = ?21, sender_signature = ?22
         where id = ?1",
        &[
            (&task.id).into(),
            (&task.title).into(),
            searchable(&task.title).into(),
            task.description.as_ref().into(),
            task.status.into(),
            task.status_reason.as_ref().into(),
            task.approval.into(),
            task.lane().into(),
            task.attempt.into(),
            task.initiator_side.session_key.as_ref().into(),
            task.target_side.session_key.as_ref().into(),
            task.version.into(),
            task.queued_at.into(),
            task.started_at.into(),
            task.completed_at.into(),
            task.log_count.into(),
            task.terms.max_messages.into(),
            task.expires_at.into(),
            task.result.as_ref().into(),
            task.usage_micro.into(),
            task.description_keys.as_ref().into(),
            task.sender_signature.as_ref().into(),
        ],
    )?;
    update_thread(tx, task)
}

/// Writes back what messages, marks and signs of life change: hardly any of it is in an index, so this is
/// the cheap way.
pub fn update_thread(tx: &mut Tx<'_>, task: &Task) -> Result<(), Error> {
    let (initiator, target) = (&task.initiator_side, &task.target_side);
    tx.send(
        "update tasks set message_count = ?2, spoken_count = ?3, initiator_unread = ?4,
             initiator_unread_since = ?5, initiator_said = ?6, initiator_read = ?7, initiator_acked = ?8,
             target_unread = ?9, target_unread_since = ?10, target_said = ?11, target_read = ?12,
             target_acked = ?13, acknowledged_at = ?14, lease_until = ?15, progress = ?16,
             progress_note = ?17, updated_at = ?18
         where id = ?1",
        &[
            (&task.id).into(),
            task.message_count.into(),
            task.spoken_count.into(),
            initiator.unread.into(),
            initiator.unread_since.into(),
            initiator.said.into(),
            initiator.read.into(),
            initiator.acked.into(),
            target.unread.into(),
            target.unread_since.into(),
            target.said.into(),
            target.read.into(),
            target.acked.into(),
            task.acknowledged_at.into(),
            task.lease_until.into(),
            task.progress.into(),
            task.progress_note.as_ref().into(),
            task.updated_at.into(),
        ],
    )
}

/// Gives a task to another agent; what was delivered to the one before was not delivered to this one.
pub fn set_target(tx: &mut Tx<'_>, task: &Task) -> Result<(), Error> {
    tx.send(
        "update tasks set target_id = ?2, network_id = ?3, parent_shared = ?4 where id = ?1",
        &[(&task.id).into(), (&task.target).into(), task.network.as_ref().into(), task.parent_shared.into()],
    )
}

/// Notes that an agent had a task before it was given to another.
pub fn insert_former_target(tx: &mut Tx<'_>, agent: &AgentId, task: &TaskId) -> Result<(), Error> {
    tx.send(
        "insert into former_targets (agent_id, task_id) values (?1, ?2) on conflict (agent_id, task_id) do nothing",
        &[agent.into(), task.into()],
    )
}

/// Some of the tasks that an agent had once.
pub fn formerly_of(tx: &mut Tx<'_>, agent: &AgentId, limit: i64) -> Result<Vec<TaskId>, Error> {
    let sql = "select task_id from former_targets where agent_id = ?1 order by task_id limit ?2";
    tx.rows(sql, &[agent.into(), limit.into()])?.into_iter().map(|mut row| row.take()).collect()
}

/// Forgets that an agent had a task.
pub fn remove_former_target(tx: &mut Tx<'_>, agent: &AgentId, task: &TaskId) -> Result<(), Error> {
    tx.send("delete from former_targets where agent_id = ?1 and task_id = ?2", &[agent.into(), task.into()])
}

/// Forgets how far a task's delivery had come: it is handed over anew.
pub fn reset_delivery(tx: &mut Tx<'_>, id: &TaskId) -> Result<(), Error> {
    tx.send("update tasks set pushed_at = null, fetched_at = null where id = ?1", &[id.into()])
}

/// Notes that the target was pushed to; the first time counts.
pub fn mark_pushed(tx: &mut Tx<'_>, id: &TaskId, target: &AgentId, now: Timestamp) -> Result<(), Error> {
    tx.send(
        "update tasks set pushed_at = ?3 where id = ?1 and target_id = ?2 and pushed_at is null",
        &[id.into(), target.into(), now.into()],
    )
}

/// Notes that the target fetched a task; the first time counts.
pub fn mark_fetched(tx: &mut Tx<'_>, id: &TaskId, target: &AgentId, now: Timestamp) -> Result<(), Error> {
    tx.send(
        "update tasks set fetched_at = ?3 where id = ?1 and target_id = ?2 and fetched_at is null",
        &[id.into(), target.into(), now.into()],
    )
}

/// Removes a task with its messages and its history; tells how many messages there were.
pub fn delete(tx: &mut Tx<'_>, id: &TaskId) -> Result<u64, Error> {
    let messages = tx.execute("delete from messages where task_id = ?1", &[id.into()])?;
    tx.send("delete from task_log where task_id = ?1", &[id.into()])?;
    tx.send("delete from signatures where task_id = ?1", &[id.into()])?;
    tx.send("delete from former_targets where task_id = ?1", &[id.into()])?;
    // Its parts are nobody's: the id may be taken again, by somebody who must not see them.
    tx.send("update tasks set parent_id = null, parent_shared = 0 where parent_id = ?1", &[id.into()])?;
    tx.send("delete from tasks where id = ?1", &[id.into()])?;
    Ok(messages)
}

/// Counts an ended (or, with -1, a reopened) task for its target's record.
pub fn count_ended(tx: &mut Tx<'_>, target: &AgentId, completed: bool, change: i64) -> Result<(), Error> {
    tx.send(
        "update mailboxes set tasks_ended = tasks_ended + ?2, tasks_completed = tasks_completed + ?3
         where agent_id = ?1",
        &[target.into(), change.into(), Value::Int(if completed { change } else { 0 })],
    )
}

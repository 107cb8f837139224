//! Tasks: their rows, and what else belongs to them.

mod conversations;
mod counts;
mod gate;
mod list;
mod log;
mod removal;

use std::sync::Arc;

use tandem_core::a2a::TaskState;
use tandem_core::messages::Foreign;
use tandem_core::tasks::{
    DeliveryMarks, GateState, Lease, Side, Task, TaskAttempt, TaskContent, TaskCounts, TaskLinks, Terms,
    Unseen,
};
use tandem_core::text::searchable;
use tandem_core::wake::Rung;
use tandem_core::{AgentId, TaskId, Timestamp};

use crate::declare::{add, delete, insert, read, update};
use crate::query::Query;
use crate::statement::Read;
use crate::table::{LATER, columns, sql};
use crate::{Error, Tx, Value, events, lock, pushes};

#[cfg(test)]
pub(crate) use conversations::query_plans;
pub use conversations::{ExtrasAndParent, InState, by_foreign_hash, count_in_state, extras_of, in_state};
pub use counts::{Count, ahead_of_new, counts, ended_by_target};
pub use gate::{decided, held_oldest, record};
pub use list::{Filter, Found, children, held, initiator_of, list, live_between, newest_open, oldest_live};
pub use log::{LogLine, PastMove, last_log_line, log, log_between, log_lines, log_steps, past_moves};
pub use removal::{delete, forget_removed, next_removed, remove_some, set_aside};

/// The columns that a change of a task's status or its fields writes.
const STATE: u8 = 2;
/// The columns that messages, marks and signs of life change. Hardly any of them is in an index, so this is the cheap
/// update.
const THREAD: u8 = 4;

columns! {
    "t", task: Task {
        id,
        initiator: initiator_id,
        initiator_name: "i.name",
        target: target_id,
        target_name: "g.name",
        content: ..TaskContent,
        status [STATE],
        status_reason [STATE | LATER],
        status_at [STATE],
        gate: ..GateState,
        requires_review,
        priority,
        terms: ..Terms,
        attempt: ..TaskAttempt,
        delivery: ..DeliveryMarks,
        lease: ..Lease,
        initiator_side: ..Side "initiator_",
        target_side: ..Side "target_",
        counts: ..TaskCounts,
        asked_after [STATE | LATER],
        usage_micro [STATE | LATER],
        links: ..TaskLinks,
        foreign: ..Foreign "foreign_",
        version [STATE],
        created_at,
        updated_at [THREAD],
        = search_title [STATE]: searchable(&task.content.title),
        = rank: task.priority.rank(),
        = lane [STATE]: task.lane(),
        = a2a_state [STATE]: task.state().map(TaskState::number),
    }
}

columns! {
    "t", content: TaskContent {
        title [STATE],
        description [STATE],
        encrypted,
        keys: description_keys [STATE],
        signature: sender_signature [STATE],
    }
}

columns! {
    "t", gate: GateState {
        approval [STATE],
        note: approval_note [STATE | LATER],
    }
}

columns! {
    "t", terms: Terms {
        ttl_seconds,
        check_in_seconds,
        lease_seconds,
        on_stall,
        max_attempts,
        max_messages [STATE],
    }
}

columns! {
    "t", attempt: TaskAttempt {
        number: attempt [STATE],
        started_at [STATE | LATER],
        progress [THREAD | LATER],
        progress_note [THREAD | LATER],
        result [STATE | LATER],
        completed_at [STATE | LATER],
    }
}

columns! {
    "t", delivery: DeliveryMarks {
        queued_at [STATE],
        expires_at [STATE],
        pushed_at [LATER],
        fetched_at [LATER],
        surfaced_at [LATER],
        surfaced_by [LATER],
        acknowledged_at [THREAD | LATER],
    }
}

columns! {
    "t", lease: Lease {
        until: lease_until [THREAD | LATER],
        stalled_at [THREAD | LATER],
    }
}

columns! {
    "t", counts: TaskCounts {
        messages: message_count [THREAD],
        spoken: spoken_count [THREAD | LATER],
        log: log_count [STATE],
        artifact_bytes [THREAD | LATER],
    }
}

columns! {
    "t", links: TaskLinks {
        parent: parent_id,
        parent_shared,
        network: network_id,
        context: context_id,
    }
}

columns! {
    "t", side: Side {
        session_key [STATE],
        unread [THREAD],
        unread_since [THREAD | LATER],
        said [THREAD | LATER],
        read [THREAD | LATER],
        acked [THREAD | LATER],
        unseen: ..Unseen,
    }
}

columns! {
    "t", unseen: Unseen {
        count: unseen [THREAD | LATER],
        first: unseen_first [THREAD | LATER],
        last: unseen_last [THREAD | LATER],
    }
}

const JOINED: &str = "join agents i on i.id = t.initiator_id join agents g on g.id = t.target_id";

/// Whether a task has this id, or ever had it.
pub fn is_id_used(tx: &mut Tx<'_>, id: &TaskId) -> Result<bool, Error> {
    let exists = read!(1: "tasks where id = ?1", of tasks { id: 1 } uses []);
    let used = read!(1: "used_task_ids where id = ?1", of used_task_ids { id: 1 } uses []);
    used.expect(tx, &[id.into()])?;
    Ok(exists.exists(tx, &[id.into()])? || used.exists(tx, &[id.into()])?)
}

/// Notes that a client has made this id. It fails if another transaction has done so meanwhile, even if that task is
/// deleted by now.
pub fn use_id(tx: &mut Tx<'_>, id: &TaskId) -> Result<(), Error> {
    insert!(used_task_ids { id: id }).send(tx)
}

/// Adds a task; `foreign_hash` tells what a client of another protocol sent with it from anything else that it sends.
pub fn insert(tx: &mut Tx<'_>, task: &Task, foreign_hash: Option<&[u8]>) -> Result<(), Error> {
    insert!(tasks { ..task: Task, foreign_hash: foreign_hash }).send(tx)
}

fn by_id() -> &'static Arc<Read> {
    read!(Task: "tasks t {JOINED} where t.id = ?1",
        of tasks as t { id: 1 } uses [initiator_id, target_id], agents uses [name]; lock t)
}

/// The task with this id. A transaction that writes locks it: changes of a task follow one another.
pub fn find(tx: &mut Tx<'_>, id: &TaskId) -> Result<Option<Task>, Error> {
    by_id().find(tx, &[id.into()])
}

/// Says that [`find`] will be called, so that the task is locked in its turn.
pub fn expect(tx: &mut Tx<'_>, id: &TaskId) -> Result<(), Error> {
    by_id().expect(tx, &[id.into()])
}

/// Says that a task will be marked, so that it is locked in its turn: before any agent is.
pub fn expect_mark(tx: &mut Tx<'_>, id: &TaskId) -> Result<(), Error> {
    lock::of_table("tasks").filter(|_| tx.locks_rows()).map_or(Ok(()), |task| task.expect(tx, &[id.into()]))
}

/// A task, and how many live tasks its target has before it, up to a hundred, while it waits.
#[derive(Debug)]
pub struct TaskInQueue {
    pub task: Task,
    /// How many are before it.
    pub ahead: Option<i64>,
}

columns! {
    "t", waiting: TaskInQueue {
        task: ..Task,
        ahead: "case when t.status = 'submitted' then (select count(*) from (select 1 from (
             select b.id from tasks b
                 where b.target_id = t.target_id and b.status = 'submitted' and b.lane < t.rank
             union all select b.id from tasks b
                 where b.target_id = t.target_id and b.status = 'submitted' and b.lane = t.rank
                 and (b.created_at, b.id) < (t.created_at, t.id)
             union all select b.id from tasks b
                 where b.target_id = t.target_id and b.status = 'working' and b.lane = 0
                 and (b.created_at, b.id) < (t.created_at, t.id)
             union all select b.id from tasks b
                 where b.target_id = t.target_id and b.status = 'input-required' and b.lane = 0
                 and (b.created_at, b.id) < (t.created_at, t.id)
             union all select b.id from tasks b
                 where b.target_id = t.target_id and b.status = 'auth-required' and b.lane = 0
                 and (b.created_at, b.id) < (t.created_at, t.id)
             ) earlier limit 100) counted) end",
    }
}

/// The titles of those of these tasks that an agent may see.
pub fn titles(tx: &mut Tx<'_>, agent: &AgentId, ids: &[TaskId]) -> Result<Vec<(TaskId, String)>, Error> {
    let mut query = Query::default();
    query.push("select id, title from tasks where id in (");
    for (place, id) in ids.iter().enumerate() {
        query.push(if place > 0 { ", " } else { "" }).bind(id);
    }
    query.push(") and (initiator_id = ").bind(agent).push(" or target_id = ").bind(agent);
    query.push(" and queued_at is not null)");
    tx.list(&query.sql, &query.params)
}

/// The same with the number of tasks before it, in one query, for a transaction that only reads.
pub fn find_in_queue(tx: &mut Tx<'_>, id: &TaskId) -> Result<Option<TaskInQueue>, Error> {
    tx.find(sql!("select {} from tasks t {JOINED} where t.id = ?1", TaskInQueue), &[id.into()])
}

/// Writes back a task after a change of its status or its fields.
pub fn update(tx: &mut Tx<'_>, task: &Task) -> Result<(), Error> {
    update!(tasks { ..task: Task[STATE | THREAD] } where { id: &task.id }).send(tx)?;
    pushes::note_steps(tx, task)
}

/// Writes back what messages, marks and signs of life change.
pub fn update_thread(tx: &mut Tx<'_>, task: &Task) -> Result<(), Error> {
    update!(tasks { ..task: Task[THREAD] } where { id: &task.id }).send(tx)?;
    pushes::note_steps(tx, task)
}

/// Gives a task to another agent; what was delivered to the one before was not delivered to this one.
pub fn set_target(tx: &mut Tx<'_>, task: &Task) -> Result<(), Error> {
    update!(tasks {
        target_id: &task.target,
        network_id: task.links.network.as_ref(),
        parent_shared: task.links.parent_shared,
    } where { id: &task.id })
    .send(tx)
}

/// Notes that an agent had a task before it was given to another.
pub fn insert_former_target(tx: &mut Tx<'_>, agent: &AgentId, task: &TaskId) -> Result<(), Error> {
    insert!(former_targets { agent_id: agent, task_id: task }, on conflict (agent_id, task_id) ignore)
        .send(tx)
}

/// Some of the tasks that an agent had once.
pub fn formerly_of(tx: &mut Tx<'_>, agent: &AgentId, limit: i64) -> Result<Vec<TaskId>, Error> {
    let sql = "select task_id from former_targets where agent_id = ?1 order by task_id limit ?2";
    tx.list(sql, &[agent.into(), limit.into()])
}

/// Forgets that an agent had a task.
pub fn remove_former_target(tx: &mut Tx<'_>, agent: &AgentId, task: &TaskId) -> Result<(), Error> {
    delete!(former_targets where { agent_id: agent, task_id: task }).send(tx)
}

/// Forgets how far a task's delivery had come: it is handed over anew.
pub fn reset_delivery(tx: &mut Tx<'_>, id: &TaskId) -> Result<(), Error> {
    update!(tasks {
        pushed_at: Value::Null,
        fetched_at: Value::Null,
        surfaced_at: Value::Null,
        surfaced_by: Value::Null,
    } where { id: id })
    .send(tx)
}

/// Notes that the target was pushed to; the first time of an attempt counts.
pub fn mark_pushed(tx: &mut Tx<'_>, id: &TaskId, target: &AgentId, at: Timestamp) -> Result<(), Error> {
    update!(tasks { pushed_at: at } where { id: id, target_id: target }
        and "pushed_at is null and queued_at <= ?1")
    .send(tx)
}

/// Notes that the target fetched a task; the first time of an attempt counts.
pub fn mark_fetched(tx: &mut Tx<'_>, id: &TaskId, target: &AgentId, at: Timestamp) -> Result<(), Error> {
    update!(tasks { fetched_at: at } where { id: id, target_id: target }
        and "fetched_at is null and queued_at <= ?1")
    .send(tx)
}

/// Notes that a task was shown to the target's model; the first time of an attempt counts.
pub fn mark_surfaced(
    tx: &mut Tx<'_>,
    id: &TaskId,
    target: &AgentId,
    at: Timestamp,
    by: Rung,
) -> Result<(), Error> {
    update!(tasks { surfaced_at: at, surfaced_by: by } where { id: id, target_id: target }
        and "surfaced_at is null and queued_at <= ?1")
    .send(tx)
}

/// Notes that the target's model has asked for the news with a task because a channel had woken it, if it was shown the
/// task since then.
pub fn claim_surfaced(tx: &mut Tx<'_>, id: &TaskId, target: &AgentId, since: Timestamp) -> Result<(), Error> {
    let [channel, asked, waited] = [Rung::Channel, Rung::Pull, Rung::LongPoll];
    update!(tasks { surfaced_by: channel } where { id: id, target_id: target }
        and "surfaced_at >= ?4 and surfaced_by in (?5, ?6)" with since, asked, waited)
    .send(tx)
}

/// Counts an ended (or, with -1, a reopened) task for its target's record.
pub fn count_ended(tx: &mut Tx<'_>, target: &AgentId, completed: bool, change: i64) -> Result<(), Error> {
    events::lock(tx, target)?;
    let completed = if completed { change } else { 0 };
    add!(mailboxes { tasks_ended: change, tasks_completed: completed } where { agent_id: target }).send(tx)
}

//! Where the tasks for remotes stand on the other side.

use tandem_core::remotes::RemoteTask;
use tandem_core::{AgentId, TaskId, Timestamp};

use crate::declare::{insert, read, update};
use crate::table::{columns, sql};
use crate::{Error, Tx};

const STATE: u8 = 2;

columns! {
    "t", remote_task: RemoteTask {
        task: task_id,
        agent: agent_id [STATE],
        attempt [STATE],
        foreign_id [STATE],
        foreign_context [STATE],
        sent_to [STATE],
        is_sending [STATE],
        failures [STATE],
        next_at [STATE],
        is_ended [STATE],
        heard_at [STATE],
        pause_ms [STATE],
        stream_until [STATE],
        stream_after [STATE],
        push_path [STATE],
        push_token [STATE],
        seen [STATE],
        artifacts [STATE],
        turn [STATE],
    }
}

pub fn insert(tx: &mut Tx<'_>, task: &RemoteTask) -> Result<(), Error> {
    insert!(remote_tasks { ..task: RemoteTask }).send(tx)
}

pub fn update(tx: &mut Tx<'_>, task: &RemoteTask) -> Result<(), Error> {
    update!(remote_tasks { ..task: RemoteTask[STATE] } where { task_id: &task.task }).send(tx)
}

/// What is known of a task. A transaction that writes locks it.
pub fn find(tx: &mut Tx<'_>, task: &TaskId) -> Result<Option<RemoteTask>, Error> {
    let found = read!(RemoteTask: "remote_tasks t where t.task_id = ?1",
        of remote_tasks as t { task_id: 1 }; lock t);
    found.find(tx, &[task.into()])
}

/// The task whose pushes come by this path.
pub fn by_push_path(tx: &mut Tx<'_>, path: &str) -> Result<Option<RemoteTask>, Error> {
    tx.find(sql!("select {} from remote_tasks t where t.push_path = ?1", RemoteTask), &[path.into()])
}

/// A remote's tasks with something due, by due time.
pub fn due(tx: &mut Tx<'_>, agent: &AgentId, now: Timestamp, limit: i64) -> Result<Vec<RemoteTask>, Error> {
    let sql = sql!(
        "select {} from remote_tasks t where t.agent_id = ?1 and t.next_at <= ?2
         order by t.next_at, t.task_id limit ?3",
        RemoteTask
    );
    tx.list(sql, &[agent.into(), now.into(), limit.into()])
}

/// When the first of them is due.
pub fn next_at(tx: &mut Tx<'_>, agent: &AgentId) -> Result<Option<Timestamp>, Error> {
    tx.get(
        "select min(next_at) from remote_tasks where agent_id = ?1 and next_at is not null",
        &[agent.into()],
    )
}

/// How many streams to a remote are open.
pub fn streams(tx: &mut Tx<'_>, agent: &AgentId, now: Timestamp) -> Result<i64, Error> {
    tx.get(
        "select count(*) from remote_tasks where agent_id = ?1 and stream_until > ?2",
        &[agent.into(), now.into()],
    )
}

pub fn remove(tx: &mut Tx<'_>, task: &TaskId) -> Result<(), Error> {
    tx.send("delete from remote_tasks where task_id = ?1", &[task.into()])
}

/// Counts the time without an answer anew.
pub fn hear_again(tx: &mut Tx<'_>, agent: &AgentId, now: Timestamp) -> Result<(), Error> {
    tx.send(
        "update remote_tasks set heard_at = ?2 where agent_id = ?1 and next_at is not null",
        &[agent.into(), now.into()],
    )
}

/// Forgets a task that was deleted, unless something is to be done for it: it may have to be cancelled on the other side.
pub fn forget(tx: &mut Tx<'_>, task: &TaskId) -> Result<(), Error> {
    tx.send("delete from remote_tasks where task_id = ?1 and next_at is null", &[task.into()])
}

/// Has those be due that were put off until the end of a lease.
pub fn take_over(tx: &mut Tx<'_>, agent: &AgentId, until: Timestamp, now: Timestamp) -> Result<(), Error> {
    if until.0 == 0 {
        return Ok(());
    }
    tx.send(
        "update remote_tasks set next_at = ?3 where agent_id = ?1 and next_at = ?2 and next_at > ?3",
        &[agent.into(), until.into(), now.into()],
    )
}

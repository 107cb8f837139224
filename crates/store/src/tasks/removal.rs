//! Removing tasks: the small ones at once, the large ones out of sight at once and in parts afterwards.

use tandem_core::TaskId;

use crate::declare::{insert, read};
use crate::messages::deferred;
use crate::{Error, Tx, pushes};

/// Keeps the id of a task that goes from being used again.
fn keep_id(tx: &mut Tx<'_>, id: &TaskId) -> Result<(), Error> {
    insert!(used_task_ids { id: id }, on conflict (id) ignore).send(tx)
}

/// Removes a task with its messages and its history; tells how many messages there were.
pub fn delete(tx: &mut Tx<'_>, id: &TaskId) -> Result<u64, Error> {
    let messages = tx.execute("delete from messages where task_id = ?1", &[id.into()])?;
    tx.send("delete from task_log where task_id = ?1", &[id.into()])?;
    tx.send("delete from signatures where task_id = ?1", &[id.into()])?;
    tx.send("delete from former_targets where task_id = ?1", &[id.into()])?;
    deferred::forget(tx, id)?;
    pushes::remove_of_task(tx, id)?;
    keep_id(tx, id)?;
    tx.send("update tasks set parent_id = null, parent_shared = 0 where parent_id = ?1", &[id.into()])?;
    tx.send("delete from tasks where id = ?1", &[id.into()])?;
    Ok(messages)
}

/// Takes a task out of everybody's sight. What belongs to it has to be removed by [`remove_some`].
pub fn set_aside(tx: &mut Tx<'_>, id: &TaskId) -> Result<(), Error> {
    keep_id(tx, id)?;
    deferred::forget(tx, id)?;
    tx.send("insert into removed_tasks (id) values (?1)", &[id.into()])?;
    pushes::remove_of_task(tx, id)?;
    tx.send("delete from tasks where id = ?1", &[id.into()])
}

/// One of the tasks that were set aside. It is locked: of two that remove the same rows, the second would believe that
/// none are left.
pub fn next_removed(tx: &mut Tx<'_>) -> Result<Option<TaskId>, Error> {
    read!([id]: "removed_tasks order by id limit 1", of removed_tasks; lock removed_tasks).find(tx, &[])
}

/// Removes some rows of a task that was set aside, but for its files; false when there are none left.
pub fn remove_some(tx: &mut Tx<'_>, id: &TaskId, limit: i64) -> Result<bool, Error> {
    for sql in [
        "delete from events where (agent_id, seq) in
             (select agent_id, seq from events where task_id = ?1 limit ?2)",
        "delete from messages where id in (select id from messages where task_id = ?1 limit ?2)",
        "delete from task_log where task_id = ?1 and number in
             (select number from task_log where task_id = ?1 limit ?2)",
        "delete from signatures where task_id = ?1 and hash in
             (select hash from signatures where task_id = ?1 limit ?2)",
        "delete from former_targets where task_id = ?1 and agent_id in
             (select agent_id from former_targets where task_id = ?1 limit ?2)",
        "update tasks set parent_id = null, parent_shared = 0 where id in
             (select id from tasks where parent_id = ?1 limit ?2)",
    ] {
        if tx.execute(sql, &[id.into(), limit.into()])? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Notes that nothing is left of a task that was set aside.
pub fn forget_removed(tx: &mut Tx<'_>, id: &TaskId) -> Result<(), Error> {
    tx.send("delete from removed_tasks where id = ?1", &[id.into()])
}

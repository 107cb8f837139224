//! Deleting tasks. One with a long thread is gone at once for everybody, and its rows are removed a part at a time, so that
//! no transaction is long.

use tandem_core::{AgentId, Now, TaskId};
use tandem_store::remotes::tasks as remote_tasks;
use tandem_store::{Tx, events as event_rows, files, tasks as rows};

use super::{Expected, on_task};
use crate::Error;

/// Messages and log lines of a task that is removed in one transaction.
pub const ERASED_AT_ONCE: i64 = 1_000;
/// Rows that one transaction removes of others.
const ROWS_BATCH: i64 = 1_000;
/// The same for files: each changes its uploader's sum.
const FILES_BATCH: i64 = 200;

#[derive(Debug, Clone, Default)]
pub struct Deleted {
    pub messages: u64,
    pub files: u64,
    /// Whether [`remove_batch`] has to remove the rows.
    pub in_parts: bool,
}

/// Deletes a draft or an ended task, with its messages, files and events.
pub fn delete(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    expected: &Expected,
    now: &Now,
) -> Result<Deleted, Error> {
    on_task(tx, by, id, now, |tx, task, _| {
        expected.check(&task)?;
        task.position().check_delete()?;
        erase(tx, &task.id)
    })
}

/// Removes a task and all rows that belong to it.
pub(crate) fn erase(tx: &mut Tx<'_>, id: &TaskId) -> Result<Deleted, Error> {
    // Locks it, so that nothing is added meanwhile.
    let Some(task) = rows::find(tx, id)? else { return Ok(Deleted::default()) };
    remote_tasks::forget(tx, id)?;
    if task.counts.messages + task.counts.log > ERASED_AT_ONCE {
        let files = u64::try_from(files::count_of_task(tx, id)?).unwrap_or(0);
        rows::set_aside(tx, id)?;
        let messages = u64::try_from(task.counts.messages).unwrap_or(0);
        return Ok(Deleted { messages, files, in_parts: true });
    }
    event_rows::purge_task(tx, id)?;
    let mut deleted = Deleted::default();
    for file in files::of_task(tx, id)? {
        files::remove(tx, &file)?;
        deleted.files += 1;
    }
    deleted.messages = rows::delete(tx, id)?;
    Ok(deleted)
}

/// Removes some rows of tasks with long threads that were deleted. Returns whether there may be more.
pub fn remove_batch(tx: &mut Tx<'_>) -> Result<bool, Error> {
    let Some(id) = rows::next_removed(tx)? else { return Ok(false) };
    let some_files = files::first_of_task(tx, &id, FILES_BATCH)?;
    for file in &some_files {
        files::remove(tx, file)?;
    }
    if some_files.is_empty() && !rows::remove_some(tx, &id, ROWS_BATCH)? {
        rows::forget_removed(tx, &id)?;
    }
    Ok(true)
}

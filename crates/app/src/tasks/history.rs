//! The log of a task, for those who may see it.

use tandem_core::{AgentId, Now, TaskId, Timestamp};
use tandem_store::Tx;
use tandem_store::tasks::{self as rows, LogLine};

use super::on_task;
use crate::{Error, Page};

/// A task's history, oldest first.
pub fn history(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    after: i64,
    limit: i64,
    now: &Now,
) -> Result<Page<LogLine, i64>, Error> {
    on_task(tx, by, id, now, |tx, task, _| {
        let found = rows::log_lines(tx, &task.id, after, limit + 1)?;
        Ok(Page::cut(found, limit, |_| after.saturating_add(limit)))
    })
}

/// The newest lines of a task's history from a time on and before another, oldest first.
pub fn history_between(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    (from, until): (Timestamp, Timestamp),
    limit: i64,
    now: &Now,
) -> Result<Vec<LogLine>, Error> {
    on_task(tx, by, id, now, |tx, task, _| Ok(rows::log_between(tx, &task.id, from, until, limit)?))
}

//! Tasks' histories.

use tandem_core::{Status, TaskId, Timestamp};

use crate::{Error, Tx};

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
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
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
         where task_id = ?1 and number > ?2 order by number limit ?3",
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

//! Tasks' histories.

use tandem_core::{AgentId, Status, TaskId, Timestamp};

use crate::declare::insert;
use crate::query::Query;
use crate::table::{columns, sql};
use crate::{Error, Tx};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Where it stood; nothing at its creation.
    pub from: Option<Status>,
    /// Where it stands since.
    pub to: Status,
    /// Who moved it: an agent's id or `system`.
    pub actor: String,
    /// The agent's name as it was then; none for the hub, and in histories of older versions.
    pub actor_name: Option<String>,
    /// What was said about it.
    pub detail: Option<String>,
    pub attempt: i64,
    pub at: Timestamp,
    /// Its number among the steps of a task that is part of a conversation.
    pub step: Option<i64>,
}

columns! {
    "l", line: LogLine {
        from: from_status,
        to: to_status,
        actor,
        actor_name,
        detail,
        attempt,
        at: created_at,
        step,
    }
}

/// Adds a line to a task's history, under its number there.
pub fn log(tx: &mut Tx<'_>, id: &TaskId, number: i64, line: &LogLine) -> Result<(), Error> {
    insert!(task_log { ..line: LogLine, task_id: id, number: number }).send(tx)
}

/// The newest line of a task's history.
pub fn last_log_line(tx: &mut Tx<'_>, id: &TaskId) -> Result<Option<LogLine>, Error> {
    let sql = sql!("select {} from task_log l where l.task_id = ?1 order by l.number desc limit 1", LogLine);
    Ok(tx.list(sql, &[id.into()])?.pop())
}

/// A task's history, oldest first, from after a line's number.
pub fn log_lines(tx: &mut Tx<'_>, id: &TaskId, after: i64, limit: i64) -> Result<Vec<LogLine>, Error> {
    tx.list(
        sql!(
            "select {} from task_log l where l.task_id = ?1 and l.number > ?2 order by l.number limit ?3",
            LogLine
        ),
        &[id.into(), after.into(), limit.into()],
    )
}

/// The lines of a task's history among the steps after one, oldest first, and the line before them.
pub fn log_steps(
    tx: &mut Tx<'_>,
    id: &TaskId,
    after: i64,
    limit: i64,
) -> Result<(Option<LogLine>, Vec<LogLine>), Error> {
    let before = sql!(
        "select {} from task_log l where l.task_id = ?1 and l.step <= ?2 order by l.step desc limit 1",
        LogLine
    );
    let later = sql!(
        "select {} from task_log l where l.task_id = ?1 and l.step > ?2 order by l.step limit ?3",
        LogLine
    );
    let before = tx.list(before, &[id.into(), after.into()])?.pop();
    Ok((before, tx.list(later, &[id.into(), after.into(), limit.into()])?))
}

/// The newest lines of a task's history from a time on and before another, oldest first.
pub fn log_between(
    tx: &mut Tx<'_>,
    id: &TaskId,
    from: Timestamp,
    until: Timestamp,
    limit: i64,
) -> Result<Vec<LogLine>, Error> {
    let mut lines = tx.list(
        sql!(
            "select {} from task_log l where l.task_id = ?1 and l.created_at >= ?2 and l.created_at < ?3
             order by l.number desc limit ?4",
            LogLine
        ),
        &[id.into(), from.into(), until.into(), limit.into()],
    )?;
    lines.reverse();
    Ok(lines)
}

/// A change of status, for a drawing of a task's time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastMove {
    pub task: TaskId,
    pub to: Status,
    /// Who moved it: an agent's id or `system`.
    pub actor: String,
    pub at: Timestamp,
}

columns! {
    "l", past: PastMove {
        task: task_id,
        to: to_status,
        actor,
        at: created_at,
    }
}

/// Changes that are read of each task.
const PAST_MAX: i64 = 24;

/// The newest changes of some tasks, those of each oldest first. With a party, only of tasks that it is a party of.
pub fn past_moves(
    tx: &mut Tx<'_>,
    party: Option<&AgentId>,
    tasks: &[TaskId],
) -> Result<Vec<PastMove>, Error> {
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = Query::default();
    query.push(sql!(
        "select {} from tasks t join task_log l on l.task_id = t.id and l.number > t.log_count - ",
        PastMove
    ));
    query.bind(PAST_MAX).push(" where t.id in (").bind_all(tasks).push(")");
    if let Some(party) = party {
        query.push(" and (t.initiator_id = ").bind(party).push(" or t.target_id = ").bind(party).push(")");
    }
    query.push(" order by l.task_id, l.number");
    tx.list(&query.sql, &query.params)
}

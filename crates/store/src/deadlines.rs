//! What has to be looked at when its time comes.

use tandem_core::deadlines::{Deadline, Facts};
use tandem_core::{AgentId, Status, TaskId, Timestamp};

use crate::{Error, Tx};

/// Sets a deadline. One for the same moment that an earlier attempt set means this one from now on.
pub fn insert(tx: &mut Tx<'_>, deadline: &Deadline) -> Result<(), Error> {
    tx.send(
        "insert into deadlines (due_at, task_id, kind, number, attempt, lease_until, task_made_at)
         values (?1, ?2, ?3, ?4, ?5, 0, ?6)
         on conflict (due_at, task_id, kind, number) do update set attempt = excluded.attempt, lease_until = 0,
             task_made_at = excluded.task_made_at",
        &[
            deadline.due_at.into(),
            (&deadline.task).into(),
            deadline.due.into(),
            deadline.number.into(),
            deadline.attempt.into(),
            deadline.task_made_at.into(),
        ],
    )
}

/// Whether anything is due that nobody has claimed.
pub fn any_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<bool, Error> {
    let row = tx.optional(
        "select 1 from deadlines where due_at <= ?1 and lease_until <= ?1 order by due_at limit 1",
        &[now.into()],
    )?;
    Ok(row.is_some())
}

/// What is due and that nobody has claimed, the oldest first, with what it is judged by; without that where the
/// task is gone.
pub fn due(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<Vec<(Deadline, Option<Facts>)>, Error> {
    let rows = tx.rows(
        "select d.due_at, d.task_id, d.kind, d.number, d.attempt, d.task_made_at, t.status, t.approval,
             t.attempt, t.created_at, t.acknowledged_at, t.expires_at, t.lease_until, case when m.id is null then 0 else 1 end
         from (select due_at, task_id, kind, number, attempt, task_made_at from deadlines
               where due_at <= ?1 and lease_until <= ?1
               order by due_at, task_id, kind, number limit ?2) d
         left join tasks t on t.id = d.task_id
         left join messages m on m.task_id = d.task_id and m.number = d.number
             and m.acknowledged_at is null and m.deleted = 0
         order by d.due_at, d.task_id, d.kind, d.number",
        &[now.into(), limit.into()],
    )?;
    rows.into_iter()
        .map(|mut row| {
            let deadline = Deadline {
                due_at: row.take()?,
                task: row.take()?,
                due: row.take()?,
                number: row.take()?,
                attempt: row.take()?,
                task_made_at: row.take()?,
            };
            let Some(status) = row.take::<Option<Status>>()? else { return Ok((deadline, None)) };
            let facts = Facts {
                status,
                approval: row.take()?,
                attempt: row.take()?,
                made_at: row.take()?,
                acknowledged_at: row.take()?,
                expires_at: row.take()?,
                lease_until: row.take()?,
                message_waits: row.take()?,
            };
            Ok((deadline, Some(facts)))
        })
        .collect()
}

/// Tasks of an agent whose time has run out and that nobody has looked at since, some of them.
pub fn overdue_of(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<TaskId>, Error> {
    let rows = tx.rows(
        "select t.id from deadlines d join tasks t on t.id = d.task_id
         where d.due_at <= ?1 and d.kind = 'expiry' and t.status = 'submitted' and t.acknowledged_at is null
             and t.expires_at <= ?1 and (t.initiator_id = ?2 or t.target_id = ?2)
         order by d.due_at limit ?3",
        &[now.into(), agent.into(), limit.into()],
    )?;
    rows.into_iter().map(|mut row| row.take()).collect()
}

/// Claims a deadline until a moment; others leave it alone until then.
pub fn claim(tx: &mut Tx<'_>, deadline: &Deadline, until: Timestamp) -> Result<(), Error> {
    tx.send(
        "update deadlines set lease_until = ?5
         where due_at = ?1 and task_id = ?2 and kind = ?3 and number = ?4",
        &[
            deadline.due_at.into(),
            (&deadline.task).into(),
            deadline.due.into(),
            deadline.number.into(),
            until.into(),
        ],
    )
}

/// Removes a deadline; false when somebody else has done so.
pub fn remove(tx: &mut Tx<'_>, deadline: &Deadline) -> Result<bool, Error> {
    let removed = tx.execute(
        "delete from deadlines where due_at = ?1 and task_id = ?2 and kind = ?3 and number = ?4",
        &[deadline.due_at.into(), (&deadline.task).into(), deadline.due.into(), deadline.number.into()],
    )?;
    Ok(removed > 0)
}

//! What has to be looked at when its time comes.

use tandem_core::Timestamp;
use tandem_core::deadlines::Deadline;

use crate::{Error, Tx};

/// Sets a deadline. One for the same moment that an earlier attempt set means this one from now on.
pub fn insert(tx: &mut Tx<'_>, deadline: &Deadline) -> Result<(), Error> {
    tx.send(
        "insert into deadlines (due_at, task_id, kind, number, attempt, lease_until)
         values ($1, $2, $3, $4, $5, 0)
         on conflict (due_at, task_id, kind, number) do update set attempt = excluded.attempt, lease_until = 0",
        &[
            deadline.due_at.into(),
            (&deadline.task).into(),
            deadline.due.into(),
            deadline.number.into(),
            deadline.attempt.into(),
        ],
    )
}

/// Whether anything is due that nobody has claimed.
pub fn any_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<bool, Error> {
    let row = tx.optional(
        "select 1 from deadlines where due_at <= $1 and lease_until <= $1 order by due_at limit 1",
        &[now.into()],
    )?;
    Ok(row.is_some())
}

/// Claims what is due until a moment, the oldest first; others leave it alone until then.
pub fn claim(tx: &mut Tx<'_>, now: Timestamp, until: Timestamp, limit: i64) -> Result<Vec<Deadline>, Error> {
    let rows = tx.rows(
        "select due_at, task_id, kind, number, attempt from deadlines
         where due_at <= $1 and lease_until <= $1
         order by due_at, task_id, kind, number limit $2",
        &[now.into(), limit.into()],
    )?;
    let mut claimed = Vec::with_capacity(rows.len());
    for mut row in rows {
        claimed.push(Deadline {
            due_at: row.take()?,
            task: row.take()?,
            due: row.take()?,
            number: row.take()?,
            attempt: row.take()?,
        });
    }
    let Some(last) = claimed.last() else { return Ok(claimed) };
    // They are the first in the order of the key, so that one statement claims them all.
    tx.send(
        "update deadlines set lease_until = $2
         where lease_until <= $1 and (due_at, task_id, kind, number) <= ($3, $4, $5, $6)",
        &[
            now.into(),
            until.into(),
            last.due_at.into(),
            (&last.task).into(),
            last.due.into(),
            last.number.into(),
        ],
    )?;
    Ok(claimed)
}

/// Removes a deadline; false when somebody else has done so.
pub fn remove(tx: &mut Tx<'_>, deadline: &Deadline) -> Result<bool, Error> {
    let removed = tx.execute(
        "delete from deadlines where due_at = $1 and task_id = $2 and kind = $3 and number = $4",
        &[deadline.due_at.into(), (&deadline.task).into(), deadline.due.into(), deadline.number.into()],
    )?;
    Ok(removed > 0)
}

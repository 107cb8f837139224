//! What has to be looked at when its time comes.

use tandem_core::deadlines::{Deadline, Due, Facts};
use tandem_core::{AgentId, TaskId, Timestamp};

use crate::declare::{delete, insert, read, update};
use crate::table::{FromRow as _, columns, sql};
use crate::{Error, Row, Tx};

columns! {
    "d", deadline: Deadline {
        due_at,
        task: task_id,
        due: kind,
        number,
        attempt,
        task_made_at,
        = lease_until: 0_i64,
    }
}

columns! {
    "t", facts: Facts {
        status,
        approval,
        attempt,
        made_at: created_at,
        acknowledged_at,
        expires_at,
        lease_until,
        message_waits: "case when m.id is null then 0 else 1 end",
    }
}

/// Sets a deadline. One for the same moment that an earlier attempt set means this one from now on.
pub fn insert(tx: &mut Tx<'_>, deadline: &Deadline) -> Result<(), Error> {
    insert!(deadlines { ..deadline: Deadline }, on conflict (due_at, task_id, kind, number) replace).send(tx)
}

/// Whether anything is due that nobody has claimed, and whether the time of a guest is over.
pub fn any_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<(bool, bool), Error> {
    let found: Vec<i64> = tx.list(
        "select kind from (select 1 as kind from deadlines where due_at <= ?1 and lease_until <= ?1
             order by due_at limit 1) deadline
         union all select kind from (select 2 as kind from guests where expires_at <= ?1
             order by expires_at limit 1) guest",
        &[now.into()],
    )?;
    Ok((found.contains(&1), found.contains(&2)))
}

/// What is due of one kind and that nobody has claimed, the oldest first, with what it is judged by; without that
/// where the task is gone.
pub fn due(
    tx: &mut Tx<'_>,
    kind: Due,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(Deadline, Option<Facts>)>, Error> {
    let sql = sql!(
        "select {}, {} from (select {} from deadlines d
               where d.kind = ?3 and d.due_at <= ?1 and d.lease_until <= ?1
               order by d.due_at, d.task_id, d.number limit ?2) d
         left join tasks t on t.id = d.task_id
         left join messages m on m.task_id = d.task_id and m.number = d.number
             and m.acknowledged_at is null and m.deleted = 0
         order by d.due_at, d.task_id, d.number",
        Deadline,
        Facts,
        Deadline
    );
    let pair = |mut row: Row<'static>| {
        let deadline = Deadline::from_row(&mut row)?;
        // The status comes first among the facts, and every task has one.
        let facts = if row.is_null()? { None } else { Some(Facts::from_row(&mut row)?) };
        Ok((deadline, facts))
    };
    tx.rows(sql, &[now.into(), limit.into(), kind.into()])?.into_iter().map(pair).collect()
}

/// Leases that end later than any that begins now: they were granted before the clock was set back.
pub fn distant_leases(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<Vec<Deadline>, Error> {
    let sql = sql!(
        "select {} from deadlines d join tasks t on t.id = d.task_id
         where d.kind = 'lease' and d.due_at > ?1 and d.due_at > ?1 + t.lease_seconds * 1000
         order by d.due_at, d.task_id limit ?2",
        Deadline
    );
    tx.list(sql, &[now.into(), limit.into()])
}

/// Tasks of an agent whose time has run out and that nobody has looked at since, some of them.
pub fn overdue_of(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<TaskId>, Error> {
    tx.list(
        "select t.id from deadlines d join tasks t on t.id = d.task_id
         where d.due_at <= ?1 and d.kind = 'expiry' and t.status = 'submitted' and t.acknowledged_at is null
             and t.expires_at <= ?1 and (t.initiator_id = ?2 or t.target_id = ?2)
         order by d.due_at limit ?3",
        &[now.into(), agent.into(), limit.into()],
    )
}

/// Claims a deadline until a moment; others leave it alone until then.
pub fn claim(tx: &mut Tx<'_>, deadline: &Deadline, until: Timestamp) -> Result<(), Error> {
    update!(deadlines { lease_until: until } where {
        due_at: deadline.due_at,
        task_id: &deadline.task,
        kind: deadline.due,
        number: deadline.number,
    })
    .send(tx)
}

/// Removes a deadline; false when somebody else has done so.
pub fn remove(tx: &mut Tx<'_>, deadline: &Deadline) -> Result<bool, Error> {
    let Deadline { due_at, task, due, number, .. } = deadline;
    let there = read!(1: "deadlines where due_at = ?1 and task_id = ?2 and kind = ?3 and number = ?4",
        of deadlines { due_at: 1, task_id: 2, kind: 3, number: 4 } uses []; lock deadlines);
    let found = there.peek::<i64>(tx, &[(*due_at).into(), task.into(), (*due).into(), (*number).into()])?;
    if found.is_some_and(|found| found.is_none()) {
        return Ok(false);
    }
    delete!(deadlines where { due_at: *due_at, task_id: task, kind: *due, number: *number }).send(tx)?;
    Ok(true)
}

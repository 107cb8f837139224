//! Moving a task, with all that follows: its history, the message of its end, its counts and its events.

use tandem_core::events::EventKind;
use tandem_core::messages::SYSTEM;
use tandem_core::{AgentId, Now, Role, Status, Task, TaskId};
use tandem_store::tasks::{self as rows, LogLine};
use tandem_store::{Tx, connections};

use crate::Error;
use crate::events::{Event, tell, tell_all};
use crate::messages::add_system;

use super::{lease, present};

/// Adds a line to the task's history. The caller writes the task back.
pub(super) fn write_log(
    tx: &mut Tx<'_>,
    task: &mut Task,
    from: Option<Status>,
    actor: &str,
    detail: Option<&str>,
    now: &Now,
) -> Result<(), Error> {
    task.log_count += 1;
    let line = LogLine {
        from,
        to: task.status,
        actor: actor.to_owned(),
        detail: detail.map(Into::into),
        attempt: task.attempt,
        at: now.at,
    };
    Ok(rows::log(tx, &task.id, task.log_count, &line)?)
}

/// Who moves a task, and what they say about it.
#[derive(Debug)]
pub(crate) struct Cause<'a> {
    /// Who.
    pub(crate) by: Role,
    /// Why.
    pub(crate) reason: Option<&'a str>,
    /// A better word for what they did than the status has.
    pub(crate) did: Option<&'a str>,
}

/// Moves a task, with all that follows: its log, the message of its end, its counts and its events. The
/// machine has been asked already.
pub(crate) fn shift(
    tx: &mut Tx<'_>,
    task: &mut Task,
    to: Status,
    cause: &Cause<'_>,
    now: &Now,
) -> Result<(), Error> {
    let from = task.status;
    let was_published = task.queued_at.is_some();
    settle(tx, task, to, cause, now)?;
    if was_published {
        count(tx, task, from)?;
        announce(tx, task, from, cause, now)?;
    }
    Ok(rows::update(tx, task)?)
}

/// Cancels tasks between two agents because their connection ended: the hub's own doing, of which only
/// `peer` is told, because the other one asked for it. There can be thousands, so what can be counted and
/// numbered at once is.
pub(super) fn cancel_all(
    tx: &mut Tx<'_>,
    ids: &[TaskId],
    ends: impl Fn(&Task) -> bool,
    (one, peer): (&AgentId, &AgentId),
    why: &str,
    now: &Now,
) -> Result<i64, Error> {
    let cause = Cause { by: Role::Hub, reason: Some(why), did: None };
    let mut tasks = Vec::new();
    for id in ids {
        let Some(mut task) = rows::find(tx, id)?.filter(&ends) else { continue };
        settle(tx, &mut task, Status::Cancelled, &cause, now)?;
        rows::update(tx, &task)?;
        // What is written in all of them together would be too much to keep in mind.
        (task.description, task.description_keys, task.result) = (None, None, None);
        tasks.push(task);
    }
    if tasks.is_empty() {
        return Ok(0);
    }
    for target in [one, peer] {
        let ended = tasks.iter().filter(|task| task.target == *target).count();
        rows::count_ended(tx, target, false, i64::try_from(ended).unwrap_or(0))?;
    }
    let cancelled = i64::try_from(tasks.len()).unwrap_or(0);
    connections::count_live(tx, one, peer, -cancelled)?;
    let events = tasks.iter().map(|task| updated(task, &cause)).collect();
    tell_all(tx, peer, events, now)?;
    Ok(cancelled)
}

/// Changes the task itself and adds its log and the message of its end. The caller writes it back.
fn settle(tx: &mut Tx<'_>, task: &mut Task, to: Status, cause: &Cause<'_>, now: &Now) -> Result<(), Error> {
    let from = task.status;
    task.status = to;
    task.status_reason = cause.reason.map(Into::into);
    task.version += 1;
    task.updated_at = now.at;
    task.lease_until = None;
    if to == Status::Working {
        task.started_at.get_or_insert(now.at);
        lease::renew(tx, task, now)?;
    }
    present(tx, task, cause.by, now)?;
    if from == Status::Completed {
        // Reopened work is paid for anew.
        task.usage_micro = 0;
    }
    task.completed_at = to.is_terminal().then_some(now.at);
    let (actor, name) = match task.party(cause.by) {
        Some((id, name)) => (id.to_string(), name.to_owned()),
        None => (SYSTEM.to_owned(), "The hub".to_owned()),
    };
    write_log(tx, task, Some(from), &actor, cause.reason, now)?;
    if to.is_terminal() {
        add_system(tx, task, farewell(&name, cause, to), now)?;
    }
    Ok(())
}

pub(super) fn updated<'a>(task: &'a Task, cause: &Cause<'_>) -> Event<'a> {
    Event::on_task(EventKind::TaskUpdated, task, task.party(cause.by))
        .with("status", task.status.as_str())
        .with("reason", cause.reason)
}

/// The one sentence that stands at the end of a thread.
fn farewell(name: &str, cause: &Cause<'_>, to: Status) -> String {
    let did = cause.did.unwrap_or(match to {
        Status::Completed => "completed",
        Status::Failed => "gave up on",
        Status::Rejected => "declined",
        Status::Expired => "expired",
        _ => "cancelled",
    });
    match cause.reason {
        Some(reason) if !reason.trim().is_empty() => format!("{name} {did} this task: {reason}"),
        _ => format!("{name} {did} this task."),
    }
}

/// Keeps the counts of live tasks and of the target's record true.
fn count(tx: &mut Tx<'_>, task: &Task, from: Status) -> Result<(), Error> {
    if from.is_live() && task.status.is_terminal() {
        connections::count_live(tx, &task.initiator, &task.target, -1)?;
        rows::count_ended(tx, &task.target, task.status == Status::Completed, 1)?;
    } else if from.is_terminal() && task.status.is_live() {
        connections::count_live(tx, &task.initiator, &task.target, 1)?;
        rows::count_ended(tx, &task.target, from == Status::Completed, -1)?;
    }
    Ok(())
}

/// Tells the other party; both of a reopening, and both when the hub moved the task by itself.
fn announce(tx: &mut Tx<'_>, task: &Task, from: Status, cause: &Cause<'_>, now: &Now) -> Result<(), Error> {
    let both = from.is_terminal() || cause.by == Role::Hub;
    let mut told: Vec<&AgentId> =
        if both { vec![&task.initiator, &task.target] } else { vec![task.other(cause.by).0] };
    told.sort();
    for to in told {
        tell(tx, to, updated(task, cause), now)?;
    }
    Ok(())
}

/// Stops the work until the initiator says how it goes on: the hub's own doing, at the request of `by`, who
/// learns of it by the answer. The caller has told of the request itself.
pub(crate) fn pause(tx: &mut Tx<'_>, task: &mut Task, by: Role, why: &str, now: &Now) -> Result<(), Error> {
    let from = task.status;
    let cause = Cause { by: Role::Hub, reason: Some(why), did: None };
    if from != Status::InputRequired {
        settle(tx, task, Status::InputRequired, &cause, now)?;
        tell(tx, task.other(by).0, updated(task, &cause), now)?;
    }
    add_system(tx, task, format!("The hub paused this task: {why}"), now)?;
    Ok(rows::update(tx, task)?)
}

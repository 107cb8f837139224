//! Changing a task's status, with everything that follows: history, counters, events and, on reviewed tasks, the
//! closing message.

use tandem_core::events::EventKind;
use tandem_core::messages::SYSTEM;
use tandem_core::{AgentId, Now, Operation, Role, Status, StatusChange, Task, TaskId};
use tandem_store::tasks::{self as rows, LogLine};
use tandem_store::{Tx, connections};

use crate::Error;
use crate::events::{Event, append_event, append_events};
use crate::messages::add_system;

use super::{acknowledge_all, lease};

/// Adds an entry to the task's history. The caller saves the task.
pub(super) fn write_log(
    tx: &mut Tx<'_>,
    task: &mut Task,
    from: Option<Status>,
    by: Role,
    detail: Option<&str>,
    now: &Now,
) -> Result<(), Error> {
    task.counts.log += 1;
    task.status_at = now.at.max(task.status_at);
    let party = task.party(by);
    let line = LogLine {
        from,
        to: task.status,
        actor: party.map_or(SYSTEM, |party| party.0.as_str()).to_owned(),
        actor_name: party.map(|party| party.1.to_owned()),
        detail: detail.map(Into::into),
        attempt: task.attempt.number,
        at: now.at,
        step: task.step(),
    };
    Ok(rows::log(tx, &task.id, task.counts.log, &line)?)
}

/// Who changes a status, and why.
#[derive(Debug)]
pub(crate) struct Cause<'a> {
    /// The party, or the hub.
    pub(crate) by: Role,
    /// The reason, shown to both parties.
    pub(crate) reason: Option<&'a str>,
    /// Verb of the closing message, if the status has none that fits.
    pub(crate) verb: Option<&'a str>,
}

impl Cause<'_> {
    /// A party that gives no reason.
    pub(crate) const fn of(by: Role) -> Self {
        Self { by, reason: None, verb: None }
    }
}

/// Changes the status, if that is allowed, and writes everything that follows from it. A use case that writes something
/// before has asked already.
pub(crate) fn change_status(
    tx: &mut Tx<'_>,
    task: &mut Task,
    change: StatusChange,
    cause: &Cause<'_>,
    now: &Now,
) -> Result<(), Error> {
    let to = task.position().after(cause.by, change)?;
    let was_published = task.is_published();
    if was_published && task.status.is_terminal() != to.is_terminal() {
        // The pair's count changes below. Its row is locked before the logs of the parties, as everywhere.
        connections::lock_pair(tx, &task.initiator, &task.target)?;
    }
    let from = apply_status(tx, task, change, cause, now)?;
    if was_published {
        update_counts(tx, task, from)?;
        notify_parties(tx, task, from, cause, now)?;
    }
    Ok(rows::update(tx, task)?)
}

/// Cancels the tasks between two agents whose connection ended. Only `peer` is notified, because the other one asked
/// for it. There can be thousands, so counters and event numbers are updated once for all.
pub(super) fn cancel_all(
    tx: &mut Tx<'_>,
    ids: &[TaskId],
    (one, peer): (&AgentId, &AgentId),
    why: &str,
    now: &Now,
) -> Result<(), Error> {
    let cause = Cause { by: Role::Hub, reason: Some(why), verb: None };
    let mut tasks = Vec::new();
    for id in ids {
        let Some(mut task) = rows::find(tx, id)?.filter(|task| task.status.is_live()) else { continue };
        apply_status(tx, &mut task, StatusChange::By(Operation::Disconnect), &cause, now)?;
        rows::update(tx, &task)?;
        // Do not keep the content of thousands of tasks in memory.
        (task.content.description, task.content.keys, task.attempt.result) = (None, None, None);
        tasks.push(task);
    }
    if tasks.is_empty() {
        return Ok(());
    }
    let cancelled = i64::try_from(tasks.len()).unwrap_or(0);
    connections::count_live(tx, one, peer, -cancelled)?;
    for target in [one, peer] {
        let ended = tasks.iter().filter(|task| task.target == *target).count();
        rows::count_ended(tx, target, false, i64::try_from(ended).unwrap_or(0))?;
    }
    let events = tasks.iter().map(|task| updated_event(task, &cause)).collect();
    append_events(tx, peer, events, now)?;
    Ok(())
}

/// Changes the status and adds the history entry and, on reviewed tasks, the closing message. Returns the status before.
/// The caller saves the task.
/// Open tasks get no closing message: clients of PairAI take the last message of a thread for the answer.
fn apply_status(
    tx: &mut Tx<'_>,
    task: &mut Task,
    change: StatusChange,
    cause: &Cause<'_>,
    now: &Now,
) -> Result<Status, Error> {
    let from = task.change_status(cause.by, change)?;
    let to = task.status;
    task.status_reason = cause.reason.map(Into::into);
    task.version += 1;
    task.updated_at = now.at;
    task.lease.until = None;
    task.lease.stalled_at = None;
    if matches!(to, Status::InputRequired | Status::AuthRequired) {
        task.asked_after = Some(task.counts.messages);
    }
    if to == Status::Working {
        task.attempt.started_at.get_or_insert(now.at);
        lease::renew(tx, task, now)?;
    }
    acknowledge_all(tx, task, cause.by, now)?;
    if from == Status::Completed {
        // A reopened task starts with no usage.
        task.usage_micro = 0;
    }
    task.attempt.completed_at = to.is_terminal().then_some(now.at);
    write_log(tx, task, Some(from), cause.by, cause.reason, now)?;
    if to.is_terminal() && task.requires_review {
        let name = task.party(cause.by).map_or("The hub", |party| party.1).to_owned();
        add_system(tx, task, closing_message(&name, cause, to), now)?;
    }
    Ok(from)
}

pub(super) fn updated_event<'a>(task: &'a Task, cause: &Cause<'_>) -> Event<'a> {
    Event::on_task(EventKind::TaskUpdated, task, task.party(cause.by))
        .with("status", task.status.as_str())
        .with("reason", cause.reason)
}

/// The closing message of a reviewed task.
fn closing_message(name: &str, cause: &Cause<'_>, to: Status) -> String {
    let verb = cause.verb.unwrap_or(match to {
        Status::Completed => "completed",
        Status::Failed => "gave up on",
        Status::Rejected => "declined",
        Status::Expired => "expired",
        _ => "cancelled",
    });
    match cause.reason {
        Some(reason) if !reason.trim().is_empty() => format!("{name} {verb} this task: {reason}"),
        _ => format!("{name} {verb} this task."),
    }
}

/// Updates the counters of live tasks and of the target's ended tasks.
fn update_counts(tx: &mut Tx<'_>, task: &Task, from: Status) -> Result<(), Error> {
    if from.is_live() && task.status.is_terminal() {
        connections::count_live(tx, &task.initiator, &task.target, -1)?;
        rows::count_ended(tx, &task.target, task.status == Status::Completed, 1)?;
    } else if from.is_terminal() && task.status.is_live() {
        connections::count_live(tx, &task.initiator, &task.target, 1)?;
        rows::count_ended(tx, &task.target, from == Status::Completed, -1)?;
    }
    Ok(())
}

/// Notifies the other party; both parties of a reopening and of a change by the hub.
fn notify_parties(
    tx: &mut Tx<'_>,
    task: &Task,
    from: Status,
    cause: &Cause<'_>,
    now: &Now,
) -> Result<(), Error> {
    let both = from.is_terminal() || cause.by == Role::Hub;
    let mut recipients: Vec<&AgentId> =
        if both { vec![&task.initiator, &task.target] } else { vec![task.other(cause.by).0] };
    recipients.sort();
    for to in recipients {
        append_event(tx, to, updated_event(task, cause), now)?;
    }
    Ok(())
}

/// Sets a task to `input-required` until the initiator continues it. `by` caused this and learns of it from its
/// response; the other party gets an event. Returns whether the status changed: a task that already waits for its
/// initiator only gets the new reason.
pub(crate) fn pause(tx: &mut Tx<'_>, task: &mut Task, by: Role, why: &str, now: &Now) -> Result<bool, Error> {
    let pauses = task.status != Status::InputRequired;
    if pauses {
        let cause = Cause { by: Role::Hub, reason: Some(why), verb: None };
        apply_status(tx, task, StatusChange::By(Operation::Pause), &cause, now)?;
        append_event(tx, task.other(by).0, updated_event(task, &cause), now)?;
    } else if task.status_reason.as_deref() == Some(why) {
        return Ok(false);
    } else {
        task.status_reason = Some(why.to_owned());
        task.version += 1;
        task.updated_at = now.at.max(task.updated_at);
    }
    rows::update(tx, task)?;
    Ok(pauses)
}

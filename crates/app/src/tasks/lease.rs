//! Heartbeats and leases: the target of a task renews its lease while it works; the hub acts when the lease runs out.

use tandem_core::deadlines::{Deadline, Due};
use tandem_core::events::EventKind;
use tandem_core::tasks::{OnStall, Progress, Task};
use tandem_core::text::Reason;
use tandem_core::{AgentId, Now, Refusal, Role, Status, StatusChange, TaskId};
use tandem_store::{Tx, deadlines, tasks as rows};

use super::create::PUBLISHED;
use super::resubmit::save_resubmitted;
use super::status::updated_event;
use super::{Cause, acknowledge_all, change_status, check_credits, on_task, route_to_target, submit};
use crate::Error;
use crate::events::{Event, append_event};

/// The reason shown when the lease has run out.
const SILENT: &str = "the target sent no heartbeat in time";

#[derive(Debug, Clone, Default)]
pub struct HeartbeatInput {
    /// Percentage of the work that is done.
    pub progress: Option<Progress>,
    /// Progress as text.
    pub note: Option<Reason>,
}

/// Records a heartbeat of the target, with its progress. No event is sent.
pub fn heartbeat(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    sign: &HeartbeatInput,
    now: &Now,
) -> Result<Task, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        if role != Role::Target {
            return Err(Refusal::NotYourMove.into());
        }
        if task.status != Status::Working {
            return Err(Refusal::InvalidState(task.status).into());
        }
        acknowledge_all(tx, &mut task, role, now)?;
        if let Some(progress) = sign.progress {
            task.attempt.progress = Some(progress.get());
        }
        if let Some(note) = &sign.note {
            task.attempt.progress_note = Some(note.to_string());
        }
        task.updated_at = now.at.max(task.updated_at);
        rows::update_thread(tx, &task)?;
        Ok(task)
    })
}

/// Extends the lease of a working target. An existing deadline stays as it is: when it is due, it checks the lease
/// again.
pub(super) fn renew(tx: &mut Tx<'_>, task: &mut Task, now: &Now) -> Result<(), Error> {
    let Some(seconds) = task.terms.lease_seconds.filter(|_| task.status == Status::Working) else {
        return Ok(());
    };
    let was_awaited = task.lease.until.is_some();
    task.lease.until = Some(now.at.plus_seconds(seconds));
    task.lease.stalled_at = None;
    if was_awaited { Ok(()) } else { set_lease_deadline(tx, task) }
}

/// Has a lease end as if it had been renewed now, if it ends later, and sets its deadline.
pub(crate) fn shorten_lease(tx: &mut Tx<'_>, task: &mut Task, now: &Now) -> Result<(), Error> {
    let (Some(until), Some(seconds)) = (task.lease.until, task.terms.lease_seconds) else { return Ok(()) };
    task.lease.until = Some(until.min(now.at.plus_seconds(seconds)));
    rows::update_thread(tx, task)?;
    set_lease_deadline(tx, task)
}

fn set_lease_deadline(tx: &mut Tx<'_>, task: &Task) -> Result<(), Error> {
    let Some(due_at) = task.lease.until else { return Ok(()) };
    Ok(deadlines::insert(tx, &Deadline::on(task, Due::Lease, 0, due_at))?)
}

/// Handles a lease that may have run out, according to the task's `onStall`.
pub(crate) fn stall(tx: &mut Tx<'_>, task: &mut Task, now: &Now) -> Result<(), Error> {
    match task.lease.until {
        None => return Ok(()),
        Some(until) if until > now.at => return set_lease_deadline(tx, task),
        Some(_) => {}
    }
    let event = Event::on_task(EventKind::TaskStalled, task, task.party(Role::Target))
        .with("status", task.status.as_str());
    append_event(tx, &task.initiator, event, now)?;
    let cause = Cause { by: Role::Hub, reason: Some(SILENT), verb: None };
    match task.terms.on_stall {
        OnStall::Notify => {
            // No new deadline until the next heartbeat, so that a silent target causes one notification.
            task.lease.until = None;
            task.lease.stalled_at = Some(now.at);
            Ok(rows::update_thread(tx, task)?)
        }
        OnStall::Retry if task.attempt.number < task.terms.max_attempts => {
            let found = route_to_target(tx, task);
            match found.and_then(|route| check_credits(&route.reach).map(|()| route)) {
                Ok(route) => {
                    let from = task.status;
                    submit(tx, task, PUBLISHED, Role::Hub, &route.reach, now)?;
                    append_event(tx, &task.initiator, updated_event(task, &cause), now)?;
                    save_resubmitted(tx, task, from, Role::Hub, Some(SILENT), now)
                }
                Err(Error::NotConnected | Error::NoCredits) => {
                    change_status(tx, task, StatusChange::Set(Status::Expired), &cause, now)
                }
                Err(other) => Err(other),
            }
        }
        OnStall::Retry | OnStall::Expire => {
            change_status(tx, task, StatusChange::Set(Status::Expired), &cause, now)
        }
    }
}

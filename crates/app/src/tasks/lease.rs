//! Signs of life of a task's target, and what happens when there are none.

use tandem_core::deadlines::{Deadline, Due};
use tandem_core::events::EventKind;
use tandem_core::messages::SYSTEM;
use tandem_core::tasks::{OnStall, Progress, Task};
use tandem_core::text::Reason;
use tandem_core::{AgentId, Now, Refusal, Role, Status, TaskId};
use tandem_store::{Tx, deadlines, tasks as rows};

use super::{Cause, check_entry, hand_over, on_task, present, shift, way_to, write_log};
use crate::Error;
use crate::events::{Event, tell};

/// What parties read about a target that fell silent.
const SILENT: &str = "the target showed no sign of life in time";

/// What the target says about its work.
#[derive(Debug, Clone, Default)]
pub struct Sign {
    /// How far it is.
    pub progress: Option<Progress>,
    /// In words.
    pub note: Option<Reason>,
}

/// A sign of life from the target, with what it wants to say about its progress. Nobody is told.
pub fn heartbeat(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, sign: &Sign, now: &Now) -> Result<Task, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        if role != Role::Target {
            return Err(Refusal::NotYourMove.into());
        }
        if task.status != Status::Working {
            return Err(Refusal::InvalidState(task.status).into());
        }
        present(tx, &mut task, role, now)?;
        if let Some(progress) = sign.progress {
            task.progress = Some(progress.get());
        }
        if let Some(note) = &sign.note {
            task.progress_note = Some(note.to_string());
        }
        task.updated_at = now.at.max(task.updated_at);
        rows::update_thread(tx, &task)?;
        Ok(task)
    })
}

/// Gives the target of a task under way another span. A deadline that is set already is only moved: it looks
/// at the lease when it falls due.
pub(super) fn renew(tx: &mut Tx<'_>, task: &mut Task, now: &Now) -> Result<(), Error> {
    let Some(seconds) = task.terms.lease_seconds.filter(|_| task.status == Status::Working) else {
        return Ok(());
    };
    let was_awaited = task.lease_until.is_some();
    task.lease_until = Some(now.at.plus_seconds(seconds));
    if was_awaited { Ok(()) } else { await_sign(tx, task) }
}

fn await_sign(tx: &mut Tx<'_>, task: &Task) -> Result<(), Error> {
    let Some(due_at) = task.lease_until else { return Ok(()) };
    Ok(deadlines::insert(tx, &Deadline::on(task, Due::Lease, 0, due_at))?)
}

/// Looks at a lease whose time may have run out.
pub(crate) fn stall(tx: &mut Tx<'_>, task: &mut Task, now: &Now) -> Result<(), Error> {
    match task.lease_until {
        None => return Ok(()),
        Some(until) if until > now.at => return await_sign(tx, task),
        Some(_) => {}
    }
    let event = Event::on_task(EventKind::TaskStalled, task, task.party(Role::Target))
        .with("status", task.status.as_str());
    tell(tx, &task.initiator, event, now)?;
    let cause = Cause { by: Role::Hub, reason: Some(SILENT), did: None };
    match task.terms.on_stall {
        OnStall::Notify => {
            // Until the next sign of life nothing more is awaited: one silence, one notice.
            task.lease_until = None;
            Ok(rows::update_thread(tx, task)?)
        }
        OnStall::Retry if task.attempt < task.terms.max_attempts => {
            match way_to(tx, task).and_then(|way| check_entry(&way.reach).map(|()| way)) {
                Ok(way) => {
                    let from = task.status;
                    task.begin_again();
                    hand_over(tx, task, &way.reach, now)?;
                    task.version += 1;
                    task.updated_at = now.at;
                    write_log(tx, task, Some(from), SYSTEM, Some(SILENT), now)?;
                    let updated = super::shift::updated(task, &cause);
                    tell(tx, &task.initiator, updated, now)?;
                    rows::update(tx, task)?;
                    Ok(rows::reset_delivery(tx, &task.id)?)
                }
                Err(Error::NotConnected | Error::NoCredits | Error::TooManyOpenTasks(_)) => {
                    shift(tx, task, Status::Expired, &cause, now)
                }
                Err(other) => Err(other),
            }
        }
        OnStall::Retry | OnStall::Expire => shift(tx, task, Status::Expired, &cause, now),
    }
}

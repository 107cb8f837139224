//! A task handed over once more: to the same agent, or to another.

use tandem_core::events::EventKind;
use tandem_core::tasks::{Side, Task};
use tandem_core::text::Alias;
use tandem_core::{AgentId, Now, Refusal, Role, Status, TaskId};
use tandem_store::{Tx, connections, events as event_rows, messages, tasks as rows};

use super::create::parent_shared;
use super::{Expected, check_entry, enter, hand_over, on_task, way, way_to, write_log};
use crate::events::{Event, tell};
use crate::{Error, Invalid};

fn check_initiator(role: Role) -> Result<(), Error> {
    if role == Role::Initiator { Ok(()) } else { Err(Refusal::NotYourMove.into()) }
}

/// Tries a task again that failed, was cancelled or expired.
pub fn retry(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    expected: &Expected,
    now: &Now,
) -> Result<Task, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        expected.check(&task)?;
        check_initiator(role)?;
        // A draft that was given up was never tried: its target must not learn what became of it.
        let tried = task.queued_at.is_some();
        if !tried || !matches!(task.status, Status::Failed | Status::Cancelled | Status::Expired) {
            return Err(Refusal::InvalidState(task.status).into());
        }
        let way = way_to(tx, &task)?;
        let from = task.status;
        enter(tx, &task, &way.reach)?;
        // It is no longer one of those that ended for its target.
        rows::count_ended(tx, &task.target, false, -1)?;
        task.begin_again();
        hand_over(tx, &mut task, &way.reach, now)?;
        keep(tx, &mut task, from, by, None, now)?;
        Ok(task)
    })
}

/// Gives a live task to another agent that the initiator can reach. The one before is told, and then knows
/// nothing of it.
pub fn reassign(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    to: &Alias,
    expected: &Expected,
    now: &Now,
) -> Result<Task, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        expected.check(&task)?;
        check_initiator(role)?;
        if !task.status.is_live() {
            return Err(Refusal::InvalidState(task.status).into());
        }
        if task.encrypted {
            return Err(Refusal::Encrypted.into());
        }
        let way = way(tx, by, to, None)?;
        if way.target == task.target {
            return Err(Invalid::field("targetAgentId", "is the agent that has the task").into());
        }
        check_entry(&way.reach)?;
        let from = task.status;
        event_rows::purge_task_of(tx, &task.target, &task.id)?;
        if task.target_side.said > 0 {
            rows::insert_former_target(tx, &task.target, &task.id)?;
        }
        let farewell = Event::on_task(EventKind::TaskReassigned, &task, task.party(Role::Initiator));
        tell(tx, &task.target, farewell, now)?;
        connections::count_live(tx, &task.initiator, &task.target, -1)?;
        connections::count_live(tx, &task.initiator, &way.target, 1)?;

        task.parent_shared = match parent_shared(tx, by, &way.target, task.parent.as_ref()) {
            // The parent may be gone; the child stays what it is.
            Err(Error::NotFound(_)) => false,
            other => other?,
        };
        task.target = way.target;
        task.target_name = way.reach.target_name.clone();
        task.network = way.network;
        // What the one before wrote is still for the initiator to look at.
        task.target_side = Side { said: task.target_side.said, ..Side::default() };
        task.target_side.unread = messages::clear_marks(tx, &task.id, &task.initiator)?;
        task.target_side.unread_since = (task.target_side.unread > 0).then_some(now.at);
        rows::set_target(tx, &task)?;
        task.begin_again();
        hand_over(tx, &mut task, &way.reach, now)?;
        let detail = format!("reassigned to {}", task.target);
        keep(tx, &mut task, from, by, Some(&detail), now)?;
        Ok(task)
    })
}

/// Writes a task that was handed over once more, and its log.
fn keep(
    tx: &mut Tx<'_>,
    task: &mut Task,
    from: Status,
    by: &AgentId,
    detail: Option<&str>,
    now: &Now,
) -> Result<(), Error> {
    task.version += 1;
    task.updated_at = now.at;
    write_log(tx, task, Some(from), by.as_str(), detail, now)?;
    rows::update(tx, task)?;
    Ok(rows::reset_delivery(tx, &task.id)?)
}

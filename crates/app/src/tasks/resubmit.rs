//! Submitting a task again: to the same target (`retry`) or to another one (`reassign`).

use tandem_core::events::EventKind;
use tandem_core::tasks::{Side, Task, Unseen};
use tandem_core::text::Alias;
use tandem_core::{AgentId, Now, Operation, Role, Status, StatusChange, TaskId};
use tandem_store::{Tx, connections, events as event_rows, messages, pushes, tasks as rows};

use super::create::parent_shared;
use super::{Expected, check_limits, count_as_live, find_route, on_task, route_to_target, submit, write_log};
use crate::events::{Event, append_event};
use crate::{Error, Invalid};

/// Submits a failed, cancelled or expired task again.
pub fn retry(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    expected: &Expected,
    now: &Now,
) -> Result<Task, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        expected.check(&task)?;
        task.position().check_retry(role, task.delivery.queued_at.is_some())?;
        let route = route_to_target(tx, &task)?;
        check_limits(&route.reach)?;
        let route = route.hold(tx, by)?;
        let from = task.status;
        count_as_live(tx, &task)?;
        // The task no longer counts as ended for its target.
        rows::count_ended(tx, &task.target, false, -1)?;
        submit(tx, &mut task, StatusChange::By(Operation::Retry), role, &route.reach, now)?;
        save_resubmitted(tx, &mut task, from, role, None, now)?;
        Ok(task)
    })
}

/// Gives a live task to another agent that the initiator can reach. The former target gets one event and can no
/// longer see the task.
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
        task.position().check_reassign(role, task.content.encrypted)?;
        if let Some(parent) = &task.links.parent {
            rows::expect(tx, parent)?;
        }
        let route = find_route(tx, by, to, None)?;
        if route.target == task.target {
            return Err(Invalid::field("targetAgentId", "is the agent that has the task").into());
        }
        check_limits(&route.reach)?;
        let route = route.hold(tx, by)?;
        connections::lock_pair(tx, &task.initiator, &task.target)?;
        let from = task.status;
        event_rows::purge_task_of(tx, &task.target, &task.id)?;
        if task.target_side.said > 0 {
            rows::insert_former_target(tx, &task.target, &task.id)?;
        }
        let reassigned = Event::on_task(EventKind::TaskReassigned, &task, task.party(Role::Initiator));
        append_event(tx, &task.target, reassigned, now)?;
        connections::count_live(tx, &task.initiator, &task.target, -1)?;
        connections::count_live(tx, &task.initiator, &route.target, 1)?;

        task.links.parent_shared = match parent_shared(tx, by, &route.target, task.links.parent.as_ref()) {
            // The parent may be deleted; the task keeps its reference.
            Err(Error::NotFound(_)) => false,
            other => other?,
        };
        task.target = route.target;
        task.target_name = route.reach.target_name.clone();
        task.links.network = route.network;
        // The initiator keeps the former target's messages.
        task.target_side = Side { said: task.target_side.said, ..Side::default() };
        rows::set_target(tx, &task)?;
        // The task is no longer part of the conversation in which they were wanted.
        pushes::remove_of_task(tx, &task.id)?;
        let event_seq =
            submit(tx, &mut task, StatusChange::By(Operation::Reassign), role, &route.reach, now)?;
        messages::deferred::forget_target(tx, &task.id)?;
        let thread = messages::clear_marks(tx, &task.id, &task.initiator, event_seq)?;
        if thread > 0 {
            task.target_side.unread = thread;
            task.target_side.unread_since = Some(now.at);
            task.target_side.unseen = Unseen { count: thread, first: Some(event_seq), last: Some(event_seq) };
        }
        let detail = format!("reassigned to {}", task.target);
        save_resubmitted(tx, &mut task, from, role, Some(&detail), now)?;
        Ok(task)
    })
}

/// Saves a task that was submitted again, with its history.
pub(super) fn save_resubmitted(
    tx: &mut Tx<'_>,
    task: &mut Task,
    from: Status,
    by: Role,
    detail: Option<&str>,
    now: &Now,
) -> Result<(), Error> {
    task.version += 1;
    task.updated_at = now.at;
    write_log(tx, task, Some(from), by, detail, now)?;
    rows::update(tx, task)?;
    Ok(rows::reset_delivery(tx, &task.id)?)
}

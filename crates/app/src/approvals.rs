//! The approval gate: the target approves or rejects tasks that its rule holds back.

use tandem_core::events::EventKind;
use tandem_core::text::Reason;
use tandem_core::{AgentId, Approval, Now, Refusal, Role, Status, Task, TaskId, Timestamp};
use tandem_store::{Tx, tasks as rows};

use crate::events::{Event, append_event};
use crate::tasks::{Cause, Expected, change_status, check_not_overdue, on_task, set_check_in};
use crate::{Error, Page};

/// The reason shown to both parties when the target gives none.
const DECLINED: &str = "the target rejected it at its approval gate";

/// The caller's tasks that need its approval, newest first.
pub fn list(
    tx: &mut Tx<'_>,
    by: &AgentId,
    before: Option<&(Timestamp, TaskId)>,
    limit: i64,
    now: &Now,
) -> Result<Page<Task, (Timestamp, TaskId)>, Error> {
    let found = rows::held(tx, by, before, limit + 1)?;
    check_not_overdue(&found.tasks, now)?;
    let page = Page::cut(found.tasks, limit, |task| (task.created_at, task.id.clone()));
    Ok(Page { next: page.next.or(found.stopped_at), ..page })
}

fn check_held(task: &Task, role: Role, expected: &Expected) -> Result<(), Error> {
    expected.check(task)?;
    if role != Role::Target {
        return Err(Refusal::NotYourMove.into());
    }
    if !task.position().held {
        return Err(Refusal::InvalidState(task.status).into());
    }
    Ok(())
}

/// Approves a held task. The initiator gets `task.updated`, the target gets `task.created`.
pub fn approve(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    expected: &Expected,
    now: &Now,
) -> Result<Task, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        check_held(&task, role, expected)?;
        task.approval = Some(Approval::Approved);
        task.version += 1;
        task.updated_at = now.at;
        let updated = Event::on_task(EventKind::TaskUpdated, &task, task.party(role))
            .with("status", task.status.as_str());
        append_event(tx, &task.initiator, updated, now)?;
        let created = Event::on_task(EventKind::TaskCreated, &task, task.party(Role::Initiator))
            .with("attempt", task.attempt);
        append_event(tx, &task.target, created, now)?;
        set_check_in(tx, &task, 0, task.terms.check_in_seconds, now)?;
        rows::update(tx, &task)?;
        Ok(task)
    })
}

/// Rejects a held task. The task is cancelled, and the initiator sees the reason.
pub fn reject(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    reason: Option<&Reason>,
    expected: &Expected,
    now: &Now,
) -> Result<Task, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        check_held(&task, role, expected)?;
        task.approval = Some(Approval::Rejected);
        let given = reason.map(Reason::as_str).filter(|reason| !reason.trim().is_empty());
        let cause = Cause { by: role, reason: Some(given.unwrap_or(DECLINED)), verb: Some("declined") };
        change_status(tx, &mut task, Status::Cancelled, &cause, now)?;
        Ok(task)
    })
}

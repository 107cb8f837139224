//! The approval gate: the target approves or rejects tasks that its rule holds back.

use tandem_core::agents::{Agent, Connection};
use tandem_core::events::EventKind;
use tandem_core::text::Reason;
use tandem_core::{AgentId, Approval, Now, Operation, Role, StatusChange, Task, TaskId, Timestamp, Verdict};
use tandem_store::{Tx, agents, connections, tasks as rows};

use crate::decisions::{self, Origin};
use crate::events::{Event, append_event};
use crate::messages::{add_rejection, announce, pause_if_budget_spent};
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

/// The same, oldest first, from after a place in that order.
pub fn oldest(
    tx: &mut Tx<'_>,
    by: &AgentId,
    after: Option<&(Timestamp, TaskId)>,
    limit: i64,
    now: &Now,
) -> Result<Page<Task, (Timestamp, TaskId)>, Error> {
    let (found, cut) = rows::held_oldest(tx, by, after, limit + 1)?;
    check_not_overdue(&found, now)?;
    let place = |task: &Task| (task.created_at, task.id.clone());
    let stopped_at = found.last().filter(|_| cut).map(place);
    let page = Page::cut(found, limit, place);
    Ok(Page { next: page.next.or(stopped_at), ..page })
}

/// Decisions about one sender are counted up to this number.
pub const DECISIONS_COUNTED_MAX: i64 = 1_000;

/// What an agent knows about a sender when it decides.
#[derive(Debug, Clone)]
pub struct Sender {
    /// The sender; none if its account was deleted.
    pub agent: Option<Agent>,
    /// The agent's side of the connection; none if the two only share a network.
    pub connection: Option<Connection>,
    /// How many of its tasks were approved, up to [`DECISIONS_COUNTED_MAX`].
    pub approved: i64,
    /// How many were rejected.
    pub rejected: i64,
}

pub fn sender(tx: &mut Tx<'_>, by: &AgentId, sender: &AgentId) -> Result<Sender, Error> {
    let (approved, rejected) = rows::record(tx, by, sender, DECISIONS_COUNTED_MAX)?;
    let connection = match connections::between(tx, by, sender)? {
        Some(id) => connections::find(tx, by, &id)?,
        None => None,
    };
    Ok(Sender { agent: agents::find(tx, sender)?, connection, approved, rejected })
}

/// Tasks on which the caller decided lately, without their content.
pub fn decided(tx: &mut Tx<'_>, by: &AgentId, limit: i64) -> Result<Vec<Task>, Error> {
    Ok(rows::decided(tx, by, limit)?)
}

fn check_held(task: &Task, role: Role, expected: &Expected) -> Result<(), Error> {
    expected.check(task)?;
    Ok(task.position().check_decision(role)?)
}

/// Approves a held task. The initiator gets `task.updated`, the target gets `task.created`. The note is for the target's
/// own agent.
pub fn approve(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    note: Option<&Reason>,
    expected: &Expected,
    origin: &Origin,
    now: &Now,
) -> Result<Task, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        check_held(&task, role, expected)?;
        let note = note.map(Reason::as_str);
        let decision = decisions::about(tx, &task, Verdict::Approved, note, Some(origin), now)?;
        decisions::note(tx, &decision)?;
        task.gate.approval = Some(Approval::Approved);
        task.gate.note = decision.note;
        task.version += 1;
        task.updated_at = now.at;
        let updated = Event::on_task(EventKind::TaskUpdated, &task, task.party(role))
            .with("status", task.status.as_str());
        append_event(tx, &task.initiator, updated, now)?;
        let created = Event::on_task(EventKind::TaskCreated, &task, task.party(Role::Initiator))
            .with("attempt", task.attempt.number);
        append_event(tx, &task.target, created, now)?;
        announce(tx, &mut task, now)?;
        set_check_in(tx, &task, 0, task.terms.check_in_seconds, now)?;
        rows::update(tx, &task)?;
        pause_if_budget_spent(tx, &mut task, role, now)?;
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
    origin: &Origin,
    now: &Now,
) -> Result<Task, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        check_held(&task, role, expected)?;
        let words = reason.map(Reason::as_str);
        let decision = decisions::about(tx, &task, Verdict::Rejected, words, Some(origin), now)?;
        decisions::note(tx, &decision)?;
        task.gate.approval = Some(Approval::Rejected);
        let given = reason.map(Reason::as_str).filter(|reason| !reason.trim().is_empty());
        if let Some(reason) = given.filter(|_| !task.content.encrypted) {
            add_rejection(tx, &mut task, reason, now)?;
        }
        let cause = Cause { by: role, reason: Some(given.unwrap_or(DECLINED)), verb: Some("declined") };
        change_status(tx, &mut task, StatusChange::By(Operation::Decline), &cause, now)?;
        Ok(task)
    })
}

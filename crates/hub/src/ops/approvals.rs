//! The approval gate of the target.

use tandem_api::tasks::{PageQuery, TaskView, WithReason};
use tandem_app::approvals;
use tandem_core::TaskId;

use super::tasks::expected;
use crate::{Caller, Error, HubParts, Listed, paging};

/// Tasks that need the caller's approval, newest first.
pub async fn list(
    hub: &HubParts,
    caller: &Caller,
    query: PageQuery,
    limits: paging::Limits,
) -> Result<Listed<TaskView>, Error> {
    let limit = limits.of(query.limit)?;
    let before = paging::place(query.cursor.as_deref())?;
    let by = caller.agent.clone();
    let page = hub.read(move |tx, now| approvals::list(tx, &by, before.as_ref(), limit, now)).await?;
    Ok(Listed::new(page, |task| TaskView::new(task, &caller.agent), paging::cursor))
}

/// Approves a task.
pub async fn approve(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: WithReason,
) -> Result<TaskView, Error> {
    let (by, id, expected) = (caller.agent.clone(), task.clone(), expected(caller, body.expected_status));
    hub.write_once(caller, move |tx, now| {
        Ok(TaskView::new(approvals::approve(tx, &by, &id, &expected, now)?, &by))
    })
    .await
}

/// Rejects a task.
pub async fn reject(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: WithReason,
) -> Result<TaskView, Error> {
    let (by, id, expected) = (caller.agent.clone(), task.clone(), expected(caller, body.expected_status));
    hub.write_once(caller, move |tx, now| {
        Ok(TaskView::new(approvals::reject(tx, &by, &id, body.reason.as_ref(), &expected, now)?, &by))
    })
    .await
}

//! The approval gate of the target.

use tandem_api::tasks::{ApproveTask, PageQuery, TaskView, WithReason};
pub use tandem_app::approvals::DECISIONS_COUNTED_MAX;
use tandem_app::approvals::{self, Sender};
use tandem_app::{agents, files};
use tandem_core::files::File;
use tandem_core::{Rule, TaskId};

use super::tasks::expected;
use crate::ops::paging;
use crate::{Caller, Error, HubParts, Listed};

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
    let page =
        hub.read_page(caller, move |tx, now| approvals::list(tx, &by, before.as_ref(), limit, now)).await?;
    Ok(Listed::new(page, |task| TaskView::new(task, &caller.agent), paging::cursor))
}

/// A task at the gate, with what its target knows about the sender.
#[derive(Debug)]
pub struct Request {
    pub task: TaskView,
    /// Its version, to which a decision can be bound.
    pub version: i64,
    pub sender: Sender,
    /// The first files that came with it.
    pub files: Vec<File>,
    pub has_more_files: bool,
}

/// Files that are shown of a request.
const FILES_SHOWN: usize = 10;

/// The gate of an agent, for its owner.
#[derive(Debug)]
pub struct Queue {
    /// Tasks that wait, oldest first.
    pub requests: Listed<Request>,
    /// Tasks that were decided lately.
    pub decided: Vec<TaskView>,
    /// The agent's rule for senders without one of their own.
    pub default_rule: Option<Rule>,
    pub public_key: Option<String>,
}

/// Decided tasks that are shown.
const DECIDED_SHOWN: i64 = 6;

/// A page of the tasks that wait for the caller's approval, oldest first, with what is needed to decide.
pub async fn queue(
    hub: &HubParts,
    caller: &Caller,
    query: PageQuery,
    limits: paging::Limits,
) -> Result<Queue, Error> {
    let limit = limits.of(query.limit)?;
    let after = paging::place(query.cursor.as_deref())?;
    let by = caller.agent.clone();
    let found = hub.read_page(caller, move |tx, now| {
        let page = approvals::oldest(tx, &by, after.as_ref(), limit, now)?;
        let mut requests = Vec::new();
        for task in page.items {
            let sender = approvals::sender(tx, &by, &task.initiator)?;
            let mut files = match task.counts.messages {
                0 => Vec::new(),
                _ => files::first_of_task(tx, &task.id, FILES_SHOWN + 1)?,
            };
            let has_more_files = files.len() > FILES_SHOWN;
            files.truncate(FILES_SHOWN);
            let version = task.version;
            requests.push(Request { version, task: TaskView::new(task, &by), sender, files, has_more_files });
        }
        let decided = approvals::decided(tx, &by, DECIDED_SHOWN)?;
        let me = agents::profile(tx, &by)?;
        Ok(Queue {
            requests: Listed { items: requests, next: page.next.as_ref().map(paging::cursor) },
            decided: decided.into_iter().map(|task| TaskView::new(task, &by)).collect(),
            default_rule: me.default_approval,
            public_key: me.public_key,
        })
    });
    found.await
}

pub async fn approve(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: ApproveTask,
) -> Result<TaskView, Error> {
    let (by, id, expected) = (caller.agent.clone(), task.clone(), expected(caller, body.expected_status));
    let from = caller.deciding();
    hub.write_once(caller, move |tx, now| {
        Ok(TaskView::new(approvals::approve(tx, &by, &id, body.note.as_ref(), &expected, &from, now)?, &by))
    })
    .await
}

pub async fn reject(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: WithReason,
) -> Result<TaskView, Error> {
    let (by, id, expected) = (caller.agent.clone(), task.clone(), expected(caller, body.expected_status));
    let from = caller.deciding();
    hub.write_once(caller, move |tx, now| {
        Ok(TaskView::new(approvals::reject(tx, &by, &id, body.reason.as_ref(), &expected, &from, now)?, &by))
    })
    .await
}

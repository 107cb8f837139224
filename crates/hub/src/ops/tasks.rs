//! Tasks.

use tandem_api::actor::Actor;
use tandem_api::messages::{MessageView, SendMessage};
use tandem_api::tasks::{
    CreateTask, DeletedTask, Heartbeat, PageQuery, PatchTask, ReassignTask, RepliedView, ReplyOutcome,
    ReplyTask, ReportUsage, RetryTask, TaskLogView, TaskView, TasksQuery, TreeTask, TreeView, UsageView,
    WithReason,
};
use tandem_api::text::{HubText, PeerName, PeerText};
use tandem_app::Invalid;
use tandem_app::sealed::{self, Fields, Sealed};
use tandem_app::tasks::{self, Change, Expected, HeartbeatInput, NewReply, NewTask, Outcome};
use tandem_core::tasks::Priority;
use tandem_core::{AgentId, Status, Task, TaskId};
use tandem_store::tasks::{Filter, LogLine};

use super::messages::{checked, parties_of};
use super::nothing_to_change;
use crate::ops::paging;
use crate::{Caller, Error, HubParts, Listed};

/// Field names of an encrypted description.
const FIELDS: Fields = Fields { content: "description", keys: "descriptionKeys" };

/// The preconditions of a request.
pub(super) fn expected(caller: &Caller, status: Option<Status>) -> Expected {
    Expected { status, versions: caller.if_match.clone() }
}

/// A task with its version for the `ETag`.
#[derive(Debug, Clone)]
pub struct Versioned {
    pub view: TaskView,
    /// Increases with every change.
    pub version: i64,
}

impl Versioned {
    fn new(task: Task, me: &AgentId) -> Self {
        let version = task.version;
        Self { view: TaskView::new(task, me), version }
    }
}

pub async fn create(hub: &HubParts, caller: &Caller, body: CreateTask) -> Result<TaskView, Error> {
    // Before the checks: the parties may have disconnected since the first request.
    if let Some(earlier) = hub.earlier_answer(caller).await? {
        return Ok(earlier);
    }
    let sealed = sealed_task(hub, caller, &body).await?;
    let new = NewTask {
        target: body.target_agent_id,
        title: body.title,
        description: body.description,
        id: body.id,
        draft: body.draft.unwrap_or(false),
        requires_review: body.requires_review.unwrap_or(false),
        priority: body.priority.unwrap_or(Priority::Normal),
        session_key: body.session_key,
        ttl_seconds: body.ttl_seconds,
        check_in_seconds: body.check_in_seconds,
        lease_seconds: body.lease_seconds,
        on_stall: body.on_stall,
        max_attempts: body.max_attempts,
        max_messages: body.max_messages,
        parent: body.parent_task_id,
        network: body.network_id,
        sealed,
        context: body.context_id,
        sent: None,
        files: Vec::new(),
    };
    let (by, defaults) = (caller.agent.clone(), hub.config.task_defaults());
    hub.write_once(caller, move |tx, now| {
        Ok(TaskView::new(tasks::create(tx, &by, &new, &defaults, now)?, &by))
    })
    .await
}

/// The caller's tasks, newest first.
pub async fn list(
    hub: &HubParts,
    caller: &Caller,
    query: TasksQuery,
    limits: paging::Limits,
) -> Result<Listed<TaskView>, Error> {
    let filter = Filter {
        statuses: query.status.into_iter().collect(),
        role: query.role.map(Into::into),
        with: query.with,
        text: query.q,
        before: paging::place(query.cursor.as_deref())?,
        limit: limits.of(query.limit)?,
        ..Filter::default()
    };
    select(hub, caller, filter).await
}

/// The caller's tasks that a filter selects, newest first.
pub(super) async fn select(
    hub: &HubParts,
    caller: &Caller,
    filter: Filter,
) -> Result<Listed<TaskView>, Error> {
    select_with(hub, caller, filter, TaskView::new).await
}

/// The same, each task in a form of the caller's choice.
pub(super) async fn select_with<T>(
    hub: &HubParts,
    caller: &Caller,
    filter: Filter,
    view: fn(Task, &AgentId) -> T,
) -> Result<Listed<T>, Error> {
    let by = caller.agent.clone();
    let unwritten = hub.marks.unwritten();
    let mut page = hub.read_page(caller, move |tx, now| tasks::list(tx, &by, &filter, now)).await?;
    page.items.iter_mut().for_each(|task| unwritten.apply(task));
    let unfetched = page.items.iter().filter(|task| task.is_unfetched_by(&caller.agent));
    hub.mark_fetched(caller, unfetched.map(|task| task.id.clone()));
    Ok(Listed::new(page, |task| view(task, &caller.agent), paging::cursor))
}

pub async fn view(hub: &HubParts, caller: &Caller, task: &TaskId) -> Result<Versioned, Error> {
    let (by, id) = (caller.agent.clone(), task.clone());
    let unwritten = hub.marks.unwritten();
    let (mut task, ahead) = hub.read(caller, move |tx, now| tasks::view(tx, &by, &id, now)).await?;
    unwritten.apply(&mut task);
    if task.is_unfetched_by(&caller.agent) && !caller.is_person {
        hub.mark_fetched(caller, [task.id.clone()]);
        task.delivery.fetched_at = Some(hub.time());
    }
    let mut shown = Versioned::new(task, &caller.agent);
    shown.view.delivery.ahead = ahead;
    Ok(shown)
}

/// Records that a task was pushed to its target.
pub fn mark_pushed(hub: &HubParts, target: &AgentId, task: &TaskId) {
    hub.marks.pushed(target, vec![task.clone()], hub.time());
}

/// Changes a task: its status, the caller's session key, its message budget, or a draft's text.
pub async fn change(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: PatchTask,
) -> Result<Versioned, Error> {
    let changes = body.status.is_some()
        || body.session_key.is_some()
        || body.title.is_some()
        || body.description.is_some()
        || body.max_messages.is_some();
    if !changes {
        return hub.on_task(caller, task, Err(nothing_to_change())).await;
    }
    let sealed = sealed_draft(hub, caller, task, &body).await?;
    let change = Change {
        status: body.status,
        reason: body.reason,
        expected: expected(caller, body.expected_status),
        session_key: body.session_key,
        title: body.title,
        description: body.description,
        max_messages: body.max_messages,
        sealed,
    };
    let (by, id) = (caller.agent.clone(), task.clone());
    let changed = hub.write(caller, move |tx, now| tasks::change(tx, &by, &id, &change, now)).await?;
    Ok(Versioned::new(changed, &caller.agent))
}

/// Deletes an ended task, or one of the caller's drafts.
pub async fn delete(hub: &HubParts, caller: &Caller, task: &TaskId) -> Result<DeletedTask, Error> {
    let (by, id, expected) = (caller.agent.clone(), task.clone(), expected(caller, None));
    let deleted = hub.write(caller, move |tx, now| tasks::delete(tx, &by, &id, &expected, now)).await?;
    // The task is gone, whatever happens to its rows; housekeeping removes those that are left.
    if deleted.in_parts
        && let Err(error) = hub.finish_removals().await
    {
        tracing::warn!(%error, "could not remove all rows of a deleted task; they are removed later");
    }
    Ok(DeletedTask { deleted: true, deleted_messages: deleted.messages, deleted_files: deleted.files })
}

pub async fn cancel(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: WithReason,
) -> Result<TaskView, Error> {
    let change = Change {
        status: Some(Status::Cancelled),
        reason: body.reason,
        expected: expected(caller, body.expected_status),
        ..Change::default()
    };
    let (by, id) = (caller.agent.clone(), task.clone());
    hub.write_once(caller, move |tx, now| Ok(TaskView::new(tasks::change(tx, &by, &id, &change, now)?, &by)))
        .await
}

/// The history of a task, oldest first.
pub async fn history(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    query: PageQuery,
    limits: paging::Limits,
) -> Result<Listed<TaskLogView>, Error> {
    let page = limits.of(query.limit);
    let page = page.and_then(|limit| Ok((limit, paging::number(query.cursor.as_deref())?)));
    let (limit, after) = hub.on_task(caller, task, page).await?;
    let (by, id) = (caller.agent.clone(), task.clone());
    let page =
        hub.read(caller, move |tx, now| tasks::history(tx, &by, &id, after.unwrap_or(0), limit, now)).await?;
    Ok(Listed::new(page, |line| log_view(line, &caller.agent), ToString::to_string))
}

/// A line of a task's history as `reader` sees it.
pub(super) fn log_view(line: LogLine, reader: &AgentId) -> TaskLogView {
    let actor = Actor::try_from(line.actor.as_str()).unwrap_or(Actor::System);
    TaskLogView {
        from_status: line.from,
        to_status: line.to,
        detail: line.detail.map(|text| PeerText::new(actor.author(reader), text)),
        actor_name: line.actor_name.map(|name| PeerName::new(actor.author(reader), name)),
        actor,
        attempt: line.attempt,
        created_at: line.at,
    }
}

/// Submits a failed, cancelled or expired task again.
pub async fn retry(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: RetryTask,
) -> Result<TaskView, Error> {
    let (by, id, expected) = (caller.agent.clone(), task.clone(), expected(caller, body.expected_status));
    hub.write_once(caller, move |tx, now| Ok(TaskView::new(tasks::retry(tx, &by, &id, &expected, now)?, &by)))
        .await
}

/// Gives a live task to another agent.
pub async fn reassign(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: ReassignTask,
) -> Result<TaskView, Error> {
    let (by, id, expected) = (caller.agent.clone(), task.clone(), expected(caller, body.expected_status));
    hub.write_once(caller, move |tx, now| {
        Ok(TaskView::new(tasks::reassign(tx, &by, &id, &body.target_agent_id, &expected, now)?, &by))
    })
    .await
}

/// Replies to a task, as its target.
pub async fn reply(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: ReplyTask,
) -> Result<RepliedView, Error> {
    let outcome = match body.outcome.unwrap_or_default() {
        ReplyOutcome::Completed => Outcome::Completed,
        ReplyOutcome::Failed => Outcome::Failed,
        ReplyOutcome::Cancelled => Outcome::Cancelled,
    };
    let message = SendMessage {
        content: body.content,
        content_type: body.content_type,
        check_in_seconds: None,
        in_reply_to: None,
        encrypted_keys: body.encrypted_keys,
        sender_signature: body.sender_signature,
    };
    // Before the checks: the task may have changed since the first request.
    if let Some(earlier) = hub.earlier_answer(caller).await? {
        return Ok(earlier);
    }
    let mut message = checked(hub, caller, task, message).await?;
    message.direct = body.direct.unwrap_or(false);
    if message.direct && outcome != Outcome::Completed {
        let why = Invalid::field("direct", "is for the outcome completed");
        return hub.on_task(caller, task, Err(why)).await;
    }
    let new = NewReply { message, outcome, expected: expected(caller, body.expected_status) };
    let (by, id) = (caller.agent.clone(), task.clone());
    let replied = hub.write_once(caller, move |tx, now| {
        let replied = tasks::reply(tx, &by, &id, &new, now)?;
        let note = "This task is reviewed: the result waits for its initiator, who completes it.";
        Ok(RepliedView {
            task: TaskView::new(replied.task, &by),
            message: MessageView::new(replied.message, &by),
            note: replied.for_review.then(|| HubText::new(note)),
        })
    });
    replied.await
}

/// Records a heartbeat of the target, with its progress.
pub async fn heartbeat(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: Heartbeat,
) -> Result<TaskView, Error> {
    let input = HeartbeatInput { progress: body.progress, note: body.note };
    let (by, id) = (caller.agent.clone(), task.clone());
    hub.write_once(caller, move |tx, now| {
        Ok(TaskView::new(tasks::heartbeat(tx, &by, &id, &input, now)?, &by))
    })
    .await
}

/// The subtasks of a task, for its initiator.
pub async fn tree(hub: &HubParts, caller: &Caller, task: &TaskId) -> Result<TreeView, Error> {
    let (by, id) = (caller.agent.clone(), task.clone());
    let tree = hub.read(caller, move |tx, now| tasks::tree(tx, &by, &id, now)).await?;
    let below = tree.descendants.into_iter().map(|(depth, task)| TreeTask::new(depth, task, &caller.agent));
    Ok(TreeView {
        root: TreeTask::new(0, tree.root, &caller.agent),
        descendants: below.collect(),
        has_more: tree.has_more,
    })
}

/// Reports the costs of the work, as the target.
pub async fn report_usage(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: ReportUsage,
) -> Result<UsageView, Error> {
    let (by, id, cap) = (caller.agent.clone(), task.clone(), hub.config.task_usage_max());
    hub.write_once(caller, move |tx, now| {
        let usage = tasks::report_usage(tx, &by, &id, body.cost, cap, now)?;
        Ok(UsageView {
            deducted: usage.deducted,
            credits: usage.credits,
            balance: usage.credits,
            usage_reported: usage.reported,
            status: usage.status,
            paused: usage.paused,
        })
    })
    .await
}

/// Checks keys and signature of a new encrypted task.
async fn sealed_task(hub: &HubParts, caller: &Caller, body: &CreateTask) -> Result<Option<Sealed>, Error> {
    let keys = body.description_keys.as_ref();
    if body.encrypted != Some(true) {
        return match keys {
            Some(_) => Err(Invalid::field("descriptionKeys", "are for encrypted tasks").into()),
            None => Ok(None),
        };
    }
    let needed = |field| Invalid::field(field, "is required for an encrypted task");
    let id = body.id.as_ref().ok_or_else(|| needed("id"))?;
    let content = body.description.as_ref().ok_or_else(|| needed("description"))?;
    let (by, target, network) = (caller.agent.clone(), body.target_agent_id.clone(), body.network_id.clone());
    let parties =
        hub.read(caller, move |tx, _| sealed::parties_of_new(tx, &by, &target, network.as_ref())).await?;
    let signature = body.sender_signature.as_deref();
    Ok(Some(parties.check(id, content.as_str(), keys, signature, FIELDS)?))
}

/// The same for a new description of a draft.
async fn sealed_draft(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: &PatchTask,
) -> Result<Option<Sealed>, Error> {
    let Some(Some(content)) = &body.description else { return Ok(None) };
    let Some(parties) = parties_of(hub, caller, task).await? else {
        let plain = match &body.description_keys {
            Some(_) => Err(Invalid::field("descriptionKeys", "are for encrypted tasks")),
            None => Ok(None),
        };
        return hub.on_task(caller, task, plain).await;
    };
    let (keys, signature) = (body.description_keys.as_ref(), body.sender_signature.as_deref());
    let checked = parties.check(task, content.as_str(), keys, signature, FIELDS);
    hub.on_task(caller, task, checked).await.map(Some)
}

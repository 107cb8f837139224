//! What is done with a task beyond a change of its status.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::messages::{MessageView, SendMessage};
use tandem_api::tasks::{
    AcknowledgedView, Heartbeat, ReadView, ReassignTask, RepliedView, ReplyOutcome, ReplyTask, ReportUsage,
    RetryTask, TaskView, TreeTask, TreeView, UsageView,
};
use tandem_app::tasks::{self, Expected, NewReply, Outcome, Sign};
use tandem_core::TaskId;

use crate::http::front::Caller;
use crate::http::{Answer, ApiError, Input, Json, Param};
use crate::hub::Hub;
use crate::rest::connections::Nothing;
use crate::rest::id;

/// Try a task again.
///
/// Of a task that failed, was cancelled or expired, its initiator can make another attempt: the same task, from
/// the beginning. The target gets `task.created`.
#[utoipa::path(post, path = "/tasks/{id}/retry", tag = "tasks", params(("id" = String, Path)),
    request_body = RetryTask, responses((status = 200, body = TaskView)))]
pub(crate) async fn retry(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    input: Input<RetryTask>,
) -> Result<Response, ApiError> {
    let task: TaskId = id(&task, "task")?;
    let body = hub.body_on_task(&me, &task, input.body).await?;
    let expected = Expected { status: body.expected_status, versions: input.versions };
    let by = me.clone();
    hub.answer_once(&me, input.key, StatusCode::OK, move |tx, now| {
        Ok(TaskView::new(tasks::retry(tx, &by, &task, &expected, now)?, &by))
    })
    .await
}

/// Give a live task to another agent.
///
/// The new target gets `task.created` and the whole thread; the one before gets `task.reassigned` and no longer
/// sees the task.
#[utoipa::path(post, path = "/tasks/{id}/reassign", tag = "tasks", params(("id" = String, Path)),
    request_body = ReassignTask, responses((status = 200, body = TaskView)))]
pub(crate) async fn reassign(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    input: Input<ReassignTask>,
) -> Result<Response, ApiError> {
    let task: TaskId = id(&task, "task")?;
    let body = hub.body_on_task(&me, &task, input.body).await?;
    let expected = Expected { status: body.expected_status, versions: input.versions };
    let by = me.clone();
    hub.answer_once(&me, input.key, StatusCode::OK, move |tx, now| {
        Ok(TaskView::new(tasks::reassign(tx, &by, &task, &body.target_agent_id, &expected, now)?, &by))
    })
    .await
}

/// Answer a task, as its target.
///
/// The message becomes the task's `result`, and the task ends with its outcome, all at once. A reviewed task is
/// not completed by this: it goes to `input-required`, and the initiator completes it.
#[utoipa::path(post, path = "/tasks/{id}/reply", tag = "tasks", params(("id" = String, Path)),
    request_body = ReplyTask, responses((status = 200, body = RepliedView)))]
pub(crate) async fn reply(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    input: Input<ReplyTask>,
) -> Result<Response, ApiError> {
    let task: TaskId = id(&task, "task")?;
    let body = hub.body_on_task(&me, &task, input.body).await?;
    let outcome = match body.outcome.unwrap_or_default() {
        ReplyOutcome::Completed => Outcome::Completed,
        ReplyOutcome::Failed => Outcome::Failed,
        ReplyOutcome::Cancelled => Outcome::Cancelled,
    };
    let expected = Expected { status: body.expected_status, versions: input.versions };
    let message = SendMessage {
        content: body.content,
        content_type: body.content_type,
        check_in_seconds: None,
        encrypted_keys: body.encrypted_keys,
        sender_signature: body.sender_signature,
    };
    let message = hub.message_on(&me, &task, Ok(message)).await?;
    if let Some(kept) = hub.kept_answer(&me, input.key.as_ref()).await? {
        return Ok(kept);
    }
    let new = NewReply { message, outcome, expected };
    let (by, of) = (me.clone(), task.clone());
    let sending = hub.answer_once(&me, input.key, StatusCode::OK, move |tx, now| {
        let replied = tasks::reply(tx, &by, &of, &new, now)?;
        let note = "This task is reviewed: the result waits for its initiator, who completes it.";
        Ok(RepliedView {
            task: TaskView::new(replied.task, &by),
            message: MessageView::from(replied.message),
            note: replied.for_review.then(|| note.to_owned()),
        })
    });
    hub.counted_on_task(&me, &task, sending).await
}

/// Read what you have not read.
///
/// Gives your unread messages, oldest first, and marks them as read; their author gets `message.read`.
#[utoipa::path(post, path = "/tasks/{id}/read", tag = "messages", params(("id" = String, Path)),
    responses((status = 200, body = ReadView)))]
pub(crate) async fn read(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    input: Input<Nothing>,
) -> Result<Response, ApiError> {
    let task: TaskId = id(&task, "task")?;
    hub.body_on_task(&me, &task, input.body).await?;
    let by = me.clone();
    hub.answer_once(&me, input.key, StatusCode::OK, move |tx, now| {
        let read = tasks::read(tx, &by, &task, now)?;
        let messages = read.messages.into_iter().map(MessageView::from).collect();
        Ok(ReadView { messages, unread_count: read.unread })
    })
    .await
}

/// Acknowledge everything outstanding on a task.
///
/// The other party's messages and, for the target, the task itself; their author gets `message.acknowledged`. Any
/// later act of yours on the task says the same.
#[utoipa::path(post, path = "/tasks/{id}/ack", tag = "messages", params(("id" = String, Path)),
    responses((status = 200, body = AcknowledgedView)))]
pub(crate) async fn acknowledge(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    input: Input<Nothing>,
) -> Result<Response, ApiError> {
    let task: TaskId = id(&task, "task")?;
    hub.body_on_task(&me, &task, input.body).await?;
    let by = me.clone();
    hub.answer_once(&me, input.key, StatusCode::OK, move |tx, now| {
        let done = tasks::acknowledge(tx, &by, &task, now)?;
        Ok(AcknowledgedView {
            acknowledged: true,
            message_ids: done.messages,
            acknowledged_at: done.task_at,
            unread_count: 0,
        })
    })
    .await
}

/// Show a sign of life, as the target of a task under way.
///
/// Renews the task's lease, if it has one, and says how far the work is. Raises no event.
#[utoipa::path(post, path = "/tasks/{id}/heartbeat", tag = "tasks", params(("id" = String, Path)),
    request_body = Heartbeat, responses((status = 200, body = TaskView)))]
pub(crate) async fn heartbeat(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    input: Input<Heartbeat>,
) -> Result<Response, ApiError> {
    let task: TaskId = id(&task, "task")?;
    let body = hub.body_on_task(&me, &task, input.body).await?;
    let sign = Sign { progress: body.progress, note: body.note };
    let by = me.clone();
    hub.answer_once(&me, input.key, StatusCode::OK, move |tx, now| {
        Ok(TaskView::new(tasks::heartbeat(tx, &by, &task, &sign, now)?, &by))
    })
    .await
}

/// What became of a task of yours: the tasks that others made for it.
///
/// For the task's initiator: where each stands and between whom it is, and nothing of what it says.
#[utoipa::path(get, path = "/tasks/{id}/tree", tag = "tasks", params(("id" = String, Path)),
    responses((status = 200, body = TreeView)))]
pub(crate) async fn tree(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
) -> Answer<TreeView> {
    let task: TaskId = id(&task, "task")?;
    let tree = hub.read(move |tx, now| tasks::tree(tx, &me, &task, now)).await?;
    Ok(Json(TreeView {
        root: TreeTask::new(0, tree.root),
        descendants: tree.descendants.into_iter().map(|(depth, task)| TreeTask::new(depth, task)).collect(),
        has_more: tree.has_more,
    }))
}

/// Report what the work has cost, as the target.
///
/// It adds to the task's `usageReported`. If tasks for you cost credits, it is taken from the initiator's balance as
/// far as that goes; when nothing is left, or a task has cost as much as it may, it pauses to `input-required`.
#[utoipa::path(post, path = "/tasks/{id}/usage", tag = "tasks", params(("id" = String, Path)),
    request_body = ReportUsage, responses((status = 200, body = UsageView)))]
pub(crate) async fn report_usage(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    input: Input<ReportUsage>,
) -> Result<Response, ApiError> {
    let task: TaskId = id(&task, "task")?;
    let cost = hub.body_on_task(&me, &task, input.body).await?.cost;
    let cap = hub.config.task_usage_max();
    let by = me.clone();
    hub.answer_once(&me, input.key, StatusCode::OK, move |tx, now| {
        let usage = tasks::report_usage(tx, &by, &task, cost, cap, now)?;
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

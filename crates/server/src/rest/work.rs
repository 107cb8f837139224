//! Actions on a task beyond a status change.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::messages::MessageView;
use tandem_api::parts::AddArtifact;
use tandem_api::tasks::{
    Heartbeat, ReassignTask, RepliedView, ReplyTask, ReportUsage, RetryTask, TaskView, UsageView,
};
use tandem_hub::Hub;
use tandem_hub::ops::{artifacts, tasks};

use crate::http::{ApiError, OnTask, answer};

/// Retry a task.
///
/// For the initiator of a failed, cancelled or expired task: the same task starts again. The target gets
/// `task.created`.
#[utoipa::path(post, path = "/tasks/{id}/retry", tag = "tasks", params(("id" = String, Path)),
    request_body = RetryTask, responses((status = 200, body = TaskView)))]
pub(crate) async fn retry(State(hub): State<Hub>, input: OnTask<RetryTask>) -> Result<Response, ApiError> {
    let OnTask { caller, task, body } = input;
    Ok(answer(&caller, StatusCode::OK, &tasks::retry(&hub, &caller, &task, body).await?))
}

/// Reassign a live task to another agent.
///
/// The new target gets `task.created` and the whole thread. The former target gets `task.reassigned` and can no
/// longer see the task.
#[utoipa::path(post, path = "/tasks/{id}/reassign", tag = "tasks", params(("id" = String, Path)),
    request_body = ReassignTask, responses((status = 200, body = TaskView)))]
pub(crate) async fn reassign(
    State(hub): State<Hub>,
    input: OnTask<ReassignTask>,
) -> Result<Response, ApiError> {
    let OnTask { caller, task, body } = input;
    Ok(answer(&caller, StatusCode::OK, &tasks::reassign(&hub, &caller, &task, body).await?))
}

/// Reply to a task, as its target.
///
/// The message becomes the task's `result`, and the status changes in the same step. A reviewed task changes to
/// `input-required` instead, and its initiator completes it.
#[utoipa::path(post, path = "/tasks/{id}/reply", tag = "tasks", params(("id" = String, Path)),
    request_body = ReplyTask, responses((status = 200, body = RepliedView)))]
pub(crate) async fn reply(State(hub): State<Hub>, input: OnTask<ReplyTask>) -> Result<Response, ApiError> {
    let OnTask { caller, task, body } = input;
    Ok(answer(&caller, StatusCode::OK, &tasks::reply(&hub, &caller, &task, body).await?))
}

/// Hand over an artifact, as the target.
///
/// A part of the work, beside or before the reply: texts, data, addresses, files. It is kept as a message of kind `artifact`.
/// Pieces of one artifact have the same `artifactId` and `append`. A task takes 2 MiB of them; send more as files.
#[utoipa::path(post, path = "/tasks/{id}/artifacts", tag = "tasks", params(("id" = String, Path)),
    request_body = AddArtifact, responses((status = 201, body = MessageView)))]
pub(crate) async fn add_artifact(
    State(hub): State<Hub>,
    input: OnTask<AddArtifact>,
) -> Result<Response, ApiError> {
    let OnTask { caller, task, body } = input;
    Ok(answer(&caller, StatusCode::CREATED, &artifacts::add(&hub, &caller, &task, body).await?))
}

/// Send a heartbeat, as the target of a working task.
///
/// Renews the lease, if the task has one, and reports progress. Creates no event.
#[utoipa::path(post, path = "/tasks/{id}/heartbeat", tag = "tasks", params(("id" = String, Path)),
    request_body = Heartbeat, responses((status = 200, body = TaskView)))]
pub(crate) async fn heartbeat(
    State(hub): State<Hub>,
    input: OnTask<Heartbeat>,
) -> Result<Response, ApiError> {
    let OnTask { caller, task, body } = input;
    Ok(answer(&caller, StatusCode::OK, &tasks::heartbeat(&hub, &caller, &task, body).await?))
}

/// Report the costs of the work, as the target.
///
/// Adds to the task's `usageReported`. If tasks for you cost credits, the costs are deducted from the initiator's
/// balance, down to zero. If the balance is zero or the task has reached its cost limit, the task pauses in
/// `input-required`.
#[utoipa::path(post, path = "/tasks/{id}/usage", tag = "tasks", params(("id" = String, Path)),
    request_body = ReportUsage, responses((status = 200, body = UsageView)))]
pub(crate) async fn report_usage(
    State(hub): State<Hub>,
    input: OnTask<ReportUsage>,
) -> Result<Response, ApiError> {
    let OnTask { caller, task, body } = input;
    Ok(answer(&caller, StatusCode::OK, &tasks::report_usage(&hub, &caller, &task, body).await?))
}

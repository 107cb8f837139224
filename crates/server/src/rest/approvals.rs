//! The approval gate of the target.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::tasks::{ApproveTask, PageQuery, TaskView, WithReason};
use tandem_hub::ops::approvals;
use tandem_hub::{Hub, paging};

use crate::http::visitor::{Authenticated, SentUri};
use crate::http::{self, ApiError, OnTask, Query, answer};

/// List the tasks that need your approval, newest first.
#[utoipa::path(get, path = "/approvals", tag = "approvals", params(PageQuery),
    responses((status = 200, body = Vec<TaskView>)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    Ok(http::list(&approvals::list(&hub, &caller, query, paging::TASKS).await?, &uri))
}

/// Approve a task.
///
/// The initiator gets `task.updated`, and you get `task.created`. A `note` is the owner's word to its own agent.
#[utoipa::path(post, path = "/approvals/{taskId}/approve", tag = "approvals", params(("taskId" = String, Path)),
    request_body = ApproveTask, responses((status = 200, body = TaskView)))]
pub(crate) async fn approve(
    State(hub): State<Hub>,
    input: OnTask<ApproveTask>,
) -> Result<Response, ApiError> {
    let OnTask { caller, task, body } = input;
    Ok(answer(&caller, StatusCode::OK, &approvals::approve(&hub, &caller, &task, body).await?))
}

/// Reject a task.
///
/// It is cancelled, and the initiator gets the reason.
#[utoipa::path(post, path = "/approvals/{taskId}/reject", tag = "approvals", params(("taskId" = String, Path)),
    request_body = WithReason, responses((status = 200, body = TaskView)))]
pub(crate) async fn reject(State(hub): State<Hub>, input: OnTask<WithReason>) -> Result<Response, ApiError> {
    let OnTask { caller, task, body } = input;
    Ok(answer(&caller, StatusCode::OK, &approvals::reject(&hub, &caller, &task, body).await?))
}

/// Approve a task; the same as under `/approvals`.
#[utoipa::path(post, path = "/tasks/{id}/approve", tag = "approvals", params(("id" = String, Path)),
    request_body = ApproveTask, responses((status = 200, body = TaskView)))]
pub(crate) async fn approve_task(hub: State<Hub>, input: OnTask<ApproveTask>) -> Result<Response, ApiError> {
    approve(hub, input).await
}

/// Reject a task; the same as under `/approvals`.
#[utoipa::path(post, path = "/tasks/{id}/reject", tag = "approvals", params(("id" = String, Path)),
    request_body = WithReason, responses((status = 200, body = TaskView)))]
pub(crate) async fn reject_task(hub: State<Hub>, input: OnTask<WithReason>) -> Result<Response, ApiError> {
    reject(hub, input).await
}

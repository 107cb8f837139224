//! The target's answer at its gate.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::tasks::{PageQuery, TaskView, WithReason};
use tandem_app::approvals;
use tandem_app::tasks::Expected;
use tandem_core::{AgentId, TaskId};

use crate::http::front::{Caller, SentUri};
use crate::http::{ApiError, Input, Param, Query, paging};
use crate::hub::Hub;
use crate::rest::id;

/// Tasks that wait for your approval, newest first.
#[utoipa::path(get, path = "/approvals", tag = "approvals", params(PageQuery),
    responses((status = 200, body = Vec<TaskView>)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Caller(me): Caller,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let limit = paging::LIST.of(query.limit)?;
    let before = paging::place(query.cursor.as_deref())?;
    let by = me.clone();
    let page = hub.read(move |tx, now| approvals::list(tx, &by, before.as_ref(), limit, now)).await?;
    let views: Vec<TaskView> = page.items.into_iter().map(|task| TaskView::new(task, &me)).collect();
    paging::list(&views, page.next.as_ref().map(paging::cursor).as_deref(), &uri)
}

/// Let a task in.
///
/// The initiator gets `task.updated`, and you get `task.created`.
#[utoipa::path(post, path = "/approvals/{taskId}/approve", tag = "approvals", params(("taskId" = String, Path)),
    responses((status = 200, body = TaskView)))]
pub(crate) async fn approve(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    input: Input<WithReason>,
) -> Result<Response, ApiError> {
    decide(hub, me, &task, input, true).await
}

/// Decline a task.
///
/// It is cancelled, and the initiator learns the reason.
#[utoipa::path(post, path = "/approvals/{taskId}/reject", tag = "approvals", params(("taskId" = String, Path)),
    request_body = WithReason, responses((status = 200, body = TaskView)))]
pub(crate) async fn reject(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    input: Input<WithReason>,
) -> Result<Response, ApiError> {
    decide(hub, me, &task, input, false).await
}

/// Let a task in; the same as under `/approvals`.
#[utoipa::path(post, path = "/tasks/{id}/approve", tag = "approvals", params(("id" = String, Path)),
    responses((status = 200, body = TaskView)))]
pub(crate) async fn approve_task(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    input: Input<WithReason>,
) -> Result<Response, ApiError> {
    decide(hub, me, &task, input, true).await
}

/// Decline a task; the same as under `/approvals`.
#[utoipa::path(post, path = "/tasks/{id}/reject", tag = "approvals", params(("id" = String, Path)),
    request_body = WithReason, responses((status = 200, body = TaskView)))]
pub(crate) async fn reject_task(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    input: Input<WithReason>,
) -> Result<Response, ApiError> {
    decide(hub, me, &task, input, false).await
}

async fn decide(
    hub: Hub,
    me: AgentId,
    task: &str,
    input: Input<WithReason>,
    approve: bool,
) -> Result<Response, ApiError> {
    let task: TaskId = id(task, "task")?;
    let body = hub.body_on_task(&me, &task, input.body).await?;
    let expected = Expected { status: body.expected_status, versions: input.versions };
    let by = me.clone();
    hub.answer_once(&me, input.key, StatusCode::OK, move |tx, now| {
        let task = if approve {
            approvals::approve(tx, &by, &task, &expected, now)?
        } else {
            approvals::reject(tx, &by, &task, body.reason.as_ref(), &expected, now)?
        };
        Ok(TaskView::new(task, &by))
    })
    .await
}

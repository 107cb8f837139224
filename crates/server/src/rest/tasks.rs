//! Tasks.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use tandem_api::tasks::{
    CreateTask, DeletedTask, PageQuery, PatchTask, TaskLogView, TaskView, TasksQuery, TreeView, WithReason,
};
use tandem_core::TaskId;
use tandem_hub::ops::tasks::Versioned;
use tandem_hub::ops::{parse_id, tasks};
use tandem_hub::{Caller, Hub, paging};

use crate::http::input::if_match;
use crate::http::visitor::{Authenticated, SentUri};
use crate::http::{self, Answer, ApiError, Input, Json, OnTask, Param, Query, answer};

/// A task with its `ETag`.
fn tagged(task: Versioned) -> Response {
    let mut response = Json(task.view).into_response();
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", task.version)) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// Create a task for another agent.
///
/// The target gets `task.created`, or `task.approval_required` if its rule requires approval.
#[utoipa::path(post, path = "/tasks", tag = "tasks", request_body = CreateTask,
    responses((status = 201, body = TaskView)))]
pub(crate) async fn create(State(hub): State<Hub>, input: Input<CreateTask>) -> Result<Response, ApiError> {
    let Input { caller, body } = input;
    Ok(answer(&caller, StatusCode::CREATED, &tasks::create(&hub, &caller, body).await?))
}

/// List your tasks, newest first.
#[utoipa::path(get, path = "/tasks", tag = "tasks", params(TasksQuery),
    responses((status = 200, body = Vec<TaskView>)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    SentUri(uri): SentUri,
    Query(query): Query<TasksQuery>,
) -> Result<Response, ApiError> {
    Ok(http::list(&tasks::list(&hub, &caller, query, paging::TASKS).await?, &uri))
}

/// Get a task.
#[utoipa::path(get, path = "/tasks/{id}", tag = "tasks", params(("id" = String, Path)),
    responses((status = 200, body = TaskView)))]
pub(crate) async fn view(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param(task): Param<String>,
) -> Result<Response, ApiError> {
    Ok(tagged(tasks::view(&hub, &caller, &parse_id(&task, "task")?).await?))
}

/// Change a task.
///
/// Its status (to one of `nextStatuses`), your session key, its message budget, or the text of a draft. With
/// `expectedStatus` or `If-Match` the request is refused if the task has changed since you read it.
#[utoipa::path(patch, path = "/tasks/{id}", tag = "tasks", params(("id" = String, Path), ("If-Match" = Option<String>, Header)),
    request_body = PatchTask, responses((status = 200, body = TaskView)))]
pub(crate) async fn change(State(hub): State<Hub>, input: OnTask<PatchTask>) -> Result<Response, ApiError> {
    Ok(tagged(tasks::change(&hub, &input.caller, &input.task, input.body).await?))
}

/// Delete an ended task, or one of your drafts.
///
/// Its messages, its files, and its events in both logs are deleted with it.
#[utoipa::path(delete, path = "/tasks/{id}", tag = "tasks", params(("id" = String, Path)),
    responses((status = 200, body = DeletedTask)))]
pub(crate) async fn delete(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param(task): Param<String>,
    headers: HeaderMap,
) -> Answer<DeletedTask> {
    let caller = Caller { if_match: if_match(&headers), ..caller };
    Ok(Json(tasks::delete(&hub, &caller, &parse_id(&task, "task")?).await?))
}

/// Cancel a task.
///
/// The same as setting its status to `cancelled`. The other party gets the reason.
#[utoipa::path(post, path = "/tasks/{id}/cancel", tag = "tasks", params(("id" = String, Path)),
    request_body = WithReason, responses((status = 200, body = TaskView)))]
pub(crate) async fn cancel(State(hub): State<Hub>, input: OnTask<WithReason>) -> Result<Response, ApiError> {
    let OnTask { caller, task, body } = input;
    Ok(answer(&caller, StatusCode::OK, &tasks::cancel(&hub, &caller, &task, body).await?))
}

/// Get the history of a task, oldest first.
#[utoipa::path(get, path = "/tasks/{id}/events", tag = "tasks", params(("id" = String, Path), PageQuery),
    responses((status = 200, body = Vec<TaskLogView>)))]
pub(crate) async fn history(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param(task): Param<String>,
    SentUri(uri): SentUri,
    query: Result<Query<PageQuery>, ApiError>,
) -> Result<Response, ApiError> {
    let task: TaskId = parse_id(&task, "task")?;
    let query = hub.on_task(&caller, &task, query.map_err(|error| error.0)).await?.0;
    Ok(http::list(&tasks::history(&hub, &caller, &task, query, paging::WHOLE).await?, &uri))
}

/// Get the subtasks of a task that you created.
///
/// For each: the status and the parties, without content.
#[utoipa::path(get, path = "/tasks/{id}/tree", tag = "tasks", params(("id" = String, Path)),
    responses((status = 200, body = TreeView)))]
pub(crate) async fn tree(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param(task): Param<String>,
) -> Answer<TreeView> {
    Ok(Json(tasks::tree(&hub, &caller, &parse_id(&task, "task")?).await?))
}

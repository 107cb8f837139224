//! Tasks.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use tandem_api::tasks::{
    CreateTask, DeletedTask, PageQuery, PatchTask, TaskLogView, TaskView, TasksQuery, WithReason,
};
use tandem_app::Invalid;
use tandem_app::sealed::{self, Fields, Sealed};
use tandem_app::tasks::{self, Change, Expected, NewTask};
use tandem_core::tasks::Priority;
use tandem_core::{AgentId, Now, Status, Task, TaskId};
use tandem_store::Tx;
use tandem_store::tasks::Filter;

use crate::http::front::{Caller, SentUri};
use crate::http::input::if_match;
use crate::http::{Answer, ApiError, Input, Json, Param, Query, paging};
use crate::hub::{Hub, HubParts, UseCase};
use crate::rest::{id, nothing_to_change, numbered_page};

/// A task with its `ETag`.
pub(crate) fn tagged(task: Task, ahead: Option<i64>, me: &AgentId) -> Response {
    let tag = HeaderValue::from_str(&format!("\"{}\"", task.version));
    let mut view = TaskView::new(task, me);
    view.delivery.ahead = ahead;
    let mut response = Json(view).into_response();
    if let Ok(tag) = tag {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// The tasks among these that their target sees for the first time.
fn unfetched(tasks: &[Task], me: &AgentId) -> Vec<TaskId> {
    tasks.iter().filter(|task| task.is_unfetched_by(me)).map(|task| task.id.clone()).collect()
}

/// Hand a task to another agent.
///
/// The target gets `task.created`, or `task.approval_required` if it wants to look first.
#[utoipa::path(post, path = "/tasks", tag = "tasks", request_body = CreateTask,
    responses((status = 201, body = TaskView)))]
pub(crate) async fn create(
    State(hub): State<Hub>,
    Caller(me): Caller,
    input: Input<CreateTask>,
) -> Result<Response, ApiError> {
    let make = hub.new_task(&me, input.body?).await?;
    hub.answer_once(&me, input.key, StatusCode::CREATED, make).await
}

/// Your tasks, newest first.
#[utoipa::path(get, path = "/tasks", tag = "tasks", params(TasksQuery),
    responses((status = 200, body = Vec<TaskView>)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Caller(me): Caller,
    SentUri(uri): SentUri,
    Query(query): Query<TasksQuery>,
) -> Result<Response, ApiError> {
    let (views, next) = hub.list_tasks(&me, query).await?;
    paging::list(&views, next.as_deref(), &uri)
}

/// One task.
#[utoipa::path(get, path = "/tasks/{id}", tag = "tasks", params(("id" = String, Path)),
    responses((status = 200, body = TaskView)))]
pub(crate) async fn view(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
) -> Result<Response, ApiError> {
    let task: TaskId = id(&task, "task")?;
    let by = me.clone();
    let (mut task, ahead) = hub.read(move |tx, now| tasks::view(tx, &by, &task, now)).await?;
    if task.is_unfetched_by(&me) {
        task.fetched_at = hub.note_fetched(&me, vec![task.id.clone()]).await?;
    }
    Ok(tagged(task, ahead, &me))
}

/// Change a task.
///
/// Its status (to one of its `nextStatuses`), your session key, how many messages it may have, or a draft's
/// text. Say which state you saw by `expectedStatus` or `If-Match`, and a change in between is refused instead
/// of overwritten.
#[utoipa::path(patch, path = "/tasks/{id}", tag = "tasks", params(("id" = String, Path), ("If-Match" = Option<String>, Header)),
    request_body = PatchTask, responses((status = 200, body = TaskView)))]
pub(crate) async fn change(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    input: Input<PatchTask>,
) -> Result<Response, ApiError> {
    let task: TaskId = id(&task, "task")?;
    let body = input.body.and_then(|body| if is_empty(&body) { Err(nothing_to_change()) } else { Ok(body) });
    let body = hub.body_on_task(&me, &task, body).await?;
    let sealed = hub.sealed_draft(&me, &task, &body).await?;
    let change = Change {
        status: body.status,
        reason: body.reason,
        expected: Expected { status: body.expected_status, versions: input.versions },
        session_key: body.session_key,
        title: body.title,
        description: body.description,
        max_messages: body.max_messages,
        sealed,
    };
    let by = me.clone();
    let task = hub.write(move |tx, now| tasks::change(tx, &by, &task, &change, now)).await?;
    Ok(tagged(task, None, &me))
}

fn is_empty(body: &PatchTask) -> bool {
    body.status.is_none()
        && body.session_key.is_none()
        && body.title.is_none()
        && body.description.is_none()
        && body.max_messages.is_none()
}

/// Delete a task that has ended, or a draft of yours.
///
/// Its messages go with it, and its events from both logs.
#[utoipa::path(delete, path = "/tasks/{id}", tag = "tasks", params(("id" = String, Path)),
    responses((status = 200, body = DeletedTask)))]
pub(crate) async fn delete(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    headers: HeaderMap,
) -> Answer<DeletedTask> {
    let task: TaskId = id(&task, "task")?;
    let expected = Expected { status: None, versions: if_match(&headers) };
    let gone = hub.write(move |tx, now| tasks::delete(tx, &me, &task, &expected, now)).await?;
    hub.files.remove(&gone.files).await;
    let deleted_files = gone.files.len() as u64;
    Ok(Json(DeletedTask { deleted: true, deleted_messages: gone.messages, deleted_files }))
}

/// Cancel a task.
///
/// The same as setting its status to `cancelled`; the other party learns the reason.
#[utoipa::path(post, path = "/tasks/{id}/cancel", tag = "tasks", params(("id" = String, Path)),
    request_body = WithReason, responses((status = 200, body = TaskView)))]
pub(crate) async fn cancel(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    input: Input<WithReason>,
) -> Result<Response, ApiError> {
    let task: TaskId = id(&task, "task")?;
    let body = hub.body_on_task(&me, &task, input.body).await?;
    let change = Change {
        status: Some(Status::Cancelled),
        reason: body.reason,
        expected: Expected { status: body.expected_status, versions: input.versions },
        ..Change::default()
    };
    let by = me.clone();
    hub.answer_once(&me, input.key, StatusCode::OK, move |tx, now| {
        Ok(TaskView::new(tasks::change(tx, &by, &task, &change, now)?, &by))
    })
    .await
}

/// A task's history, oldest first.
#[utoipa::path(get, path = "/tasks/{id}/events", tag = "tasks", params(("id" = String, Path), PageQuery),
    responses((status = 200, body = Vec<TaskLogView>)))]
pub(crate) async fn history(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    SentUri(uri): SentUri,
    query: Result<Query<PageQuery>, ApiError>,
) -> Result<Response, ApiError> {
    let task: TaskId = id(&task, "task")?;
    let (limit, after) = hub.body_on_task(&me, &task, query.and_then(numbered_page)).await?;
    let after = after.unwrap_or(0);
    let page = hub.read(move |tx, now| tasks::history(tx, &me, &task, after, limit, now)).await?;
    let views: Vec<TaskLogView> = page
        .items
        .into_iter()
        .map(|line| TaskLogView {
            from_status: line.from,
            to_status: line.to,
            actor: line.actor,
            detail: line.detail,
            attempt: line.attempt,
            created_at: line.at,
        })
        .collect();
    paging::list(&views, page.next.map(|number| number.to_string()).as_deref(), &uri)
}

/// What the fields of an encrypted description are called.
const FIELDS: Fields = Fields { content: "description", keys: "descriptionKeys" };

impl HubParts {
    /// A new task that has been checked as far as it can be before it is made.
    pub(crate) async fn new_task(
        &self,
        me: &AgentId,
        body: CreateTask,
    ) -> Result<impl UseCase<TaskView> + use<>, ApiError> {
        let sealed = self.sealed_task(me, &body).await?;
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
        };
        let (by, defaults) = (me.clone(), self.config.task_defaults());
        Ok(move |tx: &mut Tx<'_>, now: &Now| {
            Ok(TaskView::new(tasks::create(tx, &by, &new, &defaults, now)?, &by))
        })
    }

    /// A page of somebody's tasks, and where the next begins.
    pub(crate) async fn list_tasks(
        &self,
        me: &AgentId,
        query: TasksQuery,
    ) -> Result<(Vec<TaskView>, Option<String>), ApiError> {
        let filter = Filter {
            status: query.status,
            role: query.role.map(Into::into),
            with: query.with,
            text: query.q,
            before: paging::place(query.cursor.as_deref())?,
            limit: paging::LIST.of(query.limit)?,
        };
        let by = me.clone();
        let page = self.read(move |tx, now| tasks::list(tx, &by, &filter, now)).await?;
        self.note_fetched(me, unfetched(&page.items, me)).await?;
        let views = page.items.into_iter().map(|task| TaskView::new(task, me)).collect();
        Ok((views, page.next.as_ref().map(paging::cursor)))
    }

    /// The keys and the signature of a new encrypted task, checked.
    async fn sealed_task(&self, me: &AgentId, body: &CreateTask) -> Result<Option<Sealed>, ApiError> {
        let keys = body.description_keys.as_ref();
        if body.encrypted != Some(true) {
            return match keys {
                Some(_) => Err(Invalid::field("descriptionKeys", "are for encrypted tasks").into()),
                None => Ok(None),
            };
        }
        let needed = |field| Invalid::field(field, "is needed for an encrypted task");
        let id = body.id.as_ref().ok_or_else(|| needed("id"))?;
        let content = body.description.as_ref().ok_or_else(|| needed("description"))?;
        let (by, target, network) = (me.clone(), body.target_agent_id.clone(), body.network_id.clone());
        let parties =
            self.read(move |tx, _| sealed::parties_of_new(tx, &by, &target, network.as_ref())).await?;
        let signature = body.sender_signature.as_deref();
        Ok(Some(parties.check(id, content.as_str(), keys, signature, FIELDS)?))
    }

    /// The same for a draft's new description.
    async fn sealed_draft(
        &self,
        me: &AgentId,
        task: &TaskId,
        body: &PatchTask,
    ) -> Result<Option<Sealed>, ApiError> {
        let Some(Some(content)) = &body.description else { return Ok(None) };
        let Some(parties) = self.parties_of(me, task).await? else {
            return match &body.description_keys {
                Some(_) => {
                    let error = Invalid::field("descriptionKeys", "are for encrypted tasks");
                    Err(self.refuse_on_task(me.clone(), task.clone(), error.into()).await.into())
                }
                None => Ok(None),
            };
        };
        let (keys, signature) = (body.description_keys.as_ref(), body.sender_signature.as_deref());
        let checked = parties.check(task, content.as_str(), keys, signature, FIELDS).map_err(ApiError::from);
        Ok(Some(self.body_on_task(me, task, checked).await?))
    }
}

//! Messages on a task.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::messages::{DeletedMessage, MessageView, SendMessage, SendToAgent};
use tandem_api::tasks::{AcknowledgedView, PageQuery, ReadView};
use tandem_core::TaskId;
use tandem_hub::Hub;
use tandem_hub::ops::{messages, parse_id, receipts};

use crate::http::input::EmptyBody;
use crate::http::visitor::{Authenticated, SentUri};
use crate::http::{self, Answer, ApiError, Input, Json, OnTask, Param, Query, answer};

/// The memory of a page of messages, as rows and as a response.
const PAGE_BYTES: usize = 8 * 1024 * 1024;

/// Send a message on a task.
///
/// The other party gets `message.created`. The limit is ten messages per minute, agent and task.
#[utoipa::path(post, path = "/tasks/{id}/messages", tag = "messages", params(("id" = String, Path)),
    request_body = SendMessage, responses((status = 201, body = MessageView)))]
pub(crate) async fn send(State(hub): State<Hub>, input: OnTask<SendMessage>) -> Result<Response, ApiError> {
    let OnTask { caller, task, body } = input;
    Ok(answer(&caller, StatusCode::CREATED, &messages::send(&hub, &caller, &task, body).await?))
}

/// Send a message to an agent.
///
/// It is sent on the newest open task with that agent. If there is none, create a task.
#[utoipa::path(post, path = "/messages", tag = "messages", request_body = SendToAgent,
    responses((status = 201, body = MessageView)))]
pub(crate) async fn send_to_agent(
    State(hub): State<Hub>,
    input: Input<SendToAgent>,
) -> Result<Response, ApiError> {
    let Input { caller, body } = input;
    Ok(answer(&caller, StatusCode::CREATED, &messages::send_to_agent(&hub, &caller, body).await?))
}

/// List the messages of a task, oldest first.
///
/// The first page holds the newest messages; `Link: rel="next"` leads to older ones.
#[utoipa::path(get, path = "/tasks/{id}/messages", tag = "messages", params(("id" = String, Path), PageQuery),
    responses((status = 200, body = Vec<MessageView>)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param(task): Param<String>,
    SentUri(uri): SentUri,
    query: Result<Query<PageQuery>, ApiError>,
) -> Result<Response, ApiError> {
    let task: TaskId = parse_id(&task, "task")?;
    let query = hub.on_task(&caller, &task, query.map_err(|error| error.0)).await?.0;
    Ok(http::list(&messages::list(&hub, &caller, &task, query).await?, &uri))
}

/// Delete one of your messages.
///
/// `[deleted]` remains in its place, and the other party gets `message.deleted`.
#[utoipa::path(delete, path = "/tasks/{id}/messages/{messageId}", tag = "messages",
    params(("id" = String, Path), ("messageId" = String, Path)), responses((status = 200, body = DeletedMessage)))]
pub(crate) async fn delete(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param((task, message)): Param<(String, String)>,
) -> Answer<DeletedMessage> {
    let (task, message) = (parse_id(&task, "task")?, parse_id(&message, "message")?);
    Ok(Json(messages::delete(&hub, &caller, &task, &message).await?))
}

/// Read your unread messages.
///
/// Returns them, oldest first, and marks them as read; their author gets `message.read`.
#[utoipa::path(post, path = "/tasks/{id}/read", tag = "messages", params(("id" = String, Path)),
    responses((status = 200, body = ReadView)))]
pub(crate) async fn read(State(hub): State<Hub>, input: OnTask<EmptyBody>) -> Result<Response, ApiError> {
    // Messages that were marked as read must be returned, so there must be room for them first.
    let _room = hub.budget.hold(&input.caller, PAGE_BYTES)?;
    Ok(answer(&input.caller, StatusCode::OK, &receipts::read(&hub, &input.caller, &input.task).await?))
}

/// Acknowledge all messages on a task.
///
/// As the target, you also acknowledge the task itself. The author gets `message.acknowledged`. Any later action of
/// yours on the task does the same.
#[utoipa::path(post, path = "/tasks/{id}/ack", tag = "messages", params(("id" = String, Path)),
    responses((status = 200, body = AcknowledgedView)))]
pub(crate) async fn acknowledge(
    State(hub): State<Hub>,
    input: OnTask<EmptyBody>,
) -> Result<Response, ApiError> {
    Ok(answer(&input.caller, StatusCode::OK, &receipts::acknowledge(&hub, &input.caller, &input.task).await?))
}

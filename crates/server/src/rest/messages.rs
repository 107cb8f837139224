//! Messages within a task.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::messages::{DeletedMessage, MessageView, SendMessage, SendToAgent};
use tandem_api::tasks::PageQuery;
use tandem_app::Invalid;
use tandem_app::messages::{self, NewMessage};
use tandem_app::sealed::{Fields, Sealed};
use tandem_core::messages::ContentType;
use tandem_core::{AgentId, MessageId, Now, TaskId};
use tandem_store::Tx;

use crate::http::front::{Caller, SentUri};
use crate::http::{Answer, ApiError, Input, Json, Param, Query, paging};
use crate::hub::{Hub, HubParts, UseCase};
use crate::rates::Rated;
use crate::rest::{id, numbered_page};

/// What the contract says to wait after too many messages.
const RETRY_SECONDS: i64 = 60;

/// Say something on a task.
///
/// The other party gets `message.created`. An agent may send ten messages a minute on a task.
#[utoipa::path(post, path = "/tasks/{id}/messages", tag = "messages", params(("id" = String, Path)),
    request_body = SendMessage, responses((status = 201, body = MessageView)))]
pub(crate) async fn send(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    input: Input<SendMessage>,
) -> Result<Response, ApiError> {
    let task: TaskId = id(&task, "task")?;
    let send = hub.new_message(&me, task.clone(), input.body).await?;
    if let Some(kept) = hub.kept_answer(&me, input.key.as_ref()).await? {
        return Ok(kept);
    }
    hub.counted_on_task(&me, &task, hub.answer_once(&me, input.key, StatusCode::CREATED, send)).await
}

/// Say something to an agent.
///
/// It goes to the newest open task with that agent; if there is none, nothing is sent: create one.
#[utoipa::path(post, path = "/messages", tag = "messages", request_body = SendToAgent,
    responses((status = 201, body = MessageView)))]
pub(crate) async fn send_to_agent(
    State(hub): State<Hub>,
    Caller(me): Caller,
    input: Input<SendToAgent>,
) -> Result<Response, ApiError> {
    let body = input.body?;
    let (by, agent) = (me.clone(), body.agent_id);
    let message = SendMessage {
        content: body.content,
        content_type: body.content_type,
        check_in_seconds: body.check_in_seconds,
        encrypted_keys: body.encrypted_keys,
        sender_signature: body.sender_signature,
    };
    check(&message)?;
    if let Some(kept) = hub.kept_answer(&me, input.key.as_ref()).await? {
        return Ok(kept);
    }
    let task = hub.read(move |tx, now| messages::newest_open_task(tx, &by, &agent, now)).await?;
    let send = hub.new_message(&me, task.clone(), Ok(message)).await?;
    hub.counted_on_task(&me, &task, hub.answer_once(&me, input.key, StatusCode::CREATED, send)).await
}

/// What a message's content is: what it says, or what its keys say.
fn content_type(body: &SendMessage) -> ContentType {
    let unsaid = if body.encrypted_keys.is_some() { ContentType::Encrypted } else { ContentType::Text };
    body.content_type.unwrap_or(unsaid)
}

/// Whether a message's content is what it says it is.
fn check(body: &SendMessage) -> Result<(), ApiError> {
    let text = body.content.as_str();
    if text.is_empty() {
        return Err(Invalid::field("content", "must not be empty").into());
    }
    match content_type(body) {
        ContentType::Text | ContentType::Encrypted => Ok(()),
        ContentType::Json => match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => Ok(()),
            Err(_) => Err(Invalid::field("content", "must be a JSON document, as text").into()),
        },
        ContentType::File => {
            let why = "must be text, json or encrypted; a file is sent by POST /tasks/:id/files";
            Err(Invalid::field("contentType", why).into())
        }
    }
}

/// What the fields of an encrypted message are called.
const FIELDS: Fields = Fields { content: "content", keys: "encryptedKeys" };

impl HubParts {
    /// Sends a message of an agent's to a task or a network, unless it has sent too many there. What is refused does
    /// not count.
    pub(crate) async fn counted<T>(
        &self,
        me: &AgentId,
        to: &str,
        sending: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        let (who, limit) = (format!("{me} {to}"), self.config.max_messages_per_minute);
        let counted = self.rates.count(Rated::Messages, &who, limit, self.clock.now());
        if let Some(rate) = counted.filter(|counted| !counted.allowed) {
            return Err(ApiError::RateLimited { retry_seconds: RETRY_SECONDS, rate });
        }
        let sent = sending.await;
        // Where it went wrong here, it may have been sent all the same.
        if sent.as_ref().is_err_and(|error| !error.is_ours()) {
            self.rates.uncount(Rated::Messages, &who);
        }
        sent
    }

    /// The same on a task, whose standing a refusal tells.
    pub(crate) async fn counted_on_task<T>(
        &self,
        me: &AgentId,
        task: &TaskId,
        sending: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        match self.counted(me, task.as_str(), sending).await {
            Err(too_many @ ApiError::RateLimited { .. }) => self.body_on_task(me, task, Err(too_many)).await,
            other => other,
        }
    }

    /// A message that has been checked as far as it can be before it is sent.
    pub(crate) async fn new_message(
        &self,
        me: &AgentId,
        task: TaskId,
        body: Result<SendMessage, ApiError>,
    ) -> Result<impl UseCase<MessageView> + use<>, ApiError> {
        let new = self.message_on(me, &task, body).await?;
        let by = me.clone();
        Ok(move |tx: &mut Tx<'_>, now: &Now| {
            Ok(MessageView::from(messages::send(tx, &by, &task, &new, now)?))
        })
    }

    /// A message as it can be added to a task: its content is what it says, and signed if it is encrypted. If not,
    /// the task has the first word.
    pub(crate) async fn message_on(
        &self,
        me: &AgentId,
        task: &TaskId,
        body: Result<SendMessage, ApiError>,
    ) -> Result<NewMessage, ApiError> {
        let body = self.body_on_task(me, task, body.and_then(|body| check(&body).map(|()| body))).await?;
        let content_type = content_type(&body);
        let sealed = match content_type {
            ContentType::Encrypted => self.sealed_message(me, task, &body).await?,
            _ => None,
        };
        Ok(NewMessage {
            content: body.content,
            content_type,
            check_in_seconds: body.check_in_seconds,
            sealed,
        })
    }

    /// The keys and the signature of an encrypted message, checked; none on a task that takes no such message.
    async fn sealed_message(
        &self,
        me: &AgentId,
        task: &TaskId,
        body: &SendMessage,
    ) -> Result<Option<Sealed>, ApiError> {
        let Some(parties) = self.parties_of(me, task).await? else { return Ok(None) };
        let (keys, signature) = (body.encrypted_keys.as_ref(), body.sender_signature.as_deref());
        let checked = parties.check(task, body.content.as_str(), keys, signature, FIELDS);
        Ok(Some(self.body_on_task(me, task, checked.map_err(ApiError::from)).await?))
    }
}

/// A task's thread, oldest first.
///
/// The page without a cursor holds the newest; `Link: rel="next"` leads to older ones.
#[utoipa::path(get, path = "/tasks/{id}/messages", tag = "messages", params(("id" = String, Path), PageQuery),
    responses((status = 200, body = Vec<MessageView>)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    SentUri(uri): SentUri,
    query: Result<Query<PageQuery>, ApiError>,
) -> Result<Response, ApiError> {
    let task: TaskId = id(&task, "task")?;
    let (limit, before) = hub.body_on_task(&me, &task, query.and_then(numbered_page)).await?;
    let page = hub.read(move |tx, now| messages::list(tx, &me, &task, before, limit, now)).await?;
    let views: Vec<MessageView> = page.items.into_iter().map(Into::into).collect();
    paging::list(&views, page.next.map(|number| number.to_string()).as_deref(), &uri)
}

/// Take back a message of yours.
///
/// `[deleted]` stays in its place, and the other party gets `message.deleted`.
#[utoipa::path(delete, path = "/tasks/{id}/messages/{messageId}", tag = "messages",
    params(("id" = String, Path), ("messageId" = String, Path)), responses((status = 200, body = DeletedMessage)))]
pub(crate) async fn delete(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param((task, message)): Param<(String, String)>,
) -> Answer<DeletedMessage> {
    let task: TaskId = id(&task, "task")?;
    let message_id: MessageId = id(&message, "message")?;
    let message = message_id.clone();
    let file = hub.write(move |tx, now| messages::delete(tx, &me, &task, &message, now)).await?;
    hub.files.remove(file.as_slice()).await;
    Ok(Json(DeletedMessage { deleted: true, message_id }))
}

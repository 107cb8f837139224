//! Messages on a task.

use tandem_api::messages::{DeletedMessage, MessageView, SendMessage, SendToAgent};
use tandem_api::tasks::PageQuery;
use tandem_app::limits::{self, Limit};
use tandem_app::messages::{self, NewMessage};
use tandem_app::sealed::{self, Fields, Sealed};
use tandem_app::tasks;
use tandem_app::{Error as AppError, Invalid, files};
use tandem_core::files::File;
use tandem_core::messages::{ContentType, Message};
use tandem_core::text::Body;
use tandem_core::{MessageId, Task, TaskId};

use crate::ops::paging;
use crate::{Caller, Error, HubParts, Listed};

/// The window of the message limit.
const MINUTE_SECONDS: u32 = 60;
/// Field names of an encrypted message.
const FIELDS: Fields = Fields { content: "content", keys: "encryptedKeys" };

pub async fn send(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: SendMessage,
) -> Result<MessageView, Error> {
    // Before the checks: the task may have changed since the first request.
    if let Some(earlier) = hub.earlier_answer(caller).await? {
        return Ok(earlier);
    }
    let new = checked(hub, caller, task, body).await?;
    let (by, id) = (caller.agent.clone(), task.clone());
    hub.write_once(caller, move |tx, now| Ok(MessageView::new(messages::send(tx, &by, &id, &new, now)?, &by)))
        .await
}

/// Sends a message to an agent, on the newest open task with it.
pub async fn send_to_agent(hub: &HubParts, caller: &Caller, body: SendToAgent) -> Result<MessageView, Error> {
    let (by, agent) = (caller.agent.clone(), body.agent_id);
    let message = SendMessage {
        content: body.content,
        content_type: body.content_type,
        check_in_seconds: body.check_in_seconds,
        in_reply_to: body.in_reply_to,
        encrypted_keys: body.encrypted_keys,
        sender_signature: body.sender_signature,
    };
    check(&message)?;
    if let Some(earlier) = hub.earlier_answer(caller).await? {
        return Ok(earlier);
    }
    let task = hub.read(caller, move |tx, now| messages::newest_open_task(tx, &by, &agent, now)).await?;
    send(hub, caller, &task, message).await
}

/// A task's thread. The first page holds the newest messages; each page is oldest first.
pub async fn list(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    query: PageQuery,
) -> Result<Listed<MessageView>, Error> {
    let page = paging::MESSAGES.of(query.limit);
    let page = page.and_then(|limit| Ok((limit, paging::number(query.cursor.as_deref())?)));
    let (limit, before) = hub.on_task(caller, task, page).await?;
    let (by, id) = (caller.agent.clone(), task.clone());
    let page = hub.read_page(caller, move |tx, now| messages::list(tx, &by, &id, before, limit, now)).await?;
    Ok(Listed::new(page, |message| MessageView::new(message, &caller.agent), ToString::to_string))
}

pub async fn delete(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    message: &MessageId,
) -> Result<DeletedMessage, Error> {
    let (by, id, deleted) = (caller.agent.clone(), task.clone(), message.clone());
    hub.write(caller, move |tx, now| messages::delete(tx, &by, &id, &deleted, now)).await?;
    Ok(DeletedMessage { deleted: true, message_id: message.clone() })
}

/// The content type, given explicitly or implied by wrapped keys.
fn content_type(body: &SendMessage) -> ContentType {
    let unsaid = if body.encrypted_keys.is_some() { ContentType::Encrypted } else { ContentType::Text };
    body.content_type.unwrap_or(unsaid)
}

/// Checks that the content fits its type.
fn check(body: &SendMessage) -> Result<(), Invalid> {
    let text = body.content.as_str();
    if text.is_empty() {
        return Err(Invalid::field("content", "must not be empty"));
    }
    match content_type(body) {
        ContentType::Text | ContentType::Encrypted => Ok(()),
        ContentType::Json => match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => Ok(()),
            Err(_) => Err(Invalid::field("content", "must be a JSON document, as text")),
        },
        ContentType::File => {
            let why = "must be text, json or encrypted; send a file with POST /tasks/:id/files";
            Err(Invalid::field("contentType", why))
        }
    }
}

/// Checks the content of a message and, if it is encrypted, its signature.
pub(super) async fn checked(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: SendMessage,
) -> Result<NewMessage, Error> {
    hub.on_task(caller, task, check(&body)).await?;
    let content_type = content_type(&body);
    let sealed = match content_type {
        ContentType::Encrypted => sealed_message(hub, caller, task, &body).await?,
        _ => None,
    };
    Ok(NewMessage {
        content: body.content,
        content_type,
        check_in_seconds: body.check_in_seconds,
        sealed,
        in_reply_to: body.in_reply_to,
        limit: Some(limit_of(hub, caller, task.as_str())),
        sent: None,
        artifact: None,
        direct: false,
    })
}

/// Checks keys and signature of an encrypted message; `None` if the task is not encrypted.
async fn sealed_message(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: &SendMessage,
) -> Result<Option<Sealed>, Error> {
    let Some(parties) = parties_of(hub, caller, task).await? else { return Ok(None) };
    let (keys, signature) = (body.encrypted_keys.as_ref(), body.sender_signature.as_deref());
    let checked = parties.check(task, body.content.as_str(), keys, signature, FIELDS);
    hub.on_task(caller, task, checked).await.map(Some)
}

/// The parties of an encrypted task with their public keys.
pub(super) async fn parties_of(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
) -> Result<Option<sealed::Parties>, Error> {
    let (by, id) = (caller.agent.clone(), task.clone());
    hub.read(caller, move |tx, now| sealed::parties_of(tx, &by, &id, now)).await
}

/// How often the caller may write to a task or network.
pub(super) fn limit_of(hub: &HubParts, caller: &Caller, to: &str) -> Limit {
    let who = format!("{} {to}", caller.agent);
    Limit {
        kind: limits::Kind::Messages,
        who,
        max: hub.config.max_messages_per_minute,
        seconds: MINUTE_SECONDS,
    }
}

/// Sends the answer of a sampled model. The answer to a new task also sets it to `working`.
pub async fn send_sampled(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    content: Body,
    begins: bool,
) -> Result<(), Error> {
    let limit = Some(limit_of(hub, caller, task.as_str()));
    let message = NewMessage { limit, ..NewMessage::plain(content) };
    let (by, id) = (caller.agent.clone(), task.clone());
    let sent = hub.write(caller, move |tx, now| {
        let send = if begins { messages::begin } else { messages::send };
        send(tx, &by, &id, &message, now).map(drop)
    });
    sent.await
}

/// A task with its newest messages and their files, for a prompt.
#[derive(Debug)]
pub struct Thread {
    pub task: Task,
    /// The newest messages, oldest first.
    pub messages: Vec<Message>,
    pub files: Vec<File>,
}

/// A task with its newest messages.
pub async fn recent(hub: &HubParts, caller: &Caller, task: &TaskId, limit: i64) -> Result<Thread, Error> {
    let (by, id) = (caller.agent.clone(), task.clone());
    hub.read(caller, move |tx, now| {
        let (task, _) = tasks::view(tx, &by, &id, now)?;
        let messages = messages::list(tx, &by, &id, None, limit, now)?.items;
        let mut files = Vec::new();
        for message in messages.iter().filter(|message| message.content_type == ContentType::File) {
            let Ok(file) = message.content.parse() else { continue };
            match files::find(tx, &by, &file) {
                Ok((file, _)) => files.push(file),
                // It was deleted.
                Err(AppError::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Thread { task, messages, files })
    })
    .await
}

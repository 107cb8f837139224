//! Messages within a task.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tandem_core::messages::{ContentType, Kind, Message, SYSTEM};
use tandem_core::tasks::CheckInSeconds;
use tandem_core::text::{Alias, Body};
use tandem_core::{MessageId, TaskId, Timestamp};
use utoipa::ToSchema;

/// What to say.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendMessage {
    /// Plain text, or a JSON document as text. At most 256 KiB.
    #[schema(value_type = String, example = "How about Tuesday at 2pm?")]
    pub content: Body,
    /// `text` (default), `json` or, on an encrypted task, `encrypted`.
    #[schema(value_type = Option<String>)]
    pub content_type: Option<ContentType>,
    /// Within how many seconds it should be acknowledged; else you get `message.no_ack`. 0 for never; as the
    /// task says, if left out.
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 86_400)]
    pub check_in_seconds: Option<CheckInSeconds>,
    /// For encrypted content: each party's wrapped key.
    #[schema(value_type = Option<Object>)]
    pub encrypted_keys: Option<BTreeMap<String, String>>,
    /// For encrypted content: your signature.
    pub sender_signature: Option<String>,
}

/// What to say to an agent, on the newest open task with it.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendToAgent {
    /// The agent's id, or your alias for it.
    #[schema(value_type = String)]
    pub agent_id: Alias,
    /// Plain text, or a JSON document as text. At most 256 KiB.
    #[schema(value_type = String)]
    pub content: Body,
    /// `text` (default), `json` or, on an encrypted task, `encrypted`.
    #[schema(value_type = Option<String>)]
    pub content_type: Option<ContentType>,
    /// Within how many seconds it should be acknowledged.
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 86_400)]
    pub check_in_seconds: Option<CheckInSeconds>,
    /// For encrypted content: each party's wrapped key.
    #[schema(value_type = Option<Object>)]
    pub encrypted_keys: Option<BTreeMap<String, String>>,
    /// For encrypted content: your signature.
    pub sender_signature: Option<String>,
}

/// A message.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: MessageId,
    /// The task it belongs to.
    #[schema(value_type = String)]
    pub task_id: TaskId,
    /// Who wrote it: an agent's id, or `system`.
    pub sender_agent_id: String,
    /// The writer's name; null for the hub's own.
    pub sender_agent_name: Option<String>,
    /// `message`, `reply`, `system` or `broadcast`.
    #[schema(value_type = String)]
    pub kind: Kind,
    /// What it says; `[deleted]` once taken back.
    pub content: String,
    /// `text`, `json`, `file` or `encrypted`.
    #[schema(value_type = String)]
    pub content_type: ContentType,
    /// For encrypted content: each party's wrapped key.
    #[schema(value_type = Option<Object>)]
    pub encrypted_keys: Option<Box<serde_json::value::RawValue>>,
    /// For encrypted content: the sender's signature.
    pub sender_signature: Option<String>,
    /// When its recipient read it.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub read_at: Option<Timestamp>,
    /// When its recipient acknowledged it.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub acknowledged_at: Option<Timestamp>,
    /// When it was written.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl From<Message> for MessageView {
    fn from(message: Message) -> Self {
        Self {
            id: message.id,
            task_id: message.task,
            sender_agent_id: message.sender.map_or_else(|| SYSTEM.to_owned(), |id| id.to_string()),
            sender_agent_name: message.sender_name,
            kind: message.kind,
            content: message.content,
            content_type: message.content_type,
            encrypted_keys: message.encrypted_keys.as_deref().and_then(crate::object),
            sender_signature: message.sender_signature,
            read_at: message.read_at,
            acknowledged_at: message.acknowledged_at,
            created_at: message.created_at,
        }
    }
}

/// A message that was taken back.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedMessage {
    /// Always true.
    pub deleted: bool,
    /// Its id.
    #[schema(value_type = String)]
    pub message_id: MessageId,
}

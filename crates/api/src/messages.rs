//! Messages on a task.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tandem_core::files::File;
use tandem_core::messages::{ContentType, Kind, Message};
use tandem_core::tasks::CheckInSeconds;
use tandem_core::text::{Alias, Body};
use tandem_core::{AgentId, MessageId, TaskId, Timestamp};
use utoipa::ToSchema;

use crate::actor::Actor;
use crate::fence::Fence;
use crate::parts::{ArtifactView, ForeignView};
use crate::text::{Author, PeerContent, PeerJson, PeerName, PeerTags, PeerText, PeerToken, WrappedKeys};
use crate::words;

/// A message to send.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendMessage {
    /// Plain text, or a JSON document as text. At most 256 KiB.
    #[schema(value_type = String, example = "How about Tuesday at 2pm?")]
    pub content: Body,
    /// `text` (default), `json` or, on an encrypted task, `encrypted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<words::ContentType>)]
    pub content_type: Option<ContentType>,
    /// Seconds until you get `message.no_ack` if it is not acknowledged; 0 turns it off. Default: the task's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<i64>, minimum = 0, maximum = 86_400)]
    pub check_in_seconds: Option<CheckInSeconds>,
    /// The message of this task that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    pub in_reply_to: Option<MessageId>,
    /// For encrypted content: the wrapped key of each party.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, String>>)]
    pub encrypted_keys: Option<BTreeMap<String, String>>,
    /// For encrypted content: your signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub sender_signature: Option<String>,
}

impl SendMessage {
    /// A plain text.
    #[must_use]
    pub fn new(content: Body) -> Self {
        Self {
            content,
            content_type: None,
            check_in_seconds: None,
            in_reply_to: None,
            encrypted_keys: None,
            sender_signature: None,
        }
    }
}

/// A message to an agent, sent on the newest open task with it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendToAgent {
    /// An agent id, or your alias for it.
    #[schema(value_type = String)]
    pub agent_id: Alias,
    /// Plain text, or a JSON document as text. At most 256 KiB.
    #[schema(value_type = String)]
    pub content: Body,
    /// `text` (default), `json` or, on an encrypted task, `encrypted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<words::ContentType>)]
    pub content_type: Option<ContentType>,
    /// Seconds until you get `message.no_ack` if it is not acknowledged; 0 turns it off. Default: the task's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<i64>, minimum = 0, maximum = 86_400)]
    pub check_in_seconds: Option<CheckInSeconds>,
    /// The message of this task that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    pub in_reply_to: Option<MessageId>,
    /// For encrypted content: the wrapped key of each party.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, String>>)]
    pub encrypted_keys: Option<BTreeMap<String, String>>,
    /// For encrypted content: your signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub sender_signature: Option<String>,
}

impl SendToAgent {
    /// A plain text.
    #[must_use]
    pub fn new(agent_id: Alias, content: Body) -> Self {
        Self {
            agent_id,
            content,
            content_type: None,
            check_in_seconds: None,
            in_reply_to: None,
            encrypted_keys: None,
            sender_signature: None,
        }
    }
}

/// The file that a message announces.
#[derive(Debug, Clone, Serialize, Deserialize, Fence)]
#[serde(rename_all = "camelCase")]
pub struct MessageFile {
    /// File name.
    pub filename: PeerText,
    /// Media type.
    pub mime_type: PeerText,
    /// Size in bytes.
    pub size_bytes: i64,
}

impl MessageFile {
    /// The file as `reader` sees it.
    #[must_use]
    pub fn new(file: File, reader: &AgentId) -> Self {
        let author = Author::of(&file.uploader, reader);
        Self {
            filename: PeerText::new(author, file.name),
            mime_type: PeerText::new(author, file.mime_type),
            size_bytes: file.size_bytes,
        }
    }
}

/// A message on a task.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    /// The message id.
    #[schema(value_type = String)]
    pub id: MessageId,
    /// The task it belongs to.
    #[schema(value_type = String)]
    pub task_id: TaskId,
    /// The message of the same task that it answers.
    #[schema(value_type = Option<String>)]
    pub in_reply_to: Option<MessageId>,
    /// The sender: an agent id, or `system`.
    #[schema(value_type = String)]
    pub sender_agent_id: Actor,
    /// The sender's name; null for the hub.
    #[schema(value_type = Option<String>)]
    pub sender_agent_name: Option<PeerName>,
    /// `message`, `reply`, `artifact`, `system` or `broadcast`.
    #[schema(value_type = words::MessageKind)]
    pub kind: Kind,
    /// The content; `[deleted]` after deletion.
    #[schema(value_type = String)]
    pub content: PeerContent,
    /// `text`, `json`, `file` or `encrypted`.
    #[schema(value_type = words::ContentType)]
    pub content_type: ContentType,
    /// For encrypted content: the wrapped key of each party.
    #[schema(value_type = Option<BTreeMap<String, String>>)]
    pub encrypted_keys: Option<WrappedKeys>,
    /// For encrypted content: the sender's signature.
    #[schema(value_type = Option<String>)]
    pub sender_signature: Option<PeerToken>,
    /// When the recipient read it.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub read_at: Option<Timestamp>,
    /// When the recipient acknowledged it.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub acknowledged_at: Option<Timestamp>,
    /// When it was sent.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// The id that an A2A client gave to the message.
    #[schema(value_type = Option<String>)]
    pub message_id: Option<PeerText>,
    /// The parts of the message, if it is more than one text: an array of objects with `text`, `data`, `url` or `fileId`.
    #[schema(value_type = Option<Vec<Object>>)]
    pub parts: Option<PeerJson>,
    /// What an A2A client sent as metadata.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<PeerJson>,
    /// The tasks that an A2A client named as references. The hub does not look them up.
    #[schema(value_type = Option<Vec<String>>)]
    pub reference_task_ids: Option<PeerTags>,
    /// The media types that an A2A client accepts in answers.
    #[schema(value_type = Option<Vec<String>>)]
    pub accepted_output_modes: Option<PeerTags>,
    /// For an artifact: what it is called, and how it continues an earlier one.
    pub artifact: Option<ArtifactView>,
    /// The file that the message announces, for models only. Not part of REST.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub file: Option<MessageFile>,
}

impl MessageView {
    /// The message as `reader` sees it.
    #[must_use]
    pub fn new(message: Message, reader: &AgentId) -> Self {
        let sender = Actor::from(message.sender);
        let author = sender.author(reader);
        // The content of a file message is the file id.
        let is_token = matches!(message.content_type, ContentType::Encrypted | ContentType::File);
        let foreign = ForeignView::new(author, message.foreign);
        Self {
            id: message.id,
            task_id: message.task,
            in_reply_to: message.in_reply_to,
            sender_agent_id: sender,
            sender_agent_name: message.sender_name.map(|name| PeerName::new(author, name)),
            kind: message.kind,
            content: PeerContent::new(author, message.content, is_token),
            content_type: message.content_type,
            encrypted_keys: message.encrypted_keys.and_then(|keys| WrappedKeys::new(author, keys)),
            sender_signature: message.sender_signature.map(|text| PeerToken::new(author, text)),
            read_at: message.read_at,
            acknowledged_at: message.acknowledged_at,
            created_at: message.created_at,
            message_id: foreign.message_id,
            parts: foreign.parts,
            metadata: foreign.metadata,
            reference_task_ids: foreign.reference_task_ids,
            accepted_output_modes: foreign.accepted_output_modes,
            artifact: message.artifact.and_then(|header| ArtifactView::new(author, &header)),
            file: None,
        }
    }
}

/// A message that was deleted.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct DeletedMessage {
    /// Always true.
    pub deleted: bool,
    /// The message id.
    #[schema(value_type = String)]
    pub message_id: MessageId,
}

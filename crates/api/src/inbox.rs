//! The caller's inbox.

use serde::{Deserialize, Serialize};
use tandem_core::tasks::Priority;
use tandem_core::{AgentId, MessageId, NetworkId, TaskId, Timestamp};
use utoipa::ToSchema;

use crate::fence::{Fence, no_text};
use crate::text::{PeerCursor, PeerName, PeerText};
use crate::words;

/// The kind of an inbox item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum InboxKind {
    /// A submitted task.
    Task,
    /// A task that needs your approval.
    Approval,
    /// A thread with unread messages.
    Messages,
    /// A broadcast in one of your networks.
    Broadcast,
}

/// An item of the inbox.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct InboxItem {
    /// The kind of the item.
    pub kind: InboxKind,
    /// The task; null for a broadcast.
    #[schema(value_type = Option<String>)]
    pub task_id: Option<TaskId>,
    /// The title of the task, or the name of the network.
    #[schema(value_type = String)]
    pub title: PeerText,
    /// The agent it comes from.
    #[schema(value_type = String)]
    pub from_agent_id: AgentId,
    /// That agent's name.
    #[schema(value_type = String)]
    pub from_agent_name: PeerName,
    /// `high`, `normal` or `low`.
    #[schema(value_type = words::Priority)]
    pub priority: Priority,
    /// Number of unread messages.
    pub unread_count: i64,
    /// The network of a broadcast; otherwise null.
    #[schema(value_type = Option<String>)]
    pub network_id: Option<NetworkId>,
    /// The message of a broadcast; otherwise null.
    #[schema(value_type = Option<String>)]
    pub message_id: Option<MessageId>,
    /// When the task was created, or the oldest unread message was sent.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// The text of a broadcast, for models only: no other tool shows it. Not part of REST.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub content: Option<PeerText>,
}

/// A page of the inbox.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct InboxView {
    /// The items, by priority and then oldest first.
    pub items: Vec<InboxItem>,
    /// Whether there are more; see `Link: rel="next"`.
    pub has_more: bool,
    /// Cursor of the next page, for models. REST sends it in the `Link` header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub next_cursor: Option<PeerCursor>,
}

no_text!(InboxKind);

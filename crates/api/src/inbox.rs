//! What waits for the caller, in the order in which to look at it.

use serde::Serialize;
use tandem_core::tasks::Priority;
use tandem_core::{AgentId, MessageId, NetworkId, TaskId, Timestamp};
use utoipa::ToSchema;

/// Why something waits.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum InboxKind {
    /// A task to take.
    Task,
    /// A task to approve or to reject.
    Approval,
    /// A thread with something unread.
    Messages,
    /// Something that was said to a network of yours.
    Broadcast,
}

/// Something that waits.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxItem {
    /// Why it waits.
    pub kind: InboxKind,
    /// The task; null for a broadcast.
    #[schema(value_type = Option<String>)]
    pub task_id: Option<TaskId>,
    /// The task's title, or the network's name.
    pub title: String,
    /// Whom it is from.
    #[schema(value_type = String)]
    pub from_agent_id: AgentId,
    /// That agent's name.
    pub from_agent_name: String,
    /// `high`, `normal` or `low`.
    #[schema(value_type = String)]
    pub priority: Priority,
    /// How many messages are unread.
    pub unread_count: i64,
    /// The network of a broadcast; null for anything else.
    #[schema(value_type = Option<String>)]
    pub network_id: Option<NetworkId>,
    /// The message of a broadcast; null for anything else.
    #[schema(value_type = Option<String>)]
    pub message_id: Option<MessageId>,
    /// Since when it waits: the task's creation, or the oldest unread message.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// A page of the inbox.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxView {
    /// What waits: by priority, then oldest first.
    pub items: Vec<InboxItem>,
    /// Whether there is more; `Link: rel="next"` leads to it.
    pub has_more: bool,
}

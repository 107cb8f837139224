//! Tasks: results of operations.

use serde::{Deserialize, Serialize};
use tandem_core::credits::Usd;
use tandem_core::tasks::Task;
use tandem_core::{AgentId, MessageId, Status, TaskId, Timestamp};
use utoipa::ToSchema;

use super::TaskView;
use crate::actor::Actor;
use crate::fence::Fence;
use crate::messages::MessageView;
use crate::text::{Author, HubText, PeerName, PeerText};
use crate::words;

/// A task that was deleted.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct DeletedTask {
    /// Always true.
    pub deleted: bool,
    /// Number of deleted messages.
    pub deleted_messages: u64,
    /// Number of deleted files.
    pub deleted_files: u64,
}

/// An entry of a task's history.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct TaskLogView {
    /// The status before; null when the task was created.
    #[schema(value_type = Option<words::Status>)]
    pub from_status: Option<Status>,
    /// The status after.
    #[schema(value_type = words::Status)]
    pub to_status: Status,
    /// Who changed it: an agent id, or `system`.
    #[schema(value_type = String)]
    pub actor: Actor,
    /// The agent's name as it was then; null for the hub.
    #[schema(value_type = Option<String>)]
    pub actor_name: Option<PeerName>,
    /// The reason, or another note.
    #[schema(value_type = Option<String>)]
    pub detail: Option<PeerText>,
    /// Number of the attempt.
    pub attempt: i64,
    /// When it changed.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// A task with its newest messages, for models.
#[derive(Debug, Clone, Serialize, Deserialize, Fence)]
#[serde(rename_all = "camelCase")]
pub struct ThreadView {
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// The messages, oldest first.
    pub messages: Vec<MessageView>,
    /// Cursor of older messages, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older_messages_cursor: Option<HubText>,
}

/// Messages that are now marked as read.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct ReadView {
    /// The messages, oldest first, at most 1,000.
    pub messages: Vec<MessageView>,
    /// Number of messages still unread.
    pub unread_count: i64,
}

/// The result of an acknowledgement.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct AcknowledgedView {
    /// Always true.
    pub acknowledged: bool,
    /// The acknowledged messages, oldest first.
    #[schema(value_type = Vec<String>)]
    pub message_ids: Vec<MessageId>,
    /// When the target first acknowledged the task.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub acknowledged_at: Option<Timestamp>,
    /// Number of messages still unread; always 0.
    pub unread_count: i64,
}

/// The task and the message after a reply.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct RepliedView {
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// The message that was added.
    pub message: MessageView,
    /// A note, for example that the initiator has to accept the result.
    #[schema(value_type = Option<String>)]
    pub note: Option<HubText>,
}

/// A task in a tree, without its content.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct TreeTask {
    /// The task id.
    #[schema(value_type = String)]
    pub id: TaskId,
    /// The parent task.
    #[schema(value_type = Option<String>)]
    pub parent_task_id: Option<TaskId>,
    /// Distance from the root.
    pub depth: i64,
    /// The current status.
    #[schema(value_type = words::Status)]
    pub status: Status,
    /// Number of the current attempt.
    pub attempt: i64,
    /// The agent that created it.
    #[schema(value_type = String)]
    pub initiator_agent_id: AgentId,
    /// The initiator's name.
    #[schema(value_type = String)]
    pub initiator_agent_name: PeerName,
    /// The agent that it is assigned to.
    #[schema(value_type = String)]
    pub target_agent_id: AgentId,
    /// The target's name.
    #[schema(value_type = String)]
    pub target_agent_name: PeerName,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl TreeTask {
    /// A task at this depth. The root does not show its own parent.
    #[must_use]
    pub fn new(depth: i64, task: Task, viewer: &AgentId) -> Self {
        Self {
            initiator_agent_name: PeerName::new(Author::of(&task.initiator, viewer), task.initiator_name),
            target_agent_name: PeerName::new(Author::of(&task.target, viewer), task.target_name),
            id: task.id,
            parent_task_id: task.links.parent.filter(|_| depth > 0),
            depth,
            status: task.status,
            attempt: task.attempt.number,
            initiator_agent_id: task.initiator,
            target_agent_id: task.target,
            created_at: task.created_at,
            updated_at: task.updated_at,
        }
    }
}

/// A task and its subtasks.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct TreeView {
    /// The task at the root.
    #[serde(flatten)]
    pub root: TreeTask,
    /// Subtasks in breadth-first order, at most 500.
    pub descendants: Vec<TreeTask>,
    /// Whether there are more.
    pub has_more: bool,
}

/// The result of a usage report.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct UsageView {
    /// The amount deducted from the initiator's balance.
    #[schema(value_type = f64)]
    #[serde(deserialize_with = "crate::amount")]
    pub deducted: Usd,
    /// The initiator's remaining balance.
    #[schema(value_type = f64)]
    #[serde(deserialize_with = "crate::amount")]
    pub credits: Usd,
    /// Same as `credits`.
    #[schema(value_type = f64)]
    #[serde(deserialize_with = "crate::amount")]
    pub balance: Usd,
    /// Total reported on this task.
    #[schema(value_type = f64)]
    #[serde(deserialize_with = "crate::amount")]
    pub usage_reported: Usd,
    /// The status after the report.
    #[schema(value_type = words::Status)]
    pub status: Status,
    /// Whether this report paused the task.
    pub paused: bool,
}

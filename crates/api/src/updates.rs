//! `/updates`: tasks, approvals and messages that wait for the caller.

use serde::{Deserialize, Serialize};
use tandem_core::{AgentId, Status, TaskId, Timestamp};
use utoipa::ToSchema;

use crate::events::TypedEvent;
use crate::fence::Fence;
use crate::text::{HubText, PeerName, PeerText};
use crate::words;

/// Tasks, approvals and messages that wait for you.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct UpdatesView {
    /// Whether any of the lists has an entry.
    pub has_updates: bool,
    /// Submitted tasks.
    pub pending_tasks: Vec<PendingTask>,
    /// Tasks with unseen messages.
    pub unread_messages: Vec<UnreadThread>,
    /// Tasks that need your approval.
    pub pending_approvals: Vec<PendingTask>,
    /// Acknowledge this cursor to mark the messages as seen.
    pub cursor: i64,
    /// The epoch of your log.
    #[schema(value_type = String)]
    #[serde(default)]
    pub epoch: HubText,
}

/// A submitted task.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct PendingTask {
    /// The task id.
    #[schema(value_type = String)]
    pub id: TaskId,
    /// Title of the task.
    #[schema(value_type = String)]
    pub title: PeerText,
    /// The initiator's name.
    #[schema(value_type = String)]
    pub from_agent: PeerName,
    /// The initiator's id.
    #[schema(value_type = String)]
    pub from_agent_id: AgentId,
    /// The current status.
    #[schema(value_type = words::Status)]
    pub status: Status,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// A task with unseen messages.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct UnreadThread {
    /// The task id.
    #[schema(value_type = String)]
    pub task_id: TaskId,
    /// Title of the task.
    #[schema(value_type = String)]
    pub task_title: PeerText,
    /// Number of unseen messages.
    pub count: i64,
}

/// Updates together with the events since the last check, for models.
#[derive(Debug, Clone, Serialize, Deserialize, Fence)]
#[serde(rename_all = "camelCase")]
pub struct NewsView {
    /// The updates.
    #[serde(flatten)]
    pub updates: UpdatesView,
    /// The events, oldest first.
    pub events: Vec<TypedEvent>,
}

//! What waits for the caller.

use serde::Serialize;
use tandem_core::{AgentId, Status, TaskId, Timestamp};
use utoipa::ToSchema;

/// Everything that waits.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpdatesView {
    /// Whether anything does.
    pub has_updates: bool,
    /// Tasks to take.
    pub pending_tasks: Vec<PendingTask>,
    /// Threads with something new.
    pub unread_messages: Vec<UnreadThread>,
    /// Tasks to approve or to reject.
    pub pending_approvals: Vec<PendingTask>,
    /// What to acknowledge to have seen all this.
    pub cursor: i64,
}

/// A task that waits.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingTask {
    /// Its id.
    #[schema(value_type = String)]
    pub id: TaskId,
    /// Its title.
    pub title: String,
    /// The name of the agent it comes from.
    pub from_agent: String,
    /// The id of that agent.
    #[schema(value_type = String)]
    pub from_agent_id: AgentId,
    /// Where it stands.
    #[schema(value_type = String)]
    pub status: Status,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// A task with unread messages.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnreadThread {
    /// The task.
    #[schema(value_type = String)]
    pub task_id: TaskId,
    /// Its title.
    pub task_title: String,
    /// How many messages.
    pub count: i64,
}

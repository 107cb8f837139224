//! How tasks look.

use serde::Serialize;
use serde_json::value::RawValue;
use tandem_core::credits::Usd;
use tandem_core::tasks::{OnStall, Priority, Task};
use tandem_core::{AgentId, Approval, MessageId, NetworkId, Role, Status, TaskId, Timestamp};
use utoipa::ToSchema;

use crate::messages::MessageView;
use crate::object;

/// Where a task is on its way to being done.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// When it was put into the target's log.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub queued_at: Option<Timestamp>,
    /// When it was pushed to the target.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub pushed_at: Option<Timestamp>,
    /// When the target fetched it.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub fetched_at: Option<Timestamp>,
    /// When the target acknowledged it.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub acknowledged_at: Option<Timestamp>,
    /// When work began.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Timestamp>,
    /// How many live tasks the target has before it, up to 100, while it waits; only shown when one task is
    /// asked for.
    pub ahead: Option<i64>,
}

/// A task, as one of its parties sees it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: TaskId,
    /// What it is called.
    pub title: String,
    /// What is to be done.
    pub description: Option<String>,
    /// Where it stands.
    #[schema(value_type = String, example = "submitted")]
    pub status: Status,
    /// What was said about the last change.
    pub status_reason: Option<String>,
    /// What you may set its status to now.
    #[schema(value_type = Vec<String>)]
    pub next_statuses: Vec<Status>,
    /// Whether the initiator accepts the work.
    pub requires_review: bool,
    /// `high`, `normal` or `low`.
    #[schema(value_type = String)]
    pub priority: Priority,
    /// Which try this is, from 1.
    pub attempt: i64,
    /// Whether its content is end-to-end encrypted.
    pub encrypted: bool,
    /// For encrypted tasks: each party's wrapped key.
    #[schema(value_type = Option<Object>)]
    pub description_keys: Option<Box<RawValue>>,
    /// For encrypted tasks: the initiator's signature.
    pub sender_signature: Option<String>,
    /// Who made it.
    #[schema(value_type = String)]
    pub initiator_agent_id: AgentId,
    /// That agent's name.
    pub initiator_agent_name: String,
    /// Whom it is for.
    #[schema(value_type = String)]
    pub target_agent_id: AgentId,
    /// That agent's name.
    pub target_agent_name: String,
    /// How the target's gate answered: null, `pending`, `approved` or `rejected`.
    #[schema(value_type = Option<String>)]
    pub approval_status: Option<Approval>,
    /// How many messages you have not read.
    pub unread_count: i64,
    /// How long it waits to be taken.
    pub ttl_seconds: Option<i64>,
    /// When it expires.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
    /// Within how many seconds it should be acknowledged; 0 for never.
    pub check_in_seconds: i64,
    /// The task it is part of.
    #[schema(value_type = Option<String>)]
    pub parent_task_id: Option<TaskId>,
    /// The network it was sent in.
    #[schema(value_type = Option<String>)]
    pub network_id: Option<NetworkId>,
    /// The initiator's own key for it.
    pub initiator_session_key: Option<String>,
    /// The target's own key for it.
    pub target_session_key: Option<String>,
    /// What came of it.
    pub result: Option<String>,
    /// How far the work is, from 0 to 100.
    pub progress: Option<i64>,
    /// What the target says about that.
    pub progress_note: Option<String>,
    /// How often the target must show a sign of life.
    pub lease_seconds: Option<i64>,
    /// What happens when it does not.
    #[schema(value_type = String)]
    pub on_stall: OnStall,
    /// How many attempts there may be when it stalls.
    pub max_attempts: i64,
    /// How many messages there may be.
    pub max_messages: i64,
    /// What the target has reported to have cost, in US dollars.
    #[schema(value_type = f64)]
    pub usage_reported: Usd,
    /// Where it is on its way.
    pub delivery: Delivery,
    /// When the target acknowledged it.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub acknowledged_at: Option<Timestamp>,
    /// When work began.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub completed_at: Option<Timestamp>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl TaskView {
    /// The task as `viewer` sees it; whether it may has been decided already.
    #[must_use]
    pub fn new(task: Task, viewer: &AgentId) -> Self {
        let role = task.role_of(viewer).unwrap_or(Role::Target);
        let standing = task.standing(role);
        Self {
            unread_count: task.side(role).map_or(0, |side| side.unread),
            // Who has no part in the parent must not learn of it.
            parent_task_id: task.parent.filter(|_| role == Role::Initiator || task.parent_shared),
            id: task.id,
            title: task.title,
            description: task.description,
            status: task.status,
            status_reason: task.status_reason,
            next_statuses: standing.next,
            requires_review: task.requires_review,
            priority: task.priority,
            attempt: task.attempt,
            encrypted: task.encrypted,
            description_keys: task.description_keys.as_deref().and_then(object),
            sender_signature: task.sender_signature,
            initiator_agent_id: task.initiator,
            initiator_agent_name: task.initiator_name,
            target_agent_id: task.target,
            target_agent_name: task.target_name,
            approval_status: task.approval,
            ttl_seconds: task.terms.ttl_seconds,
            expires_at: task.expires_at,
            check_in_seconds: task.terms.check_in_seconds,
            network_id: task.network,
            initiator_session_key: task.initiator_side.session_key,
            target_session_key: task.target_side.session_key,
            result: task.result,
            progress: task.progress,
            progress_note: task.progress_note,
            lease_seconds: task.terms.lease_seconds,
            on_stall: task.terms.on_stall,
            max_attempts: task.terms.max_attempts,
            max_messages: task.terms.max_messages,
            usage_reported: Usd::from_micro(task.usage_micro),
            delivery: Delivery {
                queued_at: task.queued_at,
                pushed_at: task.pushed_at,
                fetched_at: task.fetched_at,
                acknowledged_at: task.acknowledged_at,
                started_at: task.started_at,
                ahead: None,
            },
            acknowledged_at: task.acknowledged_at,
            started_at: task.started_at,
            completed_at: task.completed_at,
            created_at: task.created_at,
            updated_at: task.updated_at,
        }
    }
}

/// A task that was deleted.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedTask {
    /// Always true.
    pub deleted: bool,
    /// How many messages went with it.
    pub deleted_messages: u64,
    /// How many files went with it.
    pub deleted_files: u64,
}

/// One line of a task's history.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskLogView {
    /// Where it stood; null at its creation.
    #[schema(value_type = Option<String>)]
    pub from_status: Option<Status>,
    /// Where it stands since.
    #[schema(value_type = String)]
    pub to_status: Status,
    /// Who moved it: an agent's id, or `system`.
    pub actor: String,
    /// What was said about it.
    pub detail: Option<String>,
    /// In which try.
    pub attempt: i64,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// What the caller had not read.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadView {
    /// The messages, oldest first, at most 1,000.
    pub messages: Vec<MessageView>,
    /// How many are left unread.
    pub unread_count: i64,
}

/// What was acknowledged.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcknowledgedView {
    /// Always true.
    pub acknowledged: bool,
    /// The messages that were outstanding, oldest first.
    #[schema(value_type = Vec<String>)]
    pub message_ids: Vec<MessageId>,
    /// When the target first acknowledged the task itself.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub acknowledged_at: Option<Timestamp>,
    /// How many messages you have not read: none.
    pub unread_count: i64,
}

/// What came of a reply: the task, and the message.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepliedView {
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// The reply itself.
    pub message: MessageView,
    /// What to know about it: that a reviewed task waits for its initiator.
    pub note: Option<String>,
}

/// A task in a tree: where it stands and whose it is, and nothing of what it says.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TreeTask {
    /// Its id.
    #[schema(value_type = String)]
    pub id: TaskId,
    /// The task it is part of.
    #[schema(value_type = Option<String>)]
    pub parent_task_id: Option<TaskId>,
    /// How far below the root it is.
    pub depth: i64,
    /// Where it stands.
    #[schema(value_type = String)]
    pub status: Status,
    /// Which try this is.
    pub attempt: i64,
    /// Who made it.
    #[schema(value_type = String)]
    pub initiator_agent_id: AgentId,
    /// That agent's name.
    pub initiator_agent_name: String,
    /// Whom it is for.
    #[schema(value_type = String)]
    pub target_agent_id: AgentId,
    /// That agent's name.
    pub target_agent_name: String,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl TreeTask {
    /// The task at this depth below the root; the root itself does not tell what it is part of.
    #[must_use]
    pub fn new(depth: i64, task: Task) -> Self {
        Self {
            id: task.id,
            parent_task_id: task.parent.filter(|_| depth > 0),
            depth,
            status: task.status,
            attempt: task.attempt,
            initiator_agent_id: task.initiator,
            initiator_agent_name: task.initiator_name,
            target_agent_id: task.target,
            target_agent_name: task.target_name,
            created_at: task.created_at,
            updated_at: task.updated_at,
        }
    }
}

/// A task and what others made of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TreeView {
    /// The task itself.
    #[serde(flatten)]
    pub root: TreeTask,
    /// The tasks below it, those nearer to it first, at most 500.
    pub descendants: Vec<TreeTask>,
    /// Whether there are more.
    pub has_more: bool,
}

/// What came of a report.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageView {
    /// What was taken from the initiator's balance.
    #[schema(value_type = f64)]
    pub deducted: Usd,
    /// What the initiator has left.
    #[schema(value_type = f64)]
    pub credits: Usd,
    /// The same.
    #[schema(value_type = f64)]
    pub balance: Usd,
    /// What has been reported on the task in all.
    #[schema(value_type = f64)]
    pub usage_reported: Usd,
    /// Where the task stands.
    #[schema(value_type = String)]
    pub status: Status,
    /// Whether it was paused.
    pub paused: bool,
}

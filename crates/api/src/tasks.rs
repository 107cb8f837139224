//! Tasks.

use serde::{Deserialize, Serialize};
use tandem_core::tasks::{Priority, Task};
use tandem_core::text::{Alias, Body, Reason, SearchText, SessionKey, Title};
use tandem_core::{AgentId, Approval, Role, Status, TaskId, Timestamp};
use utoipa::{IntoParams, ToSchema};

use crate::nullable;

/// A new task.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateTask {
    /// Whom it is for: an agent's id, or your alias for it.
    #[schema(value_type = String)]
    pub target_agent_id: Alias,
    /// A short title.
    #[schema(value_type = String, min_length = 1, max_length = 128, example = "Review the API document")]
    pub title: Title,
    /// What is to be done. At most 256 KiB.
    #[schema(value_type = Option<String>)]
    pub description: Option<Body>,
    /// Your own id for it, 1 to 64 of A-Z, a-z, 0-9, _ and -.
    #[schema(value_type = Option<String>)]
    pub id: Option<TaskId>,
    /// Whether its content is end-to-end encrypted. This hub does not take encrypted tasks yet.
    pub encrypted: Option<bool>,
    /// Make it without publishing it: only you see it until you set its status to `submitted`.
    pub draft: Option<bool>,
    /// Whether you accept the work: the target then delivers with `input-required` and cannot complete it.
    pub requires_review: Option<bool>,
    /// `high`, `normal` (default) or `low`.
    #[schema(value_type = Option<String>)]
    pub priority: Option<Priority>,
    /// An opaque key of yours, at most 256 bytes, that comes back in every event about the task.
    #[schema(value_type = Option<String>)]
    pub session_key: Option<SessionKey>,
}

/// Changes to a task. What is left out stays.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatchTask {
    /// Where it should go: one of its `nextStatuses`.
    #[schema(value_type = Option<String>, example = "working")]
    pub status: Option<Status>,
    /// Why; at most 1,000 characters.
    #[schema(value_type = Option<String>)]
    pub reason: Option<Reason>,
    /// The status you saw; if the task has moved on, the answer is 409 `conflict`.
    #[schema(value_type = Option<String>)]
    pub expected_status: Option<Status>,
    /// Your own session key; null clears it.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    pub session_key: Option<Option<SessionKey>>,
    /// A draft's new title.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 128)]
    pub title: Option<Title>,
    /// A draft's new description; null clears it.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    pub description: Option<Option<Body>>,
}

/// How to give a task up; nothing has to be said.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelTask {
    /// Why; at most 1,000 characters.
    #[schema(value_type = Option<String>)]
    pub reason: Option<Reason>,
    /// The status you saw; if the task has moved on, the answer is 409 `conflict`.
    #[schema(value_type = Option<String>)]
    pub expected_status: Option<Status>,
}

/// Why; nothing has to be said.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WithReason {
    /// At most 1,000 characters.
    #[schema(value_type = Option<String>)]
    pub reason: Option<Reason>,
}

/// Which of the two parties the caller is.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PartyRole {
    /// It made the task.
    Initiator,
    /// The task is for it.
    Target,
}

impl From<PartyRole> for Role {
    fn from(role: PartyRole) -> Self {
        match role {
            PartyRole::Initiator => Self::Initiator,
            PartyRole::Target => Self::Target,
        }
    }
}

/// Which tasks to list.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct TasksQuery {
    /// Only in this status.
    #[param(value_type = Option<String>)]
    pub status: Option<Status>,
    /// Only where you are the initiator or the target.
    #[param(inline)]
    pub role: Option<PartyRole>,
    /// Only with this other agent; looks at your newest 5,000 tasks in each role and status.
    #[param(value_type = Option<String>)]
    pub with: Option<AgentId>,
    /// Only with this in their title; looks at your newest 5,000 tasks in each role and status.
    #[param(value_type = Option<String>)]
    pub q: Option<SearchText>,
    /// How many at most (default 50, at most 500).
    pub limit: Option<i64>,
    /// Where the page begins, from the `Link` header of the one before.
    pub cursor: Option<String>,
}

/// A page of a list.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// How many at most.
    pub limit: Option<i64>,
    /// Where the page begins, from the `Link` header of the one before.
    pub cursor: Option<String>,
}

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
    /// How many open tasks the target has before it.
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
    pub description_keys: Option<serde_json::Value>,
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
    /// How soon it should be acknowledged.
    pub check_in_seconds: Option<i64>,
    /// The task it is part of.
    pub parent_task_id: Option<String>,
    /// The network it was sent in.
    pub network_id: Option<String>,
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
    pub on_stall: Option<String>,
    /// How many tries there may be.
    pub max_attempts: Option<i64>,
    /// How many messages there may be.
    pub max_messages: Option<i64>,
    /// What the target has reported to have cost, in US dollars.
    pub usage_reported: f64,
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
            unread_count: task.unread(role),
            id: task.id,
            title: task.title,
            description: task.description,
            status: task.status,
            status_reason: task.status_reason,
            next_statuses: standing.next,
            requires_review: task.requires_review,
            priority: task.priority,
            attempt: task.attempt,
            encrypted: false,
            description_keys: None,
            sender_signature: None,
            initiator_agent_id: task.initiator,
            initiator_agent_name: task.initiator_name,
            target_agent_id: task.target,
            target_agent_name: task.target_name,
            approval_status: task.approval,
            ttl_seconds: None,
            expires_at: None,
            check_in_seconds: None,
            parent_task_id: None,
            network_id: None,
            initiator_session_key: task.initiator_session_key,
            target_session_key: task.target_session_key,
            result: None,
            progress: None,
            progress_note: None,
            lease_seconds: None,
            on_stall: None,
            max_attempts: None,
            max_messages: None,
            usage_reported: 0.0,
            delivery: Delivery {
                queued_at: task.queued_at,
                pushed_at: task.pushed_at,
                fetched_at: task.fetched_at,
                acknowledged_at: None,
                started_at: task.started_at,
                ahead: None,
            },
            acknowledged_at: None,
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

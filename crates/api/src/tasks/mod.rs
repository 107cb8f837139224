//! Tasks: requests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tandem_core::credits::Usd;
use tandem_core::messages::ContentType;
use tandem_core::tasks::{
    CheckInSeconds, LeaseSeconds, MaxAttempts, MaxMessages, OnStall, Priority, Progress, TtlSeconds,
};
use tandem_core::text::{Alias, Body, ContextId, Reason, SearchText, SessionKey, Title};
use tandem_core::{AgentId, NetworkId, Role, Status, TaskId};
use utoipa::{IntoParams, ToSchema};

mod results;
mod view;

use crate::nullable;
use crate::words;
pub use results::{
    AcknowledgedView, DeletedTask, ReadView, RepliedView, TaskLogView, ThreadView, TreeTask, TreeView,
    UsageView,
};
pub use view::{Delivery, TaskView};

/// Input of a new task.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateTask {
    /// The target: an agent id, or your alias for it.
    #[schema(value_type = String)]
    pub target_agent_id: Alias,
    /// A short title.
    #[schema(value_type = String, min_length = 1, max_length = 128, example = "Review the API document")]
    pub title: Title,
    /// The work to do. At most 256 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    pub description: Option<Body>,
    /// An id of your choice: 1 to 64 characters of A-Z, a-z, 0-9, _ and -.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    pub id: Option<TaskId>,
    /// Whether the content is end-to-end encrypted. Both agents need public keys, you choose the id, and the
    /// description is the ciphertext in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub encrypted: Option<bool>,
    /// For an encrypted task: the wrapped key of each party.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, String>>)]
    pub description_keys: Option<BTreeMap<String, String>>,
    /// For an encrypted task: your signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub sender_signature: Option<String>,
    /// Create a draft: only you see it until you set its status to `submitted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub draft: Option<bool>,
    /// Whether you review the result: the target delivers with `input-required`, and only you complete the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub requires_review: Option<bool>,
    /// `high`, `normal` (default) or `low`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<words::Priority>)]
    pub priority: Option<Priority>,
    /// Your own opaque key, at most 256 bytes. Every event about the task contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    pub session_key: Option<SessionKey>,
    /// Seconds until the task expires if the target does not take it. Default: the hub's setting, normally none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<i64>, minimum = 1, maximum = 86_400)]
    pub ttl_seconds: Option<TtlSeconds>,
    /// Seconds until you get `message.no_ack` if the task is not acknowledged; 0 turns it off.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<i64>, minimum = 0, maximum = 86_400)]
    pub check_in_seconds: Option<CheckInSeconds>,
    /// Seconds between heartbeats of the working target; without one you get `task.stalled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<i64>, minimum = 10, maximum = 86_400)]
    pub lease_seconds: Option<LeaseSeconds>,
    /// What happens to a stalled task: `notify` (default) only notifies you, `expire` ends it, `retry` submits it
    /// again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<words::OnStall>)]
    pub on_stall: Option<OnStall>,
    /// Attempts of a stalled task before it expires (default 3).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<i64>, minimum = 1, maximum = 100)]
    pub max_attempts: Option<MaxAttempts>,
    /// Number of messages after which the task pauses until you continue it. Default: the hub's setting, normally
    /// 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<i64>, minimum = 1, maximum = 100_000)]
    pub max_messages: Option<MaxMessages>,
    /// The parent task. You must be a party of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    pub parent_task_id: Option<TaskId>,
    /// The network to send it in. Both agents must be members.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    pub network_id: Option<NetworkId>,
    /// The conversation that it is part of: 1 to 128 bytes. A2A clients of yours see such tasks, and it is your session key
    /// unless you give another one. Not for encrypted or reviewed tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, min_length = 1, max_length = 128)]
    pub context_id: Option<ContextId>,
}

impl CreateTask {
    /// A task with a title, and the hub's defaults for the rest.
    #[must_use]
    pub fn new(target_agent_id: Alias, title: Title) -> Self {
        Self {
            target_agent_id,
            title,
            description: None,
            id: None,
            encrypted: None,
            description_keys: None,
            sender_signature: None,
            draft: None,
            requires_review: None,
            priority: None,
            session_key: None,
            ttl_seconds: None,
            check_in_seconds: None,
            lease_seconds: None,
            on_stall: None,
            max_attempts: None,
            max_messages: None,
            parent_task_id: None,
            network_id: None,
            context_id: None,
        }
    }
}

/// Changes to a task. Omitted fields stay unchanged.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatchTask {
    /// The new status: one of `nextStatuses`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<words::Status>)]
    pub status: Option<Status>,
    /// The reason; at most 1,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    pub reason: Option<Reason>,
    /// The status that you expect; if it is another, the answer is 409 `conflict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<words::Status>)]
    pub expected_status: Option<Status>,
    /// Your session key; null clears it.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub session_key: Option<Option<SessionKey>>,
    /// A new title; drafts only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, min_length = 1, max_length = 128)]
    pub title: Option<Title>,
    /// A new description; drafts only. Null clears it.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub description: Option<Option<Body>>,
    /// For the description of an encrypted draft: the wrapped key of each party.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, String>>)]
    pub description_keys: Option<BTreeMap<String, String>>,
    /// For the description of an encrypted draft: your signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub sender_signature: Option<String>,
    /// A new message budget; initiator only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<i64>, minimum = 1, maximum = 100_000)]
    pub max_messages: Option<MaxMessages>,
}

/// Input of a retry. All fields are optional.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetryTask {
    /// The status that you expect; if it is another, the answer is 409 `conflict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<words::Status>)]
    pub expected_status: Option<Status>,
}

/// The new target of a task.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReassignTask {
    /// An agent id, or your alias for it.
    #[schema(value_type = String)]
    pub target_agent_id: Alias,
    /// The status that you expect; if it is another, the answer is 409 `conflict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<words::Status>)]
    pub expected_status: Option<Status>,
}

/// The status that a reply sets.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReplyOutcome {
    /// The work is done.
    #[default]
    Completed,
    /// The work could not be done.
    Failed,
    /// The target gives the task up.
    #[serde(alias = "canceled")]
    Cancelled,
}

/// The target's reply to a task.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplyTask {
    /// The reply. It becomes the task's `result`. At most 256 KiB.
    #[schema(value_type = String)]
    pub content: Body,
    /// `text` (default), `json` or, on an encrypted task, `encrypted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<words::ContentType>)]
    pub content_type: Option<ContentType>,
    /// For encrypted content: the wrapped key of each party.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, String>>)]
    pub encrypted_keys: Option<BTreeMap<String, String>>,
    /// For encrypted content: your signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub sender_signature: Option<String>,
    /// `completed` (default), `failed` or `cancelled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub outcome: Option<ReplyOutcome>,
    /// The status that you expect; if it is another, the answer is 409 `conflict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<words::Status>)]
    pub expected_status: Option<Status>,
    /// Whether an A2A client that waits gets this reply as a bare message. Only with the outcome `completed`; other clients
    /// see a completed task in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub direct: Option<bool>,
}

impl ReplyTask {
    /// A text that completes the task, or delivers it for review.
    #[must_use]
    pub fn new(content: Body) -> Self {
        Self {
            content,
            content_type: None,
            encrypted_keys: None,
            sender_signature: None,
            outcome: None,
            expected_status: None,
            direct: None,
        }
    }
}

/// Costs of the work.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportUsage {
    /// Costs in US dollars, with up to six decimals.
    #[schema(value_type = f64, minimum = 0, example = 0.0023)]
    pub cost: Usd,
}

/// A heartbeat. All fields are optional.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Heartbeat {
    /// Progress in percent, from 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<i64>, minimum = 0, maximum = 100)]
    pub progress: Option<Progress>,
    /// Progress as text; at most 1,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    pub note: Option<Reason>,
}

/// An approval. All fields are optional.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApproveTask {
    /// The owner's words for its own agent, shown with the task as `approvalNote`; at most 1,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    pub note: Option<Reason>,
    /// The status that you expect; if it is another, the answer is 409 `conflict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<words::Status>)]
    pub expected_status: Option<Status>,
}

/// A reason. All fields are optional.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WithReason {
    /// The reason; at most 1,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    pub reason: Option<Reason>,
    /// The status that you expect; if it is another, the answer is 409 `conflict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<words::Status>)]
    pub expected_status: Option<Status>,
}

/// Your role on a task.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PartyRole {
    /// You created the task.
    Initiator,
    /// The task is assigned to you.
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

/// Filter and page of the task list.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct TasksQuery {
    /// Only tasks with this status.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<words::Status>)]
    pub status: Option<Status>,
    /// Only tasks on which you have this role.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(inline)]
    pub role: Option<PartyRole>,
    /// Only tasks with this agent. A page scans up to 5,000 tasks, so it may be short or empty and still have a next
    /// page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub with: Option<AgentId>,
    /// Only tasks whose title contains this text. A page scans up to 5,000 tasks, so it may be short or empty and
    /// still have a next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub q: Option<SearchText>,
    /// Page size (default and maximum 500).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    /// Cursor from the `Link` header of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A page of a list.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Page size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    /// Cursor from the `Link` header of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

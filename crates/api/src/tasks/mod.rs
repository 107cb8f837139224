//! Tasks.

use std::collections::BTreeMap;

use serde::Deserialize;
use tandem_core::credits::Usd;
use tandem_core::messages::ContentType;
use tandem_core::tasks::{
    CheckInSeconds, LeaseSeconds, MaxAttempts, MaxMessages, OnStall, Priority, Progress, TtlSeconds,
};
use tandem_core::text::{Alias, Body, Reason, SearchText, SessionKey, Title};
use tandem_core::{AgentId, NetworkId, Role, Status, TaskId};
use utoipa::{IntoParams, ToSchema};

mod view;

use crate::nullable;
pub use view::{
    AcknowledgedView, DeletedTask, Delivery, ReadView, RepliedView, TaskLogView, TaskView, TreeTask,
    TreeView, UsageView,
};

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
    /// Whether its content is end-to-end encrypted. Both agents have public keys then, you bring the id, and the
    /// description is the ciphertext in base64.
    pub encrypted: Option<bool>,
    /// For an encrypted task: each party's wrapped key.
    #[schema(value_type = Option<Object>)]
    pub description_keys: Option<BTreeMap<String, String>>,
    /// For an encrypted task: your signature.
    pub sender_signature: Option<String>,
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
    /// How long it waits to be taken, in seconds; after that it is `expired`. The hub's default is none.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 86_400)]
    pub ttl_seconds: Option<TtlSeconds>,
    /// Within how many seconds it should be acknowledged; else you get `message.no_ack`. 0 for never.
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 86_400)]
    pub check_in_seconds: Option<CheckInSeconds>,
    /// How often the target must show a sign of life while it works; else you get `task.stalled`.
    #[schema(value_type = Option<i64>, minimum = 10, maximum = 86_400)]
    pub lease_seconds: Option<LeaseSeconds>,
    /// What happens when it does not: `notify` (default) nothing more, `expire`, or `retry`.
    #[schema(value_type = Option<String>)]
    pub on_stall: Option<OnStall>,
    /// How many attempts a stalled task may have before it expires (default 3).
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 100)]
    pub max_attempts: Option<MaxAttempts>,
    /// After how many messages the task pauses and asks you (default 200).
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 100_000)]
    pub max_messages: Option<MaxMessages>,
    /// The task it is part of; you take part in that one.
    #[schema(value_type = Option<String>)]
    pub parent_task_id: Option<TaskId>,
    /// The network it is sent in; both of you are members.
    #[schema(value_type = Option<String>)]
    pub network_id: Option<NetworkId>,
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
    /// For an encrypted draft's new description: each party's wrapped key.
    #[schema(value_type = Option<Object>)]
    pub description_keys: Option<BTreeMap<String, String>>,
    /// For an encrypted draft's new description: your signature.
    pub sender_signature: Option<String>,
    /// How many messages there may be; the initiator's to change.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 100_000)]
    pub max_messages: Option<MaxMessages>,
}

/// What you saw; nothing has to be said.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetryTask {
    /// The status you saw; if the task has moved on, the answer is 409 `conflict`.
    #[schema(value_type = Option<String>)]
    pub expected_status: Option<Status>,
}

/// Who gets the task now.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReassignTask {
    /// An agent's id, or your alias for it.
    #[schema(value_type = String)]
    pub target_agent_id: Alias,
    /// The status you saw; if the task has moved on, the answer is 409 `conflict`.
    #[schema(value_type = Option<String>)]
    pub expected_status: Option<Status>,
}

/// What becomes of a task with a reply.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReplyOutcome {
    /// It is done.
    #[default]
    Completed,
    /// It could not be done.
    Failed,
    /// It was given up.
    #[serde(alias = "canceled")]
    Cancelled,
}

/// The target's answer to a task.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplyTask {
    /// What it says; it becomes the task's `result`. At most 256 KiB.
    #[schema(value_type = String)]
    pub content: Body,
    /// `text` (default), `json` or, on an encrypted task, `encrypted`.
    #[schema(value_type = Option<String>)]
    pub content_type: Option<ContentType>,
    /// For encrypted content: each party's wrapped key.
    #[schema(value_type = Option<Object>)]
    pub encrypted_keys: Option<BTreeMap<String, String>>,
    /// For encrypted content: your signature.
    pub sender_signature: Option<String>,
    /// `completed` (default), `failed` or `cancelled`.
    pub outcome: Option<ReplyOutcome>,
    /// The status you saw; if the task has moved on, the answer is 409 `conflict`.
    #[schema(value_type = Option<String>)]
    pub expected_status: Option<Status>,
}

/// What the work has cost.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportUsage {
    /// In US dollars, with up to six decimals.
    #[schema(value_type = f64, minimum = 0, example = 0.0023)]
    pub cost: Usd,
}

/// A sign of life; nothing has to be said.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Heartbeat {
    /// How far the work is, from 0 to 100.
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 100)]
    pub progress: Option<Progress>,
    /// The same in words; at most 1,000 characters.
    #[schema(value_type = Option<String>)]
    pub note: Option<Reason>,
}

/// Why; nothing has to be said.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WithReason {
    /// At most 1,000 characters.
    #[schema(value_type = Option<String>)]
    pub reason: Option<Reason>,
    /// The status you saw; if the task has moved on, the answer is 409 `conflict`.
    #[schema(value_type = Option<String>)]
    pub expected_status: Option<Status>,
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
    /// Only with this other agent. A page goes through up to 5,000 tasks: it may be short, or empty, and have a next one.
    #[param(value_type = Option<String>)]
    pub with: Option<AgentId>,
    /// Only with this in their title. A page goes through up to 5,000 tasks: it may be short, or empty, and have a next one.
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

//! Tasks: the view of a party.

use serde::{Deserialize, Serialize};
use tandem_core::credits::Usd;
use tandem_core::tasks::{OnStall, Priority, Task};
use tandem_core::wake::Rung;
use tandem_core::{AgentId, Approval, NetworkId, Role, Status, TaskId, Timestamp};
use utoipa::ToSchema;

use crate::fence::Fence;
use crate::parts::ForeignView;
use crate::text::{Author, PeerContent, PeerJson, PeerName, PeerTags, PeerText, PeerToken, WrappedKeys};
use crate::words;

/// The progress of a task's delivery.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// When the task was written to the target's log.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub queued_at: Option<Timestamp>,
    /// When it was pushed to the target.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub pushed_at: Option<Timestamp>,
    /// When the target fetched it.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub fetched_at: Option<Timestamp>,
    /// When it was shown to the target's model, which is more than being pushed to a program or fetched by one.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub surfaced_at: Option<Timestamp>,
    /// How it was shown: `channel`, `runner`, `hook`, `longPoll` or `pull`.
    #[schema(value_type = Option<words::Rung>)]
    pub surfaced_by: Option<Rung>,
    /// When the target acknowledged it.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub acknowledged_at: Option<Timestamp>,
    /// When the target started to work.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Timestamp>,
    /// Number of live tasks that the target has before this one, up to 100. Only on a single submitted task.
    pub ahead: Option<i64>,
}

/// A task, as one of its parties sees it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    /// The task id.
    #[schema(value_type = String)]
    pub id: TaskId,
    /// Title of the task.
    #[schema(value_type = String)]
    pub title: PeerText,
    /// The work to do.
    #[schema(value_type = Option<String>)]
    pub description: Option<PeerContent>,
    /// The current status.
    #[schema(value_type = words::Status)]
    pub status: Status,
    /// The reason of the last status change.
    #[schema(value_type = Option<String>)]
    pub status_reason: Option<PeerText>,
    /// The statuses that you may set now.
    #[schema(value_type = Vec<words::Status>)]
    pub next_statuses: Vec<Status>,
    /// Whether the initiator has to accept the result.
    pub requires_review: bool,
    /// `high`, `normal` or `low`.
    #[schema(value_type = words::Priority)]
    pub priority: Priority,
    /// Number of the current attempt, from 1.
    pub attempt: i64,
    /// Whether the content is end-to-end encrypted.
    pub encrypted: bool,
    /// For encrypted tasks: the wrapped key of each party.
    #[schema(value_type = Option<BTreeMap<String, String>>)]
    pub description_keys: Option<WrappedKeys>,
    /// For encrypted tasks: the initiator's signature.
    #[schema(value_type = Option<String>)]
    pub sender_signature: Option<PeerToken>,
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
    /// The target's decision at its approval gate: null, `pending`, `approved` or `rejected`.
    #[schema(value_type = Option<words::Approval>)]
    pub approval_status: Option<Approval>,
    /// Words of the target's owner for its own agent, given with the approval. Only the target sees them.
    #[schema(value_type = Option<String>)]
    pub approval_note: Option<PeerText>,
    /// Number of messages that you have not read.
    pub unread_count: i64,
    /// Seconds until it expires if the target does not take it.
    pub ttl_seconds: Option<i64>,
    /// When it expires.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
    /// Seconds until its author is notified that it is not acknowledged; 0 if off.
    pub check_in_seconds: i64,
    /// The parent task.
    #[schema(value_type = Option<String>)]
    pub parent_task_id: Option<TaskId>,
    /// The network it was sent in.
    #[schema(value_type = Option<String>)]
    pub network_id: Option<NetworkId>,
    /// The initiator's session key.
    #[schema(value_type = Option<String>)]
    pub initiator_session_key: Option<PeerText>,
    /// The target's session key.
    #[schema(value_type = Option<String>)]
    pub target_session_key: Option<PeerText>,
    /// The result, set by the target's reply.
    #[schema(value_type = Option<String>)]
    pub result: Option<PeerContent>,
    /// Progress in percent, from 0 to 100.
    pub progress: Option<i64>,
    /// Progress as text, by the target.
    #[schema(value_type = Option<String>)]
    pub progress_note: Option<PeerText>,
    /// Seconds between heartbeats of the working target.
    pub lease_seconds: Option<i64>,
    /// What happens to a stalled task.
    #[schema(value_type = words::OnStall)]
    pub on_stall: OnStall,
    /// Attempts of a stalled task before it expires.
    pub max_attempts: i64,
    /// Number of messages after which it pauses.
    pub max_messages: i64,
    /// Costs reported by the target, in US dollars.
    #[schema(value_type = f64)]
    #[serde(deserialize_with = "crate::amount")]
    pub usage_reported: Usd,
    /// The progress of the delivery.
    pub delivery: Delivery,
    /// When the target acknowledged it.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub acknowledged_at: Option<Timestamp>,
    /// When the target started to work.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub completed_at: Option<Timestamp>,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
    /// The conversation that it is part of.
    #[schema(value_type = Option<String>)]
    pub context_id: Option<PeerText>,
    /// The id that an A2A client gave to the message that made the task.
    #[schema(value_type = Option<String>)]
    pub message_id: Option<PeerText>,
    /// The parts of the message, if it is more than one text: an array of objects with `text`, `data`, `url` or `fileId`.
    #[schema(value_type = Option<Vec<Object>>)]
    pub parts: Option<PeerJson>,
    /// What an A2A client sent as metadata with it.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<PeerJson>,
    /// The tasks that an A2A client named as references. The hub does not look them up.
    #[schema(value_type = Option<Vec<String>>)]
    pub reference_task_ids: Option<PeerTags>,
    /// The media types that an A2A client accepts in answers.
    #[schema(value_type = Option<Vec<String>>)]
    pub accepted_output_modes: Option<PeerTags>,
}

impl TaskView {
    /// The task as `viewer` sees it. The caller has checked that it may.
    #[must_use]
    pub fn new(task: Task, viewer: &AgentId) -> Self {
        let role = task.role_of(viewer).unwrap_or(Role::Target);
        let standing = task.standing(role);
        let (initiator, target) = (Author::of(&task.initiator, viewer), Author::of(&task.target, viewer));
        let unread_count = task.side(role).map_or(0, |side| side.unread);
        let foreign = ForeignView::new(initiator, task.foreign);
        Self {
            unread_count,
            // Only a party of the parent may learn of it.
            parent_task_id: task.links.parent.filter(|_| role == Role::Initiator || task.links.parent_shared),
            id: task.id,
            title: PeerText::new(initiator, task.content.title),
            description: task
                .content
                .description
                .map(|text| PeerContent::new(initiator, text, task.content.encrypted)),
            status: task.status,
            // The reason may come from either party or from the hub.
            status_reason: task.status_reason.map(PeerText::peer),
            next_statuses: standing.next,
            requires_review: task.requires_review,
            priority: task.priority,
            attempt: task.attempt.number,
            encrypted: task.content.encrypted,
            description_keys: task.content.keys.and_then(|keys| WrappedKeys::new(initiator, keys)),
            sender_signature: task.content.signature.map(|text| PeerToken::new(initiator, text)),
            initiator_agent_id: task.initiator,
            initiator_agent_name: PeerName::new(initiator, task.initiator_name),
            target_agent_id: task.target,
            target_agent_name: PeerName::new(target, task.target_name),
            approval_status: task.gate.approval,
            approval_note: task.gate.note.filter(|_| role == Role::Target).map(PeerText::own),
            ttl_seconds: task.terms.ttl_seconds,
            expires_at: task.delivery.expires_at,
            check_in_seconds: task.terms.check_in_seconds,
            network_id: task.links.network,
            initiator_session_key: task.initiator_side.session_key.map(|key| PeerText::new(initiator, key)),
            target_session_key: task.target_side.session_key.map(|key| PeerText::new(target, key)),
            result: task.attempt.result.map(|text| PeerContent::new(target, text, task.content.encrypted)),
            progress: task.attempt.progress,
            progress_note: task.attempt.progress_note.map(|note| PeerText::new(target, note)),
            lease_seconds: task.terms.lease_seconds,
            on_stall: task.terms.on_stall,
            max_attempts: task.terms.max_attempts,
            max_messages: task.terms.max_messages,
            usage_reported: Usd::from_micro(task.usage_micro),
            delivery: Delivery {
                queued_at: task.delivery.queued_at,
                pushed_at: task.delivery.pushed_at,
                fetched_at: task.delivery.fetched_at,
                surfaced_at: task.delivery.surfaced_at,
                surfaced_by: task.delivery.surfaced_by,
                acknowledged_at: task.delivery.acknowledged_at,
                started_at: task.attempt.started_at,
                ahead: None,
            },
            acknowledged_at: task.delivery.acknowledged_at,
            started_at: task.attempt.started_at,
            completed_at: task.attempt.completed_at,
            created_at: task.created_at,
            updated_at: task.updated_at,
            context_id: task.links.context.map(|context| PeerText::new(initiator, context)),
            message_id: foreign.message_id,
            parts: foreign.parts,
            metadata: foreign.metadata,
            reference_task_ids: foreign.reference_task_ids,
            accepted_output_modes: foreign.accepted_output_modes,
        }
    }
}

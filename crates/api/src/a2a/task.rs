//! Tasks and what streams say of them.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use tandem_core::Timestamp;
pub use tandem_core::a2a::TaskState;

use super::artifact::Artifact;
use super::message::Message;
use super::proto::{FromProto, JsonObject, Object, Wrong};

impl FromProto for TaskState {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let given = json.get();
        let is_it =
            |state: &Self| given.trim_matches('"') == state.as_str() || given == state.number().to_string();
        let state = Self::ALL.into_iter().find(is_it);
        state.ok_or_else(|| Wrong::here("must be a state such as TASK_STATE_WORKING"))
    }
}

/// Writes a state by its name.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn name<S: Serializer>(state: &TaskState, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state.as_str())
}

/// Writes a state that may be missing.
#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
pub(super) fn name_if_any<S: Serializer>(
    state: &Option<TaskState>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    state.map(TaskState::as_str).serialize(serializer)
}

/// Where a task stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskStatus {
    /// The state.
    #[serde(serialize_with = "name")]
    pub state: TaskState,
    /// What the agent says about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// When it came to be so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

impl FromProto for TaskStatus {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let status = Object::read(json)?;
        Ok(Self {
            state: status.get("state")?.ok_or_else(|| Wrong::field("state", "is required"))?,
            message: status.get("message")?,
            timestamp: status.get("timestamp")?,
        })
    }
}

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id.
    pub id: String,
    /// The context that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// Where it stands.
    pub status: TaskStatus,
    /// What the agent has made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// What was said, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Message>,
    /// Data of extensions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

impl FromProto for Task {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let task = Object::read(json)?;
        Ok(Self {
            id: task.required_text("id")?,
            context_id: task.text("contextId")?,
            status: task.get("status")?.ok_or_else(|| Wrong::field("status", "is required"))?,
            artifacts: task.list("artifacts")?,
            history: task.list("history")?,
            metadata: task.metadata("metadata")?,
        })
    }
}

/// A new status, or a message of the agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatusUpdateEvent {
    /// The task.
    pub task_id: String,
    /// The context of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// Where it stands.
    pub status: TaskStatus,
    /// Data of extensions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

impl FromProto for TaskStatusUpdateEvent {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let event = Object::read(json)?;
        Ok(Self {
            task_id: event.required_text("taskId")?,
            context_id: event.text("contextId")?,
            status: event.get("status")?.ok_or_else(|| Wrong::field("status", "is required"))?,
            metadata: event.metadata("metadata")?,
        })
    }
}

/// An artifact, or more of one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskArtifactUpdateEvent {
    /// The task.
    pub task_id: String,
    /// The context of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// What is new.
    pub artifact: Artifact,
    /// Whether the parts go to the end of those that the artifact has.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub append: bool,
    /// Whether the artifact is complete.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub last_chunk: bool,
    /// Data of extensions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

impl FromProto for TaskArtifactUpdateEvent {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let event = Object::read(json)?;
        Ok(Self {
            task_id: event.required_text("taskId")?,
            context_id: event.text("contextId")?,
            artifact: event.get("artifact")?.ok_or_else(|| Wrong::field("artifact", "is required"))?,
            append: event.flag("append")?,
            last_chunk: event.flag("lastChunk")?,
            metadata: event.metadata("metadata")?,
        })
    }
}

/// One step of a stream.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum StreamResponse {
    /// The task as it stands.
    Task(Task),
    /// An answer without a task.
    Message(Message),
    /// A new status, or a message of the agent.
    StatusUpdate(TaskStatusUpdateEvent),
    /// An artifact, or more of one.
    ArtifactUpdate(TaskArtifactUpdateEvent),
}

impl FromProto for StreamResponse {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let step = Object::read(json)?;
        if let Some(task) = step.get("task")? {
            return Ok(Self::Task(task));
        }
        if let Some(message) = step.get("message")? {
            return Ok(Self::Message(message));
        }
        if let Some(update) = step.get("statusUpdate")? {
            return Ok(Self::StatusUpdate(update));
        }
        let update = step.get("artifactUpdate")?.map(Self::ArtifactUpdate);
        update.ok_or_else(|| Wrong::here("must have a task, message, statusUpdate or artifactUpdate"))
    }
}

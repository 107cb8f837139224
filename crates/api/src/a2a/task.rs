//! Tasks and what streams say of them.

use serde::Serialize;
use serde_json::value::RawValue;
use tandem_core::Timestamp;

use super::artifact::Artifact;
use super::message::Message;
use super::proto::{FromProto, JsonObject, Object, Wrong};

/// Defines the states with their words and numbers.
macro_rules! states {
    ($($(#[$doc:meta])* $name:ident $word:literal $number:literal;)+) => {
        /// The state of a task.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
        pub enum TaskState {
            $($(#[$doc])* #[serde(rename = $word)] $name,)+
        }

        impl FromProto for TaskState {
            fn read(json: &RawValue) -> Result<Self, Wrong> {
                match json.get() {
                    $(concat!("\"", $word, "\"") | $number => Ok(Self::$name),)+
                    _ => Err(Wrong::here("must be a state such as TASK_STATE_WORKING")),
                }
            }
        }
    };
}

states! {
    /// Not said.
    Unspecified "TASK_STATE_UNSPECIFIED" "0";
    /// Not taken yet.
    Submitted "TASK_STATE_SUBMITTED" "1";
    /// The agent works on it.
    Working "TASK_STATE_WORKING" "2";
    /// Done.
    Completed "TASK_STATE_COMPLETED" "3";
    /// The agent could not do it, or nobody took it.
    Failed "TASK_STATE_FAILED" "4";
    /// Given up.
    Canceled "TASK_STATE_CANCELED" "5";
    /// Waits for the client.
    InputRequired "TASK_STATE_INPUT_REQUIRED" "6";
    /// The agent declined.
    Rejected "TASK_STATE_REJECTED" "7";
    /// Waits for an authorisation.
    AuthRequired "TASK_STATE_AUTH_REQUIRED" "8";
}

impl TaskState {
    /// Whether nothing follows.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }

    /// Whether the task waits for the client.
    #[must_use]
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }
}

/// Where a task stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskStatus {
    /// The state.
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
            state: status.get("state")?.unwrap_or(TaskState::Unspecified),
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

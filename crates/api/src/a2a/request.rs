//! What the operations on messages and tasks take and answer.

use serde::Serialize;
use serde_json::value::RawValue;
use tandem_core::Timestamp;

use super::message::Message;
use super::proto::{FromProto, JsonObject, Object, Wrong};
use super::push::PushConfig;
use super::task::{StreamResponse, Task, TaskState, name_if_any};

/// How a client says that it means any state.
const UNSPECIFIED: [&str; 2] = ["\"TASK_STATE_UNSPECIFIED\"", "0"];

/// How a message is to be answered.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SendMessageConfiguration {
    /// The media types that the client reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted_output_modes: Vec<String>,
    /// Where to push what happens to the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_push_notification_config: Option<PushConfig>,
    /// How many messages the answer has at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<i32>,
    /// Whether to answer before the agent does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub return_immediately: bool,
}

impl FromProto for SendMessageConfiguration {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let given = Object::read(json)?;
        Ok(Self {
            accepted_output_modes: given.list("acceptedOutputModes")?,
            task_push_notification_config: match given.get("taskPushNotificationConfig")? {
                // The name that it had in drafts of 1.0.
                None => given.get("pushNotificationConfig")?,
                some => some,
            },
            history_length: history_length(&given)?,
            return_immediately: given.flag("returnImmediately")?,
        })
    }
}

fn history_length(given: &Object<'_>) -> Result<Option<i32>, Wrong> {
    match given.get("historyLength")? {
        Some(length) if length < 0 => Err(Wrong::field("historyLength", "must not be negative")),
        length => Ok(length),
    }
}

/// Sends a message, waiting or streaming.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SendMessageRequest {
    /// Empty, or the id of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The message.
    pub message: Message,
    /// How to answer it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<SendMessageConfiguration>,
    /// Free data of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

impl FromProto for SendMessageRequest {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let given = Object::read(json)?;
        Ok(Self {
            tenant: given.text("tenant")?,
            message: given.get("message")?.ok_or_else(|| Wrong::field("message", "is required"))?,
            configuration: given.get("configuration")?,
            metadata: given.metadata("metadata")?,
        })
    }
}

/// What a message is answered with.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SendMessageResponse {
    /// The task that it began or went on.
    Task(Task),
    /// The agent's words alone.
    Message(Message),
}

impl FromProto for SendMessageResponse {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        match StreamResponse::read(json)? {
            StreamResponse::Task(task) => Ok(Self::Task(task)),
            StreamResponse::Message(message) => Ok(Self::Message(message)),
            _ => Err(Wrong::here("must have a task or a message")),
        }
    }
}

/// Asks for a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetTaskRequest {
    /// Empty, or the id of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub id: String,
    /// How many messages the answer has at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<i32>,
}

impl FromProto for GetTaskRequest {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let given = Object::read(json)?;
        Ok(Self {
            tenant: given.text("tenant")?,
            id: given.required_text("id")?,
            history_length: history_length(&given)?,
        })
    }
}

/// Asks for tasks, those that changed last first.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListTasksRequest {
    /// Empty, or the id of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Only tasks of this context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// Only tasks in this state.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "name_if_any")]
    pub status: Option<TaskState>,
    /// How many tasks at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_size: Option<i32>,
    /// Where to go on: `nextPageToken` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
    /// How many messages each task has at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<i32>,
    /// Only tasks whose status changed at this time or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_timestamp_after: Option<Timestamp>,
    /// Whether each task has its artifacts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub include_artifacts: bool,
}

impl FromProto for ListTasksRequest {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let given = Object::read(json)?;
        let is_said = given.value("status")?.is_some_and(|state| !UNSPECIFIED.contains(&state.get()));
        let status = if is_said { given.get("status")? } else { None };
        Ok(Self {
            tenant: given.text("tenant")?,
            context_id: given.text("contextId")?,
            status,
            page_size: given.get("pageSize")?,
            page_token: given.text("pageToken")?,
            history_length: history_length(&given)?,
            status_timestamp_after: given.get("statusTimestampAfter")?,
            include_artifacts: given.flag("includeArtifacts")?,
        })
    }
}

/// A page of tasks. All four fields are always there.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListTasksResponse {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Where the next page begins; empty on the last one.
    pub next_page_token: String,
    /// The page size that was used.
    pub page_size: i32,
    /// How many tasks there are on all pages, up to a bound.
    pub total_size: i32,
}

impl FromProto for ListTasksResponse {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let given = Object::read(json)?;
        Ok(Self {
            tasks: given.list("tasks")?,
            next_page_token: given.get("nextPageToken")?.unwrap_or_default(),
            page_size: given.get("pageSize")?.unwrap_or_default(),
            total_size: given.get("totalSize")?.unwrap_or_default(),
        })
    }
}

/// Cancels a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CancelTaskRequest {
    /// Empty, or the id of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub id: String,
    /// Free data of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

impl FromProto for CancelTaskRequest {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let given = Object::read(json)?;
        Ok(Self {
            tenant: given.text("tenant")?,
            id: given.required_text("id")?,
            metadata: given.metadata("metadata")?,
        })
    }
}

/// Streams what happens to a task from now on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SubscribeToTaskRequest {
    /// Empty, or the id of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub id: String,
}

impl FromProto for SubscribeToTaskRequest {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let given = Object::read(json)?;
        Ok(Self { tenant: given.text("tenant")?, id: given.required_text("id")? })
    }
}

/// Asks for the card that this caller may see.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct GetExtendedAgentCardRequest {
    /// Empty, or the id of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

impl FromProto for GetExtendedAgentCardRequest {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        Ok(Self { tenant: Object::read(json)?.text("tenant")? })
    }
}

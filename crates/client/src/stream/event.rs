//! One event of a stream, as the hub pushes it.

use serde::Deserialize;
use serde_json::value::RawValue;
use tandem_api::events::{EventData, EventType, EventView};
use tandem_core::{AgentId, TaskId, Timestamp};

/// An event of a stream.
#[derive(Debug, Clone)]
pub struct StreamEvent {
    /// The event's number in the caller's log.
    pub cursor: i64,
    /// The event type, such as `task.created`.
    pub kind: EventType,
    /// The task it is about.
    pub task_id: Option<TaskId>,
    /// The agent that caused it, for the types of events that have it among their fields.
    pub from_agent_id: Option<AgentId>,
    /// The agent that caused it, for all types; `None` if the hub did, or an older hub does not say so.
    pub caused_by: Option<AgentId>,
    /// When it was written; `None` from an older hub.
    pub created_at: Option<Timestamp>,
    /// All fields of the event as JSON: the same text as `data` in [`EventView`].
    pub data: Box<RawValue>,
}

impl StreamEvent {
    /// The fields of the event. Those that this version does not understand are left out.
    #[must_use]
    pub fn fields(&self) -> EventData {
        serde_json::from_str(self.data.get()).unwrap_or_default()
    }
}

/// Where a connection starts: the events after this cursor follow, and the log has this epoch. An older hub has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) cursor: i64,
    pub(super) epoch: Option<String>,
}

/// The first message of a socket or stream, or an event.
#[derive(Debug)]
pub(super) enum Frame {
    Greeting(Start),
    Event(StreamEvent),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    #[serde(rename = "type")]
    kind: String,
    created_at: Option<Timestamp>,
    cursor: Option<i64>,
    epoch: Option<String>,
    from_agent_id: Option<AgentId>,
    data: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    task_id: Option<TaskId>,
    from_agent_id: Option<AgentId>,
}

/// Whether a text can be an epoch: it is stored with cursors and sent back in addresses.
pub(crate) fn is_epoch(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Parses a message of a socket or stream.
pub(super) fn parse_frame(text: &str) -> Result<Frame, serde_json::Error> {
    let message: Message = serde_json::from_str(text)?;
    let cursor = message.cursor.ok_or_else(|| serde::de::Error::missing_field("cursor"))?;
    if message.kind == "connected" {
        return Ok(Frame::Greeting(Start { cursor, epoch: message.epoch.filter(|epoch| is_epoch(epoch)) }));
    }
    let data = match message.data {
        Some(data) => data,
        None => of_older_hub(text)?,
    };
    let fields: Fields = serde_json::from_str(data.get())?;
    Ok(Frame::Event(StreamEvent {
        cursor,
        kind: message.kind.into(),
        task_id: fields.task_id,
        from_agent_id: fields.from_agent_id,
        caused_by: message.from_agent_id,
        created_at: message.created_at,
        data,
    }))
}

/// The data of an event that has its fields only beside its number. A hub of those times appended cursor and time to them.
fn of_older_hub(text: &str) -> Result<Box<RawValue>, serde_json::Error> {
    match text.rfind(",\"cursor\":") {
        Some(end) => RawValue::from_string(format!("{}}}", &text[..end])),
        None => RawValue::from_string(text.to_owned()),
    }
}

/// Converts an event of the log.
pub(super) fn from_log(event: EventView) -> Result<StreamEvent, serde_json::Error> {
    let fields: Fields = serde_json::from_str(event.data.get())?;
    Ok(StreamEvent {
        cursor: event.id,
        kind: event.kind,
        task_id: fields.task_id,
        from_agent_id: fields.from_agent_id,
        caused_by: event.from_agent_id,
        created_at: Some(event.created_at),
        data: event.data,
    })
}

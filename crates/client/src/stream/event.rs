//! One event of a stream, as the hub pushes it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::Deserialize;
use serde_json::value::RawValue;
use tandem_api::events::{EventData, EventType, EventView};
use tandem_core::{AgentId, TaskId};

/// An event of a stream.
///
/// It has what every transport carries. The time at which an event was written is not among that: the hub has it in
/// [`Client::events`](crate::Client::events).
#[derive(Debug, Clone)]
pub struct StreamEvent {
    /// The event's number in the caller's log.
    pub cursor: i64,
    /// The event type, such as `task.created`.
    pub kind: EventType,
    /// The task it is about.
    pub task_id: Option<TaskId>,
    /// The agent that caused it, for the types of events that say so.
    pub from_agent_id: Option<AgentId>,
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

/// An event with a hash of what tells it from others.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) event: StreamEvent,
    pub(super) hash: u64,
}

/// The first message of a socket or stream, or an event.
#[derive(Debug)]
pub(super) enum Frame {
    Greeting { cursor: i64 },
    Event(Received),
}

/// What an event is told from others by. Values are compared as text, so that a value of a newer hub is no error.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'a> {
    #[serde(rename = "type")]
    kind: String,
    task_id: Option<TaskId>,
    from_agent_id: Option<AgentId>,
    #[serde(borrow)]
    message_id: Option<&'a RawValue>,
    #[serde(borrow)]
    message_ids: Option<&'a RawValue>,
    #[serde(borrow)]
    by_agent_id: Option<&'a RawValue>,
    #[serde(borrow)]
    file_id: Option<&'a RawValue>,
    #[serde(borrow)]
    connection_id: Option<&'a RawValue>,
    #[serde(borrow)]
    network_id: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: Option<&'a RawValue>,
    #[serde(borrow)]
    attempt: Option<&'a RawValue>,
    cursor: Option<i64>,
}

impl Fields<'_> {
    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.kind.hash(&mut hasher);
        self.task_id.as_ref().map(TaskId::as_str).hash(&mut hasher);
        self.from_agent_id.as_ref().map(AgentId::as_str).hash(&mut hasher);
        let texts = [
            self.message_id,
            self.message_ids,
            self.by_agent_id,
            self.file_id,
            self.connection_id,
            self.network_id,
            self.status,
            self.reason,
            self.attempt,
        ];
        for text in texts {
            text.map(RawValue::get).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// Parses a message of a socket or stream.
pub(super) fn parse_frame(text: &str) -> Result<Frame, serde_json::Error> {
    let fields: Fields<'_> = serde_json::from_str(text)?;
    let cursor = fields.cursor.ok_or_else(|| serde::de::Error::missing_field("cursor"))?;
    if fields.kind == "connected" {
        return Ok(Frame::Greeting { cursor });
    }
    let hash = fields.hash();
    // The hub appends the cursor to the data that is in its log.
    let data = match text.rfind(",\"cursor\":") {
        Some(end) => RawValue::from_string(format!("{}}}", &text[..end]))?,
        None => RawValue::from_string(text.to_owned())?,
    };
    let event = StreamEvent {
        cursor,
        kind: fields.kind.into(),
        task_id: fields.task_id,
        from_agent_id: fields.from_agent_id,
        data,
    };
    Ok(Frame::Event(Received { event, hash }))
}

/// Converts an event of the log.
pub(super) fn from_log(event: EventView) -> Result<Received, serde_json::Error> {
    let fields: Fields<'_> = serde_json::from_str(event.data.get())?;
    let hash = fields.hash();
    let (task_id, from_agent_id) = (fields.task_id, fields.from_agent_id);
    let event = StreamEvent { cursor: event.id, kind: event.kind, task_id, from_agent_id, data: event.data };
    Ok(Received { event, hash })
}

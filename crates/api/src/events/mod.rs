//! The caller's event log.

use serde::ser::{self, Serializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tandem_core::events::EventText;
use tandem_core::{AgentId, TaskId, Timestamp};
use utoipa::{IntoParams, ToSchema};

mod typed;

use crate::actor::Actor;
use crate::fence::Fence;
use crate::text::{HubText, PeerText};
use crate::words;
pub use typed::{EventData, EventType, TypedEvent};

/// Where to start reading.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// Only events after this number. Omit it to read after the acknowledged cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<i64>,
    /// Seconds to wait for an event if there is none (at most 60).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<i64>,
    /// The epoch that you know. If the log has another, `after` means nothing, and reading starts after the acknowledged
    /// cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<String>,
}

/// One event. On the wire its fields stand beside these and in `data`, on every channel alike.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[schema(as = Event)]
#[serde(rename_all = "camelCase")]
pub struct EventView {
    /// The event's number in your log.
    pub id: i64,
    /// The event type, such as `task.created`.
    #[serde(rename = "type")]
    #[schema(value_type = words::EventType)]
    pub kind: EventType,
    /// The task it is about.
    #[schema(value_type = Option<String>)]
    pub task_id: Option<TaskId>,
    /// The agent that caused it; null if the hub did.
    #[schema(value_type = Option<String>)]
    pub from_agent_id: Option<AgentId>,
    /// The fields of the event.
    #[schema(value_type = Object)]
    pub data: Box<RawValue>,
    /// When it was written.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl Serialize for EventView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = EventText {
            cursor: self.id,
            kind: self.kind.as_str(),
            task: self.task_id.as_ref(),
            from: self.from_agent_id.as_ref(),
            data: self.data.get(),
            created_at: self.created_at,
        };
        RawValue::from_string(text.whole()).map_err(ser::Error::custom)?.serialize(serializer)
    }
}

impl EventView {
    /// Parses the data of the event.
    #[must_use]
    pub fn typed(self) -> TypedEvent {
        TypedEvent {
            id: self.id,
            kind: self.kind,
            task_id: self.task_id,
            from_agent_id: self.from_agent_id,
            data: serde_json::from_str(self.data.get()).unwrap_or_default(),
            created_at: self.created_at,
        }
    }
}

impl EventView {
    /// Parses the data for a reader, so that its own text does not count as a peer's. `initiator` made the task.
    #[must_use]
    pub fn typed_for(self, reader: &AgentId, initiator: Option<&AgentId>) -> TypedEvent {
        let mut event = self.typed();
        let author = Actor::from(event.from_agent_id.clone()).author(reader);
        let data = &mut event.data;
        data.reason = data.reason.take().map(|reason| PeerText::new(author, reason));
        if let Some(initiator) = initiator {
            let is_own = initiator == reader;
            let own = if is_own { &mut data.initiator_session_key } else { &mut data.target_session_key };
            *own = own.take().map(PeerText::own);
        }
        event
    }
}

/// A page of the event log.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventsPage {
    /// The events, oldest first.
    pub events: Vec<EventView>,
    /// Cursor of the next page.
    pub cursor: i64,
    /// Whether more events follow.
    pub has_more: bool,
    /// The epoch of the log. Another one than before means that the hub was restored: forget your cursor.
    #[schema(value_type = String)]
    #[serde(default)]
    pub epoch: HubText,
}

/// The cursor to acknowledge.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AckCursor {
    /// Cursor of the last page that you have processed. It never moves back and never beyond the end.
    #[serde(deserialize_with = "number")]
    pub cursor: i64,
}

/// Cursors are numbers; clients that treat them as opaque may send text.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let wrong = || serde::de::Error::custom("must be a cursor that this hub gave out");
    let number = match Value::deserialize(deserializer)? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number.filter(|number| *number >= 0).ok_or_else(wrong)
}

/// The acknowledged cursor.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct Acknowledged {
    /// Always true.
    pub acknowledged: bool,
    /// The cursor after the request.
    pub cursor: i64,
    /// The epoch of the log.
    #[schema(value_type = String)]
    #[serde(default)]
    pub epoch: HubText,
}

/// A ticket for one socket or stream.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TicketView {
    /// Send it as `?ticket=` in the URL.
    #[schema(value_type = String)]
    pub ticket: HubText,
    /// When it expires. It can be used once.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

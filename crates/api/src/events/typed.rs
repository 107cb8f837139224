//! Events with parsed data, for clients and models.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tandem_core::events::EventKind;
use tandem_core::messages::{ContentType, Kind};
use tandem_core::{
    AgentId, ConnectionId, FileId, MessageId, NetworkId, PairingId, Status, TaskId, Timestamp,
};

use crate::fence::{Fence, Fencer};
use crate::text::{PeerName, PeerText, PeerToken};

/// The event type of a webhook test.
const PING: &str = "ping";

/// The type of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventType {
    /// A type in the event log.
    Logged(EventKind),
    /// A webhook test.
    Ping,
    /// A type of a newer hub that this version does not know.
    Unknown(String),
}

impl EventType {
    /// The text on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Logged(kind) => kind.as_str(),
            Self::Ping => PING,
            Self::Unknown(word) => word,
        }
    }
}

impl From<EventKind> for EventType {
    fn from(kind: EventKind) -> Self {
        Self::Logged(kind)
    }
}

impl From<String> for EventType {
    fn from(word: String) -> Self {
        match EventKind::named(&word) {
            Some(kind) => Self::Logged(kind),
            None if word == PING => Self::Ping,
            None => Self::Unknown(word),
        }
    }
}

impl Serialize for EventType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for EventType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

impl Fence for EventType {
    fn fence(&mut self, with: &dyn Fencer) {
        if let Self::Unknown(word) = self
            && let Cow::Owned(shown) = with.name(word)
        {
            *word = shown;
        }
    }
}

/// The fields of an event. Which are present depends on its type.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Fence)]
#[serde(rename_all = "camelCase")]
pub struct EventData {
    /// The event type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<EventType>,
    /// The task it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The message it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// The kind of that message.
    #[serde(rename = "kind", skip_serializing_if = "Option::is_none")]
    pub message_kind: Option<Kind>,
    /// How to read its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<ContentType>,
    /// The agent that caused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_agent_id: Option<AgentId>,
    /// The session key of the task's initiator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initiator_session_key: Option<PeerText>,
    /// The session key of the task's target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_session_key: Option<PeerText>,
    /// Number of the current attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<i64>,
    /// The status of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The reason of the status change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<PeerText>,
    /// The messages it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_ids: Option<Vec<MessageId>>,
    /// The agent that read, acknowledged or disconnected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_agent_id: Option<AgentId>,
    /// The file that was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_id: Option<FileId>,
    /// The agent that has not acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_agent_id: Option<AgentId>,
    /// The connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<ConnectionId>,
    /// The other agent of the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_agent_id: Option<AgentId>,
    /// The name of that agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_agent_name: Option<PeerName>,
    /// The public key of that agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_public_key: Option<PeerToken>,
    /// The offer to pair whose code was redeemed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairing_id: Option<PairingId>,
    /// The network of a broadcast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_id: Option<NetworkId>,
    /// The name of the agent that caused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_agent_name: Option<PeerName>,
    /// The text of a broadcast. The hub adds it for models only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<PeerText>,
    /// The event's number in the log. Sockets, streams and webhooks add it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<i64>,
    /// When it happened. Sockets, streams and webhooks add it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
}

/// An event with parsed data.
#[derive(Debug, Clone, Serialize, Deserialize, Fence)]
#[serde(rename_all = "camelCase")]
pub struct TypedEvent {
    /// The event's number in your log.
    pub id: i64,
    /// The event type.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// The task it is about.
    pub task_id: Option<TaskId>,
    /// The agent that caused it; null if the hub did.
    pub from_agent_id: Option<AgentId>,
    /// The fields of the event.
    pub data: EventData,
    /// When it happened.
    pub created_at: Timestamp,
}

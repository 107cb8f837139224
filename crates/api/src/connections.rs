//! Pairing and connections.

use serde::{Deserialize, Serialize};
use tandem_core::agents::{Agent, Connection};
use tandem_core::pairing::PairingCode;
use tandem_core::text::Alias;
use tandem_core::{AgentId, ConnectionId, Rule, Timestamp};
use utoipa::ToSchema;

use crate::agents::Seen;
use crate::nullable;

/// A code to give to another agent.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PairingCodeView {
    /// The code; any case does.
    #[schema(example = "BLUE-TIGER-4231")]
    pub code: String,
    /// Until when it can be redeemed, once.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// A code to redeem.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedeemCode {
    /// The code, in any case.
    #[schema(value_type = String, example = "BLUE-TIGER-4231")]
    pub code: PairingCode,
}

/// A new connection, as the one who made it sees it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectedView {
    /// The connection's id.
    #[schema(value_type = String)]
    pub connection_id: ConnectionId,
    /// The connection's id again.
    #[schema(value_type = String)]
    pub id: ConnectionId,
    /// The other agent's id.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The other agent's name.
    pub agent_name: String,
    /// The other agent's name again.
    pub name: String,
    /// The other agent's public key.
    pub public_key: Option<String>,
    /// What the other agent does.
    pub description: Option<String>,
    /// The other agent's tags.
    pub capabilities: Vec<String>,
}

impl ConnectedView {
    /// A connection with `peer`.
    #[must_use]
    pub fn new(id: ConnectionId, peer: Agent) -> Self {
        Self {
            connection_id: id.clone(),
            id,
            agent_id: peer.id,
            agent_name: peer.name.clone(),
            name: peer.name,
            public_key: peer.public_key,
            description: peer.description,
            capabilities: peer.capabilities,
        }
    }
}

/// One of the caller's connections.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionView {
    /// The connection and the other agent.
    #[serde(flatten)]
    pub connected: ConnectedView,
    /// What the caller calls it.
    pub alias: Option<String>,
    /// What the caller does with its tasks: `auto`, `require`, or null for the profile's default.
    #[schema(value_type = Option<String>)]
    pub approval: Option<Rule>,
    /// Whether the other agent listens now or asked within the last minute.
    pub online: bool,
    /// When the other agent was last heard of.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_seen_at: Option<Timestamp>,
    /// How the hub can reach the other agent: `socket`, `stream`, `polling` or `never`.
    pub reach: &'static str,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl ConnectionView {
    /// One side of a connection.
    #[must_use]
    pub fn new(connection: Connection, seen: Seen) -> Self {
        Self {
            connected: ConnectedView::new(connection.id, connection.peer),
            alias: connection.alias,
            approval: connection.approval,
            online: seen.online,
            last_seen_at: seen.last_seen_at,
            reach: seen.reach.as_str(),
            created_at: connection.created_at,
        }
    }
}

/// Changes to the caller's side of a connection. What is left out stays.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatchConnection {
    /// What to call the other agent; null clears it.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, max_length = 64)]
    pub alias: Option<Option<Alias>>,
    /// `auto` or `require`; null falls back to the profile's default.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    pub approval: Option<Option<Rule>>,
}

/// A connection that ended.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Disconnected {
    /// Always true.
    pub deleted: bool,
    /// How many live tasks were cancelled with it.
    pub cancelled_tasks: i64,
}

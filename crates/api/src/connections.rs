//! Pairing and connections.

use serde::{Deserialize, Serialize};
use tandem_core::agents::{Agent, Connection, Reach};
use tandem_core::pairing::PairingCode;
use tandem_core::text::Alias;
use tandem_core::{AgentId, ConnectionId, PairingId, Rule, Timestamp};
use utoipa::ToSchema;

use crate::agents::Presence;
use crate::fence::Fence;
use crate::nullable;
use crate::text::{Author, HubText, PeerName, PeerTags, PeerText, PeerToken};
use crate::words;

/// A pairing code for another agent.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct PairingCodeView {
    /// The id of this offer. `agent.connected` has it when the code was redeemed.
    #[schema(value_type = String, example = "pair_01kabc")]
    pub pairing_id: PairingId,
    /// The code; not case-sensitive.
    #[schema(value_type = String, example = "BLUE-TIGER-4231")]
    pub code: HubText,
    /// When the code expires. It can be used once.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// A pairing code to redeem.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedeemCode {
    /// The code; not case-sensitive.
    #[schema(value_type = String, example = "BLUE-TIGER-4231")]
    pub code: PairingCode,
}

/// A new connection.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct ConnectedView {
    /// The connection id.
    #[schema(value_type = String)]
    pub connection_id: ConnectionId,
    /// Same as `connectionId`.
    #[schema(value_type = String)]
    pub id: ConnectionId,
    /// The other agent's id.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The other agent's name.
    #[schema(value_type = String)]
    pub agent_name: PeerName,
    /// Same as `agentName`.
    #[schema(value_type = String)]
    pub name: PeerName,
    /// The other agent's public key.
    #[schema(value_type = Option<String>)]
    pub public_key: Option<PeerToken>,
    /// What the other agent does, in its own words.
    #[schema(value_type = Option<String>)]
    pub description: Option<PeerText>,
    /// The other agent's capability tags.
    #[schema(value_type = Vec<String>)]
    pub capabilities: PeerTags,
}

impl ConnectedView {
    /// A connection with `peer`.
    #[must_use]
    pub fn new(id: ConnectionId, peer: Agent) -> Self {
        Self {
            connection_id: id.clone(),
            id,
            agent_id: peer.id,
            agent_name: PeerName::peer(peer.name.clone()),
            name: PeerName::peer(peer.name),
            public_key: peer.public_key.map(PeerToken::peer),
            description: peer.description.map(PeerText::peer),
            capabilities: PeerTags::new(Author::Peer, peer.capabilities),
        }
    }
}

/// One of your connections.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionView {
    /// The connection and the other agent.
    #[serde(flatten)]
    pub connected: ConnectedView,
    /// Your alias for the other agent.
    #[schema(value_type = Option<String>)]
    pub alias: Option<PeerName>,
    /// Your rule for its tasks: `auto`, `require`, or null for your default rule.
    #[schema(value_type = Option<words::ApprovalRule>)]
    pub approval: Option<Rule>,
    /// Whether the other agent is connected or sent a request in the last minute.
    pub online: bool,
    /// When the other agent was last seen.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_seen_at: Option<Timestamp>,
    /// How the other agent can be reached: `channel` (a bridge starts a turn), `runner` (a worker is started),
    /// `hook` (at its next turn), `socket`, `stream`, `webhook`, `a2a` (the hub calls it), `polling` (when it asks), `away` or
    /// `never`.
    #[schema(value_type = words::Reach)]
    pub reach: Reach,
    /// When this way last demonstrably showed something to a model; null if that was never observed.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub reach_confirmed_at: Option<Timestamp>,
    /// When the connection was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl ConnectionView {
    /// One side of a connection.
    #[must_use]
    pub fn new(connection: Connection, seen: Presence) -> Self {
        Self {
            connected: ConnectedView::new(connection.id, connection.peer),
            alias: connection.alias.map(PeerName::own),
            approval: connection.approval,
            online: seen.online,
            last_seen_at: seen.last_seen_at,
            reach: seen.reach,
            reach_confirmed_at: seen.reach_confirmed_at,
            created_at: connection.created_at,
        }
    }
}

/// Changes to your side of a connection. Omitted fields stay unchanged.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatchConnection {
    /// Your alias for the other agent; null clears it.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 64)]
    pub alias: Option<Option<Alias>>,
    /// `auto` or `require`; null uses your default rule.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<words::ApprovalRule>)]
    pub approval: Option<Option<Rule>>,
}

/// A connection that was ended.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct Disconnected {
    /// Always true.
    pub deleted: bool,
    /// Number of live tasks that were cancelled.
    pub cancelled_tasks: i64,
}

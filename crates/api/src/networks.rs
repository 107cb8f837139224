//! Networks.

use serde::{Deserialize, Serialize};
use tandem_core::agents::Agent;
use tandem_core::messages::{ContentType, Kind};
use tandem_core::networks::{Broadcast, InviteCode, InviteSeconds, InviteUses, Network};
use tandem_core::text::{AgentDescription, AgentName, Body, Capability};
use tandem_core::{AgentId, MessageId, NetworkId, Timestamp};
use utoipa::ToSchema;

use crate::fence::{Fence, no_text};
use crate::text::{Author, HubText, PeerName, PeerTags, PeerText, PeerToken};
use crate::words;

/// Input of a new network.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateNetwork {
    /// Name of the network.
    #[schema(value_type = String, min_length = 1, max_length = 64, example = "Release crew")]
    pub name: AgentName,
    /// Purpose of the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, max_length = 500)]
    pub description: Option<AgentDescription>,
}

/// One of your networks.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct NetworkView {
    /// The network id.
    #[schema(value_type = String)]
    pub id: NetworkId,
    /// Name of the network.
    #[schema(value_type = String)]
    pub name: PeerName,
    /// Purpose of the network.
    #[schema(value_type = Option<String>)]
    pub description: Option<PeerText>,
    /// The owner, who may invite and remove members.
    #[schema(value_type = String)]
    pub owner_agent_id: AgentId,
    /// The owner's name.
    #[schema(value_type = String)]
    pub owner_agent_name: PeerName,
    /// Your role: `owner` or `member`.
    pub role: NetworkRole,
    /// Number of members.
    pub member_count: i64,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// A role in a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum NetworkRole {
    /// May invite and remove members, and delete the network.
    Owner,
    /// An ordinary member.
    Member,
}

impl NetworkRole {
    /// The role of `agent` in a network of `owner`.
    #[must_use]
    pub fn of(agent: &AgentId, owner: &AgentId) -> Self {
        if agent == owner { Self::Owner } else { Self::Member }
    }
}

no_text!(NetworkRole);

impl NetworkView {
    /// The network as `viewer` sees it.
    #[must_use]
    pub fn new(network: Network, viewer: &AgentId) -> Self {
        let owner = Author::of(&network.owner, viewer);
        Self {
            role: NetworkRole::of(viewer, &network.owner),
            id: network.id,
            name: PeerName::new(owner, network.name),
            description: network.description.map(|text| PeerText::new(owner, text)),
            owner_agent_id: network.owner,
            owner_agent_name: PeerName::new(owner, network.owner_name),
            member_count: network.members,
            created_at: network.created_at,
        }
    }
}

/// Input of a new invitation. All fields are optional.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateInvite {
    /// How many agents may use it (default 100).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<i64>, minimum = 1, maximum = 1_000)]
    pub max_uses: Option<InviteUses>,
    /// Seconds until it expires (default one week, at most 30 days).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<i64>, minimum = 1, maximum = 2_592_000)]
    pub expires_in_seconds: Option<InviteSeconds>,
}

/// An invitation to a network.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct InviteView {
    /// The code to give to the owners of other agents.
    #[schema(value_type = String, example = "NET-7K2M-QX4T-9WBD")]
    pub code: HubText,
    /// How many agents may use it.
    pub max_uses: i64,
    /// When it expires.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// An invitation to redeem.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JoinNetwork {
    /// The code; not case-sensitive.
    #[schema(value_type = String)]
    pub code: InviteCode,
}

/// A member of a network.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct MemberView {
    /// The agent id.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// Display name.
    #[schema(value_type = String)]
    pub agent_name: PeerName,
    /// What the agent does, in its own words.
    #[schema(value_type = Option<String>)]
    pub description: Option<PeerText>,
    /// Capability tags.
    #[schema(value_type = Vec<String>)]
    pub capabilities: PeerTags,
    /// Its public key, if it has one.
    #[schema(value_type = Option<String>)]
    pub public_key: Option<PeerToken>,
    /// `owner` or `member`.
    pub role: NetworkRole,
    /// Whether it is connected or sent a request in the last minute.
    pub online: bool,
    /// When it joined.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl MemberView {
    /// The member as `reader` sees it.
    #[must_use]
    pub fn new(member: Agent, owner: &AgentId, online: bool, joined_at: Timestamp, reader: &AgentId) -> Self {
        let author = Author::of(&member.id, reader);
        Self {
            role: NetworkRole::of(&member.id, owner),
            agent_id: member.id,
            agent_name: PeerName::new(author, member.name),
            description: member.description.map(|text| PeerText::new(author, text)),
            capabilities: PeerTags::new(author, member.capabilities),
            public_key: member.public_key.map(|key| PeerToken::new(author, key)),
            online,
            created_at: joined_at,
        }
    }
}

/// Selects the recipients of a broadcast.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BroadcastFilter {
    /// Only members with this capability tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    pub capability: Option<Capability>,
    /// `true`: only members that are online; `false`: only those that are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub online: Option<bool>,
}

/// A message to all members of a network.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendBroadcast {
    /// The text. At most 256 KiB.
    #[schema(value_type = String)]
    pub content: Body,
    /// Which members get it. Default: all other members.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub filter: Option<BroadcastFilter>,
}

/// A broadcast that was sent.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct BroadcastSent {
    /// The message id.
    #[schema(value_type = String)]
    pub message_id: MessageId,
    /// Number of recipients.
    pub recipients: i64,
}

/// A broadcast in a network.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct BroadcastView {
    /// The message id.
    #[schema(value_type = String)]
    pub id: MessageId,
    /// The network id.
    #[schema(value_type = String)]
    pub network_id: NetworkId,
    /// The sender.
    #[schema(value_type = String)]
    pub sender_agent_id: AgentId,
    /// The sender's name.
    #[schema(value_type = String)]
    pub sender_agent_name: PeerName,
    /// Always `broadcast`.
    #[schema(value_type = words::MessageKind)]
    pub kind: Kind,
    /// The text.
    #[schema(value_type = String)]
    pub content: PeerText,
    /// Always `text`.
    #[schema(value_type = words::ContentType)]
    pub content_type: ContentType,
    /// Number of recipients.
    pub recipients: i64,
    /// When it was sent.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl BroadcastView {
    /// The broadcast as `reader` sees it.
    #[must_use]
    pub fn new(message: Broadcast, reader: &AgentId) -> Self {
        let author = Author::of(&message.sender, reader);
        Self {
            id: message.id,
            network_id: message.network,
            sender_agent_id: message.sender,
            sender_agent_name: PeerName::new(author, message.sender_name),
            kind: Kind::Broadcast,
            content: PeerText::new(author, message.content),
            content_type: ContentType::Text,
            recipients: message.recipients,
            created_at: message.created_at,
        }
    }
}

/// A network that was deleted.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct DeletedNetwork {
    /// Always true.
    pub deleted: bool,
}

/// A network that you have left.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct LeftNetwork {
    /// Always true.
    pub left: bool,
}

/// A member that was removed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct RemovedMember {
    /// Always true.
    pub removed: bool,
}

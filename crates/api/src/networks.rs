//! Networks.

use serde::{Deserialize, Serialize};
use tandem_core::messages::{ContentType, Kind};
use tandem_core::networks::{Broadcast, InviteCode, InviteSeconds, InviteUses, Network};
use tandem_core::text::{AgentDescription, AgentName, Body, Capability};
use tandem_core::{AgentId, MessageId, NetworkId, Timestamp};
use utoipa::ToSchema;

/// A new network.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateNetwork {
    /// What it is called.
    #[schema(value_type = String, min_length = 1, max_length = 64, example = "Release crew")]
    pub name: AgentName,
    /// What it is for.
    #[schema(value_type = Option<String>, max_length = 500)]
    pub description: Option<AgentDescription>,
}

/// A network that you are in.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: NetworkId,
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Who may invite and remove.
    #[schema(value_type = String)]
    pub owner_agent_id: AgentId,
    /// That agent's name.
    pub owner_agent_name: String,
    /// What you are in it: `owner` or `member`.
    pub role: &'static str,
    /// How many agents it has.
    pub member_count: i64,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// What an agent is in a network.
fn role(agent: &AgentId, owner: &AgentId) -> &'static str {
    if agent == owner { "owner" } else { "member" }
}

impl NetworkView {
    /// The network as `viewer` sees it.
    #[must_use]
    pub fn new(network: Network, viewer: &AgentId) -> Self {
        Self {
            role: role(viewer, &network.owner),
            id: network.id,
            name: network.name,
            description: network.description,
            owner_agent_id: network.owner,
            owner_agent_name: network.owner_name,
            member_count: network.members,
            created_at: network.created_at,
        }
    }
}

/// How an invitation may be used; nothing has to be said.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateInvite {
    /// How often it may be used (default 100).
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 1_000)]
    pub max_uses: Option<InviteUses>,
    /// How long it is good for (default a week, at most 30 days).
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 2_592_000)]
    pub expires_in_seconds: Option<InviteSeconds>,
}

/// An invitation.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InviteView {
    /// What to give to the other agents' owners.
    #[schema(example = "NET-7K2M-QX4T-9WBD")]
    pub code: String,
    /// How often it may be used.
    pub max_uses: i64,
    /// Until when.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// An invitation to use.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JoinNetwork {
    /// The code, in any case.
    #[schema(value_type = String)]
    pub code: InviteCode,
}

/// An agent in a network.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberView {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// Its name.
    pub agent_name: String,
    /// What it says about itself.
    pub description: Option<String>,
    /// Its tags.
    pub capabilities: Vec<String>,
    /// Its public key, if it has one.
    pub public_key: Option<String>,
    /// `owner` or `member`.
    pub role: &'static str,
    /// Whether it is connected or was heard of within the last minute.
    pub online: bool,
    /// When it joined.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl MemberView {
    /// The word for what an agent is in a network.
    #[must_use]
    pub fn role_of(agent: &AgentId, network: &Network) -> &'static str {
        role(agent, &network.owner)
    }
}

/// Which members a broadcast goes to.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BroadcastFilter {
    /// Only those with this tag.
    #[schema(value_type = Option<String>)]
    pub capability: Option<Capability>,
    /// Only those that are online; with false, only those that are not.
    pub online: Option<bool>,
}

/// Something to say to a network.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendBroadcast {
    /// The text. At most 256 KiB.
    #[schema(value_type = String)]
    pub content: Body,
    /// To whom; to every other member, if left out.
    pub filter: Option<BroadcastFilter>,
}

/// What came of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BroadcastSent {
    /// The message.
    #[schema(value_type = String)]
    pub message_id: MessageId,
    /// How many members it went to.
    pub recipients: i64,
}

/// Something that was said to a network.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BroadcastView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: MessageId,
    /// The network.
    #[schema(value_type = String)]
    pub network_id: NetworkId,
    /// Who wrote it.
    #[schema(value_type = String)]
    pub sender_agent_id: AgentId,
    /// That agent's name.
    pub sender_agent_name: String,
    /// Always `broadcast`.
    #[schema(value_type = String)]
    pub kind: Kind,
    /// What it says.
    pub content: String,
    /// Always `text`.
    #[schema(value_type = String)]
    pub content_type: ContentType,
    /// How many members it went to.
    pub recipients: i64,
    /// When it was written.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl From<Broadcast> for BroadcastView {
    fn from(message: Broadcast) -> Self {
        Self {
            id: message.id,
            network_id: message.network,
            sender_agent_id: message.sender,
            sender_agent_name: message.sender_name,
            kind: Kind::Broadcast,
            content: message.content,
            content_type: ContentType::Text,
            recipients: message.recipients,
            created_at: message.created_at,
        }
    }
}

/// The network is gone.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedNetwork {
    /// Always true.
    pub deleted: bool,
}

/// You are no longer in the network.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeftNetwork {
    /// Always true.
    pub left: bool,
}

/// The agent is no longer in the network.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedMember {
    /// Always true.
    pub removed: bool,
}

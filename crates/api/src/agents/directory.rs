//! The directory of agents, and blocks.

use serde::{Deserialize, Serialize};
use tandem_core::agents::Reach;
use tandem_core::text::{Capability, SearchText};
use tandem_core::{AgentId, Timestamp};
use utoipa::{IntoParams, ToSchema};

use crate::fence::Fence;
use crate::text::{PeerName, PeerTags, PeerText};
use crate::words;

/// A search in the directory.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct DiscoverQuery {
    /// Only agents with this capability tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub capability: Option<Capability>,
    /// Only agents whose name or description contains this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub q: Option<SearchText>,
    /// Alias of `q`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub query: Option<SearchText>,
    /// Page size (default 20, at most 100).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    /// Number of matches to skip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
}

/// The result of a search.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct Discovered {
    /// Number of matching agents (counted up to 10,000).
    pub total: i64,
    /// This page of matches.
    pub agents: Vec<DirectoryEntry>,
}

/// An agent in the directory.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryEntry {
    /// The agent id.
    #[schema(value_type = String)]
    pub id: AgentId,
    /// Display name.
    #[schema(value_type = String)]
    pub name: PeerName,
    /// What the agent does, in its own words.
    #[schema(value_type = Option<String>)]
    pub description: Option<PeerText>,
    /// Capability tags.
    #[schema(value_type = Vec<String>)]
    pub capabilities: PeerTags,
    /// Number of connections; 10 means ten or more.
    pub connection_count: i64,
    /// Share of its ended tasks that were completed, from 0 to 1; null below five ended tasks.
    pub task_completion_rate: Option<f64>,
    /// When it registered.
    #[schema(value_type = String, format = DateTime)]
    pub member_since: Timestamp,
    /// Whether it has registered a public key.
    pub public_key: bool,
    /// Whether you can connect without a pairing code.
    pub auto_accept: bool,
    /// Whether it is connected or sent a request in the last minute.
    pub online: bool,
    /// When it was last seen.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_seen_at: Option<Timestamp>,
    /// How it can be reached: `channel`, `runner`, `hook`, `socket`, `stream`, `webhook`, `a2a`, `polling`,
    /// `away` or `never`.
    #[schema(value_type = words::Reach)]
    pub reach: Reach,
}

/// The agent to block.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockAgent {
    /// The agent id.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
}

/// The state of a block.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct Blocked {
    /// The agent id.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// Whether it is blocked now.
    pub blocked: bool,
    /// Number of tasks that were cancelled.
    pub cancelled_tasks: i64,
}

/// A blocked agent.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct BlockEntry {
    /// The agent id.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// Display name.
    #[schema(value_type = String)]
    pub agent_name: PeerName,
    /// When it was blocked.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

//! Agents: registration, profile, directory and blocks.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tandem_core::Rule;
use tandem_core::agents::{Agent, Reach};
use tandem_core::text::{
    AgentDescription, AgentName, Capabilities, Capability, SearchText, WebhookEvents, WebhookSecret,
};
use tandem_core::{AgentId, Timestamp};
use utoipa::{IntoParams, ToSchema};

use crate::nullable;

/// The most bytes of metadata, as compact JSON.
const METADATA_BYTES_MAX: usize = 4_096;

/// What an agent wants kept beside its profile: a JSON object of at most 4 KB.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct Metadata(String);

impl TryFrom<Map<String, Value>> for Metadata {
    type Error = String;
    fn try_from(object: Map<String, Value>) -> Result<Self, String> {
        let text = Value::Object(object).to_string();
        if text.len() > METADATA_BYTES_MAX {
            return Err(format!("must be at most {METADATA_BYTES_MAX} bytes as JSON"));
        }
        Ok(Self(text))
    }
}

impl From<Metadata> for String {
    fn from(metadata: Metadata) -> Self {
        metadata.0
    }
}

/// A new agent.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisterAgent {
    /// What others see.
    #[schema(value_type = String, min_length = 1, max_length = 64, example = "Ada's coder")]
    pub name: AgentName,
    /// What this agent does.
    #[schema(value_type = Option<String>, max_length = 500)]
    pub description: Option<AgentDescription>,
    /// Tags by which it can be found.
    #[serde(default)]
    #[schema(value_type = Option<Vec<String>>, max_items = 20, example = json!(["code-review", "rust"]))]
    pub capabilities: Option<Capabilities>,
    /// Anything else, as a JSON object of at most 4 KB.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Metadata>,
    /// RSA public key of 2048 bits or more as SPKI PEM, for end-to-end encryption. Never the private key.
    pub public_key: Option<String>,
    /// From `GET /agents/challenge`, where the hub asks for proof of work.
    pub challenge: Option<String>,
    /// The text that solves the challenge.
    pub solution: Option<String>,
}

/// Changes to the caller's profile. What is left out stays.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatchAgent {
    /// What others see.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 64)]
    pub name: Option<AgentName>,
    /// What this agent does; null clears it.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, max_length = 500)]
    pub description: Option<Option<AgentDescription>>,
    /// Tags by which it can be found.
    #[schema(value_type = Option<Vec<String>>, max_items = 20)]
    pub capabilities: Option<Capabilities>,
    /// A JSON object of at most 4 KB; null clears it.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Option<Metadata>>,
    /// Whether the directory shows this agent.
    pub discoverable: Option<bool>,
    /// Whether others may connect without a code.
    pub auto_accept: Option<bool>,
    /// What happens with tasks where the connection says nothing: `auto` or `require`; null clears it.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, example = "require")]
    pub default_approval_rule: Option<Option<Rule>>,
    /// Where your events are sent by POST; null clears it. Setting it again switches it on again.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, example = "https://example.com/hook")]
    pub webhook_url: Option<Option<String>>,
    /// What deliveries are signed with, at least 16 characters; null signs nothing.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, min_length = 16)]
    pub webhook_secret: Option<Option<WebhookSecret>>,
    /// Which events are sent; empty means all.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<Vec<String>>)]
    pub webhook_events: Option<Option<WebhookEvents>>,
}

/// An agent's own profile.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    #[schema(value_type = String, example = "agent_01kabc")]
    /// Its id.
    pub id: AgentId,
    /// What others see.
    pub name: String,
    /// Its public key, byte for byte as registered.
    pub public_key: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// Its tags.
    pub capabilities: Vec<String>,
    /// What it keeps beside its profile.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Value>,
    /// Whether the directory shows it.
    pub discoverable: bool,
    /// Whether others may connect without a code.
    pub auto_accept: bool,
    /// `auto`, `require`, or null where none was set.
    #[schema(value_type = Option<String>)]
    pub default_approval_rule: Option<Rule>,
    /// Where events are sent.
    pub webhook_url: Option<String>,
    /// Which events are sent; empty means all.
    pub webhook_events: Vec<String>,
    /// Whether they are sent at present.
    pub webhook_active: bool,
    /// Whether tasks for this agent cost credits.
    pub costs_credits: bool,
    /// Its balance in US dollars.
    pub credits: f64,
    /// When it registered.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Whether it listens now or asked within the last minute.
    pub online: bool,
    /// When it was last heard of.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_seen_at: Option<Timestamp>,
    /// How the hub can reach it: `socket`, `stream`, `polling` or `never`.
    pub reach: &'static str,
}

/// What the hub really sees of an agent.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Whether it listens now or asked within the last minute.
    pub online: bool,
    /// When it was last heard of.
    pub last_seen_at: Option<Timestamp>,
    /// How it can be reached.
    pub reach: Reach,
}

/// Millionths of a dollar, as dollars.
#[expect(clippy::cast_precision_loss, reason = "balances are far below 2^53 millionths")]
fn dollars(micro: i64) -> f64 {
    micro as f64 / 1_000_000.0
}

impl Profile {
    /// The profile of an agent.
    #[must_use]
    pub fn new(agent: Agent, seen: Seen) -> Self {
        Self {
            id: agent.id,
            name: agent.name,
            public_key: agent.public_key,
            description: agent.description,
            capabilities: agent.capabilities,
            metadata: agent.metadata.and_then(|text| serde_json::from_str(&text).ok()),
            discoverable: agent.discoverable,
            auto_accept: agent.auto_accept,
            default_approval_rule: agent.default_approval,
            webhook_url: agent.webhook_url,
            webhook_events: agent.webhook_events,
            webhook_active: agent.webhook_active,
            costs_credits: agent.costs_credits,
            credits: dollars(agent.credits_micro),
            created_at: agent.created_at,
            online: seen.online,
            last_seen_at: seen.last_seen_at,
            reach: seen.reach.as_str(),
        }
    }
}

/// A profile with the key that belongs to it, shown once.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Registered {
    /// The key; it is not kept and cannot be shown again.
    #[schema(example = "tdm_0f1e…")]
    pub api_key: String,
    /// The profile.
    #[serde(flatten)]
    pub profile: Profile,
}

/// A new key, shown once.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewKey {
    /// The key; the one before it has ended.
    pub api_key: String,
}

/// A puzzle to solve before registration.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Challenge {
    /// Its text; good for one registration within ten minutes.
    pub challenge: String,
    /// How many zero bits SHA-256(challenge + solution) must begin with; 0 asks for nothing.
    pub difficulty: u32,
    /// Always `SHA-256`.
    pub algorithm: &'static str,
}

/// What to look for in the directory.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct DiscoverQuery {
    /// Only agents with this tag.
    #[param(value_type = Option<String>)]
    pub capability: Option<Capability>,
    /// Only agents with this in their name or description.
    #[param(value_type = Option<String>)]
    pub q: Option<SearchText>,
    /// The same as `q`.
    #[param(value_type = Option<String>)]
    pub query: Option<SearchText>,
    /// How many at most (default 20, at most 100).
    pub limit: Option<i64>,
    /// How many to pass over.
    pub offset: Option<i64>,
}

/// What the directory found.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Discovered {
    /// How many agents fit (counted up to 10,000).
    pub total: i64,
    /// This page of them.
    pub agents: Vec<DirectoryEntry>,
}

/// An agent in the directory, with what speaks for it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryEntry {
    /// Its id.
    #[schema(value_type = String)]
    pub id: AgentId,
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// Its tags.
    pub capabilities: Vec<String>,
    /// How many connections it has; 10 stands for ten or more.
    pub connection_count: i64,
    /// Which part of the tasks sent to it ended completed, from 0 to 1; null below five ended tasks.
    pub task_completion_rate: Option<f64>,
    /// When it registered.
    #[schema(value_type = String, format = DateTime)]
    pub member_since: Timestamp,
    /// Whether it has a public key.
    pub public_key: bool,
    /// Whether one may connect to it without a code.
    pub auto_accept: bool,
    /// Whether it listens now or asked within the last minute.
    pub online: bool,
    /// When it was last heard of.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_seen_at: Option<Timestamp>,
    /// How the hub can reach it: `socket`, `stream`, `polling` or `never`.
    pub reach: &'static str,
}

/// Whom to block.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockAgent {
    /// The agent's id.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
}

/// A block, set or taken back.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Blocked {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// Whether it is blocked now.
    pub blocked: bool,
    /// How many tasks were cancelled with the connection.
    pub cancelled_tasks: i64,
}

/// A blocked agent.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockEntry {
    /// Its id.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// Its name.
    pub agent_name: String,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// What went with an agent.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedAccount {
    /// Always true.
    pub deleted: bool,
    /// How many connections.
    pub connections: u64,
    /// How many tasks.
    pub tasks: u64,
    /// How many messages.
    pub messages: u64,
    /// How many files.
    pub files: u64,
}

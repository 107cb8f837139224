//! Agents: registration, profile, directory and blocks.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tandem_core::Rule;
use tandem_core::agents::{A2aAccess, Agent, Reach};
use tandem_core::credits::Usd;
use tandem_core::text::{AgentDescription, AgentName, Capabilities, WebhookEvents, WebhookSecret};
use tandem_core::webhooks::SecretFormat;
use tandem_core::{AgentId, Timestamp};
use utoipa::ToSchema;

mod directory;
mod key;
mod skills;
mod wake;

use crate::events::EventType;
use crate::fence::Fence;
use crate::nullable;
use crate::text::{Author, HubText, PeerJson, PeerName, PeerTags, PeerText, PeerToken};
use crate::words;
pub use directory::{BlockAgent, BlockEntry, Blocked, DirectoryEntry, DiscoverQuery, Discovered};
pub use key::{ApiKeyHash, NewKey, RotateKey};
pub use skills::Skills;
pub use wake::{ReachView, ReportReach, RungView};

/// Maximum size of the metadata, as compact JSON.
const METADATA_BYTES_MAX: usize = 4_096;

/// Metadata of an agent: a JSON object of at most 4 KB.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct Metadata(String);

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let object: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        object.serialize(serializer)
    }
}

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

/// Input of a registration.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisterAgent {
    /// Display name.
    #[schema(value_type = String, min_length = 1, max_length = 64, example = "Ada's coder")]
    pub name: AgentName,
    /// What this agent does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, max_length = 500)]
    pub description: Option<AgentDescription>,
    /// Capability tags by which others find it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Vec<String>>, max_items = 20, example = json!(["code-review", "rust"]))]
    pub capabilities: Option<Capabilities>,
    /// Any JSON object of at most 4 KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Object>)]
    pub metadata: Option<Metadata>,
    /// RSA public key of at least 2048 bits as SPKI PEM, for end-to-end encryption. Never send the private key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub public_key: Option<String>,
    /// SHA-256 of a key that you made: `tdm_` and at least 43 characters of `[A-Za-z0-9_-]`. Then a lost answer costs
    /// nothing, because you have the key. Omitted: the hub makes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, pattern = "^[0-9a-f]{64}$")]
    pub api_key_hash: Option<ApiKeyHash>,
    /// From `GET /agents/challenge`, if the hub requires proof of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub challenge: Option<String>,
    /// The text that solves the challenge.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub solution: Option<String>,
}

impl RegisterAgent {
    /// An agent with a name only.
    #[must_use]
    pub fn new(name: AgentName) -> Self {
        Self {
            name,
            description: None,
            capabilities: None,
            metadata: None,
            public_key: None,
            api_key_hash: None,
            challenge: None,
            solution: None,
        }
    }
}

/// Changes to your profile. Omitted fields stay unchanged.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatchAgent {
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, min_length = 1, max_length = 64)]
    pub name: Option<AgentName>,
    /// What this agent does; null clears it.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 500)]
    pub description: Option<Option<AgentDescription>>,
    /// Capability tags by which others find this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Vec<String>>, max_items = 20)]
    pub capabilities: Option<Capabilities>,
    /// A JSON object of at most 4 KB; null clears it.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Option<Metadata>>,
    /// Whether the directory lists this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub discoverable: Option<bool>,
    /// Whether others may connect without a pairing code.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub auto_accept: Option<bool>,
    /// Rule for tasks on connections without a rule of their own: `auto` or `require`; null clears it.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<words::ApprovalRule>)]
    pub default_approval_rule: Option<Option<Rule>>,
    /// Who finds this agent by A2A: `connected`, `public` or `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<words::A2aAccess>)]
    pub a2a: Option<A2aAccess>,
    /// Skills for its A2A card: at most 20, of at most 16 KiB. Without any, the card has its capabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Vec<crate::a2a::AgentSkill>>, max_items = 20)]
    pub skills: Option<Skills>,
    /// URL that receives your events by POST; null removes it. Setting it activates the webhook again.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "https://example.com/hook")]
    pub webhook_url: Option<Option<String>>,
    /// Secret for the signatures, at least 16 characters; null turns signing off.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 16)]
    pub webhook_secret: Option<Option<WebhookSecret>>,
    /// Event types to send; empty means all.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    pub webhook_events: Option<Option<WebhookEvents>>,
}

/// Your own profile.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    #[schema(value_type = String, example = "agent_01kabc")]
    /// The agent id.
    pub id: AgentId,
    /// Display name.
    #[schema(value_type = String)]
    pub name: PeerName,
    /// The public key, exactly as registered.
    #[schema(value_type = Option<String>)]
    pub public_key: Option<PeerToken>,
    /// What it does.
    #[schema(value_type = Option<String>)]
    pub description: Option<PeerText>,
    /// Capability tags.
    #[schema(value_type = Vec<String>)]
    pub capabilities: PeerTags,
    /// Any JSON object.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<PeerJson>,
    /// Whether the directory lists it.
    pub discoverable: bool,
    /// Whether others may connect without a pairing code.
    pub auto_accept: bool,
    /// `auto`, `require`, or null if not set.
    #[schema(value_type = Option<words::ApprovalRule>)]
    pub default_approval_rule: Option<Rule>,
    /// Who finds it by A2A: `connected`, `public` or `off`.
    #[schema(value_type = words::A2aAccess)]
    pub a2a: A2aAccess,
    /// Skills for its A2A card.
    #[schema(value_type = Vec<crate::a2a::AgentSkill>)]
    pub skills: PeerJson,
    /// URL that receives the events.
    #[schema(value_type = Option<String>)]
    pub webhook_url: Option<PeerText>,
    /// Event types to send; empty means all.
    #[schema(value_type = Vec<words::WebhookEventType>)]
    pub webhook_events: Vec<EventType>,
    /// Whether the webhook is active.
    pub webhook_active: bool,
    /// How to give your secret to a Standard Webhooks library: `whsec` means as it is, `raw` means as raw bytes or as
    /// `whsec_` followed by the secret in base64. Null without a secret.
    #[schema(value_type = Option<words::SecretFormat>)]
    pub webhook_secret_format: Option<SecretFormat>,
    /// Whether tasks for this agent cost credits.
    pub costs_credits: bool,
    /// Balance in US dollars.
    #[schema(value_type = f64)]
    #[serde(deserialize_with = "crate::amount")]
    pub credits: Usd,
    /// When it registered.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Whether it is connected or sent a request in the last minute.
    pub online: bool,
    /// When it was last seen.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_seen_at: Option<Timestamp>,
    /// How it can be reached: `channel`, `runner`, `hook`, `socket`, `stream`, `webhook`, `a2a`, `polling`,
    /// `away` or `never`.
    #[schema(value_type = words::Reach)]
    pub reach: Reach,
    /// When this way last demonstrably showed something to a model; null if that was never observed.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub reach_confirmed_at: Option<Timestamp>,
}

/// The presence of an agent.
#[derive(Debug, Clone, Copy)]
pub struct Presence {
    /// Whether it is connected or sent a request in the last minute.
    pub online: bool,
    /// When it was last seen.
    pub last_seen_at: Option<Timestamp>,
    /// How it can be reached.
    pub reach: Reach,
    /// When that last demonstrably worked.
    pub reach_confirmed_at: Option<Timestamp>,
}

impl Profile {
    /// Builds the profile for the agent itself.
    #[must_use]
    pub fn new(agent: Agent, seen: Presence, webhook_secret_format: Option<SecretFormat>) -> Self {
        Self {
            id: agent.id,
            name: PeerName::own(agent.name),
            public_key: agent.public_key.map(PeerToken::own),
            description: agent.description.map(PeerText::own),
            capabilities: PeerTags::new(Author::Reader, agent.capabilities),
            metadata: agent.metadata.and_then(|json| PeerJson::new(Author::Reader, json)),
            discoverable: agent.discoverable,
            auto_accept: agent.auto_accept,
            default_approval_rule: agent.default_approval,
            a2a: agent.a2a,
            skills: PeerJson::list(Author::Reader, agent.skills),
            webhook_url: agent.webhook_url.map(PeerText::own),
            webhook_events: agent.webhook_events.into_iter().map(EventType::from).collect(),
            webhook_active: agent.webhook_active,
            webhook_secret_format,
            costs_credits: agent.costs_credits,
            credits: Usd::from_micro(agent.credits_micro),
            created_at: agent.created_at,
            online: seen.online,
            last_seen_at: seen.last_seen_at,
            reach: seen.reach,
            reach_confirmed_at: seen.reach_confirmed_at,
        }
    }
}

/// A new agent with its API key.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct Registered {
    /// The API key. It is not stored and cannot be shown again. Null if you made it.
    #[schema(value_type = Option<String>, example = "tdm_0f1e…")]
    pub api_key: Option<HubText>,
    /// The profile.
    #[serde(flatten)]
    pub profile: Profile,
}

/// How a challenge is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChallengeAlgorithm {
    /// SHA-256 over the challenge and the solution.
    #[serde(rename = "SHA-256")]
    Sha256,
}

/// A challenge to solve before registration.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Challenge {
    /// The text of the challenge. It is valid for one registration within ten minutes.
    pub challenge: String,
    /// Required number of leading zero bits of SHA-256(challenge + solution); 0 requires nothing.
    pub difficulty: u32,
    /// Always `SHA-256`.
    #[schema(value_type = String)]
    pub algorithm: ChallengeAlgorithm,
}

/// What was deleted with an account.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct DeletedAccount {
    /// Always true.
    pub deleted: bool,
    /// Number of connections.
    pub connections: u64,
    /// Number of tasks.
    pub tasks: u64,
    /// Number of messages.
    pub messages: u64,
    /// Number of files.
    pub files: u64,
}

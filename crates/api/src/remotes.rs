//! Remotes: agents elsewhere that speak A2A.

mod given;

use serde::{Deserialize, Serialize};
use tandem_core::remotes::{AuthType, Binding, OnUnclear, Pause, PauseReason, Remote, Signature};
use tandem_core::text::Alias;
use tandem_core::{AgentId, ConnectionId, Timestamp};
use utoipa::ToSchema;

use crate::fence::Fence;
use crate::text::{PeerName, PeerText};
use crate::{nullable, words};

pub use given::{CardKey, CardKeys, OriginList, RemoteAuth, is_own_header};

/// A new remote.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateRemote {
    /// The address of its card.
    #[schema(max_length = 2048, example = "https://agents.example.com/.well-known/agent-card.json")]
    pub card_url: String,
    /// What the hub authenticates itself with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub auth: Option<RemoteAuth>,
    /// Your alias for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, max_length = 64)]
    pub alias: Option<Alias>,
    /// Origins that it may be called at, beside that of its card: at most 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Vec<String>>)]
    pub allow_origins: Option<OriginList>,
    /// The keys that sign its card: at most 20. Without any, the key that signs it now is remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Vec<CardKey>>)]
    pub keys: Option<CardKeys>,
    /// What becomes of a task when nobody knows whether it has arrived: `retry` (default) sends it again with the same ids,
    /// `fail` fails it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<words::OnUnclear>)]
    pub on_unclear: Option<OnUnclear>,
}

/// Changes to a remote. Omitted fields stay unchanged. A change of any but `alias` and `onUnclear` reads its card again.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatchRemote {
    /// The address of its card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, max_length = 2048)]
    pub card_url: Option<String>,
    /// What the hub authenticates itself with; null for nothing.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<RemoteAuth>)]
    pub auth: Option<Option<RemoteAuth>>,
    /// Your alias for it; null clears it.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 64)]
    pub alias: Option<Option<Alias>>,
    /// Origins that it may be called at, beside that of its card: at most 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Vec<String>>)]
    pub allow_origins: Option<OriginList>,
    /// The keys that sign its card; null remembers the key that signs it now.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<CardKey>>)]
    pub keys: Option<Option<CardKeys>>,
    /// `retry` or `fail`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<words::OnUnclear>)]
    pub on_unclear: Option<OnUnclear>,
    /// True has its tasks wait, false lets them go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub paused: Option<bool>,
}

/// Why and since when the tasks of a remote wait.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
pub struct PauseView {
    /// `owner` (you said so), `origin` (the card names an origin that you have not allowed), `key` (it is no longer signed with
    /// the key that was remembered), `signature` (no signature can be verified) or `card` (it cannot be used).
    #[schema(value_type = words::PauseReason)]
    pub reason: PauseReason,
    /// More about it: the origin, or what is wrong.
    #[schema(value_type = Option<String>)]
    pub detail: Option<PeerText>,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
}

impl From<Pause> for PauseView {
    fn from(pause: Pause) -> Self {
        Self { reason: pause.reason, detail: pause.detail.map(PeerText::peer), since: pause.since }
    }
}

/// An agent elsewhere to which you send tasks.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct RemoteView {
    /// Its agent id here: the target of its tasks.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// Your connection to it; null if it was ended.
    #[schema(value_type = Option<String>)]
    pub connection_id: Option<ConnectionId>,
    /// Its name, by its card.
    #[schema(value_type = String)]
    pub name: PeerName,
    /// What it does, by its card.
    #[schema(value_type = Option<String>)]
    pub description: Option<PeerText>,
    /// Your alias for it.
    #[schema(value_type = Option<String>)]
    pub alias: Option<PeerName>,
    /// The address of its card.
    #[schema(value_type = String)]
    pub card_url: PeerText,
    /// Where it is called.
    #[schema(value_type = String)]
    pub url: PeerText,
    /// `JSONRPC` or `HTTP+JSON`.
    #[schema(value_type = words::A2aBinding)]
    pub binding: Binding,
    /// `bearer`, `basic`, `apiKey`, or null without credentials.
    #[schema(value_type = Option<words::RemoteAuthType>)]
    pub auth_type: Option<AuthType>,
    /// Origins that it may be called at, beside that of its card.
    #[schema(value_type = Vec<String>)]
    pub allow_origins: Vec<PeerText>,
    /// Whether its card is signed: `unsigned` or `verified`.
    #[schema(value_type = words::CardSignature)]
    pub signature: Signature,
    /// The version of its card.
    #[schema(value_type = String)]
    pub card_version: PeerText,
    /// When its card was read last.
    #[schema(value_type = String, format = DateTime)]
    pub card_read_at: Timestamp,
    /// `retry` or `fail`.
    #[schema(value_type = words::OnUnclear)]
    pub on_unclear: OnUnclear,
    /// Why its tasks wait; null if they do not.
    pub paused: Option<PauseView>,
    /// How many tasks have not been sent yet, up to 10,000.
    pub waiting_tasks: i64,
    /// Since when nothing has got through; null if the last request has.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub failing_since: Option<Timestamp>,
    /// Why.
    #[schema(value_type = Option<String>)]
    pub last_error: Option<PeerText>,
    /// When you made it.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// What a view of a remote is made of, beside the remote.
#[derive(Debug, Clone)]
pub struct RemoteBeside {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// The connection to it.
    pub connection: Option<ConnectionId>,
    /// The owner's alias for it.
    pub alias: Option<String>,
    /// How many tasks wait.
    pub waiting: i64,
}

impl RemoteView {
    /// The remote as its owner sees it.
    #[must_use]
    pub fn new(remote: Remote, beside: RemoteBeside) -> Self {
        Self {
            agent_id: remote.agent,
            connection_id: beside.connection,
            name: PeerName::peer(beside.name),
            description: beside.description.map(PeerText::peer),
            alias: beside.alias.map(PeerName::own),
            card_url: PeerText::own(remote.terms.card_url),
            url: PeerText::peer(remote.card.interface.url),
            binding: remote.card.interface.binding,
            auth_type: remote.terms.auth.map(|auth| auth.kind),
            allow_origins: remote.terms.origins.into_iter().map(PeerText::own).collect(),
            signature: remote.card.signature,
            card_version: PeerText::peer(remote.card.version),
            card_read_at: remote.card.read_at,
            on_unclear: remote.terms.on_unclear,
            paused: remote.pause.map(Into::into),
            waiting_tasks: beside.waiting,
            failing_since: remote.failing_since,
            last_error: remote.last_error.map(PeerText::peer),
            created_at: remote.created_at,
        }
    }
}

/// A remote that was removed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct DeletedRemote {
    /// Always true.
    pub deleted: bool,
    /// Its agent id.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
}

/// A push that has arrived.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PushTaken {
    /// Always true.
    pub received: bool,
}

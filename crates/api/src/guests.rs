//! Guests: keys that an agent gives to others, with which they reach it and nobody else.

use serde::{Deserialize, Serialize};
use tandem_core::agents::Guest;
use tandem_core::text::{AgentName, Within};
use tandem_core::{AgentId, Timestamp};
use utoipa::ToSchema;

use crate::fence::Fence;
use crate::text::{HubText, PeerName};

/// A new guest.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateGuest {
    /// The name under which you see its tasks: 1 to 64 characters.
    #[schema(value_type = String, min_length = 1, max_length = 64, example = "Travel assistant")]
    pub name: AgentName,
    /// Seconds until it ends. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<i64>, minimum = 1, maximum = 31_536_000)]
    pub expires_in_seconds: Option<Within<1, 31_536_000>>,
}

/// A guest of yours.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct GuestView {
    /// The guest's agent id.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// Its name, as you gave it.
    #[schema(value_type = String)]
    pub name: PeerName,
    /// Your A2A address, the only one at which its key is good.
    #[schema(value_type = String)]
    pub address: HubText,
    /// When it ends; null for never.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
    /// When you made it.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl GuestView {
    /// The guest as its host sees it.
    #[must_use]
    pub fn new(guest: Guest, address: &str) -> Self {
        Self {
            agent_id: guest.agent,
            name: PeerName::own(guest.name),
            address: HubText::new(address),
            expires_at: guest.expires_at,
            created_at: guest.created_at,
        }
    }
}

/// A new guest with its key.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct NewGuest {
    /// The key. It is shown only here.
    #[schema(value_type = String)]
    pub api_key: HubText,
    /// The guest.
    #[serde(flatten)]
    pub guest: GuestView,
}

/// A guest that has ended.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct DeletedGuest {
    /// Always true.
    pub deleted: bool,
    /// The guest's agent id.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
}

//! Agents, and how two of them are connected.

use crate::approval::Rule;
use crate::ids::{AgentId, ConnectionId};
use crate::time::Timestamp;

/// An agent's profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// What it is called.
    pub name: String,
    /// What it says about itself.
    pub description: Option<String>,
    /// Its tags.
    pub capabilities: Vec<String>,
    /// What it wants kept beside its profile: a JSON object, as text.
    pub metadata: Option<String>,
    /// Its public key, byte for byte as it was registered.
    pub public_key: Option<String>,
    /// Whether the directory shows it.
    pub discoverable: bool,
    /// Whether others may connect without a code.
    pub auto_accept: bool,
    /// What it does with tasks where the connection says nothing.
    pub default_approval: Option<Rule>,
    /// Whether tasks for it cost credits.
    pub costs_credits: bool,
    /// Its balance in millionths of a US dollar.
    pub credits_micro: i64,
    /// Whether the operator has suspended it.
    pub suspended: bool,
    /// When it registered.
    pub created_at: Timestamp,
    /// Where its events are sent.
    pub webhook_url: Option<String>,
    /// Which events are sent; none named means all.
    pub webhook_events: Vec<String>,
    /// Whether they are sent at present.
    pub webhook_active: bool,
    /// When it was last heard of, as far as it has been written down.
    pub last_seen_at: Option<Timestamp>,
}

/// How the hub can reach an agent at present, the best way first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// By a socket that is open.
    Socket,
    /// By a stream that is open.
    Stream,
    /// By a webhook that is not switched off.
    Webhook,
    /// It asks now and then.
    Polling,
    /// It has never been heard of.
    Never,
}

impl Reach {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Socket => "socket",
            Self::Stream => "stream",
            Self::Webhook => "webhook",
            Self::Polling => "polling",
            Self::Never => "never",
        }
    }
}

/// One side's view of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The connection.
    pub id: ConnectionId,
    /// The other agent.
    pub peer: Agent,
    /// What this side calls it.
    pub alias: Option<String>,
    /// What this side does with its tasks.
    pub approval: Option<Rule>,
    /// When it began.
    pub created_at: Timestamp,
}

//! Agents and the connections between them.

use crate::approval::Rule;
use crate::ids::{AgentId, ConnectionId};
use crate::messages::words;
use crate::text::Unfit;
use crate::time::Timestamp;
use crate::wake::{Ladder, Rung};

words!(
    /// Who finds an agent by A2A. A call needs a way to the agent in any case.
    #[derive(Default)]
    A2aAccess, "must be connected, public or off", {
        /// Those who have a way to the agent.
        #[default]
        Connected = "connected",
        /// Anybody can read its card.
        Public = "public",
        /// Nobody: it has no A2A address.
        Off = "off",
    }
);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Chosen by the hub at registration; never changes.
    pub id: AgentId,
    /// Display name; not unique.
    pub name: String,
    /// Free text that the agent's owner shows to others.
    pub description: Option<String>,
    /// Tags by which the directory finds it.
    pub capabilities: Vec<String>,
    /// Data of the owner that the hub only stores: a JSON object, as text.
    pub metadata: Option<String>,
    /// Public key in PEM, byte for byte as it was registered.
    pub public_key: Option<String>,
    /// Whether the directory shows it.
    pub discoverable: bool,
    /// Whether others may connect without a pairing code.
    pub auto_accept: bool,
    /// Approval rule for connections that have none of their own.
    pub default_approval: Option<Rule>,
    /// Whether the sender of a task to this agent needs credits.
    pub costs_credits: bool,
    /// Balance in millionths of a US dollar.
    pub credits_micro: i64,
    pub suspended: bool,
    pub created_at: Timestamp,
    /// URL that receives the events of this agent.
    pub webhook_url: Option<String>,
    /// Event types to send; empty means all.
    pub webhook_events: Vec<String>,
    /// False when there is no webhook, or after it has failed for a day.
    pub webhook_active: bool,
    /// Last request or connection. Written in batches, so it can be some seconds old.
    pub last_seen_at: Option<Timestamp>,
    /// How programs that run for it say that they can wake it.
    pub wake: Ladder,
    /// Who finds it by A2A.
    pub a2a: A2aAccess,
    /// Skills for its A2A card: a JSON array, as text.
    pub skills: Option<String>,
    /// When its owner last changed any of this; `None` if never.
    pub profile_at: Option<Timestamp>,
    /// Whether it is an agent elsewhere, which the hub calls by A2A.
    pub is_remote: bool,
}

/// An agent that another one made for somebody who has none. Its key is good at the address of its host only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    pub agent: AgentId,
    pub name: String,
    pub host: AgentId,
    /// When it ends; `None` for never.
    pub expires_at: Option<Timestamp>,
    pub created_at: Timestamp,
}

words!(
    /// How the hub can reach an agent at present, the best way first.
    #[derive(PartialOrd, Ord)]
    Reach, "must be a way to reach an agent", {
        /// A bridge that can start a turn in the open session of a tool.
        Channel = "channel",
        /// A runner that starts a worker for each task.
        Runner = "runner",
        /// A hook that shows news at the next turn of a tool.
        Hook = "hook",
        /// An open WebSocket.
        Socket = "socket",
        /// An open event stream.
        Stream = "stream",
        /// An active webhook.
        Webhook = "webhook",
        /// The hub calls it, by A2A.
        A2a = "a2a",
        /// The agent has made requests lately, but none of the above is open.
        Polling = "polling",
        /// The agent has made requests, but none for a while.
        Away = "away",
        /// The agent has made no request yet.
        Never = "never",
    }
);

/// An agent that asks for news less often than this cannot be said to do so.
const POLLING_MS: i64 = 600_000;

impl Reach {
    /// The rung of the wake ladder behind it, if a program reported one.
    #[must_use]
    pub const fn rung(self) -> Option<Rung> {
        match self {
            Self::Channel => Some(Rung::Channel),
            Self::Runner => Some(Rung::Runner),
            Self::Hook => Some(Rung::Hook),
            Self::Polling | Self::Away => Some(Rung::Pull),
            Self::Socket | Self::Stream | Self::Webhook | Self::A2a | Self::Never => None,
        }
    }
}

impl Agent {
    /// How it can be reached now: `connected` is its best open connection. Channel and runner need one, because their
    /// programs hold it. A bridge without a channel says so by `pull`: its connection wakes nobody.
    #[must_use]
    pub fn reach(&self, connected: Option<Reach>, seen_at: Option<Timestamp>, now: Timestamp) -> Reach {
        if self.is_remote {
            return Reach::A2a;
        }
        let provides = |rung| self.wake.provides(rung, now);
        let pushed = connected.filter(|reach| matches!(reach, Reach::Socket | Reach::Stream));
        match pushed {
            _ if connected.is_some() && provides(Rung::Channel) => Reach::Channel,
            _ if connected.is_some() && provides(Rung::Runner) => Reach::Runner,
            Some(reach) if !provides(Rung::Pull) && !provides(Rung::Hook) => reach,
            _ if self.webhook_active => Reach::Webhook,
            _ if provides(Rung::Hook) => Reach::Hook,
            _ => match seen_at {
                Some(at) if now.ms_since(at) <= POLLING_MS => Reach::Polling,
                Some(_) => Reach::Away,
                None => Reach::Never,
            },
        }
    }
}

/// One side's view of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The same id on both sides.
    pub id: ConnectionId,
    pub peer: Agent,
    /// This side's own name for the peer.
    pub alias: Option<String>,
    /// This side's approval rule for tasks from the peer.
    pub approval: Option<Rule>,
    /// Time at which the two agents were connected.
    pub created_at: Timestamp,
}

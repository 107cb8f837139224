//! The actor of a change or message: an agent, or the hub.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tandem_core::AgentId;
use tandem_core::messages::SYSTEM;

use crate::fence::{Fence, Fencer};
use crate::text::Author;

/// An agent, or the hub itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// An agent.
    Agent(AgentId),
    /// The hub; `system` on the wire.
    System,
}

impl Actor {
    /// The text on the wire: an agent id, or `system`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Agent(id) => id.as_str(),
            Self::System => SYSTEM,
        }
    }

    /// How the actor's text counts for `reader`. The hub's text about a task quotes the parties' names and reasons,
    /// so it counts as a peer's.
    #[must_use]
    pub fn author(&self, reader: &AgentId) -> Author {
        match self {
            Self::Agent(id) => Author::of(id, reader),
            Self::System => Author::Peer,
        }
    }
}

impl From<Option<AgentId>> for Actor {
    fn from(agent: Option<AgentId>) -> Self {
        agent.map_or(Self::System, Self::Agent)
    }
}

impl TryFrom<&str> for Actor {
    type Error = tandem_core::ids::NotAnId;
    fn try_from(text: &str) -> Result<Self, Self::Error> {
        if text == SYSTEM { Ok(Self::System) } else { text.parse().map(Self::Agent) }
    }
}

impl Serialize for Actor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Actor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(deserializer)?;
        Self::try_from(text.as_ref()).map_err(serde::de::Error::custom)
    }
}

impl Fence for Actor {
    fn fence(&mut self, with: &dyn Fencer) {
        match self {
            Self::Agent(id) => id.fence(with),
            Self::System => {}
        }
    }
}

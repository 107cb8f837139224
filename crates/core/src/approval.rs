//! The approval gate: whether a published task goes directly to its target or waits for approval.

use crate::messages::words;
use crate::text::Unfit;

/// An agent's rule for incoming tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Deliver them at once.
    Auto,
    /// Hold them until the agent approves.
    Require,
}

impl Rule {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Require => "require",
        }
    }
}

impl TryFrom<String> for Rule {
    type Error = Unfit;
    fn try_from(word: String) -> Result<Self, Unfit> {
        match word.as_str() {
            "auto" => Ok(Self::Auto),
            "require" => Ok(Self::Require),
            _ => Err(Unfit("must be auto or require".into())),
        }
    }
}

impl serde::Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for Rule {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.try_into().map_err(serde::de::Error::custom)
    }
}

words!(
    /// What became of a task that was held at a gate.
    Verdict, "must be approved, rejected or expired", {
        Approved = "approved",
        Rejected = "rejected",
        /// Nobody decided in time.
        Expired = "expired",
    }
);

words!(
    /// By which way somebody acts.
    Way, "must be page, rest or mcp", {
        /// A person, on a page of the dashboard.
        Page = "page",
        /// The HTTP API.
        Rest = "rest",
        /// A tool of MCP.
        Mcp = "mcp",
    }
);

/// The decision about one task. A task that was never held has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Approval {
    /// Held until the target decides.
    Pending,
    /// Accepted by the target.
    Approved,
    /// Declined by the target; the task is cancelled.
    Rejected,
}

impl Approval {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
        }
    }
}

impl TryFrom<String> for Approval {
    type Error = Unfit;
    fn try_from(word: String) -> Result<Self, Unfit> {
        match word.as_str() {
            "pending" => Ok(Self::Pending),
            "approved" => Ok(Self::Approved),
            "rejected" => Ok(Self::Rejected),
            _ => Err(Unfit("must be pending, approved or rejected".into())),
        }
    }
}

impl serde::Serialize for Approval {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for Approval {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.try_into().map_err(serde::de::Error::custom)
    }
}

/// What the gate says to a task being published: the target's side of the connection decides, else the
/// target's default, else it is open.
#[must_use]
pub fn gate(connection: Option<Rule>, default: Option<Rule>) -> Option<Approval> {
    match connection.or(default).unwrap_or(Rule::Auto) {
        Rule::Auto => None,
        Rule::Require => Some(Approval::Pending),
    }
}

/// The approval rule for the accepting side of a connection that was made without a pairing code. The other
/// agent is a stranger from the directory, so its tasks need approval, unless the accepting agent has a default
/// rule of its own.
#[must_use]
pub fn rule_for_a_stranger(default: Option<Rule>) -> Option<Rule> {
    match default {
        Some(_) => None,
        None => Some(Rule::Require),
    }
}

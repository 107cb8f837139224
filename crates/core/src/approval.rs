//! The approval gate: whether a published task goes straight to its target.

use crate::text::Unfit;

/// What an agent does with tasks that come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Let them in.
    Auto,
    /// Hold them until approved.
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

/// How the gate answered for a task; nothing at all when it was not asked to hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Approval {
    /// Held.
    Pending,
    /// Let in by the target.
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

/// What the gate says to a task being published: the target's side of the connection decides, else the
/// target's default, else it is open.
#[must_use]
pub fn gate(connection: Option<Rule>, default: Option<Rule>) -> Option<Approval> {
    match connection.or(default).unwrap_or(Rule::Auto) {
        Rule::Auto => None,
        Rule::Require => Some(Approval::Pending),
    }
}

/// The rule that a connection made without a code puts on the side of the agent that was reached: a
/// stranger came in by the directory, so somebody looks, unless that agent has said otherwise.
#[must_use]
pub fn rule_for_a_stranger(default: Option<Rule>) -> Option<Rule> {
    match default {
        Some(_) => None,
        None => Some(Rule::Require),
    }
}

//! Networks: groups of agents that reach each other without pairing.

use std::fmt;

use crate::ids::{AgentId, MessageId, NetworkId};
use crate::text::{Unfit, Within};
use crate::time::Timestamp;

/// How many agents a network may have.
pub const MEMBERS_MAX: i64 = 1_000;
/// How many networks an agent may be in.
pub const NETWORKS_MAX: i64 = 100;
/// How many invitations a network may have open.
pub const INVITES_MAX: i64 = 100;

/// How often an invitation may be used.
pub type InviteUses = Within<1, 1_000>;
/// How long an invitation is good for.
pub type InviteSeconds = Within<1, 2_592_000>;
/// How often an invitation may be used when nobody says.
pub const INVITE_USES_DEFAULT: i64 = 100;
/// How long it is good for when nobody says: a week.
pub const INVITE_SECONDS_DEFAULT: i64 = 604_800;

/// A group of agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// Its id.
    pub id: NetworkId,
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Who may invite and remove.
    pub owner: AgentId,
    /// That agent's name.
    pub owner_name: String,
    /// How many agents it has.
    pub members: i64,
    /// How many messages it has had.
    pub messages: i64,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What somebody said to a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broadcast {
    /// Its id.
    pub id: MessageId,
    /// The network.
    pub network: NetworkId,
    /// Its place there, from 1.
    pub number: i64,
    /// Who wrote it.
    pub sender: AgentId,
    /// That agent's name.
    pub sender_name: String,
    /// What it says.
    pub content: String,
    /// How many members it went to.
    pub recipients: i64,
    /// When it was written.
    pub created_at: Timestamp,
}

/// No letter that is taken for another: none of I, L, O, U.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// How many of them a code has.
const LENGTH: usize = 12;

/// An invitation to a network, such as `NET-7K2M-QX4T-9WBD`: 60 bits, in any case.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct InviteCode(String);

impl InviteCode {
    /// The code that these random bits stand for.
    #[must_use]
    pub fn from_random(bits: u64) -> Self {
        let mut code = String::from("NET");
        for place in 0..LENGTH {
            if place % 4 == 0 {
                code.push('-');
            }
            let letter = usize::try_from(bits >> (5 * place) & 31).unwrap_or_default();
            code.push(char::from(LETTERS[letter]));
        }
        Self(code)
    }

    /// The code as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for InviteCode {
    type Error = Unfit;
    fn try_from(text: String) -> Result<Self, Unfit> {
        if text.len() > 64 || text.trim().is_empty() || text.chars().any(char::is_control) {
            return Err(Unfit("must be an invitation such as NET-7K2M-QX4T-9WBD".into()));
        }
        Ok(Self(text.trim().to_uppercase()))
    }
}

impl fmt::Display for InviteCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

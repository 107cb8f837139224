//! The task machine as data: which status may follow which, and who may say so.
//!
//! `MOVES` is the only place that knows. Refusals, `nextStatuses`, the reference page and the tests are
//! all derived from it.

use std::fmt;
use std::str::FromStr;

use Status::{
    AuthRequired, Cancelled, Completed, Draft, Expired, Failed, InputRequired, Rejected, Submitted, Working,
};

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Only the initiator sees it.
    Draft,
    /// In the target's inbox, or held at its gate.
    Submitted,
    /// The target works on it.
    Working,
    /// Waits for the initiator: a question, or a result to look at.
    InputRequired,
    /// Waits for the initiator's authorisation.
    AuthRequired,
    /// Done.
    Completed,
    /// The target could not do it.
    Failed,
    /// The target declined.
    Rejected,
    /// Given up by a party or by the hub.
    Cancelled,
    /// Nobody took it in time.
    Expired,
}

impl Status {
    /// Every status, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Draft,
        Submitted,
        Working,
        InputRequired,
        AuthRequired,
        Completed,
        Failed,
        Rejected,
        Cancelled,
        Expired,
    ];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Draft => "draft",
            Submitted => "submitted",
            Working => "working",
            InputRequired => "input-required",
            AuthRequired => "auth-required",
            Completed => "completed",
            Failed => "failed",
            Rejected => "rejected",
            Cancelled => "cancelled",
            Expired => "expired",
        }
    }

    /// Nothing more happens, except a reopening or a retry.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Completed | Failed | Rejected | Cancelled | Expired)
    }

    /// Published and not ended.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Submitted | Working | InputRequired | AuthRequired)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a word is not a status.
#[derive(Debug, thiserror::Error)]
#[error(
    "must be one of draft, submitted, working, input-required, auth-required, completed, failed, rejected, \
     cancelled, expired"
)]
pub struct NotAStatus;

impl FromStr for Status {
    type Err = NotAStatus;
    fn from_str(word: &str) -> Result<Self, NotAStatus> {
        let word = match word {
            "input_required" => "input-required",
            "auth_required" => "auth-required",
            "canceled" => "cancelled",
            other => other,
        };
        Self::ALL.into_iter().find(|s| s.as_str() == word).ok_or(NotAStatus)
    }
}

impl TryFrom<String> for Status {
    type Error = NotAStatus;
    fn try_from(word: String) -> Result<Self, NotAStatus> {
        word.parse()
    }
}

impl serde::Serialize for Status {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for Status {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        word.parse().map_err(serde::de::Error::custom)
    }
}

/// Who acts on a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The agent that made the task.
    Initiator,
    /// The agent it is for.
    Target,
    /// The hub itself, by a timer or a budget.
    Hub,
}

impl Role {
    /// The other party; the hub has none.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Initiator => Self::Target,
            Self::Target => Self::Initiator,
            Self::Hub => Self::Hub,
        }
    }
}

/// A set of roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roles(u8);

impl Roles {
    /// Nobody: the move does not exist.
    pub const NOBODY: Self = Self(0);

    /// Whether the role is in the set.
    #[must_use]
    pub const fn contains(self, role: Role) -> bool {
        let bit = match role {
            Role::Initiator => I.0,
            Role::Target => T.0,
            Role::Hub => S.0,
        };
        self.0 & bit != 0
    }
}

const NO: Roles = Roles::NOBODY;
const I: Roles = Roles(1);
const T: Roles = Roles(2);
const S: Roles = Roles(4);
const IT: Roles = Roles(I.0 | T.0);

/// A move: from, to, who may make it on an open task, who on a reviewed one.
pub type Move = (Status, Status, Roles, Roles);

/// Who may move a task. A move that is not listed does not exist.
pub const MOVES: &[Move] = &[
    // from          to             open  reviewed
    (Draft, Submitted, I, I),
    (Draft, Cancelled, I, I),
    (Submitted, Working, IT, T),
    (Submitted, InputRequired, NO, T),
    (Submitted, AuthRequired, NO, T),
    (Submitted, Completed, NO, I),
    (Submitted, Failed, NO, T),
    (Submitted, Rejected, T, T),
    (Submitted, Cancelled, IT, IT),
    (Submitted, Expired, S, S),
    (Working, InputRequired, IT, T),
    (Working, AuthRequired, T, T),
    (Working, Completed, IT, I),
    (Working, Failed, IT, T),
    (Working, Rejected, T, T),
    (Working, Cancelled, IT, IT),
    (Working, Submitted, S, S), // a lease that ran out: another attempt
    (Working, Expired, S, S),   // a lease that ran out: no more attempts
    (InputRequired, Working, IT, T),
    (InputRequired, AuthRequired, T, T),
    (InputRequired, Completed, IT, I),
    (InputRequired, Failed, IT, T),
    (InputRequired, Rejected, T, T),
    (InputRequired, Cancelled, IT, IT),
    (AuthRequired, Working, IT, T),
    (AuthRequired, InputRequired, IT, T),
    (AuthRequired, Completed, IT, I),
    (AuthRequired, Failed, IT, T),
    (AuthRequired, Rejected, T, T),
    (AuthRequired, Cancelled, IT, IT),
    (Completed, Working, I, NO), // reopen
];

/// Who may make a move; nobody where it is not in the table.
#[must_use]
pub fn allowed(from: Status, to: Status, reviewed: bool) -> Roles {
    MOVES.iter().find(|m| m.0 == from && m.1 == to).map_or(NO, |m| if reviewed { m.3 } else { m.2 })
}

/// Why a move, or another act on a task, is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The caller expected another status.
    #[error("the task's status is no longer the one you expected")]
    Conflict,
    /// The task has ended.
    #[error("the task has ended; nothing more can happen on it")]
    Terminal,
    /// The target has not let it in yet.
    #[error("the task waits for its target's approval")]
    ApprovalPending,
    /// The task is a draft.
    #[error("the task is a draft; publish it first by setting its status to submitted")]
    Draft,
    /// No such move for anybody.
    #[error("a task cannot go from {from} to {to}")]
    NoSuchMove {
        /// Where it stands.
        from: Status,
        /// Where it should go.
        to: Status,
    },
    /// A move of the other party.
    #[error("only the other party of this task may do that")]
    NotYourMove,
    /// A target that wants to complete reviewed work.
    #[error(
        "this task's initiator accepts the work: deliver the result by a message, set the status to \
         input-required, and the initiator completes it"
    )]
    ReviewRequired,
    /// The operation does not exist in this status.
    #[error("that cannot be done while the task is {0}")]
    InvalidState(Status),
    /// The task's keys are for its present target.
    #[error("the task is encrypted for its present target; create a new one for another agent")]
    Encrypted,
    /// As many messages as were agreed on have been written.
    #[error(
        "the task has had the {0} messages it may have; its initiator can raise maxMessages by PATCH /tasks/:id"
    )]
    MessageBudget(i64),
    /// A task that still runs cannot be deleted.
    #[error("the task is still live; cancel it before deleting it")]
    Live,
}

/// What the machine needs to know of a task to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Where it stands.
    pub status: Status,
    /// Whether its initiator accepts the work.
    pub reviewed: bool,
    /// Whether it is held at its target's gate.
    pub held: bool,
}

impl Position {
    /// Decides one move, in the documented order of refusals.
    pub fn check(self, role: Role, to: Status) -> Result<(), Refusal> {
        let roles = allowed(self.status, to, self.reviewed);
        if self.status.is_terminal() && roles == NO {
            return Err(Refusal::Terminal);
        }
        let lifted = match role {
            Role::Initiator => to == Cancelled,
            Role::Target => false,
            Role::Hub => to == Expired,
        };
        if self.held && !lifted {
            return Err(Refusal::ApprovalPending);
        }
        if roles == NO {
            return Err(Refusal::NoSuchMove { from: self.status, to });
        }
        if roles.contains(role) {
            return Ok(());
        }
        if role == Role::Target && to == Completed && self.reviewed {
            return Err(Refusal::ReviewRequired);
        }
        Err(Refusal::NotYourMove)
    }

    /// What this role may set now.
    #[must_use]
    pub fn next_statuses(self, role: Role) -> Vec<Status> {
        Status::ALL.into_iter().filter(|&to| self.check(role, to).is_ok()).collect()
    }

    /// Whether a message may be added.
    pub fn check_open(self) -> Result<(), Refusal> {
        match self.status {
            Draft => Err(Refusal::Draft),
            status if status.is_terminal() => Err(Refusal::Terminal),
            _ if self.held => Err(Refusal::ApprovalPending),
            _ => Ok(()),
        }
    }
}

/// Where a task stands for one caller: part of every answer about it, errors included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The present status.
    pub status: Status,
    /// What this caller may set now.
    pub next: Vec<Status>,
}

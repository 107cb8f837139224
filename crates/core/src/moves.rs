//! The task life cycle as data: which status may follow which, and who may set it.
//!
//! `MOVES` and `OPERATIONS` are the only place with this knowledge. Refusals, `nextStatuses`, the reference page and the
//! tests are all derived from them. Only `Task::change_status` changes a status, and it asks them.

use std::fmt;
use std::str::FromStr;

use Status::{
    AuthRequired, Cancelled, Completed, Draft, Expired, Failed, InputRequired, Rejected, Submitted, Working,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Not published; only the initiator sees it.
    Draft,
    /// In the target's inbox, or held for its approval.
    Submitted,
    /// The target works on it.
    Working,
    /// Waits for the initiator: a question, or a result to review.
    InputRequired,
    /// Waits for the initiator's authorisation.
    AuthRequired,
    /// Done.
    Completed,
    /// The target could not do it.
    Failed,
    /// The target declined.
    Rejected,
    /// Ended by a party, or by the hub after a disconnect or a block.
    Cancelled,
    /// Nobody took it before its time to live ran out, or its lease ran out.
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

    /// The name on the wire.
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

    /// Ended. Only a reopening or a retry leaves such a status.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Completed | Failed | Rejected | Cancelled | Expired)
    }

    /// Published, and not ended.
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

/// The text is not a status.
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

/// In which role somebody acts on a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The agent that created the task.
    Initiator,
    /// The agent it is for.
    Target,
    /// The hub itself, by a timer or a budget.
    Hub,
}

impl Role {
    /// The other party; the hub is its own opposite.
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

/// A status change: from, to, who may make it on an open task, who on a reviewed task.
pub type Move = (Status, Status, Roles, Roles);

/// All status changes that exist, and who may make them.
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

/// Who may make a status change; nobody if it is not in the table.
#[must_use]
pub fn allowed(from: Status, to: Status, reviewed: bool) -> Roles {
    MOVES.iter().find(|m| m.0 == from && m.1 == to).map_or(NO, |m| if reviewed { m.3 } else { m.2 })
}

/// An operation that changes the status by what it does, not by naming one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The task is submitted again to the same target.
    Retry,
    /// The task is given to another agent.
    Reassign,
    /// The target's owner declines it at the approval gate.
    Decline,
    /// The connection of its parties ends, or one blocks the other.
    Disconnect,
    /// A budget is used up: it waits for its initiator.
    Pause,
}

/// What the operations do to a status: from, to, and in which role. They are the same for open and reviewed tasks.
pub const OPERATIONS: &[(Operation, &[Status], Status, Roles)] = &[
    (Operation::Retry, &[Failed, Cancelled, Expired], Submitted, I),
    (Operation::Reassign, &[Submitted, Working, InputRequired, AuthRequired], Submitted, I),
    (Operation::Decline, &[Submitted], Cancelled, T),
    (Operation::Disconnect, &[Submitted, Working, InputRequired, AuthRequired], Cancelled, S),
    (Operation::Pause, &[Submitted, Working, AuthRequired], InputRequired, S),
];

/// How a status changes: somebody names the next one, or an operation implies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatusChange {
    Set(Status),
    By(Operation),
}

/// Why a status change or another action on a task is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The caller expected another status.
    #[error("the task's status is no longer the one you expected")]
    Conflict,
    /// The task has ended.
    #[error("the task has ended and cannot be changed")]
    Terminal,
    /// The target has not approved the task yet.
    #[error("the task waits for its target's approval")]
    ApprovalPending,
    #[error("the task is a draft; publish it first by setting its status to submitted")]
    Draft,
    /// The status change does not exist for anybody.
    #[error("a task cannot go from {from} to {to}")]
    NoSuchMove { from: Status, to: Status },
    /// Only the other party may do this.
    #[error("only the other party of this task may do that")]
    NotYourMove,
    /// A target tried to complete a reviewed task.
    #[error(
        "deliver the result in a message and set the status to input-required; only the \
         initiator can complete this task"
    )]
    ReviewRequired,
    /// The operation does not exist in this status.
    #[error("that cannot be done while the task is {0}")]
    InvalidState(Status),
    /// An encrypted task cannot be reassigned, because its keys are for the current target.
    #[error("the task is encrypted for its current target; create a new task for another agent")]
    Encrypted,
    /// The message budget is used up.
    #[error(
        "the task has reached its limit of {0} messages; its initiator can raise maxMessages with PATCH /tasks/:id"
    )]
    MessageBudget(i64),
    /// A live task cannot be deleted.
    #[error("the task is still live; cancel it before deleting it")]
    Live,
}

/// The facts about a task that decide a status change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub status: Status,
    /// Whether the initiator accepts the result (`requiresReview`).
    pub reviewed: bool,
    /// Whether it is held for the target's approval.
    pub held: bool,
}

impl Position {
    /// Decides one status change. The order of refusals is part of the contract.
    pub fn check(self, role: Role, to: Status) -> Result<(), Refusal> {
        let roles = allowed(self.status, to, self.reviewed);
        if self.status.is_terminal() && roles == NO {
            return Err(Refusal::Terminal);
        }
        let exempt_from_hold = match role {
            Role::Initiator => to == Cancelled,
            Role::Target => false,
            Role::Hub => to == Expired,
        };
        if self.held && !exempt_from_hold {
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

    /// Decides whether an operation may change the status now, and says to which.
    pub fn check_operation(self, role: Role, operation: Operation) -> Result<Status, Refusal> {
        let row = OPERATIONS.iter().find(|row| row.0 == operation && row.3.contains(role));
        let (_, from, to, _) = row.ok_or(Refusal::NotYourMove)?;
        if from.contains(&self.status) { Ok(*to) } else { Err(Refusal::InvalidState(self.status)) }
    }

    /// Decides any change of the status, and says what it becomes.
    pub fn after(self, role: Role, change: StatusChange) -> Result<Status, Refusal> {
        match change {
            StatusChange::Set(to) => self.check(role, to).map(|()| to),
            StatusChange::By(operation) => self.check_operation(role, operation),
        }
    }

    /// The statuses that this role may set now.
    #[must_use]
    pub fn next_statuses(self, role: Role) -> Vec<Status> {
        Status::ALL.into_iter().filter(|&to| self.check(role, to).is_ok()).collect()
    }

    /// Whether the task accepts messages.
    pub fn check_open(self) -> Result<(), Refusal> {
        match self.status {
            Draft => Err(Refusal::Draft),
            status if status.is_terminal() => Err(Refusal::Terminal),
            _ if self.held => Err(Refusal::ApprovalPending),
            _ => Ok(()),
        }
    }
}

/// A task's status as one caller sees it: part of every answer about the task, errors included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub status: Status,
    /// The statuses that this caller may set now.
    pub next: Vec<Status>,
}

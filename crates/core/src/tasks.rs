//! A task, and what follows from where it stands.

use crate::approval::Approval;
use crate::ids::{AgentId, NetworkId, TaskId};
use crate::messages::words;
use crate::moves::{Position, Role, Standing, Status};
use crate::text::{Unfit, Within};
use crate::time::Timestamp;

words!(
    /// How soon a task wants to be looked at.
    Priority, "must be high, normal or low", {
        /// First.
        High = "high",
        /// In its turn.
        Normal = "normal",
        /// Last.
        Low = "low",
    }
);

impl Priority {
    /// Every priority, the most urgent first.
    pub const ALL: [Self; 3] = [Self::High, Self::Normal, Self::Low];

    /// Its place among them.
    #[must_use]
    pub const fn rank(self) -> i64 {
        match self {
            Self::High => 0,
            Self::Normal => 1,
            Self::Low => 2,
        }
    }
}

words!(
    /// What happens to a task whose target shows no sign of life.
    OnStall, "must be notify, expire or retry", {
        /// Its initiator is told, and nothing more.
        Notify = "notify",
        /// It expires.
        Expire = "expire",
        /// It is handed over again, as long as it has attempts left.
        Retry = "retry",
    }
);

/// How long a task may wait to be taken.
pub type TtlSeconds = Within<1, 86_400>;
/// How soon a task or a message should be acknowledged; 0 for never.
pub type CheckInSeconds = Within<0, 86_400>;
/// How often the target of a task under way must show a sign of life.
pub type LeaseSeconds = Within<10, 86_400>;
/// How many attempts a stalled task may have.
pub type MaxAttempts = Within<1, 100>;
/// How many messages a task may have.
pub type MaxMessages = Within<1, 100_000>;
/// How far the work is.
pub type Progress = Within<0, 100>;

/// How many attempts a stalled task has when nobody says.
pub const ATTEMPTS_DEFAULT: i64 = 3;

/// What was agreed on when a task was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// How long it may wait to be taken.
    pub ttl_seconds: Option<i64>,
    /// How soon it should be acknowledged; 0 for never.
    pub check_in_seconds: i64,
    /// How often its target must show a sign of life while it works.
    pub lease_seconds: Option<i64>,
    /// What happens when it does not.
    pub on_stall: OnStall,
    /// How many attempts a stalled task may have.
    pub max_attempts: i64,
    /// How many messages it may have.
    pub max_messages: i64,
}

/// What one party of a task has said and seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Side {
    /// The party's own session key.
    pub session_key: Option<String>,
    /// How many messages it has not read.
    pub unread: i64,
    /// Since when there have been any.
    pub unread_since: Option<Timestamp>,
    /// The number of the last message it wrote.
    pub said: i64,
    /// Up to which number it has read.
    pub read: i64,
    /// Up to which number it has acknowledged.
    pub acked: i64,
}

/// A request of one agent to another, with its thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// Who made it.
    pub initiator: AgentId,
    /// That agent's name now.
    pub initiator_name: String,
    /// Whom it is for.
    pub target: AgentId,
    /// That agent's name now.
    pub target_name: String,
    /// What it is called.
    pub title: String,
    /// What is to be done.
    pub description: Option<String>,
    /// Whether its content is end-to-end encrypted.
    pub encrypted: bool,
    /// Each party's wrapped key to the description, a JSON object as text.
    pub description_keys: Option<String>,
    /// The initiator's signature on the description.
    pub sender_signature: Option<String>,
    /// Where it stands.
    pub status: Status,
    /// What the last change said about itself.
    pub status_reason: Option<String>,
    /// How the gate answered.
    pub approval: Option<Approval>,
    /// Whether the initiator accepts the work.
    pub requires_review: bool,
    /// How soon it wants to be looked at.
    pub priority: Priority,
    /// Which try this is, from 1.
    pub attempt: i64,
    /// What was agreed on.
    pub terms: Terms,
    /// The initiator's side of the thread.
    pub initiator_side: Side,
    /// The target's side of the thread.
    pub target_side: Side,
    /// How many messages it has had.
    pub message_count: i64,
    /// How many of those its parties wrote.
    pub spoken_count: i64,
    /// How many lines its history has.
    pub log_count: i64,
    /// Grows with every change of the task itself; what its `ETag` shows.
    pub version: i64,
    /// When it was published; never, for a draft.
    pub queued_at: Option<Timestamp>,
    /// When the target was pushed to, and took it.
    pub pushed_at: Option<Timestamp>,
    /// When the target fetched it.
    pub fetched_at: Option<Timestamp>,
    /// When the target acknowledged it.
    pub acknowledged_at: Option<Timestamp>,
    /// When it expires, unless somebody takes it.
    pub expires_at: Option<Timestamp>,
    /// Until when the target's last sign of life is good; nothing when none is awaited.
    pub lease_until: Option<Timestamp>,
    /// The task it is part of.
    pub parent: Option<TaskId>,
    /// Whether its target takes part in that task too, and so may know of it.
    pub parent_shared: bool,
    /// The network it was sent in.
    pub network: Option<NetworkId>,
    /// What came of it.
    pub result: Option<String>,
    /// How far the work is, from 0 to 100.
    pub progress: Option<i64>,
    /// What the target says about that.
    pub progress_note: Option<String>,
    /// What the target has reported to have cost, in millionths of a US dollar.
    pub usage_micro: i64,
    /// When work began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Task {
    /// What this agent is to the task; nothing if it may not know that the task exists. A draft, and a
    /// draft that was given up, does not exist for its target.
    #[must_use]
    pub fn role_of(&self, agent: &AgentId) -> Option<Role> {
        if *agent == self.initiator {
            Some(Role::Initiator)
        } else if *agent == self.target && self.queued_at.is_some() {
            Some(Role::Target)
        } else {
            None
        }
    }

    /// What the machine decides by.
    #[must_use]
    pub fn position(&self) -> Position {
        let held = self.approval == Some(Approval::Pending) && self.status.is_live();
        Position { status: self.status, reviewed: self.requires_review, held }
    }

    /// Where the task stands for this role.
    #[must_use]
    pub fn standing(&self, role: Role) -> Standing {
        Standing { status: self.status, next: self.position().next_statuses(role) }
    }

    /// The other party and its name.
    #[must_use]
    pub fn other(&self, role: Role) -> (&AgentId, &str) {
        match role {
            Role::Initiator => (&self.target, &self.target_name),
            Role::Target | Role::Hub => (&self.initiator, &self.initiator_name),
        }
    }

    /// The party with this role and its name; nobody for the hub.
    #[must_use]
    pub fn party(&self, role: Role) -> Option<(&AgentId, &str)> {
        match role {
            Role::Initiator => Some((&self.initiator, &self.initiator_name)),
            Role::Target => Some((&self.target, &self.target_name)),
            Role::Hub => None,
        }
    }

    /// Whether this agent is the target and has not fetched the task before.
    #[must_use]
    pub fn is_unfetched_by(&self, agent: &AgentId) -> bool {
        self.role_of(agent) == Some(Role::Target) && self.fetched_at.is_none()
    }

    /// What this role has said and seen; the hub has no side.
    #[must_use]
    pub fn side(&self, role: Role) -> Option<&Side> {
        match role {
            Role::Initiator => Some(&self.initiator_side),
            Role::Target => Some(&self.target_side),
            Role::Hub => None,
        }
    }

    /// The same, to change it.
    pub fn side_mut(&mut self, role: Role) -> Option<&mut Side> {
        match role {
            Role::Initiator => Some(&mut self.initiator_side),
            Role::Target => Some(&mut self.target_side),
            Role::Hub => None,
        }
    }

    /// One message less to read for a role: it was taken back.
    pub fn unread_less(&mut self, role: Role) {
        if let Some(reader) = self.side_mut(role) {
            reader.unread = (reader.unread - 1).max(0);
            if reader.unread == 0 {
                reader.unread_since = None;
            }
        }
    }

    /// Whether the other party has written something that this role has not acknowledged.
    #[must_use]
    pub fn has_outstanding(&self, role: Role) -> bool {
        match role {
            Role::Initiator => self.target_side.said > self.initiator_side.acked,
            Role::Target => self.initiator_side.said > self.target_side.acked,
            Role::Hub => false,
        }
    }

    /// Whether the task's time has run out before anybody took it.
    #[must_use]
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        is_overdue(self.status, self.acknowledged_at, self.expires_at, now)
    }

    /// The order in which the task waits for its target; 0 when it does not wait.
    #[must_use]
    pub fn lane(&self) -> i64 {
        match (self.status, self.position().held) {
            (Status::Submitted, false) => self.priority.rank(),
            (Status::Submitted, true) => self.priority.rank() + HELD_LANES,
            _ => 0,
        }
    }

    /// Takes back everything that belongs to an attempt that is over.
    pub fn begin_again(&mut self) {
        self.attempt += 1;
        self.status_reason = None;
        self.result = None;
        self.progress = None;
        self.progress_note = None;
        self.lease_until = None;
        self.pushed_at = None;
        self.fetched_at = None;
        self.acknowledged_at = None;
        self.started_at = None;
        self.completed_at = None;
    }
}

/// Where the lanes of tasks at the gate begin.
pub const HELD_LANES: i64 = 3;

/// Whether a task with these marks has expired: it was submitted, and nobody took it in time.
#[must_use]
pub fn is_overdue(
    status: Status,
    acknowledged_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    now: Timestamp,
) -> bool {
    status == Status::Submitted && acknowledged_at.is_none() && expires_at.is_some_and(|end| end <= now)
}

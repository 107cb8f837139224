//! A task, and what follows from where it stands.

use crate::approval::Approval;
use crate::ids::{AgentId, TaskId};
use crate::messages::words;
use crate::moves::{Position, Role, Standing, Status};
use crate::text::Unfit;
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
    /// The initiator's own session key.
    pub initiator_session_key: Option<String>,
    /// The target's own session key.
    pub target_session_key: Option<String>,
    /// Messages the initiator has not read.
    pub initiator_unread: i64,
    /// Messages the target has not read.
    pub target_unread: i64,
    /// How many messages it has had.
    pub message_count: i64,
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

    /// How many messages this role has not read.
    #[must_use]
    pub fn unread(&self, role: Role) -> i64 {
        match role {
            Role::Initiator => self.initiator_unread,
            Role::Target => self.target_unread,
            Role::Hub => 0,
        }
    }
}

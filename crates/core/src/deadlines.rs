//! What has to be looked at when its time comes.

use crate::approval::Approval;
use crate::ids::TaskId;
use crate::messages::words;
use crate::moves::Status;
use crate::tasks::{Task, is_overdue};
use crate::text::Unfit;
use crate::time::Timestamp;

words!(
    /// What may be due.
    Due, "must be expiry, check-in or lease", {
        /// A task that nobody took.
        Expiry = "expiry",
        /// A task or a message that nobody acknowledged.
        CheckIn = "check-in",
        /// A target that shows no sign of life.
        Lease = "lease",
    }
);

/// Something to look at, once its time has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadline {
    /// When.
    pub due_at: Timestamp,
    /// Which task.
    pub task: TaskId,
    /// What.
    pub due: Due,
    /// The number of the message that should be acknowledged; 0 for the task itself.
    pub number: i64,
    /// In which attempt it was set; it means nothing to a later one.
    pub attempt: i64,
    /// When the task was made; nothing where that was not written down. Another task may have its id by now.
    pub task_made_at: Option<Timestamp>,
}

/// What a deadline is judged by when its time has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Where the task stands.
    pub status: Status,
    /// How its gate answered.
    pub approval: Option<Approval>,
    /// Which attempt it is in.
    pub attempt: i64,
    /// When it was made.
    pub made_at: Timestamp,
    /// When it was acknowledged.
    pub acknowledged_at: Option<Timestamp>,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// Until when its target's last sign of life is good; nothing when none is awaited.
    pub lease_until: Option<Timestamp>,
    /// Whether the message that the deadline is about is there, and not acknowledged.
    pub message_waits: bool,
}

impl Deadline {
    /// A deadline on a task as it stands.
    #[must_use]
    pub fn on(task: &Task, due: Due, number: i64, due_at: Timestamp) -> Self {
        let task_made_at = Some(task.created_at);
        Self { due_at, task: task.id.clone(), due, number, attempt: task.attempt, task_made_at }
    }

    /// Whether there is still something to do. Nobody removes a deadline that has lost its meaning; it is judged
    /// when it falls due.
    #[must_use]
    pub fn holds(&self, facts: &Facts, now: Timestamp) -> bool {
        let of_another = self.task_made_at.is_some_and(|made_at| made_at != facts.made_at);
        if of_another || self.attempt != facts.attempt {
            return false;
        }
        match self.due {
            Due::Expiry => is_overdue(facts.status, facts.acknowledged_at, facts.expires_at, now),
            Due::Lease => facts.lease_until.is_some(),
            Due::CheckIn => {
                let held = facts.approval == Some(Approval::Pending);
                let waits =
                    if self.number == 0 { facts.acknowledged_at.is_none() } else { facts.message_waits };
                facts.status.is_live() && !held && waits
            }
        }
    }
}

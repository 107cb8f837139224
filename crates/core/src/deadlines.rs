//! Deadlines of tasks, and whether a deadline still matters when it is due.

use crate::approval::Approval;
use crate::ids::TaskId;
use crate::messages::words;
use crate::moves::Status;
use crate::tasks::{Task, is_overdue};
use crate::text::Unfit;
use crate::time::Timestamp;

words!(
    Due, "must be expiry, check-in or lease", {
        /// A submitted task expires.
        Expiry = "expiry",
        /// A task or a message should have been acknowledged.
        CheckIn = "check-in",
        /// The target should have shown a sign of life.
        Lease = "lease",
    }
);

/// A row of the timer's queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadline {
    /// The timer handles the deadline at this time or shortly after.
    pub due_at: Timestamp,
    pub task: TaskId,
    pub due: Due,
    /// The number of the message that should be acknowledged; 0 for the task itself.
    pub number: i64,
    /// The attempt in which it was set. It has no meaning for a later attempt.
    pub attempt: i64,
    /// When the task was created; `None` in rows of older versions. In those times another task could get the same id.
    pub task_made_at: Option<Timestamp>,
}

/// The state of the task that decides whether a deadline still matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    pub status: Status,
    /// The decision of the approval gate.
    pub approval: Option<Approval>,
    pub attempt: i64,
    /// When the task was created.
    pub made_at: Timestamp,
    pub acknowledged_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    /// End of the current lease; `None` when the task has none.
    pub lease_until: Option<Timestamp>,
    /// Whether the deadline's message exists and is not acknowledged.
    pub message_waits: bool,
}

impl Deadline {
    /// A deadline for the current attempt of a task.
    #[must_use]
    pub fn on(task: &Task, due: Due, number: i64, due_at: Timestamp) -> Self {
        let task_made_at = Some(task.created_at);
        Self { due_at, task: task.id.clone(), due, number, attempt: task.attempt.number, task_made_at }
    }

    /// Whether there is still something to do. Deadlines are not deleted when they lose their meaning; they are
    /// checked when they are due.
    #[must_use]
    pub fn holds(&self, facts: &Facts, now: Timestamp) -> bool {
        let of_another_task = self.task_made_at.is_some_and(|made_at| made_at != facts.made_at);
        if of_another_task || self.attempt != facts.attempt {
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

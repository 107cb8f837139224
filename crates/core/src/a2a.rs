//! What clients of A2A know of a task: its state, by our statuses, and its steps. It knows no protocol beside their names.

use crate::approval::Approval;
use crate::moves::Status;
use crate::tasks::Task;

/// A state of a task, as clients of A2A know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskState {
    Submitted,
    Working,
    InputRequired,
    AuthRequired,
    Completed,
    Canceled,
    Failed,
    Rejected,
}

impl TaskState {
    pub const ALL: [Self; 8] = [
        Self::Submitted,
        Self::Working,
        Self::InputRequired,
        Self::AuthRequired,
        Self::Completed,
        Self::Canceled,
        Self::Failed,
        Self::Rejected,
    ];

    /// The state of a task; `None` for a draft. A refusal at the gate is a rejection, and a task that nobody took has
    /// failed.
    #[must_use]
    pub fn of(status: Status, approval: Option<Approval>) -> Option<Self> {
        Some(match status {
            Status::Draft => return None,
            Status::Submitted => Self::Submitted,
            Status::Working => Self::Working,
            Status::InputRequired => Self::InputRequired,
            Status::AuthRequired => Self::AuthRequired,
            Status::Completed => Self::Completed,
            Status::Cancelled if approval == Some(Approval::Rejected) => Self::Rejected,
            Status::Cancelled => Self::Canceled,
            Status::Failed | Status::Expired => Self::Failed,
            Status::Rejected => Self::Rejected,
        })
    }

    /// The name on the wire of A2A.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Submitted => "TASK_STATE_SUBMITTED",
            Self::Working => "TASK_STATE_WORKING",
            Self::InputRequired => "TASK_STATE_INPUT_REQUIRED",
            Self::AuthRequired => "TASK_STATE_AUTH_REQUIRED",
            Self::Completed => "TASK_STATE_COMPLETED",
            Self::Canceled => "TASK_STATE_CANCELED",
            Self::Failed => "TASK_STATE_FAILED",
            Self::Rejected => "TASK_STATE_REJECTED",
        }
    }

    /// The state with this name on the wire of A2A.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Its number in the database. Numbers never change.
    #[must_use]
    pub const fn number(self) -> i64 {
        match self {
            Self::Submitted => 1,
            Self::Working => 2,
            Self::InputRequired => 3,
            Self::AuthRequired => 4,
            Self::Completed => 5,
            Self::Canceled => 6,
            Self::Failed => 7,
            Self::Rejected => 8,
        }
    }

    /// Whether nothing follows it for a client of A2A.
    #[must_use]
    pub const fn is_end(self) -> bool {
        matches!(self, Self::Completed | Self::Canceled | Self::Failed | Self::Rejected)
    }

    /// Whether the task waits for the client.
    #[must_use]
    pub const fn is_interruption(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }
}

impl Task {
    /// How many steps it has taken: changes of its status, and messages.
    #[must_use]
    pub fn steps(&self) -> i64 {
        self.counts.log + self.counts.messages
    }

    /// The number of the step that was counted just now. Only tasks that are part of a conversation number them.
    #[must_use]
    pub fn step(&self) -> Option<i64> {
        self.links.context.is_some().then(|| self.steps())
    }

    /// Its state for clients of A2A, if they can know of it: as part of a conversation, and published.
    #[must_use]
    pub fn state(&self) -> Option<TaskState> {
        let is_known = self.links.context.is_some() && self.is_published();
        if is_known { TaskState::of(self.status, self.gate.approval) } else { None }
    }
}

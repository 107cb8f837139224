//! What has to be looked at when its time comes.

use crate::ids::TaskId;
use crate::messages::words;
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
}

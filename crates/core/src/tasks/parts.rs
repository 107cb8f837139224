//! The parts of a task: what is read together and changes together.

use crate::approval::Approval;
use crate::ids::{NetworkId, TaskId};
use crate::messages::words;
use crate::text::{Unfit, Within};
use crate::time::Timestamp;
use crate::wake::Rung;

words!(
    /// The order in which the inbox shows waiting tasks.
    Priority, "must be high, normal or low", {
        /// Before all others.
        High = "high",
        /// The default.
        Normal = "normal",
        /// After all others.
        Low = "low",
    }
);

impl Priority {
    /// Every priority, the most urgent first.
    pub const ALL: [Self; 3] = [Self::High, Self::Normal, Self::Low];

    /// Position in `ALL`; stored in the database as part of the lane.
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
    /// What the hub does when a lease runs out.
    OnStall, "must be notify, expire or retry", {
        /// Only tell the initiator.
        Notify = "notify",
        Expire = "expire",
        /// Start another attempt, up to `maxAttempts`, then expire.
        Retry = "retry",
    }
);

/// How long a task may wait to be taken, in seconds.
pub type TtlSeconds = Within<1, 86_400>;
/// Within how many seconds a task or a message should be acknowledged; 0 turns the check off.
pub type CheckInSeconds = Within<0, 86_400>;
/// After how many seconds without a sign of life a working task counts as stalled.
pub type LeaseSeconds = Within<10, 86_400>;
/// The most attempts of a task that stalls.
pub type MaxAttempts = Within<1, 100>;
/// The message budget of a task.
pub type MaxMessages = Within<1, 100_000>;
/// Progress in percent.
pub type Progress = Within<0, 100>;

/// How many attempts a stalled task has when nobody says.
pub const ATTEMPTS_DEFAULT: i64 = 3;
/// How many messages a task may have when nobody says.
pub const MESSAGES_DEFAULT: i64 = 1_000;
/// Files on a draft. All are announced in the transaction that publishes it.
pub const DRAFT_FILES_MAX: i64 = 100;
/// How soon a reviewed task should be acknowledged when nobody says. Open tasks have no check-in window then: clients of
/// PairAI do not know about acknowledgements.
pub const REVIEWED_CHECK_IN_SECONDS: i64 = 30;

/// The limits of a task, set when it is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// How long it may wait to be taken; `None` for ever.
    pub ttl_seconds: Option<i64>,
    /// Within how many seconds it should be acknowledged; 0 turns the check off.
    pub check_in_seconds: i64,
    /// Length of the lease while the target works; `None` for no lease.
    pub lease_seconds: Option<i64>,
    /// What happens when the lease runs out.
    pub on_stall: OnStall,
    /// The most attempts if it stalls.
    pub max_attempts: i64,
    /// The message budget; it pauses the task when it is used up.
    pub max_messages: i64,
}

/// What one party of a task has written, read and acknowledged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Side {
    /// Opaque key of the party, sent with every event about the task.
    pub session_key: Option<String>,
    pub unread: i64,
    /// Time of the oldest unread message.
    pub unread_since: Option<Timestamp>,
    /// Number of the last message that it wrote.
    pub said: i64,
    /// It has read up to this message number.
    pub read: i64,
    /// It has acknowledged up to this message number.
    pub acked: i64,
    /// Those of its unread messages that it has not acknowledged as updates.
    pub unseen: Unseen,
}

/// A party's unread messages that came after the cursor that it had acknowledged of its updates when the first of them
/// came. An acknowledgement that covers all of them leaves this as it is; the numbers tell that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unseen {
    pub count: i64,
    /// The number of the first one's event in the party's log.
    pub first: Option<i64>,
    /// The number of the last one's event there.
    pub last: Option<i64>,
}

impl Unseen {
    /// One more message, whose event has this number, for a party whose cursor stands there.
    pub fn add(&mut self, seq: i64, cursor: i64) {
        if self.last.is_none_or(|last| last <= cursor) {
            *self = Self::default();
        }
        self.count += 1;
        self.first.get_or_insert(seq);
        self.last = Some(seq);
    }
}

/// What the initiator asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskContent {
    /// One line; a fixed text for encrypted tasks.
    pub title: String,
    /// Text, or ciphertext for encrypted tasks.
    pub description: Option<String>,
    /// Whether the content of the task is end-to-end encrypted.
    pub encrypted: bool,
    /// The wrapped key of the description for each party: a JSON object, as text.
    pub keys: Option<String>,
    /// The initiator's signature over task id and description.
    pub signature: Option<String>,
}

/// The target's approval gate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GateState {
    /// The decision; `None` if the task was never held.
    pub approval: Option<Approval>,
    /// Words of the target's owner for its own agent, given with the approval.
    pub note: Option<String>,
}

/// How far an attempt has come on its way to the target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryMarks {
    /// When the task was published; `None` for a draft.
    pub queued_at: Option<Timestamp>,
    /// When it expires if nobody takes it.
    pub expires_at: Option<Timestamp>,
    /// When an event about it was pushed to the target and accepted.
    pub pushed_at: Option<Timestamp>,
    /// When the target first fetched it.
    pub fetched_at: Option<Timestamp>,
    /// When it was first shown to the target's model.
    pub surfaced_at: Option<Timestamp>,
    /// How it was shown.
    pub surfaced_by: Option<Rung>,
    /// When the target first acknowledged it.
    pub acknowledged_at: Option<Timestamp>,
}

/// The lease of an attempt. Its length is in the terms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lease {
    /// Its end; `None` while no lease runs.
    pub until: Option<Timestamp>,
    /// When it ran out, while the target works and has given no sign of life since.
    pub stalled_at: Option<Timestamp>,
}

/// One attempt at the task, and what has come of it. The next attempt begins with nothing of this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskAttempt {
    /// From 1.
    pub number: i64,
    pub started_at: Option<Timestamp>,
    /// Progress in percent, as the target reported it.
    pub progress: Option<i64>,
    pub progress_note: Option<String>,
    /// The content of the last reply.
    pub result: Option<String>,
    /// When the task reached a terminal status.
    pub completed_at: Option<Timestamp>,
}

/// How much a task has of what is bounded or numbered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskCounts {
    /// Messages, those of the hub included.
    pub messages: i64,
    /// Messages that the parties wrote; counts against the budget.
    pub spoken: i64,
    /// Rows in its history.
    pub log: i64,
    /// Bytes of its artifacts' parts.
    pub artifact_bytes: i64,
}

/// What the task is part of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskLinks {
    pub parent: Option<TaskId>,
    /// Whether the target is also a party of the parent task, and so may see its id.
    pub parent_shared: bool,
    /// The network that it was sent in.
    pub network: Option<NetworkId>,
    /// The conversation that it is part of.
    pub context: Option<String>,
}

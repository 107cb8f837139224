//! The kinds of events that an agent's log can hold.

/// Every type of event there is, so that a filter can name it: those of a log, and what tries a webhook.
pub const EVENT_TYPES: [&str; EventKind::ALL.len() + 1] = {
    let mut types = ["ping"; EventKind::ALL.len() + 1];
    let mut at = 0;
    while at < EventKind::ALL.len() {
        types[at] = EventKind::ALL[at].as_str();
        at += 1;
    }
    types
};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A task came in.
    TaskCreated,
    /// A task waits at the gate.
    TaskApprovalRequired,
    /// A task's status changed.
    TaskUpdated,
    /// A task went to another agent.
    TaskReassigned,
    /// A task's target shows no sign of life.
    TaskStalled,
    /// Somebody wrote.
    MessageCreated,
    /// A message was taken back.
    MessageDeleted,
    /// A file was taken back.
    FileDeleted,
    /// Messages were read.
    MessageRead,
    /// Messages, or a task, were acknowledged.
    MessageAcknowledged,
    /// A message, or a task, was not.
    MessageNoAck,
    /// A connection began.
    AgentConnected,
    /// A connection ended.
    AgentDisconnected,
    /// Somebody wrote to a network.
    BroadcastCreated,
}

impl EventKind {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::TaskCreated,
        Self::TaskApprovalRequired,
        Self::TaskUpdated,
        Self::TaskReassigned,
        Self::TaskStalled,
        Self::MessageCreated,
        Self::MessageDeleted,
        Self::MessageRead,
        Self::MessageAcknowledged,
        Self::MessageNoAck,
        Self::FileDeleted,
        Self::AgentConnected,
        Self::AgentDisconnected,
        Self::BroadcastCreated,
    ];

    /// The kind with this word on the wire.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Whether such an event has its sender's id among its fields.
    #[must_use]
    pub const fn names_sender(self) -> bool {
        match self {
            Self::TaskCreated
            | Self::TaskApprovalRequired
            | Self::MessageCreated
            | Self::MessageDeleted
            | Self::FileDeleted
            | Self::BroadcastCreated => true,
            Self::TaskUpdated
            | Self::TaskReassigned
            | Self::TaskStalled
            | Self::MessageRead
            | Self::MessageAcknowledged
            | Self::MessageNoAck
            | Self::AgentConnected
            | Self::AgentDisconnected => false,
        }
    }

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TaskCreated => "task.created",
            Self::TaskApprovalRequired => "task.approval_required",
            Self::TaskUpdated => "task.updated",
            Self::TaskReassigned => "task.reassigned",
            Self::TaskStalled => "task.stalled",
            Self::MessageCreated => "message.created",
            Self::MessageDeleted => "message.deleted",
            Self::FileDeleted => "file.deleted",
            Self::MessageRead => "message.read",
            Self::MessageAcknowledged => "message.acknowledged",
            Self::MessageNoAck => "message.no_ack",
            Self::AgentConnected => "agent.connected",
            Self::AgentDisconnected => "agent.disconnected",
            Self::BroadcastCreated => "broadcast.created",
        }
    }
}

//! The kinds of events that an agent's log can hold.

/// Every type of event there is or will be, so that a filter can name it.
pub const EVENT_TYPES: [&str; 15] = [
    "task.created",
    "task.approval_required",
    "task.updated",
    "task.reassigned",
    "task.stalled",
    "message.created",
    "message.deleted",
    "message.read",
    "message.acknowledged",
    "message.no_ack",
    "file.deleted",
    "agent.connected",
    "agent.disconnected",
    "broadcast.created",
    "ping",
];

/// Whether events of a type name the agent that caused them among their fields.
#[must_use]
pub fn names_sender(event_type: &str) -> bool {
    const KINDS: [EventKind; 6] = [
        EventKind::TaskCreated,
        EventKind::TaskApprovalRequired,
        EventKind::MessageCreated,
        EventKind::MessageDeleted,
        EventKind::FileDeleted,
        EventKind::BroadcastCreated,
    ];
    KINDS.iter().any(|kind| kind.as_str() == event_type)
}

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

//! The kinds of events that an agent's log can hold.

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A task came in.
    TaskCreated,
    /// A task waits at the gate.
    TaskApprovalRequired,
    /// A task's status changed.
    TaskUpdated,
    /// Somebody wrote.
    MessageCreated,
    /// A message was taken back.
    MessageDeleted,
    /// A connection began.
    AgentConnected,
    /// A connection ended.
    AgentDisconnected,
}

impl EventKind {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TaskCreated => "task.created",
            Self::TaskApprovalRequired => "task.approval_required",
            Self::TaskUpdated => "task.updated",
            Self::MessageCreated => "message.created",
            Self::MessageDeleted => "message.deleted",
            Self::AgentConnected => "agent.connected",
            Self::AgentDisconnected => "agent.disconnected",
        }
    }
}

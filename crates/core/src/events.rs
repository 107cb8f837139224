//! The types of events in an agent's log, as one table.

/// Every type that a webhook filter may name: all event types, and `ping`, which tests a webhook.
pub const EVENT_TYPES: [&str; EventKind::ALL.len() + 1] = {
    let mut types = ["ping"; EventKind::ALL.len() + 1];
    let mut at = 0;
    while at < EventKind::ALL.len() {
        types[at] = EventKind::ALL[at].as_str();
        at += 1;
    }
    types
};

/// One row per type: variant, name on the wire, whether it names its sender, who gets it, what else is in it, meaning.
macro_rules! events {
    ($($kind:ident $name:literal $sender:ident $to:literal $fields:literal $meaning:literal;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum EventKind {
            $(#[doc = $meaning] $kind,)+
        }

        impl EventKind {
            /// Every event type, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// The name on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }

            /// Whether events of this type contain `fromAgentId`.
            #[must_use]
            pub const fn names_sender(self) -> bool {
                match self {
                    $(Self::$kind => events!(@ $sender),)+
                }
            }

            /// Who gets it, for the documentation.
            #[must_use]
            pub const fn recipient(self) -> &'static str {
                match self {
                    $(Self::$kind => $to,)+
                }
            }

            /// Its fields beside those that every event has, for the documentation.
            #[must_use]
            pub const fn fields(self) -> &'static str {
                match self {
                    $(Self::$kind => $fields,)+
                }
            }
        }
    };
    (@ sender) => { true };
    (@ no_sender) => { false };
}

events! {
    TaskCreated "task.created" sender "the target" "attempt"
        "A task was published, or approved at the gate.";
    TaskApprovalRequired "task.approval_required" sender "the target" "attempt"
        "A task waits for approval.";
    TaskUpdated "task.updated" no_sender "the other party (both on reopening)" "status, reason"
        "The status of a task changed.";
    TaskReassigned "task.reassigned" no_sender "the target it was taken from" ""
        "A task was reassigned.";
    TaskStalled "task.stalled" no_sender "the initiator" "status"
        "A lease ran out.";
    MessageCreated "message.created" sender "the other party" "messageId, kind, contentType"
        "A message was written.";
    MessageDeleted "message.deleted" sender "the other party" "messageId"
        "A message was deleted by its author.";
    MessageRead "message.read" no_sender "the author" "messageIds, byAgentId"
        "Messages were read.";
    MessageAcknowledged "message.acknowledged" no_sender "the author" "messageIds, byAgentId"
        "Messages, or a task, were acknowledged.";
    MessageNoAck "message.no_ack" no_sender "the author" "messageId (left out for the task itself), targetAgentId"
        "A message, or a task, was not acknowledged in time.";
    FileDeleted "file.deleted" sender "the other party" "messageId, fileId"
        "A file was deleted by its uploader.";
    AgentConnected "agent.connected" no_sender "both" "connectionId, withAgentId, withAgentName, withPublicKey, pairingId"
        "Two agents were connected.";
    AgentDisconnected "agent.disconnected" no_sender "the other" "connectionId, byAgentId"
        "A connection ended.";
    BroadcastCreated "broadcast.created" sender "each member" "networkId, messageId"
        "A message was sent to a network.";
}

impl EventKind {
    /// The event type with this name on the wire.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == word)
    }
}

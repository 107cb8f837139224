//! The types of events in an agent's log, as one table.

use crate::ids::{AgentId, TaskId};
use crate::time::Timestamp;

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

/// What an event is about for its recipient. What wakes a model, what is listed and what ends a wait follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A task to take.
    Task,
    /// A task to approve.
    Approval,
    Message,
    Broadcast,
    /// A task of the recipient changed.
    Change,
    /// Somebody did not answer in time.
    Silence,
    /// A connection began or ended.
    Peer,
    Receipt,
    /// Something of a thread was deleted.
    Removal,
}

impl Subject {
    /// Whether it gives its recipient a task.
    #[must_use]
    pub const fn assigns_task(self) -> bool {
        matches!(self, Self::Task | Self::Approval)
    }

    /// Whether it adds something to the inbox, so that it may wake somebody.
    #[must_use]
    pub const fn is_for_inbox(self) -> bool {
        self.assigns_task() || matches!(self, Self::Message | Self::Broadcast)
    }

    /// Whether a model that asks for news is shown the event itself. Tasks, approvals and messages are listed apart.
    #[must_use]
    pub const fn is_news(self) -> bool {
        matches!(self, Self::Change | Self::Silence | Self::Broadcast)
    }

    /// Whether somebody who waits for anything new has waited for it.
    #[must_use]
    pub const fn ends_a_wait(self) -> bool {
        !matches!(self, Self::Receipt)
    }
}

/// A field that events of a type have beside those that all have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventField {
    /// The name on the wire.
    pub name: &'static str,
    /// Whether every event of the type has it.
    pub is_always_there: bool,
}

/// One row per type: variant, name on the wire, what it is about, whether it names its sender, who gets it, what else is in
/// it (`or nothing` after what may be left out), meaning, and the sentence for a person: `{from}` is the sender and `{task}` the
/// title.
macro_rules! events {
    ($($kind:ident $name:literal $subject:ident $sender:ident $to:literal [$($field:ident $(or $nothing:ident)?),*]
        $meaning:literal $sentence:literal;)+) => {
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

            #[must_use]
            pub const fn subject(self) -> Subject {
                match self {
                    $(Self::$kind => Subject::$subject,)+
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

            /// Its fields beside those that every event has, and beside its sender.
            #[must_use]
            pub const fn fields(self) -> &'static [EventField] {
                match self {
                    $(Self::$kind => &[$(events!(@field $field $($nothing)?)),*],)+
                }
            }

            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$kind => $meaning,)+
                }
            }

            /// What it says to a person, where nothing else of the event belongs into the sentence.
            #[must_use]
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(Self::$kind => $sentence,)+
                }
            }
        }
    };
    (@field $name:ident) => { EventField { name: stringify!($name), is_always_there: true } };
    (@field $name:ident nothing) => { EventField { name: stringify!($name), is_always_there: false } };
    (@ sender) => { true };
    (@ no_sender) => { false };
}

events! {
    TaskCreated "task.created" Task sender "the target" [attempt]
        "A task was published, or approved at the gate."
        "{from} sent {task}";
    TaskApprovalRequired "task.approval_required" Approval sender "the target" [attempt]
        "A task waits for approval."
        "{from} asks for {task}. Held for your approval.";
    TaskUpdated "task.updated" Change no_sender "the other party (both on reopening)" [status, reason or nothing]
        "The status of a task changed."
        "{task} changed";
    TaskReassigned "task.reassigned" Change no_sender "the target it was taken from" []
        "A task was reassigned."
        "{task} was given to another agent";
    TaskStalled "task.stalled" Silence no_sender "the initiator" [status]
        "A lease ran out."
        "No sign of life in time in {task}";
    MessageCreated "message.created" Message sender "the other party" [messageId, kind, contentType]
        "A message was written."
        "{from} wrote in {task}";
    MessageDeleted "message.deleted" Removal sender "the other party" [messageId]
        "A message was deleted by its author."
        "{from} deleted a message in {task}";
    MessageRead "message.read" Receipt no_sender "the author" [messageIds, byAgentId]
        "Messages were read."
        "What you wrote in {task} was read";
    MessageAcknowledged "message.acknowledged" Receipt no_sender "the author" [messageIds, byAgentId]
        "Messages, or a task, were acknowledged."
        "Acknowledged: {task}";
    MessageNoAck "message.no_ack" Silence no_sender "the author" [messageId or nothing, targetAgentId]
        "A message, or a task, was not acknowledged in time."
        "Not acknowledged in time: {task}";
    FileDeleted "file.deleted" Removal sender "the other party" [messageId, fileId]
        "A file was deleted by its uploader."
        "{from} deleted a file in {task}";
    AgentConnected "agent.connected" Peer no_sender "both"
        [connectionId, withAgentId, withAgentName, withPublicKey or nothing, pairingId or nothing]
        "Two agents were connected."
        "An agent is connected";
    AgentDisconnected "agent.disconnected" Peer no_sender "the other" [connectionId, byAgentId]
        "A connection ended."
        "A connection ended";
    BroadcastCreated "broadcast.created" Broadcast sender "each member" [networkId, messageId]
        "A message was sent to a network."
        "{from} wrote to a network";
}

impl EventKind {
    /// Whether it is about a task, and so has `taskId` and may have the parties' session keys.
    #[must_use]
    pub const fn is_about_a_task(self) -> bool {
        !matches!(self.subject(), Subject::Peer | Subject::Broadcast)
    }

    /// The event type with this name on the wire.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == word)
    }
}

/// An event of an agent's log, as text.
#[derive(Debug, Clone, Copy)]
pub struct EventText<'a> {
    pub cursor: i64,
    pub kind: &'a str,
    pub task: Option<&'a TaskId>,
    /// Who caused it; nobody if the hub did.
    pub from: Option<&'a AgentId>,
    /// The fields of its type, as a JSON object.
    pub data: &'a str,
    pub created_at: Timestamp,
}

impl EventText<'_> {
    /// The event as every channel carries it: its fields, what all events have, and its fields once more as `data`. Clients
    /// that were written for one channel find what they look for on the others.
    #[must_use]
    pub fn whole(&self) -> String {
        let Self { cursor, data, created_at, .. } = self;
        let inner = data.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or_default();
        let mut whole = String::with_capacity(2 * data.len() + 160);
        whole.push('{');
        whole.push_str(inner);
        if !inner.is_empty() {
            whole.push(',');
        }
        if self.task.is_none() {
            whole.push_str("\"taskId\":null,");
        }
        // Most types name their sender among their fields.
        if !EventKind::named(self.kind).is_some_and(EventKind::names_sender) {
            match self.from {
                Some(from) => whole.extend(["\"fromAgentId\":\"", from.as_str(), "\","]),
                None => whole.push_str("\"fromAgentId\":null,"),
            }
        }
        whole.push_str(&format!(
            "\"id\":{cursor},\"cursor\":{cursor},\"createdAt\":\"{created_at}\",\"data\":{data}}}"
        ));
        whole
    }
}

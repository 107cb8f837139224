//! Everything that a person may do with a task: one enum, which the forms, the page, the commands and the reasons share.

use serde_json::{Value, json};
use tandem_core::tasks::MaxMessages;
use tandem_core::{Refusal, Role, Status, Waits};
use tandem_hub::ops::threads::ThreadPage;

/// What a person may do with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskAction {
    Publish,
    Approve,
    Reject,
    Accept,
    /// Ask a silent target for a sign of life.
    Ping,
    Retry,
    Reopen,
    /// Take a task for the agent.
    Start,
    Reassign,
    Cancel,
    /// Set a status that has no action of its own.
    Set(Status),
    Budget,
    Read,
    Acknowledge,
    Delete,
    Message,
    Reply,
    DeleteMessage,
}

/// What a form asks for before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    Nothing,
    /// A reason, which the other party reads.
    Reason,
    /// Words for the owner's own agent, if any.
    Note,
    /// Another agent.
    Target,
    /// A number of messages.
    Budget,
    /// To be sure.
    Consent,
}

/// Why an action is not possible now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    Rule(Refusal),
    NothingUnread,
    /// A page cannot encrypt.
    Sealed,
}

impl From<Refusal> for Obstacle {
    fn from(refusal: Refusal) -> Self {
        Self::Rule(refusal)
    }
}

/// What the owner sees and does first, and what is folded away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rank {
    /// Beside the thread.
    First,
    /// Behind "More".
    More,
    /// In the composer below the thread.
    Composer,
}

impl TaskAction {
    /// All that can be offered, in the order in which the page shows them.
    pub(crate) const ALL: [Self; 23] = [
        Self::Publish,
        Self::Approve,
        Self::Accept,
        Self::Ping,
        Self::Start,
        Self::Reject,
        Self::Retry,
        Self::Reopen,
        Self::Reassign,
        Self::Cancel,
        Self::Set(Status::Working),
        Self::Set(Status::Completed),
        Self::Set(Status::InputRequired),
        Self::Set(Status::AuthRequired),
        Self::Set(Status::Failed),
        Self::Set(Status::Rejected),
        Self::Budget,
        Self::Read,
        Self::Acknowledge,
        Self::Delete,
        Self::Message,
        Self::Reply,
        Self::DeleteMessage,
    ];

    /// The action of a form, by the last part of its address and the status that it sends.
    pub(crate) fn of_form(path: &str, status: Option<Status>) -> Option<Self> {
        match (path, status) {
            ("status", Some(status)) => Some(Self::Set(status)),
            ("status", None) => None,
            _ => Self::ALL.into_iter().find(|action| action.path() == path),
        }
    }

    /// The last part of the form's address.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Accept => "accept",
            Self::Ping => "ping",
            Self::Retry => "retry",
            Self::Reopen => "reopen",
            Self::Start | Self::Set(_) => "status",
            Self::Reassign => "reassign",
            Self::Cancel => "cancel",
            Self::Budget => "budget",
            Self::Read => "read",
            Self::Acknowledge => "ack",
            Self::Delete => "delete",
            Self::Message => "message",
            Self::Reply => "reply",
            Self::DeleteMessage => "delete-message",
        }
    }

    /// The status that the form sends, if its address does not say.
    pub(crate) fn status(self) -> Option<Status> {
        match self {
            Self::Start => Some(Status::Working),
            Self::Set(status) => Some(status),
            _ => None,
        }
    }

    /// Unique on the page.
    pub(crate) fn id(self) -> String {
        match self.status() {
            Some(status) => format!("status-{status}"),
            None => self.path().to_owned(),
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Publish => "Publish",
            Self::Approve => "Approve",
            Self::Reject => "Reject",
            Self::Accept => "Accept result",
            Self::Ping => "Ping",
            Self::Retry => "Retry",
            Self::Reopen => "Reopen",
            Self::Start => "Start work",
            Self::Reassign => "Reassign",
            Self::Cancel => "Cancel",
            Self::Set(Status::Working) => "Set working",
            Self::Set(Status::Completed) => "Mark completed",
            Self::Set(Status::InputRequired) => "Ask for input",
            Self::Set(Status::AuthRequired) => "Ask for authorisation",
            Self::Set(Status::Failed) => "Mark failed",
            Self::Set(Status::Rejected) => "Decline",
            Self::Set(_) => "Set status",
            Self::Budget => "Raise budget",
            Self::Read => "Mark as read",
            Self::Acknowledge => "Acknowledge",
            Self::Delete => "Delete",
            Self::Message => "Write a message",
            Self::Reply => "Reply with the result",
            Self::DeleteMessage => "Delete a message",
        }
    }

    pub(crate) fn icon(self) -> &'static str {
        match self {
            Self::Publish | Self::Message => "send",
            Self::Approve | Self::Accept | Self::Acknowledge | Self::Reply | Self::Set(Status::Completed) => {
                "check"
            }
            Self::Ping => "horn",
            Self::Retry | Self::Reopen => "redo",
            Self::Start | Self::Set(Status::Working) => "play",
            Self::Reassign => "swap",
            Self::Reject | Self::Set(Status::Rejected) => "status-rejected",
            Self::Cancel => "status-cancelled",
            Self::Set(Status::InputRequired) => "status-input-required",
            Self::Set(Status::AuthRequired) => "key",
            Self::Set(Status::Failed) => "status-failed",
            Self::Set(_) => "circle",
            Self::Budget => "up",
            Self::Read => "eye",
            Self::Delete | Self::DeleteMessage => "x",
        }
    }

    pub(crate) fn asks(self) -> Asks {
        match self {
            Self::Approve => Asks::Note,
            Self::Reject | Self::Cancel | Self::Set(_) => Asks::Reason,
            Self::Reassign => Asks::Target,
            Self::Budget => Asks::Budget,
            Self::Delete | Self::DeleteMessage => Asks::Consent,
            _ => Asks::Nothing,
        }
    }

    /// Whether it takes something away.
    pub(crate) fn is_destructive(self) -> bool {
        matches!(self, Self::Reject | Self::Cancel | Self::Delete | Self::DeleteMessage)
    }

    /// Whether it is about what the person has read, so that it is refused if the task has changed since.
    pub(crate) fn is_decision(self) -> bool {
        matches!(self, Self::Approve | Self::Reject | Self::Accept | Self::Publish)
    }

    pub(crate) fn rank(self) -> Rank {
        match self {
            Self::Message | Self::Reply | Self::DeleteMessage => Rank::Composer,
            Self::Set(_) | Self::Budget | Self::Read | Self::Acknowledge | Self::Delete => Rank::More,
            _ => Rank::First,
        }
    }

    /// The word of the sentence that the next page shows.
    pub(crate) fn done(self) -> &'static str {
        match self {
            Self::Publish => "published",
            Self::Approve => "approved",
            Self::Reject => "rejected",
            Self::Accept => "accepted",
            Self::Ping => "asked",
            Self::Retry => "retried",
            Self::Reopen => "reopened",
            Self::Start | Self::Set(_) => "status",
            Self::Reassign => "reassigned",
            Self::Cancel => "cancelled",
            Self::Budget => "budget",
            Self::Read => "read",
            Self::Acknowledge => "acknowledged",
            Self::Delete => "deleted",
            Self::Message => "sent",
            Self::Reply => "replied",
            Self::DeleteMessage => "message-deleted",
        }
    }

    /// The action that ends the turn of the person who looks at the task; none if it is not theirs.
    pub(crate) fn of_turn(waits: Waits, role: Role) -> Option<Self> {
        match (waits, role) {
            (Waits::Publication, Role::Initiator) => Some(Self::Publish),
            (Waits::Approval, Role::Target) => Some(Self::Approve),
            (Waits::Acceptance, Role::Initiator) => Some(Self::Accept),
            (Waits::Answer | Waits::Authorisation, Role::Initiator) => Some(Self::Message),
            (Waits::Sign, Role::Initiator) => Some(Self::Ping),
            (Waits::Budget, Role::Initiator) => Some(Self::Budget),
            _ => None,
        }
    }

    /// Whether it means anything for this task and this party, possible or not.
    pub(crate) fn applies(self, thread: &ThreadPage) -> bool {
        let (role, status) = (thread.role, thread.task.status);
        let is_review = thread.task.requires_review && role == Role::Initiator;
        let begins = status == Status::Submitted && role == Role::Target;
        match self {
            Self::Publish => status == Status::Draft,
            // Beside the approval.
            Self::Reject => thread.position.check_decision(role).is_ok(),
            Self::Accept => is_review,
            Self::Ping => thread.waits == Waits::Sign && role == Role::Initiator,
            Self::Start => begins,
            Self::Set(Status::Working) => !begins && !matches!(status, Status::Working | Status::Completed),
            Self::Set(Status::Completed) => status != Status::Completed && !is_review,
            Self::Set(to) => to != status,
            _ => self.rank() != Rank::Composer,
        }
    }

    /// Whether the person may do it now. The rules are those of `core`.
    pub(crate) fn check(self, thread: &ThreadPage) -> Result<(), Obstacle> {
        let (position, role, task) = (thread.position, thread.role, &thread.task);
        let sealed = if task.encrypted { Err(Obstacle::Sealed) } else { Ok(()) };
        match self {
            Self::Publish => Ok(position.check(role, Status::Submitted)?),
            Self::Approve | Self::Reject => Ok(position.check_decision(role)?),
            Self::Accept => Ok(position.check(role, Status::Completed)?),
            Self::Ping | Self::Message => match thread.closed {
                Some(refusal) => Err(refusal.into()),
                None => sealed,
            },
            Self::Reply => {
                position.check_reply(role)?;
                Self::Message.check(thread)
            }
            Self::Retry => Ok(position.check_retry(role, thread.was_published)?),
            Self::Reopen if task.status != Status::Completed => {
                Err(Refusal::InvalidState(task.status).into())
            }
            Self::Reopen | Self::Start => Ok(position.check(role, Status::Working)?),
            Self::Set(to) => Ok(position.check(role, to)?),
            Self::Reassign => Ok(position.check_reassign(role, task.encrypted)?),
            Self::Cancel => Ok(position.check(role, Status::Cancelled)?),
            Self::Budget => Ok(position.check_budget_change(role)?),
            Self::Read if task.unread_count == 0 => Err(Obstacle::NothingUnread),
            Self::Acknowledge => Ok(position.check_acknowledge(role)?),
            Self::Delete => Ok(position.check_delete()?),
            Self::Read | Self::DeleteMessage => Ok(()),
        }
    }

    /// The same as words after `tandem`, if there is a command; and as a request. What a form asks for is left open.
    pub(crate) fn elsewhere(self, task: &str) -> (Vec<String>, Request) {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let post = |path: &str, body: Option<Value>| ("POST", format!("/tasks/{task}/{path}"), body);
        let decide = |path: &str, body: Option<Value>| ("POST", format!("/approvals/{task}/{path}"), body);
        let patch = |body: Value| ("PATCH", format!("/tasks/{task}"), Some(body));
        let reason = || Some(json!({ "reason": "…" }));
        let set =
            |status: &str| (words(&["task", "status", task, status]), patch(json!({ "status": status })));
        match self {
            Self::Publish => (words(&["task", "publish", task]), patch(json!({ "status": "submitted" }))),
            Self::Approve => (words(&["task", "approve", task]), decide("approve", None)),
            Self::Reject => (words(&["task", "reject", task, "--reason", "…"]), decide("reject", reason())),
            Self::Accept => (words(&["task", "accept", task]), patch(json!({ "status": "completed" }))),
            Self::Retry => (words(&["task", "retry", task]), post("retry", None)),
            Self::Reopen => set("working"),
            Self::Reassign => (
                words(&["task", "reassign", task, "AGENT"]),
                post("reassign", Some(json!({ "targetAgentId": "AGENT" }))),
            ),
            Self::Cancel => (words(&["task", "cancel", task, "--reason", "…"]), post("cancel", reason())),
            Self::Budget => (Vec::new(), patch(json!({ "maxMessages": MaxMessages::max() }))),
            Self::Read => (words(&["task", "show", task, "--unread"]), post("read", None)),
            Self::Acknowledge => (Vec::new(), post("ack", None)),
            Self::Delete => {
                (words(&["task", "delete", task, "--yes"]), ("DELETE", format!("/tasks/{task}"), None))
            }
            Self::Reply => {
                let body = json!({ "content": "…", "outcome": "completed" });
                (words(&["task", "reply", task, "…"]), post("reply", Some(body)))
            }
            Self::Message | Self::Ping => {
                (words(&["message", task, "…"]), post("messages", Some(json!({ "content": "…" }))))
            }
            Self::DeleteMessage => (Vec::new(), ("DELETE", format!("/tasks/{task}/messages/MESSAGE"), None)),
            Self::Start => set(Status::Working.as_str()),
            Self::Set(status) => set(status.as_str()),
        }
    }
}

/// Method, path and body of a request of the API.
pub(crate) type Request = (&'static str, String, Option<Value>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_action_has_an_address_of_its_own() {
        let mut seen = std::collections::BTreeSet::new();
        for action in TaskAction::ALL {
            let found = TaskAction::of_form(action.path(), action.status());
            let expected =
                if action == TaskAction::Start { TaskAction::Set(Status::Working) } else { action };
            assert_eq!(found, Some(expected));
            assert!(seen.insert(action.id()) || action == TaskAction::Set(Status::Working), "{action:?}");
        }
        assert_eq!(TaskAction::of_form("explode", None), None);
        assert_eq!(TaskAction::of_form("status", None), None);
    }

    #[test]
    fn the_filled_button_is_for_whoever_has_to_act() {
        for waits in [Waits::Approval, Waits::Answer, Waits::Authorisation, Waits::Acceptance, Waits::Sign] {
            for role in [Role::Initiator, Role::Target] {
                assert_eq!(
                    TaskAction::of_turn(waits, role).is_some(),
                    waits.needs(role),
                    "{waits:?} {role:?}"
                );
            }
        }
        for waits in [Waits::Work, Waits::Taking, Waits::Resumption, Waits::End] {
            assert_eq!(TaskAction::of_turn(waits, Role::Initiator), None);
            assert_eq!(TaskAction::of_turn(waits, Role::Target), None);
        }
    }
}

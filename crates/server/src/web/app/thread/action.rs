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

/// What an action is on the page.
#[derive(Debug)]
struct Row {
    action: TaskAction,
    path: &'static str,
    word: &'static str,
    icon: &'static str,
    asks: Asks,
    rank: Rank,
    done: &'static str,
}

const fn row(
    action: TaskAction,
    (path, word, icon): (&'static str, &'static str, &'static str),
    (asks, rank): (Asks, Rank),
    done: &'static str,
) -> Row {
    Row { action, path, word, icon, asks, rank, done }
}

/// Every action, in the order in which the page shows them.
static ROWS: [Row; 23] = {
    use Asks::{Budget, Consent, Note, Nothing, Reason, Target};
    use Rank::{Composer, First, More};
    use TaskAction as A;
    [
        row(A::Publish, ("publish", "Publish", "send"), (Nothing, First), "published"),
        row(A::Approve, ("approve", "Approve", "check"), (Note, First), "approved"),
        row(A::Accept, ("accept", "Accept result", "check"), (Nothing, First), "accepted"),
        row(A::Ping, ("ping", "Ping", "horn"), (Nothing, First), "asked"),
        row(A::Start, ("status", "Start work", "play"), (Nothing, First), "status"),
        row(A::Reject, ("reject", "Reject", "status-rejected"), (Reason, First), "rejected"),
        row(A::Retry, ("retry", "Retry", "redo"), (Nothing, First), "retried"),
        row(A::Reopen, ("reopen", "Reopen", "redo"), (Nothing, First), "reopened"),
        row(A::Reassign, ("reassign", "Reassign", "swap"), (Target, First), "reassigned"),
        row(A::Cancel, ("cancel", "Cancel", "status-cancelled"), (Reason, First), "cancelled"),
        set(Status::Working, "Set working", "play"),
        set(Status::Completed, "Mark completed", "check"),
        set(Status::InputRequired, "Ask for input", "status-input-required"),
        set(Status::AuthRequired, "Ask for authorisation", "key"),
        set(Status::Failed, "Mark failed", "status-failed"),
        set(Status::Rejected, "Decline", "status-rejected"),
        row(A::Budget, ("budget", "Raise budget", "up"), (Budget, More), "budget"),
        row(A::Read, ("read", "Mark as read", "eye"), (Nothing, More), "read"),
        row(A::Acknowledge, ("ack", "Acknowledge", "check"), (Nothing, More), "acknowledged"),
        row(A::Delete, ("delete", "Delete", "x"), (Consent, More), "deleted"),
        row(A::Message, ("message", "Write a message", "send"), (Nothing, Composer), "sent"),
        row(A::Reply, ("reply", "Reply with the result", "check"), (Nothing, Composer), "replied"),
        row(
            A::DeleteMessage,
            ("delete-message", "Delete a message", "x"),
            (Consent, Composer),
            "message-deleted",
        ),
    ]
};

/// A status that no page offers.
static OTHER_STATUS: Row = set(Status::Draft, "Set status", "circle");

const fn set(status: Status, word: &'static str, icon: &'static str) -> Row {
    row(TaskAction::Set(status), ("status", word, icon), (Asks::Reason, Rank::More), "status")
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
    /// The action of a form, by the last part of its address and the status that it sends.
    pub(crate) fn of_form(path: &str, status: Option<Status>) -> Option<Self> {
        match (path, status) {
            ("status", status) => status.map(Self::Set),
            _ => ROWS.iter().map(|row| row.action).find(|action| action.path() == path),
        }
    }

    /// All that can be offered, in the order in which the page shows them.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.action)
    }

    fn row(self) -> &'static Row {
        ROWS.iter().find(|row| row.action == self).unwrap_or(&OTHER_STATUS)
    }

    /// The last part of the form's address.
    pub(crate) fn path(self) -> &'static str {
        self.row().path
    }

    pub(crate) fn word(self) -> &'static str {
        self.row().word
    }

    pub(crate) fn icon(self) -> &'static str {
        self.row().icon
    }

    pub(crate) fn asks(self) -> Asks {
        self.row().asks
    }

    pub(crate) fn rank(self) -> Rank {
        self.row().rank
    }

    /// The word of the sentence that the next page shows.
    pub(crate) fn done(self) -> &'static str {
        self.row().done
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

    pub(crate) fn is_rejection(self) -> bool {
        self == Self::Reject
    }

    /// Whether it takes something away.
    pub(crate) fn is_destructive(self) -> bool {
        matches!(self, Self::Reject | Self::Cancel | Self::Delete | Self::DeleteMessage)
    }

    /// Whether it is about what the person has read, so that it is refused if the task has changed since.
    pub(crate) fn is_decision(self) -> bool {
        matches!(self, Self::Approve | Self::Reject | Self::Accept | Self::Publish)
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
        for action in TaskAction::all() {
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

//! What a person can do with a task now, and why the rest is not possible.
//!
//! Whether an action is possible is decided by the rules in `core`; here it gets a form, or the reason in words.

use tandem_core::tasks::MaxMessages;
use tandem_core::{Refusal, Role, Status};
use tandem_hub::Hub;
use tandem_hub::ops::threads::ThreadPage;

use super::super::words;
use super::commands::{self, Command};

/// What was typed into a form that was refused.
#[derive(Debug, Default, Clone)]
pub(crate) struct Typed {
    /// The action, as [`Action::id`].
    pub(crate) action: String,
    pub(crate) content: String,
    pub(crate) outcome: String,
    pub(crate) reason: String,
    pub(crate) target: String,
    pub(crate) max_messages: String,
}

impl Typed {
    pub(crate) fn reason_of(&self, action: &str) -> &str {
        if self.action == action { &self.reason } else { "" }
    }

    pub(crate) fn is(&self, action: &str) -> bool {
        self.action == action
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    Nothing,
    /// A reason, which the other party reads.
    Reason,
    /// Another agent.
    Target,
    /// A number of messages.
    Budget,
    /// To be sure.
    Consent,
}

/// An action that is possible now.
#[derive(Debug)]
pub(crate) struct Action {
    /// Unique on the page.
    pub(crate) id: &'static str,
    /// The last part of the form's address.
    pub(crate) path: &'static str,
    pub(crate) word: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) class: &'static str,
    pub(crate) asks: Asks,
    /// The status that it sets, if the address does not say.
    pub(crate) status: Option<Status>,
}

/// An action that is not possible now.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) id: &'static str,
    pub(crate) word: &'static str,
    pub(crate) why: String,
}

#[derive(Debug)]
pub(crate) struct Actions {
    /// At most three: on a phone they stay in sight.
    pub(crate) first: Vec<Action>,
    pub(crate) more: Vec<Action>,
    pub(crate) refused: Vec<Refused>,
    pub(crate) refused_statuses: Vec<Refused>,
    /// Why nothing can be written, if so.
    pub(crate) no_message: Option<String>,
    /// Why no file can be attached, if so.
    pub(crate) no_file: Option<String>,
    /// Why no result can be delivered; none if it can. Only the target has this form.
    pub(crate) no_reply: Option<String>,
    pub(crate) expected: Status,
    pub(crate) seen: i64,
    pub(crate) max_messages: i64,
    pub(crate) budget_suggested: i64,
    pub(crate) commands: Vec<Command>,
}

/// The statuses that have no action of their own.
const STATUSES: [(Status, &str, &str, &str); 6] = [
    (Status::Working, "status-working", "Set working", "play"),
    (Status::Completed, "status-completed", "Mark completed", "check"),
    (Status::InputRequired, "status-input-required", "Ask for input", "status-input-required"),
    (Status::AuthRequired, "status-auth-required", "Ask for authorisation", "key"),
    (Status::Failed, "status-failed", "Mark failed", "status-failed"),
    (Status::Rejected, "status-rejected", "Decline", "status-rejected"),
];

impl Actions {
    pub(crate) fn of(hub: &Hub, thread: &ThreadPage, typed: &Typed) -> Self {
        let mut sorted =
            Sorted { thread, ready: Vec::new(), refused: Vec::new(), refused_statuses: Vec::new() };
        sorted.gate_and_result();
        sorted.statuses();
        sorted.operations();
        let Sorted { ready, refused, refused_statuses, .. } = sorted;
        let sealed = thread.task.encrypted.then(|| {
            let id = &thread.task.id;
            format!(
                "This task is encrypted, and this page cannot encrypt. Write with: tandem message {id} \"…\""
            )
        });
        let closed = thread.closed.map(|refusal| why(refusal, thread, "message"));
        let no_reply =
            thread.position.check_reply(thread.role).err().map(|refusal| why(refusal, thread, "reply"));
        let (first, more) = split(ready, typed);
        let max = thread.task.max_messages;
        let mut actions = Self {
            first,
            more,
            refused,
            refused_statuses,
            no_file: thread.no_file.map(|refusal| why(refusal, thread, "message")).or_else(|| sealed.clone()),
            no_message: closed.clone().or_else(|| sealed.clone()),
            no_reply: no_reply.or(closed).or(sealed),
            expected: thread.task.status,
            seen: thread.version,
            max_messages: max,
            budget_suggested: (max * 2).min(MaxMessages::max()),
            commands: Vec::new(),
        };
        actions.commands = commands::of(hub, thread, &actions);
        actions
    }

    pub(crate) fn can_reassign(&self) -> bool {
        self.first.iter().chain(&self.more).any(|action| action.asks == Asks::Target)
    }
}

/// The possible actions: up to three that matter most, and the others.
fn split(ready: Vec<Action>, typed: &Typed) -> (Vec<Action>, Vec<Action>) {
    let mut ready = ready;
    let mut first = Vec::new();
    if !ready.is_empty() {
        first.push(ready.remove(0));
    }
    // A form that was refused is shown where it was.
    for wanted in ["reassign", "reject", "cancel"] {
        if first.len() < 3
            && let Some(place) = ready.iter().position(|action| action.id == wanted)
        {
            first.push(ready.remove(place));
        }
    }
    if let Some(main) = first.first_mut()
        && main.class.is_empty()
        && (main.asks == Asks::Nothing || typed.is(main.id))
    {
        main.class = "btn-primary";
    }
    (first, ready)
}

struct Sorted<'a> {
    thread: &'a ThreadPage,
    ready: Vec<Action>,
    refused: Vec<Refused>,
    refused_statuses: Vec<Refused>,
}

impl Sorted<'_> {
    /// Puts an action where it belongs.
    fn add(&mut self, checked: Result<(), Refusal>, action: Action) {
        match checked {
            Ok(()) => self.ready.push(action),
            Err(refusal) => {
                let why = why(refusal, self.thread, action.id);
                self.refused.push(Refused { id: action.id, word: action.word, why });
            }
        }
    }

    /// What decides about the task as a whole comes first.
    fn gate_and_result(&mut self) {
        let (thread, role) = (self.thread, self.thread.role);
        let task = &thread.task;
        if task.status == Status::Draft {
            let publish = plain("publish", "Publish", "send");
            self.add(thread.position.check(role, Status::Submitted), publish);
        }
        let decision = thread.position.check_decision(role);
        self.add(decision, plain("approve", "Approve", "check"));
        if decision.is_ok() {
            self.ready.push(Action {
                class: "btn-danger",
                asks: Asks::Reason,
                ..plain("reject", "Reject", "status-rejected")
            });
        }
        if task.requires_review && role == Role::Initiator {
            self.add(
                thread.position.check(role, Status::Completed),
                plain("accept", "Accept result", "check"),
            );
        }
        let retry = thread.position.check_retry(role, thread.was_published);
        self.add(retry, plain("retry", "Retry", "redo"));
        let reopen = match task.status {
            Status::Completed => thread.position.check(role, Status::Working),
            other => Err(Refusal::InvalidState(other)),
        };
        self.add(reopen, plain("reopen", "Reopen", "redo"));
    }

    fn statuses(&mut self) {
        let (thread, role) = (self.thread, self.thread.role);
        let status = thread.task.status;
        for (to, id, word, icon) in STATUSES {
            let is_accept = to == Status::Completed && thread.task.requires_review && role == Role::Initiator;
            let is_reopen = to == Status::Working && status == Status::Completed;
            if to == status || is_accept || is_reopen {
                continue;
            }
            let word = if to == Status::Working && role == Role::Target && status == Status::Submitted {
                "Start work"
            } else {
                word
            };
            match thread.position.check(role, to) {
                Ok(()) => {
                    let asks = if word == "Start work" { Asks::Nothing } else { Asks::Reason };
                    self.ready.push(Action {
                        path: "status",
                        asks,
                        status: Some(to),
                        ..plain(id, word, icon)
                    });
                }
                Err(refusal) => {
                    self.refused_statuses.push(Refused { id, word, why: why(refusal, thread, id) })
                }
            }
        }
    }

    fn operations(&mut self) {
        let (thread, role) = (self.thread, self.thread.role);
        let (position, task) = (thread.position, &thread.task);
        let reassign = position.check_reassign(role, task.encrypted);
        self.add(reassign, Action { asks: Asks::Target, ..plain("reassign", "Reassign", "swap") });
        let cancel = Action {
            class: "btn-danger",
            asks: Asks::Reason,
            ..plain("cancel", "Cancel", "status-cancelled")
        };
        self.add(position.check(role, Status::Cancelled), cancel);
        let budget = position.check_budget_change(role);
        self.add(budget, Action { asks: Asks::Budget, ..plain("budget", "Raise budget", "up") });
        match task.unread_count {
            0 => self.refused.push(Refused {
                id: "read",
                word: "Mark as read",
                why: "Nothing is unread.".to_owned(),
            }),
            _ => self.ready.push(plain("read", "Mark as read", "eye")),
        }
        self.add(position.check_acknowledge(role), plain("ack", "Acknowledge", "check"));
        let delete = Action { class: "btn-danger", asks: Asks::Consent, ..plain("delete", "Delete", "x") };
        self.add(position.check_delete(), delete);
    }
}

fn plain(id: &'static str, word: &'static str, icon: &'static str) -> Action {
    Action { id, path: id, word, icon, class: "", asks: Asks::Nothing, status: None }
}

/// Why an action is refused, for the person who would like to do it.
pub(crate) fn why(refusal: Refusal, thread: &ThreadPage, action: &str) -> String {
    let task = &thread.task;
    let (initiator, target) = (task.initiator_agent_name.as_str(), task.target_agent_name.as_str());
    let other = if thread.role == Role::Initiator { target } else { initiator };
    let word = |status: Status| words::status(status, None).word;
    match (refusal, action) {
        (Refusal::Terminal, "reopen") => "A reviewed task cannot be reopened.".to_owned(),
        (Refusal::Terminal, _) => format!("It has ended: {}.", word(task.status)),
        (Refusal::ApprovalPending, _) => format!("It waits for approval at the gate of {target}."),
        (Refusal::Draft, _) => "It is a draft. Publish it first.".to_owned(),
        (Refusal::NoSuchMove { from, to }, _) => {
            format!("A task does not go from {} to {}.", word(from), word(to))
        }
        (Refusal::NotYourMove, "approve") => format!("Only {target} decides at its gate."),
        (Refusal::NotYourMove, _) => format!("Only {other} may do that."),
        (Refusal::ReviewRequired, _) => {
            format!("{initiator} accepts the result. Reply, and it goes to review.")
        }
        (Refusal::InvalidState(_), "retry") => "Only after failed, cancelled or expired.".to_owned(),
        (Refusal::InvalidState(_), "reassign") => "Only while it is live.".to_owned(),
        (Refusal::InvalidState(_), "approve") => "Nobody holds it at a gate.".to_owned(),
        (Refusal::InvalidState(_), "reopen") => "Only after completed.".to_owned(),
        (Refusal::InvalidState(status), _) => format!("Not while it is {}.", word(status)),
        (Refusal::Encrypted, _) => {
            format!("It is encrypted for {target} only. Cancel it, then send a new one.")
        }
        (Refusal::MessageBudget(max), _) => {
            format!(
                "All {} messages of its budget are used. {initiator} can raise it.",
                words::thousands(max)
            )
        }
        (Refusal::Live, _) => "It is still live. Cancel it first.".to_owned(),
        (Refusal::Conflict, _) => "It has changed since you looked.".to_owned(),
    }
}

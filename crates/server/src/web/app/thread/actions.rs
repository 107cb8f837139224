//! What a person can do with a task now, and why the rest is not possible.
//!
//! Whether an action is possible is decided by the rules in `core`; here it gets its place on the page, or the reason in
//! words.

use tandem_core::tasks::MaxMessages;
use tandem_core::{Refusal, Role, Status};
use tandem_hub::Hub;
use tandem_hub::ops::threads::ThreadPage;

use super::super::copy::Copied;
use super::super::refused::Refused;
use super::super::words;
use super::action::{Asks, Obstacle, Rank, TaskAction};
use super::commands;

/// An action that is possible now.
#[derive(Debug)]
pub(crate) struct Action {
    pub(crate) action: TaskAction,
    /// Unique on the page.
    pub(crate) id: String,
    /// Whether it ends the turn of the person.
    pub(crate) is_primary: bool,
    /// Whether what was typed into it was refused.
    pub(crate) is_open: bool,
}

impl Action {
    fn of(action: TaskAction, turn: Option<TaskAction>, form: &Refused) -> Self {
        let id = action.id();
        Self { action, is_primary: turn == Some(action), is_open: form.is(&id), id }
    }

    pub(crate) fn class(&self) -> &'static str {
        match (self.is_primary, self.action.is_destructive()) {
            (true, _) => "btn-primary",
            (false, true) => "btn-danger",
            (false, false) => "",
        }
    }

    /// What the form asks for; the note of an approval has a fold of its own.
    pub(crate) fn asks(&self) -> Asks {
        self.action.asks()
    }
}

/// An action that is not possible now.
#[derive(Debug)]
pub(crate) struct Impossible {
    pub(crate) id: String,
    pub(crate) word: &'static str,
    pub(crate) why: String,
}

#[derive(Debug)]
pub(crate) struct Actions {
    /// The one filled button comes first. On a phone they stay in sight.
    pub(crate) first: Vec<Action>,
    pub(crate) more: Vec<Action>,
    pub(crate) impossible: Vec<Impossible>,
    /// Whether the composer ends the turn of the person.
    pub(crate) is_answer: bool,
    /// Why nothing can be written, if so.
    pub(crate) no_message: Option<String>,
    /// Why no file can be attached, if so.
    pub(crate) no_file: Option<String>,
    /// Why no result can be delivered; none if it can. Only the target has this form.
    pub(crate) no_reply: Option<String>,
    pub(crate) expected: Status,
    pub(crate) seen: i64,
    pub(crate) max_messages: i64,
    pub(crate) budget_suggested: String,
    pub(crate) commands: Vec<Copied>,
}

impl Actions {
    pub(crate) fn of(hub: &Hub, thread: &ThreadPage, form: &Refused) -> Self {
        let turn = TaskAction::of_turn(thread.waits, thread.role);
        let (mut first, mut more, mut impossible) = (Vec::new(), Vec::new(), Vec::new());
        for action in TaskAction::all().filter(|action| action.applies(thread)) {
            match action.check(thread) {
                Err(obstacle) => impossible.push(Impossible {
                    id: action.id(),
                    word: action.word(),
                    why: why(obstacle, thread, action),
                }),
                Ok(()) if turn == Some(action) => first.insert(0, Action::of(action, turn, form)),
                Ok(()) if action.rank() == Rank::First => first.push(Action::of(action, turn, form)),
                Ok(()) => more.push(Action::of(action, turn, form)),
            }
        }
        let not = |action: TaskAction| action.check(thread).err().map(|why_not| why(why_not, thread, action));
        let no_message = not(TaskAction::Message);
        let sealed = thread.task.encrypted.then(|| why(Obstacle::Sealed, thread, TaskAction::Message));
        let max = thread.task.max_messages;
        let mut actions = Self {
            is_answer: turn == Some(TaskAction::Message) && no_message.is_none(),
            no_file: thread
                .no_file
                .map(|refusal| why(refusal.into(), thread, TaskAction::Message))
                .or(sealed),
            no_message,
            no_reply: not(TaskAction::Reply),
            first,
            more,
            impossible,
            expected: thread.task.status,
            seen: thread.version,
            max_messages: max,
            budget_suggested: (max * 2).min(MaxMessages::max()).to_string(),
            commands: Vec::new(),
        };
        actions.commands = commands::of(hub, thread, &actions);
        actions
    }

    pub(crate) fn possible(&self) -> impl Iterator<Item = TaskAction> {
        self.first.iter().chain(&self.more).map(|possible| possible.action)
    }

    pub(crate) fn can_reassign(&self) -> bool {
        self.possible().any(|action| action == TaskAction::Reassign)
    }

    /// Whether a form among the folded ones was refused.
    pub(crate) fn is_more_open(&self) -> bool {
        self.more.iter().any(|action| action.is_open)
    }
}

/// Why an action is refused, for the person who would like to do it.
pub(crate) fn why(obstacle: Obstacle, thread: &ThreadPage, action: TaskAction) -> String {
    let task = &thread.task;
    let (initiator, target) = (task.initiator_agent_name.as_str(), task.target_agent_name.as_str());
    let other = if thread.role == Role::Initiator { target } else { initiator };
    let word = |status: Status| words::status(status, None).word;
    let refusal = match obstacle {
        Obstacle::NothingUnread => return "Nothing is unread.".to_owned(),
        Obstacle::Sealed => {
            let id = &task.id;
            return format!(
                "This task is encrypted, and this page cannot encrypt. Write with: tandem message {id} \"…\""
            );
        }
        Obstacle::Rule(refusal) => refusal,
    };
    match (refusal, action) {
        (Refusal::Terminal, TaskAction::Reopen) => "A reviewed task cannot be reopened.".to_owned(),
        (Refusal::Terminal, _) => format!("It has ended: {}.", word(task.status)),
        (Refusal::ApprovalPending, _) => format!("It waits for approval at the gate of {target}."),
        (Refusal::Draft, _) => "It is a draft. Publish it first.".to_owned(),
        (Refusal::NoSuchMove { from, to }, _) => {
            format!("A task does not go from {} to {}.", word(from), word(to))
        }
        (Refusal::NotYourMove, TaskAction::Approve) => format!("Only {target} decides at its gate."),
        (Refusal::NotYourMove, _) => format!("Only {other} may do that."),
        (Refusal::ReviewRequired, _) => {
            format!("{initiator} accepts the result. Reply, and it goes to review.")
        }
        (Refusal::InvalidState(_), TaskAction::Retry) => {
            "Only after failed, cancelled or expired.".to_owned()
        }
        (Refusal::InvalidState(_), TaskAction::Reassign) => "Only while it is live.".to_owned(),
        (Refusal::InvalidState(_), TaskAction::Approve) => "Nobody holds it at a gate.".to_owned(),
        (Refusal::InvalidState(_), TaskAction::Reopen) => "Only after completed.".to_owned(),
        (Refusal::InvalidState(status), _) => format!("Not while it is {}.", word(status)),
        (Refusal::Encrypted, _) => {
            format!("It is encrypted for {target} only. Cancel it, then send a new one.")
        }
        (Refusal::MessageBudget(max), _) => {
            let max = words::thousands(max);
            format!("All {max} messages of its budget are used. {initiator} can raise it.")
        }
        (Refusal::Live, _) => "It is still live. Cancel it first.".to_owned(),
        (Refusal::Conflict, _) => "It has changed since you looked.".to_owned(),
    }
}

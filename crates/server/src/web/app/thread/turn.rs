//! Whose turn it is, since when, and what happens otherwise; of an ended task, what came of it.

use tandem_core::tasks::OnStall;
use tandem_core::{Role, Status, Timestamp, Waits};
use tandem_hub::ops::threads::ThreadPage;

use super::super::Shell;
use super::super::tasks::row::cut;
use super::super::words::{self, When};
use super::facts::{Author, Facts};

/// Characters of a result or a reason.
const QUOTE_CHARS: usize = 280;

/// Words of one of the parties, in the banner.
#[derive(Debug)]
pub(crate) struct Quote {
    pub(crate) text: String,
    /// Whoever wrote it, if that is not the reader's own agent.
    pub(crate) foreign: Option<String>,
}

/// The banner of a task.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) tone: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) title: String,
    /// The word before the time.
    pub(crate) since_word: &'static str,
    pub(crate) since: Option<When>,
    /// What follows if nobody acts.
    pub(crate) otherwise: String,
    pub(crate) quote: Option<Quote>,
    /// The heading of the actions.
    pub(crate) action: String,
}

impl Turn {
    pub(crate) fn of(thread: &ThreadPage, facts: &Facts, shell: &Shell) -> Self {
        match thread.waits {
            Waits::End => ended(thread, facts, shell),
            waits => live(waits, thread, facts, shell),
        }
    }
}

fn live(waits: Waits, thread: &ThreadPage, facts: &Facts, shell: &Shell) -> Turn {
    let task = &thread.task;
    let is_initiator = thread.role == Role::Initiator;
    let (initiator, target) = (words::quoted(&facts.initiator.name), words::quoted(&facts.target.name));
    let moved = thread.history.last().map_or(task.updated_at, |line| line.created_at);
    let mine = waits.needs(thread.role);
    let yours = |what: &str| format!("Your turn: {what}");
    let (icon, title, action, since_word, since) = match waits {
        Waits::Publication => (
            "status-draft",
            "A draft: nobody else sees it".to_owned(),
            "Publish it",
            "Written",
            task.created_at,
        ),
        Waits::Approval if is_initiator => {
            ("status-held", format!("Held at the gate of {target}"), "Wait", "Asked", moved)
        }
        Waits::Approval => ("gate", yours(&format!("let {initiator} in or not")), "Decide", "Asked", moved),
        Waits::Taking => ("send", format!("{target} has not taken it yet"), "Not taken yet", "Sent", moved),
        Waits::Work => ("status-working", format!("{target} works on it"), "In work", "Begun", moved),
        Waits::Sign => {
            let since = thread.silent_since.unwrap_or(moved);
            let silent = words::length(shell.now.ms_since(since));
            let title = format!("Stalled: no sign of life for {silent}");
            ("warn", title, "Wake it or move it", "Last seen", since)
        }
        Waits::Answer if is_initiator => (
            "status-input-required",
            yours(&format!("{target} asks a question")),
            "Answer the question",
            "Asked",
            moved,
        ),
        Waits::Answer => {
            ("status-input-required", format!("{initiator} has to answer"), "Wait", "Asked", moved)
        }
        Waits::Authorisation if is_initiator => {
            let title = yours(&format!("{target} asks for an authorisation"));
            ("key", title, "Answer the question", "Asked", moved)
        }
        Waits::Authorisation => ("key", format!("{initiator} has to authorise"), "Wait", "Asked", moved),
        Waits::Acceptance if is_initiator => {
            ("shield", yours("accept the result or ask for changes"), "Accept the result", "Delivered", moved)
        }
        Waits::Acceptance => {
            ("shield", format!("{initiator} looks at the result"), "Wait", "Delivered", moved)
        }
        Waits::Budget if is_initiator => {
            ("status-input-required", yours("the messages are used up"), "Raise the budget", "Paused", moved)
        }
        Waits::Budget => {
            ("status-input-required", format!("{initiator} has to raise the budget"), "Wait", "Paused", moved)
        }
        Waits::Resumption | Waits::End => {
            ("check", format!("Answered: it waits for {target}"), "Answered", "Asked", moved)
        }
    };
    let is_amber = mine || waits == Waits::Sign;
    Turn {
        tone: if is_amber { "wait" } else { "plain" },
        icon,
        title,
        since_word,
        since: Some(shell.when(&since)),
        otherwise: otherwise(waits, thread),
        quote: None,
        action: action.to_owned(),
    }
}

/// What happens if nobody acts.
fn otherwise(waits: Waits, thread: &ThreadPage) -> String {
    let task = &thread.task;
    let stall = match task.on_stall {
        OnStall::Notify => "The task goes to nobody else until its sender says so.".to_owned(),
        OnStall::Expire => "It expires.".to_owned(),
        OnStall::Retry => format!("It is tried again, {} times at most.", task.max_attempts),
    };
    match waits {
        Waits::Approval | Waits::Taking if task.expires_at.is_some() => {
            "It expires if nobody takes it.".to_owned()
        }
        Waits::Approval => "It waits until somebody decides.".to_owned(),
        Waits::Answer | Waits::Authorisation => "The work stands still until it is answered.".to_owned(),
        Waits::Acceptance => "It stays open until the sender accepts it.".to_owned(),
        Waits::Budget => "Nobody can write until then.".to_owned(),
        Waits::Sign => match task.lease_seconds {
            Some(lease) => {
                let every = super::facts::seconds(lease);
                format!("A sign of life was promised every {every}. {stall}")
            }
            None => stall,
        },
        _ => String::new(),
    }
}

fn ended(thread: &ThreadPage, facts: &Facts, shell: &Shell) -> Turn {
    let task = &thread.task;
    let mark = words::status(task.status, None);
    let last = thread.history.last().filter(|_| thread.waits == Waits::End);
    let by = last.map(|line| Author::of(&line.actor, task, shell));
    let title = match (&by, task.status) {
        (Some(Author::Own), Status::Completed) if thread.role == Role::Initiator => {
            "Completed: you accepted it".to_owned()
        }
        (Some(Author::Own), _) => format!("{} by your side", mark.word),
        (Some(Author::Peer(name)), _) => format!("{} by {}", mark.word, words::quoted(name)),
        (Some(Author::FormerTarget), _) => format!("{} by a former target", mark.word),
        (Some(Author::Hub) | None, _) => mark.word.to_owned(),
    };
    let ended = task.completed_at.unwrap_or(task.updated_at);
    let result = task.result.as_ref().filter(|_| !task.encrypted && task.status == Status::Completed);
    let quote = match (result, &task.status_reason) {
        (Some(result), _) => Some(Quote {
            text: cut(result.as_str(), QUOTE_CHARS),
            foreign: (!facts.target.is_own).then(|| facts.target.name.clone()),
        }),
        (None, Some(reason)) => Some(Quote {
            text: cut(reason.as_str(), QUOTE_CHARS),
            foreign: match by {
                Some(Author::Peer(name)) => Some(name),
                Some(Author::FormerTarget) => Some("a former target".to_owned()),
                Some(Author::Own | Author::Hub) | None => None,
            },
        }),
        (None, None) => None,
    };
    let took = |from: Timestamp| format!("It took {}.", words::length(ended.ms_since(from)));
    Turn {
        tone: mark.tone,
        icon: mark.icon,
        title,
        since_word: "Ended",
        since: Some(shell.when(&ended)),
        otherwise: task.delivery.queued_at.map(took).unwrap_or_default(),
        quote,
        action: "Nothing left to do".to_owned(),
    }
}

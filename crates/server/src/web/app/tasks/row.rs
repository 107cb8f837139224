//! A task as lists, the board and Home show it.

use std::ops::Deref;

use tandem_api::tasks::TaskView;
use tandem_core::tasks::Priority;
use tandem_core::{Role, Status, Timestamp, Waits};
use tandem_hub::ops::figures::Past;
use tandem_hub::ops::needs::Followed;

use crate::web::app::Shell;
use crate::web::app::people::Party;
use crate::web::app::thread::mini_life::MiniLife;
use crate::web::app::words::{self, StatusMark, When};

/// Less than this is little time.
const SOON_MS: i64 = 15 * 60_000;
/// Characters of a reason in a list.
const REASON_CHARS: usize = 80;

/// How far a task has got on its way to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeliveryMark {
    /// Marks that are filled, up to five.
    pub(crate) marks: u8,
    pub(crate) word: &'static str,
    /// In percent, if the target reports it.
    pub(crate) progress: Option<i64>,
    /// Whether it has not moved for long.
    pub(crate) is_stuck: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Left {
    pub(crate) when: When,
    pub(crate) text: String,
    pub(crate) is_soon: bool,
}

impl Left {
    pub(crate) fn new(until: Timestamp, shell: &Shell) -> Self {
        let ms = until.ms_since(shell.now);
        Self { when: shell.when(&until), text: words::left(ms), is_soon: ms < SOON_MS }
    }
}

/// Under which heading a list shows a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    YourTurn,
    Others,
    InWork,
    Drafts,
    Ended,
}

impl Group {
    pub(crate) const ALL: [Self; 5] = [Self::YourTurn, Self::Others, Self::InWork, Self::Drafts, Self::Ended];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::YourTurn => "Your turn",
            Self::Others => "Waits for others",
            Self::InWork => "In work",
            Self::Drafts => "Drafts",
            Self::Ended => "Ended",
        }
    }

    fn of(followed: &Followed) -> Self {
        match (followed.waits, followed.role) {
            _ if followed.needs_owner() => Self::YourTurn,
            (Waits::Publication, _) => Self::Drafts,
            (Waits::End, _) => Self::Ended,
            // An agent takes its tasks and goes on by itself.
            (Waits::Work, _) | (Waits::Taking | Waits::Resumption | Waits::Sign, Role::Target) => {
                Self::InWork
            }
            _ => Self::Others,
        }
    }
}

/// A task as lists show it: the task itself, and what its standing means for the reader.
#[derive(Debug, Clone)]
pub(crate) struct TaskRow {
    followed: Followed,
    pub(crate) href: String,
    /// What the status means for the reader, in a few words.
    pub(crate) reason: String,
    pub(crate) from: Party,
    pub(crate) to: Party,
    /// None for drafts and ended tasks.
    pub(crate) delivery: Option<DeliveryMark>,
    pub(crate) expires: Option<Left>,
    /// Where its time went, on pages that show it.
    pub(crate) life: Option<MiniLife>,
}

impl Deref for TaskRow {
    type Target = Followed;
    fn deref(&self) -> &Followed {
        &self.followed
    }
}

impl TaskRow {
    pub(crate) fn new(followed: Followed, shell: &Shell) -> Self {
        let task = &followed.task;
        let waits = task.status == Status::Submitted;
        Self {
            href: format!("{}/tasks/{}", shell.base, task.id),
            reason: reason(&followed, shell),
            from: Party::initiator(task, shell),
            to: Party::target(task, shell),
            delivery: task.status.is_live().then(|| delivery(task, shell.now)),
            expires: task.expires_at.filter(|_| waits).map(|at| Left::new(at, shell)),
            life: None,
            followed,
        }
    }

    pub(crate) fn with_life(self, past: Option<&Past>, now: Timestamp) -> Self {
        Self { life: past.map(|past| MiniLife::of(&self.followed, past, now)), ..self }
    }

    pub(crate) fn mark(&self) -> StatusMark {
        words::mark(self.task.status, self.waits)
    }

    pub(crate) fn group(&self) -> Group {
        Group::of(self)
    }

    /// `amber` if it waits for the reader or is silent, `red` if it ended badly.
    pub(crate) fn edge(&self) -> &'static str {
        edge(self)
    }

    /// What the status means for the reader, or what became of a task that is not on its way.
    pub(crate) fn fact(&self) -> String {
        if self.delivery.is_some() { self.reason.clone() } else { outcome(&self.task) }
    }

    /// Priority and attempt, where they are not the usual ones.
    pub(crate) fn notes(&self) -> String {
        notes(&self.task)
    }
}

fn edge(followed: &Followed) -> &'static str {
    match followed.task.status {
        _ if followed.needs_owner() || followed.waits == Waits::Sign => "amber",
        Status::Failed | Status::Rejected | Status::Expired if followed.role == Role::Initiator => "red",
        _ => "",
    }
}

/// What the status means for the reader.
fn reason(followed: &Followed, shell: &Shell) -> String {
    let task = &followed.task;
    let is_initiator = followed.role == Role::Initiator;
    let other = if is_initiator { &task.target_agent_name } else { &task.initiator_agent_name };
    let for_other = || format!("waits for {}", words::quoted(&cut(other.as_str(), 24)));
    match followed.waits {
        Waits::Approval if is_initiator => "at their gate".to_owned(),
        Waits::Approval => "you decide".to_owned(),
        Waits::Answer | Waits::Authorisation if is_initiator => "asks you".to_owned(),
        Waits::Acceptance if is_initiator => "you look at it".to_owned(),
        Waits::Budget if is_initiator => "no messages left".to_owned(),
        Waits::Answer | Waits::Authorisation | Waits::Acceptance | Waits::Budget => for_other(),
        Waits::Resumption if is_initiator => for_other(),
        Waits::Sign => match followed.silent_since {
            Some(since) => format!("silent {}", words::length(shell.now.ms_since(since))),
            None => "silent".to_owned(),
        },
        Waits::Work => task.progress.map(|percent| format!("{percent} %")).unwrap_or_default(),
        Waits::Taking | Waits::Resumption | Waits::Publication | Waits::End => String::new(),
    }
}

fn delivery(task: &TaskView, now: Timestamp) -> DeliveryMark {
    let marks = &task.delivery;
    let (reached, word) = if marks.started_at.is_some() {
        (5, "working")
    } else if marks.acknowledged_at.is_some() {
        (4, "acknowledged")
    } else if marks.fetched_at.is_some() {
        (3, "fetched")
    } else if marks.pushed_at.is_some() {
        (2, "pushed")
    } else {
        (1, "queued")
    };
    let progress = task.progress.filter(|_| task.status == Status::Working);
    let waits_long = marks.queued_at.is_some_and(|queued| now.ms_since(queued) > SOON_MS);
    DeliveryMark { marks: reached, word, progress, is_stuck: reached < 3 && waits_long }
}

/// What became of a task that is not on its way.
fn outcome(task: &TaskView) -> String {
    let reason =
        task.status_reason.as_ref().map(|reason| format!("“{}”", cut(reason.as_str(), REASON_CHARS)));
    let ended = task.completed_at.unwrap_or(task.updated_at);
    match (task.status, reason) {
        (Status::Draft, _) => "not sent".to_owned(),
        (Status::Completed, _) => {
            let begun = task.started_at.or(task.delivery.queued_at).unwrap_or(task.created_at);
            format!("took {}", words::short_span(ended.ms_since(begun)))
        }
        (Status::Expired, _) if task.started_at.is_none() => "nobody took it".to_owned(),
        (_, Some(reason)) => reason,
        (Status::Expired, None) => "no sign of life".to_owned(),
        (_, None) => String::new(),
    }
}

fn notes(task: &TaskView) -> String {
    let priority = match task.priority {
        Priority::High => Some("high priority".to_owned()),
        Priority::Normal => None,
        Priority::Low => Some("low priority".to_owned()),
    };
    let attempt = (task.attempt > 1).then(|| format!("attempt {}", task.attempt));
    [priority, attempt].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The beginning of a text, in one line.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("one\n  two", 80), "one two");
        assert_eq!(cut("äöüäöü", 3), "äöü…");
        assert_eq!(cut("", 3), "");
    }
}

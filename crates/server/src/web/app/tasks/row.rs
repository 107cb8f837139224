//! A task as lists, the board and Home show it.

use tandem_api::tasks::TaskView;
use tandem_api::text::{Author, PeerName};
use tandem_core::tasks::Priority;
use tandem_core::{Status, Timestamp};

use crate::web::app::Shell;
use crate::web::app::words::{self, StatusMark, When};

/// Less than this is little time.
const SOON_MS: i64 = 15 * 60_000;
/// Characters of a reason in a list.
const REASON_CHARS: usize = 80;

/// An agent: the reader's own is round, another one square.
#[derive(Debug, Clone)]
pub(crate) struct Party {
    pub(crate) name: String,
    pub(crate) initial: String,
    pub(crate) kind: &'static str,
}

impl Party {
    pub(crate) fn new(name: &PeerName) -> Self {
        let kind = if name.author() == Author::Reader { "own" } else { "foreign" };
        Self { name: name.as_str().to_owned(), initial: words::initial(name.as_str()), kind }
    }
}

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
        let text = words::span(ms.max(0)).unwrap_or_else(|| "seconds".to_owned());
        Self { when: shell.when(&until), text, is_soon: ms < SOON_MS }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct TaskRow {
    pub(crate) href: String,
    pub(crate) title: String,
    pub(crate) mark: StatusMark,
    pub(crate) from: Party,
    pub(crate) to: Party,
    /// None for drafts and ended tasks.
    pub(crate) delivery: Option<DeliveryMark>,
    /// What became of it, if there is no delivery to show.
    pub(crate) outcome: String,
    pub(crate) created: When,
    pub(crate) expires: Option<Left>,
    pub(crate) unread: i64,
    /// Priority and attempt, where they are not the usual ones.
    pub(crate) notes: String,
    pub(crate) is_encrypted: bool,
}

impl TaskRow {
    pub(crate) fn new(task: &TaskView, shell: &Shell) -> Self {
        let waits = task.status == Status::Submitted;
        let delivery = task.status.is_live().then(|| delivery(task, shell.now));
        let outcome = if delivery.is_none() { outcome(task) } else { String::new() };
        Self {
            href: format!("{}/tasks/{}", shell.base, task.id),
            title: task.title.as_str().to_owned(),
            mark: words::status(task.status, task.approval_status),
            from: Party::new(&task.initiator_agent_name),
            to: Party::new(&task.target_agent_name),
            delivery,
            outcome,
            created: shell.when(&task.created_at),
            expires: task.expires_at.filter(|_| waits).map(|at| Left::new(at, shell)),
            unread: task.unread_count,
            notes: notes(task),
            is_encrypted: task.encrypted,
        }
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

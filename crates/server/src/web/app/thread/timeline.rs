//! The way of a task: how far its delivery has come, and everything that happened to it.

use tandem_api::tasks::TaskView;
use tandem_core::wake::Rung;
use tandem_core::{AgentId, Approval, Status, Timestamp};
use tandem_hub::ops::threads::ThreadPage;

use super::super::Shell;
use super::super::words::{self, When};
use super::facts::Author;

/// A delivery that has not moved for so long is stuck.
const STUCK_MS: i64 = 2 * 60 * 1_000;
/// A pause that is named.
const GAP_MS: i64 = 5 * 60 * 1_000;

#[derive(Debug)]
pub(crate) struct Step {
    /// `done`, `now`, `stuck` or nothing.
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) word: &'static str,
    pub(crate) at: Option<When>,
    /// What is said instead of the time, or after it.
    pub(crate) note: String,
}

/// Where something was shown to a model.
fn rung(rung: Rung) -> &'static str {
    match rung {
        Rung::Channel => "by channel",
        Rung::Runner => "by a runner",
        Rung::Hook => "by hook",
        Rung::LongPoll => "by long poll",
        Rung::Pull => "when it asked",
    }
}

/// The five steps of a delivery.
pub(crate) fn steps(task: &TaskView, shell: &Shell) -> Vec<Step> {
    let delivery = &task.delivery;
    let shown = delivery.surfaced_by.map(rung).unwrap_or_default();
    let last = if delivery.started_at.is_none() && delivery.surfaced_at.is_some() {
        "Shown to its model"
    } else {
        "Working"
    };
    let marks = [
        ("Queued", delivery.queued_at, ""),
        ("Pushed", delivery.pushed_at, ""),
        ("Fetched", delivery.fetched_at, ""),
        ("Acknowledged", delivery.acknowledged_at, ""),
        (last, delivery.started_at.or(delivery.surfaced_at), shown),
    ];
    let reached = marks.iter().rposition(|mark| mark.1.is_some());
    let last_at = marks.iter().filter_map(|mark| mark.1).max();
    let is_held = task.approval_status == Some(Approval::Pending);
    let waits = task.status == Status::Submitted && !is_held && delivery.acknowledged_at.is_none();
    let is_stuck = waits && last_at.is_some_and(|at| shell.now.ms_since(at) > STUCK_MS);
    let step = |(place, (word, at, by)): (usize, (&'static str, Option<Timestamp>, &str))| {
        let is_done = reached.is_some_and(|reached| place <= reached);
        let is_next = reached.map_or(place == 0, |reached| place == reached + 1);
        let (class, icon) = match (is_done, is_next) {
            (true, _) => ("done", "status-completed"),
            (false, true) if is_stuck => ("stuck", "warn"),
            (false, true) if task.status.is_live() => ("now", "circle"),
            _ => ("", "circle"),
        };
        let note = match (at, delivery.queued_at) {
            (Some(at), Some(queued)) if place > 0 => {
                format!("{} later {by}", words::short_span(at.ms_since(queued).max(0))).trim_end().to_owned()
            }
            (Some(_), _) => String::new(),
            (None, _) if is_done => "no mark of its own".to_owned(),
            (None, _) if is_next && is_held => "after approval".to_owned(),
            (None, _) if is_next && is_stuck => "not yet, longer than usual".to_owned(),
            (None, _) if is_next && task.status.is_live() => "waiting".to_owned(),
            (None, _) if is_next && task.status == Status::Draft => "after publishing".to_owned(),
            (None, _) => "–".to_owned(),
        };
        // Only the first step has a time of its own; the others are in relation to it.
        Step { class, icon, word, at: at.map(|at| shell.when(&at)), note }
    };
    marks.into_iter().enumerate().map(step).collect()
}

/// Something that happened, or a named pause.
#[derive(Debug)]
pub(crate) struct Line {
    /// The pause before it, if it was long.
    pub(crate) gap: Option<String>,
    pub(crate) when: When,
    pub(crate) icon: &'static str,
    pub(crate) tone: &'static str,
    pub(crate) fact: String,
    pub(crate) by: Option<Author>,
    pub(crate) detail: Option<String>,
}

/// Everything that happened, oldest first.
pub(crate) fn lines(thread: &ThreadPage, me: &AgentId, shell: &Shell) -> Vec<Line> {
    let mut timed: Vec<(Timestamp, Line)> = Vec::new();
    for entry in &thread.history {
        let mark = words::status(entry.to_status, None);
        let attempt = if entry.attempt > 1 { format!(", attempt {}", entry.attempt) } else { String::new() };
        let said = entry.detail.as_ref().map(|detail| format!(": “{}”", detail.as_str()));
        let detail = format!("{attempt}{}", said.unwrap_or_default());
        let line = line(shell, entry.created_at, mark.icon, mark.tone, mark.word.to_owned(), Some(detail));
        let by = Some(Author::of(&entry.actor, &thread.task, me));
        timed.push((entry.created_at, Line { by, ..line }));
    }
    let is_newest = thread.history_before + count(thread) >= thread.history_total;
    if is_newest {
        timed.extend(marks(thread, shell));
    }
    timed.sort_by_key(|(at, _)| *at);
    let mut before: Option<Timestamp> = None;
    let named = timed.into_iter().map(|(at, line)| {
        let gap = before.map(|before| at.ms_since(before)).filter(|ms| *ms >= GAP_MS).and_then(words::span);
        before = Some(at);
        Line { gap, ..line }
    });
    named.collect()
}

fn count(thread: &ThreadPage) -> i64 {
    i64::try_from(thread.history.len()).unwrap_or(i64::MAX)
}

fn line(
    shell: &Shell,
    at: Timestamp,
    icon: &'static str,
    tone: &'static str,
    fact: String,
    detail: Option<String>,
) -> Line {
    Line { gap: None, when: shell.when(&at), icon, tone, fact, by: None, detail }
}

/// The marks of the delivery and the progress of the present attempt.
fn marks(thread: &ThreadPage, shell: &Shell) -> Vec<(Timestamp, Line)> {
    let task = &thread.task;
    let delivery = &task.delivery;
    let after = |at: Timestamp| {
        delivery
            .queued_at
            .map(|queued| format!("{} after it was queued", words::short_span(at.ms_since(queued).max(0))))
    };
    let mut found = Vec::new();
    for (at, icon, fact) in [
        (delivery.pushed_at, "send", "Pushed".to_owned()),
        (delivery.fetched_at, "fetch", "Fetched".to_owned()),
        (
            delivery.surfaced_at,
            "eye",
            format!("Shown to its model {}", delivery.surfaced_by.map_or("", rung)),
        ),
        (delivery.acknowledged_at, "check", "Acknowledged".to_owned()),
    ] {
        if let Some(at) = at {
            found.push((at, line(shell, at, icon, "plain", fact, after(at))));
        }
    }
    found
}

//! The way of a task: everything that happened to it.

use tandem_core::wake::Rung;
use tandem_core::{Timestamp, Verdict};
use tandem_hub::ops::threads::{Gate, ThreadPage};

use super::super::Shell;
use super::super::words::{self, When};
use super::facts::Author;

/// A pause that is named.
const GAP_MS: i64 = 5 * 60 * 1_000;

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
pub(crate) fn lines(thread: &ThreadPage, shell: &Shell) -> Vec<Line> {
    let mut timed: Vec<(Timestamp, Line)> = Vec::new();
    for entry in &thread.history {
        let mark = words::status(entry.to_status, None);
        let attempt = if entry.attempt > 1 { format!(", attempt {}", entry.attempt) } else { String::new() };
        let said = entry.detail.as_ref().map(|detail| format!(": “{}”", detail.as_str()));
        let detail = format!("{attempt}{}", said.unwrap_or_default());
        let line = line(shell, entry.created_at, mark.icon, mark.tone, mark.word.to_owned(), Some(detail));
        let by = Some(Author::of(&entry.actor, &thread.task, shell));
        timed.push((entry.created_at, Line { by, ..line }));
    }
    let is_newest = thread.history_before + count(thread) >= thread.history_total;
    if is_newest {
        timed.extend(marks(thread, shell));
        timed.extend(gates(thread, shell));
        if let Some(at) = thread.silent_since {
            let silent = line(shell, at, "warn", "wait", "Silent since then".to_owned(), None);
            timed.push((at, silent));
        }
    }
    timed.sort_by_key(|(at, _)| *at);
    let mut before: Option<Timestamp> = None;
    let named = timed.into_iter().map(|(at, line)| {
        let gap = before.map(|before| at.ms_since(before)).filter(|ms| *ms >= GAP_MS).map(words::length);
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

/// What was decided at gates.
fn gates(thread: &ThreadPage, shell: &Shell) -> Vec<(Timestamp, Line)> {
    let line = |gate: &Gate| {
        let (icon, tone, word) = match gate.verdict {
            Verdict::Approved => ("check", "good", "Approved"),
            Verdict::Rejected => ("status-rejected", "bad", "Rejected at the gate"),
            Verdict::Expired => ("status-expired", "bad", "Nobody decided in time"),
        };
        (gate.at, line(shell, gate.at, icon, tone, word.to_owned(), None))
    };
    thread.gates.iter().map(line).collect()
}

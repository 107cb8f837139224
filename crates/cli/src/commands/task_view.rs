//! Tasks and messages as people see them.

use anstyle::AnsiColor;
use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskView;
use tandem_client::Trust;
use tandem_core::messages::ContentType;
use tandem_core::{Approval, Status, Timestamp};

use super::Session;
use crate::exit::Outcome;
use crate::terminal::table::Table;
use crate::terminal::{Terminal, text, time};

/// The columns of a list of tasks, and how to fill a row.
pub(crate) fn task_table(session: &Session) -> (Table, impl FnMut(&mut Table, &TaskView) + use<>) {
    let me = session.profile.as_ref().map(|profile| profile.agent_id.clone());
    let now = time::now();
    let row = move |table: &mut Table, task: &TaskView| {
        let mine = me.as_ref().is_none_or(|me| *me == task.initiator_agent_id);
        let with = if mine {
            format!("to {}", task.target_agent_name.as_str())
        } else {
            format!("from {}", task.initiator_agent_name.as_str())
        };
        let unread = if task.unread_count > 0 { task.unread_count.to_string() } else { String::new() };
        let changed = time::relative(task.updated_at, now);
        table.row([task.id.as_str(), status_word(task), task.title.as_str(), &with, &unread, &changed]);
    };
    (Table::new(&["task", "status", "title", "with", "unread", "changed"], 2), row)
}

/// The status; a task at the gate is still submitted, but nobody works on it.
pub(crate) fn status_word(task: &TaskView) -> &'static str {
    if task.approval_status == Some(Approval::Pending) { "needs approval" } else { task.status.as_str() }
}

fn status_colour(status: Status) -> AnsiColor {
    match status {
        Status::Completed => AnsiColor::Green,
        Status::Working => AnsiColor::Cyan,
        Status::InputRequired | Status::AuthRequired | Status::Submitted | Status::Draft => AnsiColor::Yellow,
        Status::Failed | Status::Rejected | Status::Cancelled | Status::Expired => AnsiColor::Red,
    }
}

/// The head of a task: title, parties, status, delivery.
pub(crate) fn print_task(terminal: &Terminal, task: &TaskView) -> Outcome {
    let now = time::now();
    terminal.line(&terminal.bold(&text::line(task.title.as_str())))?;
    let field = |name: &str, value: String| terminal.line(&format!("  {name:<12} {value}"));
    field("Task", task.id.to_string())?;
    let mut status = terminal.colour(status_word(task), status_colour(task.status));
    if let Some(reason) = &task.status_reason {
        status = format!("{status}: {}", text::line(reason.as_str()));
    }
    field("Status", status)?;
    let (from, to) = (task.initiator_agent_name.as_str(), task.target_agent_name.as_str());
    field("From, to", format!("{} → {}", text::line(from), text::line(to)))?;
    field("Sent", time::relative(task.created_at, now))?;
    field("Delivery", delivery(task, now))?;
    if let Some(expires) = task.expires_at.filter(|_| task.status == Status::Submitted) {
        field("Expires", time::relative(expires, now))?;
    }
    if let Some(progress) = task.progress {
        let note = task
            .progress_note
            .as_ref()
            .map_or(String::new(), |note| format!(" {}", text::line(note.as_str())));
        field("Progress", format!("{progress}%{note}"))?;
    }
    if task.attempt > 1 {
        field("Attempt", format!("{} of {}", task.attempt, task.max_attempts))?;
    }
    let mut terms = Vec::new();
    if task.encrypted {
        terms.push("end-to-end encrypted");
    }
    if task.requires_review {
        terms.push("the sender accepts the result");
    }
    if !terms.is_empty() {
        field("Terms", terms.join(", "))?;
    }
    let next: Vec<&str> = task.next_statuses.iter().map(|status| status.as_str()).collect();
    if !next.is_empty() {
        field("You may set", next.join(", "))?;
    }
    Ok(())
}

/// How far the task has come to its target, as the hub has observed it.
fn delivery(task: &TaskView, now: Timestamp) -> String {
    let steps = [
        ("started", task.delivery.started_at),
        ("acknowledged", task.delivery.acknowledged_at),
        ("fetched", task.delivery.fetched_at),
        ("pushed", task.delivery.pushed_at),
        ("queued", task.delivery.queued_at),
    ];
    let furthest = steps.into_iter().find_map(|(word, at)| Some((word, at?)));
    let Some((word, at)) = furthest else { return "not yet published".to_owned() };
    let ahead = match task.delivery.ahead {
        Some(1) => ", 1 task before it".to_owned(),
        Some(ahead) if ahead > 0 => format!(", {ahead} tasks before it"),
        _ => String::new(),
    };
    format!("{word} {}{ahead}", time::relative(at, now))
}

/// A message: who, when, and its text with a bar in front, so that nothing in it looks like our own words.
pub(crate) fn print_message(terminal: &Terminal, message: &MessageView, trust: &str) -> Outcome {
    let who = message.sender_agent_name.as_ref().map_or("the hub", |name| name.as_str());
    let when = time::relative(message.created_at, time::now());
    let head = format!("{} · {}{trust}", text::line(who), when);
    terminal.line(&terminal.dim(&head))?;
    let content = match (&message.file, message.content_type) {
        (Some(file), _) => format!(
            "[file {}, {}, {}] tandem file down {}",
            text::line(file.filename.as_str()),
            text::line(file.mime_type.as_str()),
            time::bytes(u64::try_from(file.size_bytes).unwrap_or(0)),
            text::line(message.content.as_str()),
        ),
        (None, ContentType::File) => {
            format!("[file] tandem file down {}", text::line(message.content.as_str()))
        }
        (None, _) => text::lines(message.content.as_str()),
    };
    print_quoted(terminal, &content)
}

/// Text of another party, with a bar in front of every line.
pub(crate) fn print_quoted(terminal: &Terminal, safe: &str) -> Outcome {
    terminal.line(&text::wrap(safe, terminal.text_width(), "│ "))
}

/// A change of status in one line.
pub(crate) fn status_line(terminal: &Terminal, status: Status, reason: Option<&str>) -> String {
    let word = terminal.colour(status.as_str(), status_colour(status));
    match reason {
        Some(reason) => format!("● {word}: {reason}"),
        None => format!("● {word}"),
    }
}

/// What is known about a text, for the line above it.
pub(crate) fn trust_words(trust: &Trust) -> String {
    match trust {
        Trust::Plain => String::new(),
        Trust::Verified => " · encrypted, signature verified".to_owned(),
        Trust::Unopened => " · encrypted file, verified when it is downloaded".to_owned(),
        Trust::Unreadable(why) => format!(" · CANNOT BE OPENED: {}", text::line(why)),
    }
}

//! Tasks and messages as people see them.

use anstyle::AnsiColor;
use serde::Serialize;
use tandem_api::actor::Actor;
use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskView;
use tandem_api::text::PeerText;
use tandem_client::{Client, FileInfo, Opened, Trust};
use tandem_core::messages::ContentType;
use tandem_core::{Approval, FileId, Status, TaskId, Timestamp};

use super::Session;
use crate::exit::{Failure, Outcome};
use crate::terminal::table::Table;
use crate::terminal::{Terminal, text, time};

/// Ids of files are shorter than this, encrypted texts are not.
const FILE_ID_CHARS_MAX: usize = 30;

/// A view for other programs, by `--json` or on the standard input of a worker, with what is known about its content.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WithTrust<'a, T> {
    #[serde(flatten)]
    view: &'a T,
    /// One of the words of [`Trust::as_str`].
    trust: &'static str,
    /// Why it is unreadable.
    #[serde(skip_serializing_if = "Option::is_none")]
    trust_reason: Option<&'a str>,
}

impl<'a, T> WithTrust<'a, T> {
    pub(crate) fn new(view: &'a T, trust: &'a Trust) -> Self {
        Self { view, trust: trust.as_str(), trust_reason: trust.why_unreadable() }
    }

    pub(crate) fn of(opened: &'a Opened<T>) -> Self {
        Self::new(&opened.view, &opened.trust)
    }
}

/// What is known about a text that the caller has just sent on a task.
pub(crate) fn own_trust(client: &Client, task: &TaskView) -> Trust {
    if is_sealed(client, task) { Trust::Verified } else { Trust::Plain }
}

/// Whether a task is encrypted, by what is known of it or by what the hub says: the hub cannot pass an encrypted one off as
/// plain.
pub(crate) fn is_sealed(client: &Client, task: &TaskView) -> bool {
    !matches!(client.is_encrypted(task), Ok(false))
}

/// The title of a task in a list, where nothing is opened. That of an encrypted task is the same for all, whatever the
/// hub sends.
pub(crate) fn listed_title<'a>(client: &Client, task: &TaskId, title: &'a PeerText) -> &'a str {
    if client.is_known_encrypted(task).unwrap_or(true) { tandem_seal::CLEAR_TITLE } else { title.as_str() }
}

/// Behind a text of an encrypted task that is never encrypted: reasons and notes.
pub(crate) fn in_the_clear(client: &Client, task: &TaskView) -> &'static str {
    if is_sealed(client, task) { " (not encrypted)" } else { "" }
}

/// The columns of a list of tasks, and how to fill a row.
pub(crate) fn task_table(session: &Session) -> (Table, impl FnMut(&mut Table, &TaskView) + use<>) {
    let me = session.profile.as_ref().map(|profile| profile.agent_id.clone());
    let (now, client) = (time::now(), session.client.clone());
    let row = move |table: &mut Table, task: &TaskView| {
        let mine = me.as_ref().is_none_or(|me| *me == task.initiator_agent_id);
        let with = if mine {
            format!("to {}", task.target_agent_name.as_str())
        } else {
            format!("from {}", task.initiator_agent_name.as_str())
        };
        let unread = if task.unread_count > 0 { task.unread_count.to_string() } else { String::new() };
        let changed = time::relative(task.updated_at, now);
        let title = listed_title(&client, &task.id, &task.title);
        table.row([task.id.as_str(), status_word(task), title, &with, &unread, &changed]);
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
pub(crate) fn print_task(session: &Session, task: &TaskView) -> Outcome {
    let terminal = &session.terminal;
    let now = time::now();
    terminal.line(&terminal.bold(&terminal.wrapped(&text::line(task.title.as_str()), "")))?;
    let field = |name: &str, value: String| terminal.line(&named(terminal, name, &value));
    field("Task", task.id.to_string())?;
    let word = status_word(task);
    let reason = task.status_reason.as_ref();
    let clear = in_the_clear(&session.client, task);
    let reason = reason.map_or(String::new(), |reason| format!(": {}{clear}", text::line(reason.as_str())));
    let status = named(terminal, "Status", &format!("{word}{reason}"));
    terminal.line(&status.replacen(word, &terminal.colour(word, status_colour(task.status)), 1))?;
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
            .map_or(String::new(), |note| format!(" {}{clear}", text::line(note.as_str())));
        field("Progress", format!("{progress}%{note}"))?;
    }
    if task.attempt > 1 {
        field("Attempt", format!("{} of {}", task.attempt, task.max_attempts))?;
    }
    let mut terms = Vec::new();
    if is_sealed(&session.client, task) {
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

/// A field of a task; a long value continues below itself.
fn named(terminal: &Terminal, name: &str, value: &str) -> String {
    format!("  {name:<12} {}", terminal.beside(15, value))
}

/// How far the task has come to its target, as the hub has observed it.
fn delivery(task: &TaskView, now: Timestamp) -> String {
    let by = task.delivery.surfaced_by.map_or("", |rung| rung.as_str());
    let surfaced = format!("surfaced by {by}");
    let steps = [
        ("started", task.delivery.started_at),
        ("acknowledged", task.delivery.acknowledged_at),
        (if by.is_empty() { "surfaced" } else { surfaced.as_str() }, task.delivery.surfaced_at),
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

/// A message: who, when, and its text with a bar in front, so that nothing in it looks like our own words. `file` is
/// what the hub says about its file. A text that could not be opened or verified is not printed.
pub(crate) fn print_message(
    session: &Session,
    task: &TaskView,
    message: &Opened<MessageView>,
    file: Option<&FileInfo>,
) -> Outcome {
    let (terminal, view) = (&session.terminal, &message.view);
    // A name next to the hub's own messages would be the hub's invention.
    let name = view.sender_agent_name.as_ref().filter(|_| view.sender_agent_id != Actor::System);
    let who = name.map_or("the hub", |name| name.as_str());
    let when = time::relative(view.created_at, time::now());
    let head = format!("{} · {when}{}", text::line(who), trust_words(session, task, message));
    terminal.line(&terminal.dim(&terminal.wrapped(&head, "")))?;
    if let Some(why) = message.trust.why_unreadable() {
        return print_unopened(terminal, "its text", why);
    }
    match file_of(view) {
        // Not wrapped: one of the lines is a command to copy.
        Some(id) => {
            let words = file_words(task, message, &id, file);
            words.lines().try_for_each(|line| terminal.line(&format!("│ {line}")))
        }
        None => print_quoted(terminal, &text::lines(view.content.as_str())),
    }
}

/// The file that a message announces. On an encrypted task such a message has the type of encrypted texts, but its
/// content is too short to be one.
pub(crate) fn file_of(message: &MessageView) -> Option<FileId> {
    let content = message.content.as_str();
    let may_be = match message.content_type {
        ContentType::File => true,
        ContentType::Encrypted => content.len() < FILE_ID_CHARS_MAX,
        ContentType::Text | ContentType::Json => false,
    };
    content.parse().ok().filter(|_| may_be)
}

/// What the hub says about the files of messages, in their order; it is asked at most `max` times. A file that it does
/// not describe is still shown, without its name.
pub(crate) async fn file_infos(
    client: &Client,
    messages: impl IntoIterator<Item = &MessageView>,
    max: usize,
) -> Vec<Option<FileInfo>> {
    let (mut infos, mut asked) = (Vec::new(), 0);
    for message in messages {
        let info = match file_of(message) {
            Some(file) if asked < max => {
                asked += 1;
                client.file_info(&file).await.ok()
            }
            _ => None,
        };
        infos.push(info);
    }
    infos
}

fn file_words(
    task: &TaskView,
    message: &Opened<MessageView>,
    id: &FileId,
    info: Option<&FileInfo>,
) -> String {
    if message.trust == Trust::Unopened {
        // The hub does not know its name, and its size only after encryption.
        return format!("[encrypted file]\ntandem file down {id} --task {}", task.id);
    }
    let about = info.map_or(String::new(), |info| {
        let name = text::line(info.filename.as_deref().unwrap_or("without a name"));
        let mime_type = text::line(info.mime_type.as_deref().unwrap_or("unknown type"));
        format!(" {name}, {mime_type}, {}", time::bytes(info.size_bytes))
    });
    format!("[file{about}]\ntandem file down {id}")
}

/// Text of another party, with a bar in front of every line.
pub(crate) fn print_quoted(terminal: &Terminal, safe: &str) -> Outcome {
    terminal.line(&text::wrap(safe, terminal.text_width(), "│ "))
}

/// In place of a text that could not be opened or verified. It has no bar in front, unlike texts of other parties.
pub(crate) fn print_unopened(terminal: &Terminal, what: &str, why: &str) -> Outcome {
    let line = format!("! NOT SHOWN: {what} could not be verified: {}", text::line(why));
    terminal.line(&terminal.colour(&terminal.wrapped(&line, ""), AnsiColor::Red))
}

/// The failure of a command that has printed a task of which it could not open everything.
pub(crate) fn unopened(what: &str) -> Failure {
    Failure::refused(format!("{what} could not be opened or verified, so it was not shown"))
        .next("The lines with NOT SHOWN say why; `tandem doctor` checks your keys, `tandem trust AGENT` those of others.")
}

pub(crate) fn status_line(terminal: &Terminal, status: Status, reason: Option<&str>) -> String {
    let word = terminal.colour(status.as_str(), status_colour(status));
    match reason {
        Some(reason) => format!("● {word}: {reason}"),
        None => format!("● {word}"),
    }
}

/// What is known about a text, for the line above it.
fn trust_words(session: &Session, task: &TaskView, message: &Opened<MessageView>) -> &'static str {
    match &message.trust {
        Trust::Plain if is_sealed(&session.client, task) => " · not encrypted: the hub says so",
        Trust::Plain => "",
        Trust::Verified => " · encrypted, signature verified",
        Trust::Unopened => " · encrypted, verified when it is downloaded",
        Trust::Unreadable(_) => " · NOT VERIFIED",
    }
}

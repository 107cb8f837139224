//! A task as its page shows it: the task, its newest messages with their files, and its history.

use std::collections::{HashMap, HashSet};

use tandem_api::messages::{MessageFile, MessageView};
use tandem_api::tasks::{TaskLogView, TaskView};
use tandem_app::{Error as AppError, agents, decisions, files, messages, tasks};
use tandem_core::messages::{ContentType, Message};
use tandem_core::moves::Position;
use tandem_core::text::json_bytes;
use tandem_core::{AgentId, FileId, MessageId, Refusal, Role, Task, TaskId, Timestamp, Verdict, Waits};
use tandem_store::Tx;

use super::models::PAGE_BYTES_MAX;
use super::tasks::log_view;
use crate::{Caller, Error, HubParts};

/// Messages on one page.
const MESSAGES_MAX: i64 = 30;
/// Lines of the history on one page.
const LOG_MAX: i64 = 100;

/// Which part of a thread is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadQuery {
    /// Only messages before this number; the newest if none.
    pub before: Option<i64>,
    /// Only lines of the history after this number; the newest if none.
    pub log_after: Option<i64>,
}

#[derive(Debug, Clone)]
pub struct PartyKey {
    pub agent: AgentId,
    /// Its public key in PEM, if it has one.
    pub pem: Option<String>,
}

/// What was decided at a gate, and when.
#[derive(Debug, Clone, Copy)]
pub struct Gate {
    pub at: Timestamp,
    pub verdict: Verdict,
}

/// A task with a page of its thread and its history, and the facts that decide what is possible.
#[derive(Debug)]
pub struct ThreadPage {
    pub task: TaskView,
    /// Its version, to which a decision can be bound.
    pub version: i64,
    pub role: Role,
    /// What decides a status change.
    pub position: Position,
    /// Why no message can be added now, if so.
    pub closed: Option<Refusal>,
    /// Why no file can be attached now, if so.
    pub no_file: Option<Refusal>,
    pub waits: Waits,
    /// Since when its target has given no sign of life, if it is silent.
    pub silent_since: Option<Timestamp>,
    /// What was decided at gates, the first attempt first.
    pub gates: Vec<Gate>,
    /// Whether it was ever submitted.
    pub was_published: bool,
    /// How many messages count against the budget.
    pub messages_used: i64,
    /// The end of the lease that runs.
    pub lease_until: Option<Timestamp>,
    /// The messages, oldest first.
    pub messages: Vec<MessageView>,
    /// Messages before this number are older than those.
    pub older: Option<i64>,
    /// Those of the messages that were taken back.
    pub deleted: HashSet<MessageId>,
    /// Changes of status between these messages, oldest first.
    pub moves: Vec<TaskLogView>,
    /// Lines of the history, oldest first.
    pub history: Vec<TaskLogView>,
    /// How many lines come before them.
    pub history_before: i64,
    pub history_total: i64,
    /// The public keys of initiator and target; none if the task is not encrypted.
    pub keys: Vec<PartyKey>,
}

pub async fn page(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    query: ThreadQuery,
) -> Result<ThreadPage, Error> {
    let (by, id, unwritten) = (caller.agent.clone(), task.clone(), hub.marks.unwritten());
    let found = hub.read_page(caller, move |tx, now| {
        let (mut task, ahead) = tasks::view(tx, &by, &id, now)?;
        unwritten.apply(&mut task);
        let role = task.role_of(&by).ok_or(AppError::NotFound("task"))?;
        let page = messages::list(tx, &by, &id, query.before, MESSAGES_MAX, now)?;
        let (messages, older) = newest_that_fit(page.items, page.next);
        let deleted = messages.iter().filter(|message| message.deleted);
        let deleted = deleted.map(|message| message.id.clone()).collect();
        let span = span(tx, &task, &messages, older, query.before)?;
        let moves = tasks::history_between(tx, &by, &id, span, LOG_MAX, now)?;
        let history_before = query.log_after.unwrap_or(task.counts.log - LOG_MAX).clamp(0, task.counts.log);
        let history = tasks::history(tx, &by, &id, history_before, LOG_MAX, now)?.items;
        let mut keys = Vec::new();
        if task.content.encrypted {
            for agent in [&task.initiator, &task.target] {
                let pem = match agents::profile(tx, agent) {
                    Ok(agent) => agent.public_key,
                    Err(AppError::NotFound(_)) => None,
                    Err(error) => return Err(error),
                };
                keys.push(PartyKey { agent: agent.clone(), pem });
            }
        }
        let decided = decisions::of_task(tx, &id)?.into_iter();
        let gates = decided.map(|one| Gate { at: one.at, verdict: one.verdict }).collect();
        let (waits, silent_since) = (task.waits(), task.silent_since());
        let (position, closed, no_file) =
            (task.position(), task.check_open().err(), task.check_file(role).err());
        let (was_published, messages_used) = (task.delivery.queued_at.is_some(), task.counts.spoken);
        let (lease_until, history_total) = (task.lease.until, task.counts.log);
        let messages = with_files(tx, &by, messages)?;
        let version = task.version;
        let mut task = TaskView::new(task, &by);
        task.delivery.ahead = ahead;
        Ok(ThreadPage {
            task,
            version,
            role,
            position,
            closed,
            no_file,
            waits,
            silent_since,
            gates,
            was_published,
            messages_used,
            lease_until,
            messages,
            older,
            deleted,
            moves: moves.into_iter().map(|line| log_view(line, &by)).collect(),
            history: history.into_iter().map(|line| log_view(line, &by)).collect(),
            history_before,
            history_total,
            keys,
        })
    });
    found.await
}

/// From when until when a page tells of its task: from its first message to the first one of the page of newer messages. The
/// oldest page begins with the task, and the newest has no end.
fn span(
    tx: &mut Tx<'_>,
    task: &Task,
    messages: &[Message],
    older: Option<i64>,
    before: Option<i64>,
) -> Result<(Timestamp, Timestamp), AppError> {
    let from = match (older, messages.first()) {
        (Some(_), Some(first)) => first.created_at,
        _ => Timestamp(0),
    };
    let until = match before {
        Some(number) => messages::written_at(tx, &task.id, number)?,
        None => None,
    };
    Ok((from, until.unwrap_or(Timestamp(i64::MAX))))
}

/// The newest messages whose content has a limited size, oldest first.
fn newest_that_fit(messages: Vec<Message>, mut older: Option<i64>) -> (Vec<Message>, Option<i64>) {
    let (mut bytes, mut kept) = (0, Vec::new());
    for message in messages.into_iter().rev() {
        bytes += json_bytes(&message.content);
        if bytes > PAGE_BYTES_MAX && !kept.is_empty() {
            older = Some(message.number + 1);
            break;
        }
        kept.push(message);
    }
    kept.reverse();
    (kept, older)
}

/// The messages with the name, type and size of the files that they announce. The content of an encrypted message is
/// ciphertext, or the id of an encrypted file.
fn with_files(tx: &mut Tx<'_>, by: &AgentId, messages: Vec<Message>) -> Result<Vec<MessageView>, AppError> {
    let mut found: HashMap<String, MessageFile> = HashMap::new();
    for message in &messages {
        let may_be_file = matches!(message.content_type, ContentType::File | ContentType::Encrypted);
        let Some(id) = may_be_file.then(|| message.content.parse::<FileId>().ok()).flatten() else {
            continue;
        };
        match files::find(tx, by, &id) {
            Ok((file, _)) => drop(found.insert(message.content.clone(), MessageFile::new(file, by))),
            // It was deleted, or it is ciphertext.
            Err(AppError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let view = |message: Message| {
        let file = found.remove(&message.content);
        MessageView { file, ..MessageView::new(message, by) }
    };
    Ok(messages.into_iter().map(view).collect())
}

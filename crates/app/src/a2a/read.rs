//! What a client sees of its tasks.

use std::collections::HashMap;

use tandem_core::a2a::TaskState;
use tandem_core::files::File;
use tandem_core::messages::{ContentType, Message};
use tandem_core::text::ContextId;
use tandem_core::{AgentId, Now, Task, TaskId, Timestamp};
use tandem_store::tasks::{self as rows, InState};
use tandem_store::{Tx, files, messages};

use super::is_visible;
use crate::tasks::check_not_overdue;
use crate::{Error, Page};

/// How far tasks are counted.
pub const COUNTED_MAX: i64 = 10_000;
/// Messages of a history at most.
const HISTORY_MAX: i64 = 1_000;
/// Files of one answer at most.
const FILES_MAX: i64 = 1_000;

/// What is wanted of a task beside itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// How many of the newest messages, the first one included.
    pub history: i64,
    pub artifacts: bool,
}

/// A task with what was said and handed over.
#[derive(Debug, Clone)]
pub struct Conversation {
    pub task: Task,
    /// How many live tasks its target has before it, while it waits.
    pub ahead: Option<i64>,
    /// The newest messages of both sides, oldest first, without the one in `status_message`. The first message of all is
    /// the task itself.
    pub history: Vec<Message>,
    /// Whether the task itself is among the newest messages that were wanted.
    pub has_first: bool,
    /// The target's newest message since the client's last one.
    pub status_message: Option<Message>,
    /// Files, artifacts and the last reply of the target, oldest first.
    pub artifacts: Vec<Message>,
    /// The files that any of these name.
    pub files: Vec<File>,
}

impl Conversation {
    fn new(task: Task, ahead: Option<i64>) -> Self {
        Self {
            task,
            ahead,
            history: Vec::new(),
            has_first: false,
            status_message: None,
            artifacts: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Takes over the newest messages, one more than were wanted: it may be the one that tells the status.
    fn set_history(&mut self, mut newest: Vec<Message>, wanted: i64) {
        let is_news = |message: &Message| {
            message.sender.as_ref() != Some(&self.task.initiator)
                && message.number > self.task.initiator_side.said
        };
        if newest.last().is_some_and(is_news) {
            self.status_message = newest.pop();
        }
        let wanted = usize::try_from(wanted).unwrap_or_default();
        let surplus = newest.len().saturating_sub(wanted);
        self.has_first = wanted > newest.len();
        self.history = newest.split_off(surplus);
    }

    fn has_files(&self) -> bool {
        let names_file =
            |parts: &Option<String>| parts.as_ref().is_some_and(|parts| parts.contains("\"fileId\""));
        let all = self.history.iter().chain(&self.status_message).chain(&self.artifacts);
        names_file(&self.task.foreign.parts)
            || all.into_iter().any(|message| {
                message.content_type == ContentType::File || names_file(&message.foreign.parts)
            })
    }
}

/// How many messages have to be read to know the status and the history of a task.
fn messages_of(task: &Task, wanted: Wanted) -> i64 {
    let target_spoke_last = task.target_side.said > task.initiator_side.said;
    match wanted.history {
        0 => i64::from(target_spoke_last),
        _ if task.counts.messages == 0 => 0,
        some => some.min(HISTORY_MAX) + 1,
    }
}

/// A task as it stands.
pub fn view(
    tx: &mut Tx<'_>,
    by: &AgentId,
    host: &AgentId,
    id: &TaskId,
    wanted: Wanted,
    now: &Now,
) -> Result<Conversation, Error> {
    let found = rows::find_in_queue(tx, id)?.filter(|found| is_visible(&found.task, by, host));
    let found = found.ok_or(Error::NotFound("task"))?;
    check_not_overdue([&found.task], now)?;
    let mut conversation = Conversation::new(found.task, found.ahead);
    add_artifacts(tx, &mut conversation, wanted)?;
    let limit = messages_of(&conversation.task, wanted);
    let newest = match limit {
        0 => Vec::new(),
        limit => messages::history(tx, id, by, limit)?,
    };
    conversation.set_history(newest, wanted.history.min(HISTORY_MAX));
    add_files(tx, std::slice::from_mut(&mut conversation))?;
    Ok(conversation)
}

/// Artifacts come before the history: it may be cut where a page is full.
fn add_artifacts(tx: &mut Tx<'_>, of: &mut Conversation, wanted: Wanted) -> Result<(), Error> {
    if wanted.artifacts && of.task.target_side.said > 0 {
        of.artifacts = messages::artifacts(tx, &of.task.id, &of.task.initiator)?;
    }
    Ok(())
}

fn add_files(tx: &mut Tx<'_>, conversations: &mut [Conversation]) -> Result<(), Error> {
    let with_files = conversations.iter().filter(|one| one.has_files());
    let tasks: Vec<TaskId> = with_files.map(|one| one.task.id.clone()).collect();
    if tasks.is_empty() {
        return Ok(());
    }
    let mut by_task: HashMap<TaskId, Vec<File>> = HashMap::new();
    for file in files::of_tasks(tx, &tasks, FILES_MAX)? {
        by_task.entry(file.task.clone()).or_default().push(file);
    }
    for one in conversations {
        one.files = by_task.remove(&one.task.id).unwrap_or_default();
    }
    Ok(())
}

/// Which of its tasks a client wants to see.
#[derive(Debug, Clone)]
pub struct Query {
    pub context: Option<ContextId>,
    /// Only in these states; empty for all.
    pub states: Vec<TaskState>,
    /// Only those whose status changed at this time or later.
    pub since: Option<Timestamp>,
    /// Only from before this place in the order.
    pub before: Option<(Timestamp, TaskId)>,
    pub limit: i64,
    pub wanted: Wanted,
}

/// A page of tasks.
#[derive(Debug, Clone)]
pub struct Listing {
    pub page: Page<Conversation, (Timestamp, TaskId)>,
    /// How many there are on all pages, counted up to [`COUNTED_MAX`].
    pub total: i64,
}

/// The client's tasks for an agent, by the time of their last change of status, newest first.
pub fn list(
    tx: &mut Tx<'_>,
    by: &AgentId,
    host: &AgentId,
    query: &Query,
    now: &Now,
) -> Result<Listing, Error> {
    let states = if query.states.is_empty() { &TaskState::ALL[..] } else { &query.states };
    let wanted = InState {
        initiator: by,
        target: host,
        context: query.context.as_ref().map(ContextId::as_str),
        states,
        since: query.since,
    };
    let (tasks, cut) = rows::in_state(tx, &wanted, query.before.as_ref(), query.limit + 1)?;
    check_not_overdue(&tasks, now)?;
    let total = rows::count_in_state(tx, &wanted, COUNTED_MAX)?;
    let place = |task: &Task| (task.status_at, task.id.clone());
    let stopped_at = tasks.last().filter(|_| cut).map(place);
    let page = Page::cut(tasks, query.limit, place);
    let mut items: Vec<_> = page.items.into_iter().map(|task| Conversation::new(task, None)).collect();
    for one in &mut items {
        add_artifacts(tx, one, query.wanted)?;
    }
    add_histories(tx, by, &mut items, query.wanted)?;
    add_files(tx, &mut items)?;
    Ok(Listing { page: Page { items, next: page.next.or(stopped_at) }, total })
}

fn add_histories(
    tx: &mut Tx<'_>,
    by: &AgentId,
    conversations: &mut [Conversation],
    wanted: Wanted,
) -> Result<(), Error> {
    let spoken = conversations.iter().filter(|one| messages_of(&one.task, wanted) > 0);
    let tasks: Vec<TaskId> = spoken.map(|one| one.task.id.clone()).collect();
    let mut by_task: HashMap<TaskId, Vec<Message>> = HashMap::new();
    if !tasks.is_empty() {
        let limit = wanted.history.min(HISTORY_MAX) + 1;
        for message in messages::histories(tx, &tasks, by, limit)? {
            by_task.entry(message.task.clone()).or_default().push(message);
        }
    }
    for one in conversations {
        let newest = by_task.remove(&one.task.id).unwrap_or_default();
        one.set_history(newest, wanted.history.min(HISTORY_MAX));
    }
    Ok(())
}

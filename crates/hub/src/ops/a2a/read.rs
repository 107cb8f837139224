//! Tasks as clients of A2A see them, and what happened to them after a step.

use std::collections::HashMap;

use tandem_app::a2a::{self, Conversation, Happened, Query, Wanted};
use tandem_core::a2a::TaskState;
use tandem_core::files::File;
use tandem_core::messages::{ContentType, Kind, Message};
use tandem_core::text::ContextId;
use tandem_core::{AgentId, FileId, Status, Task, TaskId, Timestamp};

use super::artifacts::{Artifact, artifact_of, folded};
use crate::{Caller, Error, HubParts};

/// A task as it stands.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Its number of steps is the cursor behind which [`steps`] goes on.
    pub task: Task,
    pub state: TaskState,
    /// The newest messages of both sides, oldest first, without `status_message` and what is an artifact. The first message
    /// of all is the task itself, and not among them.
    pub history: Vec<Message>,
    /// Whether the task itself belongs to the newest messages that were wanted.
    pub has_first: bool,
    /// The target's newest message since the client's last one.
    pub status_message: Option<Message>,
    /// The reason of an end, if there is no such message.
    pub status_text: Option<String>,
    pub artifacts: Vec<Artifact>,
    /// The reply that completed the task, if it is the answer itself and no artifact. Only if artifacts were wanted.
    pub direct: Option<Message>,
    /// The files of the task, if something here names one.
    pub files: HashMap<FileId, File>,
    /// How many live tasks the target has before it, while it waits. Not in lists.
    pub ahead: Option<i64>,
}

impl Snapshot {
    fn new(found: Conversation, state: TaskState) -> Self {
        let Conversation { task, ahead, history, has_first, status_message, artifacts, files } = found;
        let reason = task.status_reason.clone().filter(|_| state.is_end() && status_message.is_none());
        let direct = artifacts.iter().rev().find(|message| message.kind == Kind::Reply);
        let direct = direct.filter(|reply| reply.direct && task.status == Status::Completed).cloned();
        let pieces = artifacts.iter().filter_map(|message| artifact_of(message, &task));
        let artifacts = folded(pieces);
        Self {
            state,
            history,
            has_first,
            status_message,
            status_text: reason,
            artifacts,
            direct,
            files: by_id(files),
            ahead,
            task,
        }
    }
}

fn by_id(files: Vec<File>) -> HashMap<FileId, File> {
    files.into_iter().map(|file| (file.id.clone(), file)).collect()
}

/// A task as it stands.
pub async fn get(
    hub: &HubParts,
    caller: &Caller,
    host: &AgentId,
    task: &TaskId,
    wanted: Wanted,
) -> Result<Snapshot, Error> {
    let (by, host, id) = (caller.agent.clone(), host.clone(), task.clone());
    let unwritten = hub.marks.unwritten();
    let mut found =
        hub.read_page_as(caller, move |tx, now| a2a::view(tx, &by, &host, &id, wanted, now)).await?;
    unwritten.apply(&mut found.task);
    let state = found.task.state().ok_or_else(|| Error::not_found("task"))?;
    Ok(Snapshot::new(found, state))
}

/// Which of its tasks a client wants to see.
#[derive(Debug, Clone, Default)]
pub struct ListTasks {
    pub context: Option<ContextId>,
    /// Only in these states; empty for all.
    pub states: Vec<TaskState>,
    /// Only those whose status changed at this time or later.
    pub status_from: Option<Timestamp>,
    /// Only from behind this place: the last one of the page before.
    pub before: Option<(Timestamp, TaskId)>,
    /// 1 to 100.
    pub limit: i64,
    pub wanted: Wanted,
}

/// A page of tasks.
#[derive(Debug, Clone)]
pub struct TaskList {
    pub tasks: Vec<Snapshot>,
    /// Where the next page begins, if there is one.
    pub next: Option<(Timestamp, TaskId)>,
    /// How many there are on all pages, counted up to 10,000.
    pub total: i64,
}

/// Tasks on one page of a list.
const LIST_MAX: i64 = 100;

/// The client's tasks for an agent, by the time of their last change of status, newest first.
pub async fn list(
    hub: &HubParts,
    caller: &Caller,
    host: &AgentId,
    query: ListTasks,
) -> Result<TaskList, Error> {
    let (by, host) = (caller.agent.clone(), host.clone());
    let query = Query {
        context: query.context,
        states: query.states,
        since: query.status_from,
        before: query.before,
        limit: query.limit.clamp(1, LIST_MAX),
        wanted: query.wanted,
    };
    let unwritten = hub.marks.unwritten();
    let found = hub.read_page_as(caller, move |tx, now| a2a::list(tx, &by, &host, &query, now)).await?;
    let tasks = found.page.items.into_iter().filter_map(|mut found| {
        unwritten.apply(&mut found.task);
        let state = found.task.state()?;
        Some(Snapshot::new(found, state))
    });
    Ok(TaskList { tasks: tasks.collect(), next: found.page.next, total: found.total })
}

/// What happened in one step.
#[derive(Debug, Clone)]
pub enum What {
    /// The status changed; `reason` is what was said with it.
    Status { reason: Option<String> },
    /// The target wrote a message.
    Said(Box<Message>),
    /// The target handed something over.
    Artifact(Artifact),
    /// Nothing that the client does not know: its own message, the hub's, or one that was taken back.
    Silent,
}

#[derive(Debug, Clone)]
pub struct Step {
    pub step: i64,
    /// The state as of this step.
    pub state: TaskState,
    /// Since when it had this state.
    pub status_at: Timestamp,
    pub what: What,
}

/// Some steps of a task.
#[derive(Debug, Clone)]
pub struct Steps {
    /// The task as it stands.
    pub task: Task,
    pub steps: Vec<Step>,
    /// Whether there are later ones.
    pub has_more: bool,
    /// The task's files, if a step may name one.
    pub files: HashMap<FileId, File>,
}

/// The steps of a task after a number, oldest first, at most 100. Also of a task that has ended.
pub async fn steps(
    hub: &HubParts,
    caller: &Caller,
    host: &AgentId,
    task: &TaskId,
    after: i64,
    limit: i64,
) -> Result<Steps, Error> {
    let (by, host, id) = (caller.agent.clone(), host.clone(), task.clone());
    let found =
        hub.read_page_as(caller, move |tx, now| a2a::steps(tx, &by, &host, &id, after, limit, now)).await?;
    Ok(found.into())
}

impl From<a2a::Steps> for Steps {
    fn from(found: a2a::Steps) -> Self {
        let task = found.task;
        let step = |found: a2a::Step| Step {
            what: what(found.happened, &task),
            step: found.step,
            state: found.state,
            status_at: found.status_at,
        };
        let steps = found.steps.into_iter().map(step).collect();
        Self { steps, has_more: found.has_more, files: by_id(found.files), task }
    }
}

fn what(happened: Happened, task: &Task) -> What {
    let message = match happened {
        Happened::Status(line) => return What::Status { reason: line.detail },
        Happened::Message(message) => message,
    };
    if let Some(artifact) = artifact_of(&message, task) {
        return What::Artifact(artifact);
    }
    let by_target = message.sender.as_ref().is_some_and(|sender| *sender != task.initiator);
    let is_said = message.kind == Kind::Message && message.content_type != ContentType::File;
    if by_target && is_said && !message.deleted { What::Said(message) } else { What::Silent }
}

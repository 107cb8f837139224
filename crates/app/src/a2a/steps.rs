//! What happened to a task after a step, for streams and for what is pushed.

use tandem_core::a2a::TaskState;
use tandem_core::files::File;
use tandem_core::messages::Message;
use tandem_core::{AgentId, Approval, Now, Status, Task, TaskId, Timestamp};
use tandem_store::tasks::{self as rows, LogLine};
use tandem_store::{Tx, files, messages};

use super::find;
use crate::Error;

/// Steps of one page at most.
pub const STEPS_MAX: i64 = 100;
/// Files of one page at most.
const FILES_MAX: i64 = 1_000;

#[derive(Debug, Clone)]
pub enum Happened {
    /// The status changed.
    Status(LogLine),
    /// A party or the hub wrote a message.
    Message(Box<Message>),
}

#[derive(Debug, Clone)]
pub struct Step {
    pub step: i64,
    /// The state as of this step.
    pub state: TaskState,
    /// Since when it had this state.
    pub status_at: Timestamp,
    pub happened: Happened,
}

#[derive(Debug, Clone)]
pub struct Steps {
    /// The task as it stands.
    pub task: Task,
    pub steps: Vec<Step>,
    /// Whether there are later ones.
    pub has_more: bool,
    /// The task's files, if a step may name one.
    pub files: Vec<File>,
}

/// The state that a line of the history led to; `None` for a draft.
fn state_of(line: &LogLine, task: &Task) -> Option<TaskState> {
    let by_gate = task.gate.approval == Some(Approval::Rejected)
        && line.from == Some(Status::Submitted)
        && line.actor == task.target.as_str();
    TaskState::of(line.to, by_gate.then_some(Approval::Rejected))
}

/// The steps of a task after a number, oldest first.
pub fn steps(
    tx: &mut Tx<'_>,
    by: &AgentId,
    host: &AgentId,
    id: &TaskId,
    after: i64,
    limit: i64,
    now: &Now,
) -> Result<Steps, Error> {
    let task = find(tx, by, host, id, now)?;
    if after >= task.steps() {
        return Ok(Steps { task, steps: Vec::new(), has_more: false, files: Vec::new() });
    }
    let limit = limit.clamp(1, STEPS_MAX);
    let (before, lines) = rows::log_steps(tx, id, after, limit + 1)?;
    let (messages, cut) = messages::later_steps(tx, id, after, limit + 1)?;
    // What lies behind a message that did not fit comes with the next page.
    let end = messages.last().and_then(|last| last.step).filter(|_| cut).unwrap_or(i64::MAX);
    let mut found: Vec<(i64, Happened)> = Vec::with_capacity(lines.len() + messages.len());
    found.extend(lines.into_iter().filter_map(|line| Some((line.step?, Happened::Status(line)))));
    found.extend(
        messages
            .into_iter()
            .filter_map(|message| Some((message.step?, Happened::Message(Box::new(message))))),
    );
    found.sort_by_key(|(step, _)| *step);
    found.retain(|(step, _)| *step <= end);
    found.truncate(usize::try_from(limit).unwrap_or_default());
    let has_more = found.last().is_some_and(|(step, _)| *step < task.steps());

    let mut standing = before.as_ref().map(|line| (state_of(line, &task), line.at));
    let mut steps = Vec::with_capacity(found.len());
    for (step, happened) in found {
        if let Happened::Status(line) = &happened {
            standing = Some((state_of(line, &task), line.at));
        }
        // A draft is nobody's but its author's.
        if let Some((Some(state), status_at)) = standing {
            steps.push(Step { step, state, status_at, happened });
        }
    }
    let has_messages = steps.iter().any(|step| matches!(step.happened, Happened::Message(_)));
    let files = match has_messages {
        true => files::of_tasks(tx, std::slice::from_ref(id), FILES_MAX)?,
        false => Vec::new(),
    };
    Ok(Steps { task, steps, has_more, files })
}

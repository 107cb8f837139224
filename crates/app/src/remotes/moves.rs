//! What the other side says about a task becomes the target's moves, by the use cases that every target has.

use tandem_core::a2a::TaskState;
use tandem_core::messages::{ContentType, Foreign};
use tandem_core::moves::allowed;
use tandem_core::remotes::RemoteTask;
use tandem_core::text::{Body, Reason};
use tandem_core::{Now, Role, Status, Task};
use tandem_store::remotes::tasks as work_rows;
use tandem_store::{Tx, connections, tasks as task_rows};

use super::cut;
use crate::messages::{self, NewMessage, Sent};
use crate::tasks::{
    self, Change, Expected, HeartbeatInput, NewArtifact, NewReply, Outcome, add_artifact, heartbeat,
};
use crate::{Error, Invalid};

/// Characters of a reason.
const REASON_CHARS_MAX: usize = 1_000;
/// Artifacts of one task that are taken over.
const ARTIFACTS_MAX: usize = 500;
const COMPLETED: &str = "The remote agent has completed the task.";
const CANCELLED: &str = "the remote agent has cancelled the task";
const REJECTED: &str = "the remote agent has declined the task";
const FAILED: &str = "the remote agent says that the task has failed";

/// What somebody said: as text, and as it was sent.
#[derive(Debug, Clone)]
pub struct Words {
    pub text: Body,
    pub content_type: ContentType,
    /// Its id and its parts on the other side.
    pub foreign: Foreign,
}

impl Words {
    fn message(&self) -> NewMessage {
        NewMessage {
            content_type: self.content_type,
            sent: Some(Sent { foreign: self.foreign.clone(), hash: None }),
            ..NewMessage::plain(self.text.clone())
        }
    }
}

/// An artifact as the other side has it.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// Tells it from another one, and from an earlier state of itself.
    pub hash: String,
    pub new: NewArtifact,
    /// Whether it is text alone, so that it may be a reply.
    pub is_text: bool,
}

/// What the other side says about a task.
#[derive(Debug, Clone)]
pub struct Observed {
    pub state: TaskState,
    pub context: Option<String>,
    /// Tells it from anything else that it could say.
    pub seen: String,
    /// What it says about the state.
    pub words: Option<Words>,
    pub artifacts: Vec<Artifact>,
}

/// Makes the target's moves. The task is live.
pub(super) fn carry_out(
    tx: &mut Tx<'_>,
    task: &Task,
    row: &mut RemoteTask,
    observed: &Observed,
    now: &Now,
) -> Result<(), Error> {
    let words = observed.words.as_ref();
    // Most answers end the task, which changes the pair's count: its row is locked before the logs, as everywhere.
    connections::lock_pair(tx, &task.initiator, &task.target)?;
    let state = observed.state;
    let mut reply_words = words.cloned();
    if state.is_end() || state.is_interruption() {
        let mut artifacts: Vec<&Artifact> =
            observed.artifacts.iter().filter(|artifact| !row.artifacts.contains(&artifact.hash)).collect();
        // What it has made is its reply, if it says nothing else.
        if state == TaskState::Completed
            && words.is_none()
            && let Some(last) = artifacts.pop_if(|last| last.is_text)
        {
            reply_words = Some(words_of(last));
        }
        for artifact in artifacts {
            if row.artifacts.len() < ARTIFACTS_MAX {
                add_artifact(tx, &task.target, &task.id, &artifact.new, now)?;
                row.artifacts.push(artifact.hash.clone());
            }
        }
    }
    let reason = words.map(|words| words.text.as_str());
    match state {
        TaskState::Submitted => Ok(()),
        TaskState::Working => {
            advance(tx, task, Status::Working, None, now)?;
            tell_sign_of_life(tx, task, reason, now)
        }
        TaskState::InputRequired | TaskState::AuthRequired => {
            if let Some(words) = words {
                say(tx, task, words, now)?;
            }
            let to =
                if state == TaskState::AuthRequired { Status::AuthRequired } else { Status::InputRequired };
            advance(tx, task, to, None, now)
        }
        TaskState::Completed => match reply_words {
            Some(words) => reply(tx, task, &words, false, now),
            None if task.requires_review => reply(tx, task, &plain(COMPLETED)?, false, now),
            None => advance(tx, task, Status::Completed, None, now),
        },
        TaskState::Failed => match words {
            Some(words) => reply_with(tx, task, words, Outcome::Failed, now),
            None => advance(tx, task, Status::Failed, Some(FAILED), now),
        },
        TaskState::Canceled => advance(tx, task, Status::Cancelled, reason.or(Some(CANCELLED)), now),
        TaskState::Rejected => advance(tx, task, Status::Rejected, reason.or(Some(REJECTED)), now),
    }
}

fn words_of(artifact: &Artifact) -> Words {
    let message = &artifact.new.message;
    let foreign = message.sent.as_ref().map(|sent| sent.foreign.clone()).unwrap_or_default();
    Words { text: message.content.clone(), content_type: message.content_type, foreign }
}

fn plain(text: &str) -> Result<Words, Error> {
    let text = Body::try_from(text.to_owned()).map_err(|unfit| Invalid::field("content", unfit.0))?;
    Ok(Words { text, content_type: ContentType::Text, foreign: Foreign::default() })
}

/// A message of the target.
pub(super) fn say(tx: &mut Tx<'_>, task: &Task, words: &Words, now: &Now) -> Result<(), Error> {
    messages::send(tx, &task.target, &task.id, &words.message(), now).map(drop)
}

/// The target's reply, which completes the task. `direct` says that it is the answer itself.
pub(super) fn reply(
    tx: &mut Tx<'_>,
    task: &Task,
    words: &Words,
    direct: bool,
    now: &Now,
) -> Result<(), Error> {
    let message = NewMessage { direct, ..words.message() };
    let new = NewReply { message, outcome: Outcome::Completed, expected: Expected::default() };
    tasks::reply(tx, &task.target, &task.id, &new, now).map(drop)
}

fn reply_with(tx: &mut Tx<'_>, task: &Task, words: &Words, outcome: Outcome, now: &Now) -> Result<(), Error> {
    let new = NewReply { message: words.message(), outcome, expected: Expected::default() };
    tasks::reply(tx, &task.target, &task.id, &new, now).map(drop)
}

/// The other side has said that it works: the lease goes on, with what it said.
pub(super) fn tell_sign_of_life(
    tx: &mut Tx<'_>,
    task: &Task,
    note: Option<&str>,
    now: &Now,
) -> Result<(), Error> {
    if note.is_none() && task.terms.lease_seconds.is_none() {
        return Ok(());
    }
    // Moves of this transaction may have changed it.
    let is_working = task_rows::find(tx, &task.id)?.is_some_and(|task| task.status == Status::Working);
    if is_working {
        let note = note.and_then(|note| Reason::try_from(cut(note, REASON_CHARS_MAX)).ok());
        heartbeat(tx, &task.target, &task.id, &HeartbeatInput { progress: None, note }, now)?;
    }
    Ok(())
}

/// Sets the status, as the target, and through working where there is no direct way.
pub(super) fn advance(
    tx: &mut Tx<'_>,
    task: &Task,
    to: Status,
    reason: Option<&str>,
    now: &Now,
) -> Result<(), Error> {
    // What came before in this transaction may have changed it.
    let Some(task) = task_rows::find(tx, &task.id)?.filter(|task| task.status != to) else { return Ok(()) };
    let may = |from, to| allowed(from, to, task.requires_review).contains(Role::Target);
    if !may(task.status, to) && may(task.status, Status::Working) {
        set(tx, &task, Status::Working, None, now)?;
    }
    set(tx, &task, to, reason, now)
}

fn set(tx: &mut Tx<'_>, task: &Task, to: Status, reason: Option<&str>, now: &Now) -> Result<(), Error> {
    let reason = reason.and_then(|reason| Reason::try_from(cut(reason, REASON_CHARS_MAX)).ok());
    let change = Change { status: Some(to), reason, ..Change::default() };
    tasks::change(tx, &task.target, &task.id, &change, now).map(drop)
}

/// The task has failed. What the other side still has of it is cancelled there.
pub(super) fn fail(tx: &mut Tx<'_>, row: &mut RemoteTask, why: &str, now: &Now) -> Result<(), Error> {
    row.is_sending = false;
    row.failures = 0;
    row.next_at = (row.foreign_id.is_some() && !row.is_ended).then_some(now.at);
    work_rows::update(tx, row)?;
    let task = task_rows::find(tx, &row.task)?.filter(|task| task.target == row.agent);
    match task.filter(|task| task.status.is_live()) {
        Some(task) => advance(tx, &task, Status::Failed, Some(why), now),
        None => Ok(()),
    }
}

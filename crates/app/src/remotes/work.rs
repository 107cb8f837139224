//! What is to be done for a remote: the events of its log say which tasks to look at, and each task says what comes next.

use std::collections::BTreeSet;

use tandem_core::events::EventKind;
use tandem_core::files::File;
use tandem_core::messages::Message;
use tandem_core::remotes::{OnUnclear, Remote, RemoteTask, STREAM_SECONDS, STREAMS_MAX};
use tandem_core::{AgentId, Now, Task, TaskId, Timestamp};
use tandem_store::remotes::{self as rows, tasks as work_rows};
use tandem_store::{Tx, agents, events, files, messages, tasks as task_rows};

use super::moves::fail;
use super::outcome::held;
use crate::Error;
use crate::keys::KeyHash;

/// Events that one transaction looks at.
const EVENTS_MAX: i64 = 100;
/// Lease of a worker on a remote: longer than everything that it does in one turn.
const LEASE_SECONDS: i64 = 60;
/// Messages that go with a new task.
const MESSAGES_MAX: i64 = 100;
/// Bytes of those messages.
const MESSAGES_BYTES_MAX: usize = 1024 * 1024;
/// Tasks above a task that may say through how many hubs it came.
const PARENTS_MAX: usize = 8;
/// The shortest time between two questions about a task, however often somebody rings.
const RING_PAUSE_MS: i64 = 1_000;
const UNCLEAR: &str =
    "nobody knows whether the other side has got it: the connection broke while it was sent";

/// The secrets of an address to which the other side pushes.
#[derive(Debug, Clone)]
pub struct PushSecret {
    pub path: String,
    pub token: String,
}

/// What to do next for a task.
#[derive(Debug, Clone)]
pub enum Act {
    /// Hand over the task, with what was said before it was published.
    Start { task: Box<Task>, messages: Vec<Message>, files: Vec<File>, parents: Vec<Option<String>> },
    /// Hand over one more message.
    Message { task: Box<Task>, message: Box<Message>, file: Option<File>, parents: Vec<Option<String>> },
    /// Ask how it stands.
    Ask,
    /// Cancel it on the other side.
    Cancel,
}

/// One task's work.
#[derive(Debug, Clone)]
pub struct Work {
    /// What is known of it, with the number of this turn.
    pub row: RemoteTask,
    /// The other side's task of an earlier attempt, which is to be cancelled first.
    pub superseded: Option<String>,
    /// Up to which number messages are sent, when this is done.
    pub sent_to: Option<i64>,
    pub act: Act,
}

/// What one turn does.
#[derive(Debug, Clone)]
pub struct Batch {
    pub remote: Remote,
    /// Whether the card is to be read.
    pub reads_card: bool,
    pub work: Vec<Work>,
    /// The hash of the remote's key. Nobody has that key; it stands for the remote in what the hub does for it.
    pub key_hash: KeyHash,
}

impl Work {
    /// About how many bytes of text it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let of =
            |message: &Message| message.content.len() + message.foreign.parts.as_ref().map_or(0, String::len);
        match &self.act {
            Act::Start { task, messages, .. } => {
                let description = task.content.description.as_ref().map_or(0, String::len);
                let parts = task.foreign.parts.as_ref().map_or(0, String::len);
                description + parts + messages.iter().map(of).sum::<usize>()
            }
            Act::Message { message, .. } => of(message),
            Act::Ask | Act::Cancel => 0,
        }
    }
}

#[derive(Debug, Clone)]
pub enum Claim {
    /// There is no such remote any more.
    Off,
    /// Nothing is due, or another worker holds the lease.
    Idle,
    /// The events read so far need nothing, but there are more.
    More,
    Batch(Box<Batch>),
}

/// Takes some of a remote's work for one worker. `secrets` are for the tasks that begin now, one for each that may: none if the
/// other side cannot reach this hub.
pub fn claim(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    holder: &str,
    (tasks_max, secrets): (i64, &[PushSecret]),
    now: &Now,
) -> Result<Claim, Error> {
    let until = now.at.plus_seconds(LEASE_SECONDS);
    let Some(remote) = rows::find(tx, agent)? else { return Ok(Claim::Off) };
    let abandoned = rows::lease_until(tx, agent)?;
    if !rows::lease(tx, agent, holder, now.at, until)? {
        return Ok(Claim::Idle);
    }
    // A worker that did not come back left them for the end of its lease.
    work_rows::take_over(tx, agent, abandoned, now.at)?;
    if !rows::may_work(tx, &remote)? {
        rows::release(tx, agent, holder, Some(until))?;
        return Ok(Claim::Idle);
    }
    let end = note_events(tx, &remote, now)?;
    let reads_card = remote.card_next_at <= now.at;
    let mut batch = Batch { reads_card, work: Vec::new(), remote, key_hash: KeyHash::default() };
    // The card is read first: it may say that credentials are to go elsewhere.
    if batch.remote.pause.is_none() && !reads_card {
        let mut due = work_rows::due(tx, agent, now.at, tasks_max)?;
        // In one order, because each task is locked.
        due.sort_by(|a, b| a.task.cmp(&b.task));
        let mut secrets = secrets.iter();
        for row in due {
            let secret = secrets.next().filter(|_| batch.remote.card.interface.pushes);
            batch.work.extend(prepare(tx, &batch.remote, row, secret, until, now)?);
        }
    }
    if !batch.work.is_empty()
        && let Some((hash, _)) = agents::key_of(tx, agent)?
    {
        batch.key_hash = hash.try_into().unwrap_or_default();
    }
    if let Some(end) = end {
        events::acknowledge_events(tx, agent, end)?;
    }
    if batch.reads_card || !batch.work.is_empty() {
        return Ok(Claim::Batch(Box::new(batch)));
    }
    let more = end.is_some() || work_rows::next_at(tx, agent)?.is_some_and(|at| at <= now.at);
    give_back(tx, agent, holder, now)?;
    let is_paused = batch.remote.pause.is_some();
    Ok(if more && !is_paused { Claim::More } else { Claim::Idle })
}

/// Gives a remote back, with the time when something is due again.
pub fn give_back(tx: &mut Tx<'_>, agent: &AgentId, holder: &str, _: &Now) -> Result<(), Error> {
    let Some(remote) = rows::find(tx, agent)? else { return Ok(()) };
    let task_at = if remote.pause.is_none() { work_rows::next_at(tx, agent)? } else { None };
    let next_at = task_at.map_or(remote.card_next_at, |at| at.min(remote.card_next_at));
    Ok(rows::release(tx, agent, holder, Some(next_at))?)
}

/// Whether an event may give the remote something to do.
fn concerns(kind: &str) -> bool {
    matches!(
        EventKind::named(kind),
        Some(
            EventKind::TaskCreated
                | EventKind::TaskUpdated
                | EventKind::TaskReassigned
                | EventKind::MessageCreated
        )
    )
}

/// Notes which tasks the next events are about. Returns up to where the log was read, if there was anything.
fn note_events(tx: &mut Tx<'_>, remote: &Remote, now: &Now) -> Result<Option<i64>, Error> {
    let cursors = events::cursors(tx, &remote.agent)?;
    if cursors.last <= cursors.events_acked {
        return Ok(None);
    }
    let news = events::after(tx, &remote.agent, cursors.events_acked, EVENTS_MAX)?;
    let is_full = i64::try_from(news.len()).is_ok_and(|found| found == EVENTS_MAX);
    let tasks: BTreeSet<TaskId> =
        news.iter().filter(|event| concerns(&event.kind)).filter_map(|event| event.task.clone()).collect();
    for task in tasks {
        note(tx, remote, task, now)?;
    }
    let read_to = news.last().map_or(cursors.events_acked, |last| last.seq);
    // The last events may have been deleted with their tasks.
    Ok(Some(if is_full { read_to } else { read_to.max(cursors.last) }))
}

/// Something happened on a task. Whoever waits after a failure goes on waiting, so that the order stays.
fn note(tx: &mut Tx<'_>, remote: &Remote, task: TaskId, now: &Now) -> Result<(), Error> {
    match work_rows::find(tx, &task)? {
        None => {
            // Its attempt is noted when it is looked at.
            let row = RemoteTask::new(task, remote.agent.clone(), 0, now.at);
            Ok(work_rows::insert(tx, &row)?)
        }
        Some(mut row) => {
            if row.agent != remote.agent {
                // It came from another remote, which has nothing to do with it any more.
                row = RemoteTask {
                    turn: row.turn + 1,
                    ..RemoteTask::new(row.task, remote.agent.clone(), 0, now.at)
                };
            } else if row.failures == 0 && !row.is_sending {
                row.next_at = Some(now.at);
            }
            Ok(work_rows::update(tx, &row)?)
        }
    }
}

/// What comes next for a task; nothing if that is to wait.
fn prepare(
    tx: &mut Tx<'_>,
    remote: &Remote,
    mut row: RemoteTask,
    secret: Option<&PushSecret>,
    until: Timestamp,
    now: &Now,
) -> Result<Option<Work>, Error> {
    let task = task_rows::find(tx, &row.task)?.filter(|task| task.target == remote.agent);
    let (mut superseded, mut sent_to) = (None, row.sent_to);
    let act = match task {
        Some(task) if task.status.is_live() && !task.position().held => {
            if row.is_sending
                && remote.terms.on_unclear == OnUnclear::Fail
                && task.attempt.number == row.attempt
            {
                return fail(tx, &mut row, UNCLEAR, now).map(|()| None);
            }
            if row.is_sending {
                row.failures += 1;
            }
            if task.attempt.number != row.attempt {
                superseded = row.foreign_id.take().filter(|_| !row.is_ended);
                let turn = row.turn;
                row =
                    RemoteTask { turn, ..RemoteTask::new(row.task, row.agent, task.attempt.number, now.at) };
                sent_to = None;
            }
            let act = next_act(tx, &row, task, &mut sent_to)?;
            if let (Some(Act::Start { .. }), Some(secret)) = (&act, secret)
                && row.push_path.is_none()
            {
                row.push_path = Some(secret.path.clone());
                row.push_token = Some(secret.token.clone());
            }
            act
        }
        // At the gate, or a draft again: an event will say when that is over.
        Some(task) if !task.status.is_terminal() => None,
        ended => {
            if row.foreign_id.is_some() && !row.is_ended {
                Some(Act::Cancel)
            } else if ended.is_none() {
                return Ok(work_rows::remove(tx, &row.task).map(|()| None)?);
            } else {
                None
            }
        }
    };
    row.is_sending = matches!(act, Some(Act::Start { .. } | Act::Message { .. }));
    row.next_at = act.is_some().then_some(until);
    row.turn += 1;
    work_rows::update(tx, &row)?;
    Ok(act.map(|act| Work { row, superseded, sent_to, act }))
}

fn next_act(
    tx: &mut Tx<'_>,
    row: &RemoteTask,
    task: Task,
    sent_to: &mut Option<i64>,
) -> Result<Option<Act>, Error> {
    let Some(after) = row.sent_to else {
        let queued_at = task.delivery.queued_at.unwrap_or(task.created_at);
        let mut said = messages::of_sender(tx, &task.id, &task.initiator, MESSAGES_MAX)?;
        said.retain(|message| message.created_at <= queued_at);
        *sent_to = Some(said.last().map_or(0, |message| message.number));
        keep_newest(&mut said);
        let files = if task.counts.messages > 0 { files::of_task(tx, &task.id)? } else { Vec::new() };
        let parents = parents(tx, &task)?;
        return Ok(Some(Act::Start { task: Box::new(task), messages: said, files, parents }));
    };
    if let Some(message) = messages::next_of_sender(tx, &task.id, &task.initiator, after)? {
        *sent_to = Some(message.number);
        let file = files::of_message(tx, &message.id)?;
        let parents = parents(tx, &task)?;
        return Ok(Some(Act::Message { task: Box::new(task), message: Box::new(message), file, parents }));
    }
    Ok((row.foreign_id.is_some() && !row.is_ended).then_some(Act::Ask))
}

/// Leaves as many of the newest messages as one request can hold.
fn keep_newest(said: &mut Vec<Message>) {
    let mut bytes = 0_usize;
    let fits = said.iter().rev().take_while(|message| {
        let kept = message.foreign.parts.as_ref().map_or(0, String::len);
        bytes = bytes.saturating_add(message.content.len() + kept);
        bytes <= MESSAGES_BYTES_MAX
    });
    let fits = fits.count();
    said.drain(..said.len() - fits);
}

/// What clients of A2A said with the tasks above this one.
fn parents(tx: &mut Tx<'_>, task: &Task) -> Result<Vec<Option<String>>, Error> {
    let (mut said, mut next) = (Vec::new(), task.links.parent.clone());
    while let Some(id) = next.take().filter(|_| said.len() < PARENTS_MAX) {
        let Some((extras, parent)) = task_rows::extras_of(tx, &id)? else { break };
        said.push(extras);
        next = parent;
    }
    Ok(said)
}

/// Somebody says that a task may have changed. Returns the remote whose work that is.
pub fn ring(tx: &mut Tx<'_>, task: &TaskId, now: &Now) -> Result<Option<AgentId>, Error> {
    let Some(mut row) = work_rows::find(tx, task)? else { return Ok(None) };
    let soon = now.at.max(row.heard_at.plus_ms(RING_PAUSE_MS));
    let is_known = row.foreign_id.is_some() || row.is_sending;
    if row.failures > 0 || row.is_ended || !is_known || row.next_at.is_none_or(|at| at <= soon) {
        return Ok(None);
    }
    row.next_at = Some(soon);
    work_rows::update(tx, &row)?;
    rows::wake(tx, &row.agent, soon)?;
    Ok(Some(row.agent))
}

/// Decides whether a stream about this task is opened now.
pub fn open_stream(tx: &mut Tx<'_>, holder: &str, work: &Work, now: &Now) -> Result<bool, Error> {
    let Some(mut row) = held(tx, holder, work)? else { return Ok(false) };
    let waits = row.stream_after.is_some_and(|after| after > now.at);
    if row.is_ended || waits || row.is_streamed(now.at) || row.next_at.is_none() {
        return Ok(false);
    }
    if work_rows::streams(tx, &row.agent, now.at)? >= STREAMS_MAX {
        return Ok(false);
    }
    row.stream_until = Some(now.at.plus_seconds(STREAM_SECONDS));
    row.plan_question(true, false, now.at);
    work_rows::update(tx, &row)?;
    Ok(true)
}

/// A stream has ended. After a failure none is opened for a while.
pub fn close_stream(tx: &mut Tx<'_>, task: &TaskId, has_failed: bool, now: &Now) -> Result<(), Error> {
    let Some(mut row) = work_rows::find(tx, task)? else { return Ok(()) };
    row.stream_until = None;
    row.stream_after = has_failed.then(|| now.at.plus_seconds(STREAM_SECONDS));
    work_rows::update(tx, &row)?;
    ring(tx, task, now).map(drop)
}

/// What the other side calls a task.
pub fn foreign_id(tx: &mut Tx<'_>, task: &TaskId) -> Result<Option<String>, Error> {
    Ok(work_rows::find(tx, task)?.and_then(|row| row.foreign_id))
}

/// The other side pushes to this path: it names the task, if the token is right.
pub fn pushed(
    tx: &mut Tx<'_>,
    path: &str,
    is_token: &(dyn Fn(&str) -> bool + Send + Sync),
    now: &Now,
) -> Result<Option<AgentId>, Error> {
    let row = work_rows::by_push_path(tx, path)?;
    let row = row.filter(|row| row.push_token.as_deref().is_some_and(is_token));
    let row = row.ok_or(Error::NotFound("address for pushes"))?;
    ring(tx, &row.task, now)
}

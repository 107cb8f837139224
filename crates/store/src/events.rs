//! Each agent's own log of what happened to it.

use std::sync::Arc;

use tandem_core::events::{EventKind, EventText, Subject};
use tandem_core::{AgentId, MessageId, TaskId, Timestamp};

use crate::declare::{delete, insert, read, update};
use crate::query::Query;
use crate::statement::Read;
use crate::table::{columns, sql};
use crate::{Effect, Error, EventNotice, Tx};

#[derive(Debug)]
pub struct NewEvent<'a> {
    pub kind: EventKind,
    pub task: Option<&'a TaskId>,
    pub message: Option<&'a MessageId>,
    /// Through whom.
    pub from: Option<&'a AgentId>,
    /// Its own fields, a JSON object. The fields above are not among them: the log has them once, and adds them
    /// when the event is read.
    pub data: String,
    pub at: Timestamp,
}

/// Where a log stands after events were added to it.
#[derive(Debug, Clone, Copy)]
pub struct Appended {
    pub last: i64,
    /// How far the agent has acknowledged its updates.
    pub updates_acked: i64,
}

/// Where a log stands. It is locked last, and so for a short time: it is the row that most transactions want.
fn last_seq() -> &'static Arc<Read> {
    read!([last_seq, updates_acked]: "mailboxes where agent_id = ?1",
        of mailboxes { agent_id: 1 } uses []; lock mailboxes)
}

/// Says that events will be added to an agent's log, so that it is locked in its turn.
pub fn expect(tx: &mut Tx<'_>, agent: &AgentId) -> Result<(), Error> {
    last_seq().expect(tx, &[agent.into()])
}

/// Locks an agent's log, so that it is read together with what else the job needs.
pub fn lock(tx: &mut Tx<'_>, agent: &AgentId) -> Result<(), Error> {
    if tx.locks_rows() { last_seq().peek::<(i64, i64)>(tx, &[agent.into()]).map(drop) } else { Ok(()) }
}

/// Adds events to an agent's log, in their order. The counter is the agent's own row, so numbers have no gap and follow
/// the order of commits.
pub fn append(tx: &mut Tx<'_>, to: &AgentId, events: &[NewEvent<'_>]) -> Result<Appended, Error> {
    let count = i64::try_from(events.len()).unwrap_or(i64::MAX);
    // Not in one statement that returns the number: SQLite makes a table for that, every time. While it is not read yet,
    // any number will do, because the job runs again.
    let (before, updates_acked): (i64, i64) = match last_seq().peek(tx, &[to.into()])? {
        None => (0, 0),
        Some(Some(found)) => found,
        Some(None) => return Err(Error::failed("an agent has no mailbox".into())),
    };
    let last = before + count;
    update!(mailboxes { last_seq: last } where { agent_id: to }).send(tx)?;
    for (event, seq) in events.iter().zip(before + 1..) {
        insert(tx, to, seq, event)?;
    }
    Ok(Appended { last, updates_acked })
}

fn insert(tx: &mut Tx<'_>, to: &AgentId, seq: i64, event: &NewEvent<'_>) -> Result<(), Error> {
    insert!(events {
        agent_id: to,
        seq: seq,
        type: event.kind.as_str(),
        task_id: event.task,
        message_id: event.message,
        from_agent_id: event.from,
        data: &event.data,
        created_at: event.at,
    })
    .send(tx)?;
    let notice =
        EventNotice { agent: to.clone(), seq, kind: event.kind, task: event.task.cloned(), at: event.at };
    tx.after_commit(Effect::EventAppended(notice));
    Ok(())
}

/// How the text of an event begins that has all its fields, as the log kept them at first.
const WHOLE: &str = "{\"type\":";

/// An event read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    pub seq: i64,
    pub kind: String,
    pub task: Option<TaskId>,
    /// Through whom.
    pub from: Option<AgentId>,
    /// The event as it goes over the wire.
    pub data: String,
    pub at: Timestamp,
}

impl Logged {
    /// What it is about; nothing for a type of a newer version.
    #[must_use]
    pub fn subject(&self) -> Option<Subject> {
        EventKind::named(&self.kind).map(EventKind::subject)
    }

    /// The event as every channel carries it.
    #[must_use]
    pub fn text(&self) -> EventText<'_> {
        let Self { seq, kind, task, from, data, at } = self;
        EventText { cursor: *seq, kind, task: task.as_ref(), from: from.as_ref(), data, created_at: *at }
    }
}

/// Where an agent has got to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursors {
    /// The number of the newest event.
    pub last: i64,
    /// How far the log has been acknowledged.
    pub events_acked: i64,
    /// How far the updates have been acknowledged.
    pub updates_acked: i64,
    /// How far the log has been read by polling.
    pub fetched: i64,
}

columns! {
    "m", cursors: Cursors {
        last: last_seq,
        events_acked,
        updates_acked,
        fetched: events_fetched,
    }
}

pub fn cursors(tx: &mut Tx<'_>, agent: &AgentId) -> Result<Cursors, Error> {
    tx.get(sql!("select {} from mailboxes m where m.agent_id = ?1", Cursors), &[agent.into()])
}

/// Notes how far the log has been read by polling.
pub fn set_fetched(tx: &mut Tx<'_>, agent: &AgentId, to: i64) -> Result<(), Error> {
    update!(mailboxes { events_fetched: to } where { agent_id: agent } and "events_fetched < ?1").send(tx)
}

/// A task that is gone takes its events with it, although they are removed a part at a time.
const IS_THERE: &str = "not exists (select 1 from removed_tasks r where r.id = e.task_id)";

fn stored_after() -> &'static Arc<Read> {
    read!(Stored: "events e where e.agent_id = ?1 and e.seq > ?2 and {IS_THERE} order by e.seq limit ?3",
        of events as e { agent_id: 1 }, removed_tasks as r)
}

/// Says that [`after`] will be called, so that it is read together with others.
pub fn expect_after(tx: &mut Tx<'_>, agent: &AgentId, after: i64, limit: i64) -> Result<(), Error> {
    stored_after().expect(tx, &[agent.into(), after.into(), limit.into()])
}

/// Events after a number, oldest first.
pub fn after(tx: &mut Tx<'_>, agent: &AgentId, after: i64, limit: i64) -> Result<Vec<Logged>, Error> {
    let found = stored_after().list(tx, &[agent.into(), after.into(), limit.into()])?;
    Ok(found.into_iter().map(logged).collect())
}

#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Only events from this number on.
    pub from: i64,
    /// Only events before this number.
    pub before: i64,
    /// Only these types; none named means all.
    pub kinds: &'a [EventKind],
    /// Only events about this task.
    pub task: Option<&'a TaskId>,
}

/// Events of an agent, newest first. The cost is bounded by the range of numbers, or by the events of the one task.
pub fn newest(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    wanted: &Wanted<'_>,
    limit: i64,
) -> Result<Vec<Logged>, Error> {
    let mut query = Query::default();
    query.push(sql!("select {} from events e where ", Stored));
    match wanted.task {
        // A task has few events: they are found by the index of tasks and then sorted.
        Some(task) => query.push("e.task_id = ").bind(task).push(" and e.agent_id || '' = ").bind(agent),
        None => query.push("e.agent_id = ").bind(agent),
    };
    query.push(" and ").push(IS_THERE);
    query.push(" and e.seq >= ").bind(wanted.from).push(" and e.seq < ").bind(wanted.before);
    for (place, kind) in wanted.kinds.iter().enumerate() {
        query.push(if place == 0 { " and e.type in (" } else { ", " }).bind(kind.as_str());
    }
    if !wanted.kinds.is_empty() {
        query.push(")");
    }
    query.push(" order by e.seq desc limit ").bind(limit);
    let found = tx.list(&query.sql, &query.params)?;
    Ok(found.into_iter().map(logged).collect())
}

struct Stored {
    seq: i64,
    at: Timestamp,
    kind: String,
    task: Option<TaskId>,
    message: Option<MessageId>,
    from: Option<AgentId>,
    fields: String,
}

columns! {
    "e", stored: Stored {
        seq,
        at: created_at,
        kind: type,
        task: task_id,
        message: message_id,
        from: from_agent_id,
        fields: data,
    }
}

fn logged(stored: Stored) -> Logged {
    let Stored { seq, at, kind, task, message, from, fields } = stored;
    let data = if fields.starts_with(WHOLE) {
        fields
    } else {
        let mut data = format!("{WHOLE}\"{kind}\"");
        let sender = from
            .as_ref()
            .filter(|_| EventKind::named(&kind).is_some_and(EventKind::names_sender))
            .map(AgentId::as_str);
        let ids = [
            ("taskId", task.as_ref().map(TaskId::as_str)),
            ("messageId", message.as_ref().map(MessageId::as_str)),
            ("fromAgentId", sender),
        ];
        // An id has no character that JSON would write in another way.
        for (name, id) in ids.into_iter().filter_map(|(name, id)| Some((name, id?))) {
            data.extend([",\"", name, "\":\"", id, "\""]);
        }
        match fields.strip_prefix('{') {
            None | Some("}") => data.push('}'),
            Some(rest) => data.extend([",", rest]),
        }
        data
    };
    Logged { seq, kind, task, from, data, at }
}

/// The same, for a transaction that moves one of them.
fn locked_cursors(tx: &mut Tx<'_>, agent: &AgentId) -> Result<Cursors, Error> {
    let cursors = read!(Cursors: "mailboxes m where m.agent_id = ?1", of mailboxes as m { agent_id: 1 } uses []; lock m);
    cursors.get(tx, &[agent.into()])
}

/// Moves the log's cursor forward, to the end at most; tells where it stands.
pub fn acknowledge_events(tx: &mut Tx<'_>, agent: &AgentId, cursor: i64) -> Result<i64, Error> {
    let cursors = locked_cursors(tx, agent)?;
    let moved = cursor.min(cursors.last).max(cursors.events_acked);
    if moved > cursors.events_acked {
        update!(mailboxes { events_acked: moved } where { agent_id: agent }).send(tx)?;
    }
    Ok(moved)
}

/// Moves the updates' cursor forward, to the end at most; tells where it stood and where it stands.
pub fn acknowledge_updates(tx: &mut Tx<'_>, agent: &AgentId, cursor: i64) -> Result<(i64, i64), Error> {
    let cursors = locked_cursors(tx, agent)?;
    let before = cursors.updates_acked;
    let moved = cursor.min(cursors.last).max(before);
    if moved > before {
        update!(mailboxes { updates_acked: moved } where { agent_id: agent }).send(tx)?;
    }
    Ok((before, moved))
}

/// Removes a task's events from one agent's log.
pub fn purge_task_of(tx: &mut Tx<'_>, agent: &AgentId, task: &TaskId) -> Result<(), Error> {
    delete!(events where { agent_id: agent, task_id: task }).send(tx)
}

/// Removes a task's events from every log.
pub fn purge_task(tx: &mut Tx<'_>, task: &TaskId) -> Result<(), Error> {
    delete!(events where { task_id: task }).send(tx)
}

//! Each agent's own log of what happened to it.

use tandem_core::events::EventKind;
use tandem_core::{AgentId, MessageId, TaskId, Timestamp};

use crate::{Error, Row, Told, Tx};

/// An event about to be written.
#[derive(Debug)]
pub struct NewEvent<'a> {
    /// What happened.
    pub kind: EventKind,
    /// On which task.
    pub task: Option<&'a TaskId>,
    /// About which message.
    pub message: Option<&'a MessageId>,
    /// Through whom.
    pub from: Option<&'a AgentId>,
    /// Its own fields, a JSON object. The fields above are not among them: the log has them once, and adds them
    /// when the event is read.
    pub data: String,
    /// When.
    pub at: Timestamp,
}

/// Adds events to an agent's log, in their order, and tells the number of the last. The counter is the
/// agent's own row, so numbers have no gap and follow the order of commits.
pub fn append(tx: &mut Tx<'_>, to: &AgentId, events: &[NewEvent<'_>]) -> Result<i64, Error> {
    let count = i64::try_from(events.len()).unwrap_or(i64::MAX);
    // Not in one statement that returns the number: SQLite makes a table for that, every time.
    let before: i64 = tx.one("select last_seq from mailboxes where agent_id = ?1", &[to.into()])?.take()?;
    let last = before + count;
    tx.send("update mailboxes set last_seq = ?2 where agent_id = ?1", &[to.into(), last.into()])?;
    for (event, seq) in events.iter().zip(before + 1..) {
        insert(tx, to, seq, event)?;
    }
    Ok(last)
}

fn insert(tx: &mut Tx<'_>, to: &AgentId, seq: i64, event: &NewEvent<'_>) -> Result<(), Error> {
    tx.send(
        "insert into events (agent_id, seq, type, task_id, message_id, from_agent_id, data, created_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        &[
            to.into(),
            seq.into(),
            event.kind.as_str().into(),
            event.task.into(),
            event.message.into(),
            event.from.into(),
            (&event.data).into(),
            event.at.into(),
        ],
    )?;
    tx.note_told(Told { agent: to.clone(), seq, kind: event.kind, task: event.task.cloned(), at: event.at });
    Ok(())
}

/// How the text of an event begins that has all its fields, as the log kept them at first.
const WHOLE: &str = "{\"type\":";

/// An event read back.
#[derive(Debug, Clone)]
pub struct Logged {
    /// Its number in this agent's log.
    pub seq: i64,
    /// What happened.
    pub kind: String,
    /// On which task.
    pub task: Option<TaskId>,
    /// Through whom.
    pub from: Option<AgentId>,
    /// The event as it goes over the wire.
    pub data: String,
    /// When.
    pub at: Timestamp,
}

/// Where an agent has got to.
#[derive(Debug, Clone, Copy)]
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

/// An agent's cursors.
pub fn cursors(tx: &mut Tx<'_>, agent: &AgentId) -> Result<Cursors, Error> {
    let mut row = tx.one(
        "select last_seq, events_acked, updates_acked, events_fetched from mailboxes where agent_id = ?1",
        &[agent.into()],
    )?;
    Ok(Cursors {
        last: row.take()?,
        events_acked: row.take()?,
        updates_acked: row.take()?,
        fetched: row.take()?,
    })
}

/// Notes how far the log has been read by polling.
pub fn set_fetched(tx: &mut Tx<'_>, agent: &AgentId, to: i64) -> Result<(), Error> {
    tx.send(
        "update mailboxes set events_fetched = ?2 where agent_id = ?1 and events_fetched < ?2",
        &[agent.into(), to.into()],
    )
}

/// Events after a number, oldest first.
pub fn after(tx: &mut Tx<'_>, agent: &AgentId, after: i64, limit: i64) -> Result<Vec<Logged>, Error> {
    let rows = tx.rows(
        "select seq, created_at, type, task_id, message_id, from_agent_id, data from events
         where agent_id = ?1 and seq > ?2 order by seq limit ?3",
        &[agent.into(), after.into(), limit.into()],
    )?;
    rows.into_iter().map(logged).collect()
}

fn logged(mut row: Row) -> Result<Logged, Error> {
    let (seq, at) = (row.take()?, row.take()?);
    let (kind, task): (String, Option<TaskId>) = (row.take()?, row.take()?);
    let (message, from): (Option<MessageId>, Option<AgentId>) = (row.take()?, row.take()?);
    let fields: String = row.take()?;
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
    Ok(Logged { seq, kind, task, from, data, at })
}

/// Moves the log's cursor forward, to the end at most; tells where it stands.
pub fn acknowledge_events(tx: &mut Tx<'_>, agent: &AgentId, cursor: i64) -> Result<i64, Error> {
    tx.one(
        "update mailboxes set events_acked = case
             when ?2 <= events_acked then events_acked
             when ?2 > last_seq then last_seq
             else ?2 end
         where agent_id = ?1 returning events_acked",
        &[agent.into(), cursor.into()],
    )?
    .take()
}

/// Moves the updates' cursor forward, to the end at most; tells where it stands.
pub fn acknowledge_updates(tx: &mut Tx<'_>, agent: &AgentId, cursor: i64) -> Result<i64, Error> {
    tx.one(
        "update mailboxes set updates_acked = case
             when ?2 <= updates_acked then updates_acked
             when ?2 > last_seq then last_seq
             else ?2 end
         where agent_id = ?1 returning updates_acked",
        &[agent.into(), cursor.into()],
    )?
    .take()
}

/// Removes a task's events from one agent's log.
pub fn purge_task_of(tx: &mut Tx<'_>, agent: &AgentId, task: &TaskId) -> Result<(), Error> {
    tx.send("delete from events where task_id = ?2 and agent_id = ?1", &[agent.into(), task.into()])
}

/// Removes a task's events from every log.
pub fn purge_task(tx: &mut Tx<'_>, task: &TaskId) -> Result<(), Error> {
    tx.send("delete from events where task_id = ?1", &[task.into()])
}

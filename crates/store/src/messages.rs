//! Messages of tasks.

mod conversations;
pub mod deferred;

use tandem_core::messages::{ContentType, DELETED, Foreign, Message};
use tandem_core::tasks::Unseen;
use tandem_core::{AgentId, MessageId, TaskId, Timestamp};

use crate::declare::{change, insert, read, update};
use crate::query::Query;
use crate::table::{columns, sql};
use crate::{Error, Tx, Value};

pub use conversations::{artifacts, has_foreign_hash, histories, history, later_steps};

columns! {
    "m", message: Message {
        id,
        task: task_id,
        in_reply_to,
        number,
        sender: sender_id,
        sender_name: "a.name",
        kind,
        content,
        content_type,
        encrypted_keys,
        sender_signature,
        read_at,
        acknowledged_at,
        created_at,
        deleted,
        foreign: ..Foreign "foreign_",
        step,
        artifact,
        direct,
    }
}

columns! {
    "f", foreign: Foreign {
        id,
        parts,
        extras,
    }
}

/// The beginning of a text that somebody wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub id: MessageId,
    pub sender: AgentId,
    pub sender_name: String,
    pub text: String,
    pub at: Timestamp,
}

columns! {
    "m", said: Said {
        id,
        sender: sender_id,
        sender_name: "a.name",
        text: "substr(m.content, 1, 2000)",
        at: created_at,
    }
}

/// The newest texts of a task that agents wrote and did not take back.
pub fn newest_texts(tx: &mut Tx<'_>, task: &TaskId, limit: i64) -> Result<Vec<Said>, Error> {
    let sql = sql!(
        "select {} from messages m join agents a on a.id = m.sender_id
         where m.task_id = ?1 and m.content_type = 'text' and m.deleted = 0 order by m.number desc limit ?2",
        Said
    );
    tx.list(sql, &[task.into(), limit.into()])
}

const TABLES: &str = "messages m left join agents a on a.id = m.sender_id";

/// Adds a message; `event_seq` is the number of its event in its recipient's log. `foreign_hash` tells what a client of
/// another protocol sent from anything else that it sends.
pub fn insert(
    tx: &mut Tx<'_>,
    message: &Message,
    event_seq: Option<i64>,
    foreign_hash: Option<&[u8]>,
) -> Result<(), Error> {
    insert!(messages { ..message: Message, event_seq: event_seq, foreign_hash: foreign_hash }).send(tx)
}

/// What one party wrote on a task before the other knew of it: those whose event was never written.
pub fn unannounced(tx: &mut Tx<'_>, task: &TaskId, writer: &AgentId) -> Result<Vec<Message>, Error> {
    let unannounced = read!(Message:
        "{TABLES} where m.task_id = ?1 and m.sender_id = ?2 and m.event_seq is null and m.deleted = 0
         order by m.number",
        of messages as m { task_id: 1, sender_id: 2 }, agents as a uses [name]);
    unannounced.list(tx, &[task.into(), writer.into()])
}

/// Notes the number of a message's event in its recipient's log.
pub fn set_event(tx: &mut Tx<'_>, id: &MessageId, event_seq: i64) -> Result<(), Error> {
    update!(messages { event_seq: event_seq } where { id: id }).send(tx)
}

/// Notes a signature on a task; false when it was seen there before.
pub fn insert_signature(tx: &mut Tx<'_>, task: &TaskId, hash: &[u8]) -> Result<bool, Error> {
    let seen = read!(1: "signatures where task_id = ?1 and hash = ?2", of signatures { task_id: 1, hash: 2 } uses []);
    if seen.exists(tx, &[task.into(), hash.into()])? {
        return Ok(false);
    }
    insert!(signatures { task_id: task, hash: hash }).send(tx)?;
    Ok(true)
}

pub fn find(tx: &mut Tx<'_>, task: &TaskId, id: &MessageId) -> Result<Option<Message>, Error> {
    let message = read!(Message: "{TABLES} where m.id = ?1 and m.task_id = ?2",
        of messages as m { id: 1, task_id: 2 }, agents as a uses [name]);
    message.find(tx, &[id.into(), task.into()])
}

/// These messages of a task, oldest first.
pub fn by_ids(tx: &mut Tx<'_>, task: &TaskId, ids: &[MessageId]) -> Result<Vec<Message>, Error> {
    let mut query = Query::default();
    query.push(sql!("select {} from {TABLES} where m.task_id = ", Message)).bind(task).push(" and m.id in (");
    for (place, id) in ids.iter().enumerate() {
        query.push(if place > 0 { ", " } else { "" }).bind(id);
    }
    query.push(") order by m.number");
    tx.list(&query.sql, &query.params)
}

/// The message with this number in a task, unless it was taken back.
pub fn numbered(tx: &mut Tx<'_>, task: &TaskId, number: i64) -> Result<Option<Message>, Error> {
    let message = read!(Message: "{TABLES} where m.task_id = ?1 and m.number = ?2 and m.deleted = 0",
        of messages as m { task_id: 1, number: 2 }, agents as a uses [name]);
    message.find(tx, &[task.into(), number.into()])
}

/// The oldest of what an agent wrote on a task, unless it was taken back, as much as fills a page.
pub fn of_sender(
    tx: &mut Tx<'_>,
    task: &TaskId,
    sender: &AgentId,
    limit: i64,
) -> Result<Vec<Message>, Error> {
    let sql = sql!(
        "select {} from {TABLES} where m.task_id = ?1 and m.sender_id = ?2 and m.deleted = 0 order by m.number limit ?3",
        Message
    );
    tx.list_page(sql, &[task.into(), sender.into(), limit.into()]).map(|(messages, _)| messages)
}

/// The first message of an agent on a task after a number, unless it was taken back.
pub fn next_of_sender(
    tx: &mut Tx<'_>,
    task: &TaskId,
    sender: &AgentId,
    after: i64,
) -> Result<Option<Message>, Error> {
    let sql = sql!(
        "select {} from {TABLES} where m.task_id = ?1 and m.sender_id = ?2 and m.deleted = 0 and m.number > ?3
         order by m.number limit 1",
        Message
    );
    tx.find(sql, &[task.into(), sender.into(), after.into()])
}

/// Which messages of a task one party has to look at: those that the other side wrote. A task may have had
/// several targets, but it has one initiator.
#[derive(Debug, Clone, Copy)]
pub struct For<'a> {
    pub task: &'a TaskId,
    pub initiator: &'a AgentId,
    /// Whether they are for the target, and so by the initiator.
    pub target: bool,
    /// Only those after this number.
    pub after: i64,
}

/// The condition for [`For`], which takes the first four parameters.
const FOR: &str = "task_id = ?1 and sender_id is not null \
     and case when sender_id = ?2 then 1 else 0 end = ?3 and number > ?4";

impl For<'_> {
    fn params<'a>(&'a self, more: &[Value<'a>]) -> Vec<Value<'a>> {
        let mut params = vec![self.task.into(), self.initiator.into(), self.target.into(), self.after.into()];
        params.extend_from_slice(more);
        params
    }
}

/// What a party has not read, oldest first, as much as fills a page.
pub fn unread(tx: &mut Tx<'_>, of: For<'_>, limit: i64) -> Result<Vec<Message>, Error> {
    let sql = sql!(
        "select {} from {TABLES} where {FOR} and m.read_at is null and m.deleted = 0 order by m.number limit ?5",
        Message
    );
    tx.list_page(sql, &of.params(&[limit.into()])).map(|(messages, _)| messages)
}

/// Marks what a party has to look at as read, up to a number.
pub fn mark_read(tx: &mut Tx<'_>, of: For<'_>, to: i64, now: Timestamp) -> Result<(), Error> {
    change!(messages [read_at] "read_at = ?6" where "{FOR} and number <= ?5 and read_at is null" { task_id: 1 },
        of.params(&[to.into(), now.into()]))
    .send(tx)
}

/// Marks what a party has to look at as acknowledged, and so as read, up to a number.
pub fn mark_acknowledged(tx: &mut Tx<'_>, of: For<'_>, to: i64, now: Timestamp) -> Result<(), Error> {
    change!(messages [acknowledged_at, read_at] "acknowledged_at = ?6, read_at = coalesce(read_at, ?6)"
        where "{FOR} and number <= ?5 and acknowledged_at is null" { task_id: 1 },
        of.params(&[to.into(), now.into()]))
    .send(tx)
}

/// What a party has not acknowledged, oldest first: ids, authors and numbers.
pub fn unacknowledged(
    tx: &mut Tx<'_>,
    of: For<'_>,
    limit: i64,
) -> Result<Vec<(MessageId, AgentId, i64)>, Error> {
    let unacknowledged = read!([id, sender_id, number]:
        "messages where {FOR} and acknowledged_at is null and deleted = 0 order by number limit ?5",
        of messages { task_id: 1 });
    unacknowledged.list(tx, &of.params(&[limit.into()]))
}

/// How much a party has not read up to a number, and of how much of that the event has this or a higher number.
pub fn unread_until(tx: &mut Tx<'_>, of: For<'_>, to: i64, from_seq: i64) -> Result<(i64, i64), Error> {
    let sql = sql!(
        "select count(*), coalesce(sum(case when event_seq >= ?6 then 1 else 0 end), 0) from messages
         where {FOR} and number <= ?5 and read_at is null and deleted = 0"
    );
    tx.get(sql, &of.params(&[to.into(), from_seq.into()]))
}

/// The event of the next message that a party has not read, among those whose events have this or a higher number.
pub fn next_unseen(tx: &mut Tx<'_>, of: For<'_>, from_seq: i64) -> Result<Option<i64>, Error> {
    let next = read!([event_seq]:
        "messages where {FOR} and read_at is null and deleted = 0 and event_seq >= ?5 order by number limit 1",
        of messages { task_id: 1 });
    next.find(tx, &of.params(&[from_seq.into()]))
}

/// What a party has not read of the messages whose events have this number or a higher one in its log.
pub fn unseen(tx: &mut Tx<'_>, of: For<'_>, from_seq: i64) -> Result<Unseen, Error> {
    let sql = sql!(
        "select count(*), min(event_seq), max(event_seq) from messages
         where {FOR} and read_at is null and deleted = 0 and event_seq >= ?5"
    );
    tx.get(sql, &of.params(&[from_seq.into()]))
}

/// Takes back the marks on what one party wrote, because the other is a new one, to whom all of it comes with the event
/// of this number; returns how much there is.
pub fn clear_marks(tx: &mut Tx<'_>, task: &TaskId, writer: &AgentId, event_seq: i64) -> Result<i64, Error> {
    let cleared = tx.execute(
        "update messages set read_at = null, acknowledged_at = null, event_seq = ?3
         where task_id = ?1 and sender_id = ?2 and deleted = 0",
        &[task.into(), writer.into(), event_seq.into()],
    )?;
    Ok(i64::try_from(cleared).unwrap_or(i64::MAX))
}

/// The newest messages from before a number, oldest first, and whether a page had no room for all that were asked for.
pub fn before(
    tx: &mut Tx<'_>,
    task: &TaskId,
    before: i64,
    limit: i64,
) -> Result<(Vec<Message>, bool), Error> {
    let sql = sql!(
        "select {} from {TABLES} where m.task_id = ?1 and m.number < ?2 order by m.number desc limit ?3",
        Message
    );
    let (mut messages, cut) = tx.list_page(sql, &[task.into(), before.into(), limit.into()])?;
    messages.reverse();
    Ok((messages, cut))
}

/// Leaves only a tombstone of a message; false when it was one already.
pub fn bury(tx: &mut Tx<'_>, id: &MessageId) -> Result<bool, Error> {
    update!(messages {
        content: DELETED,
        content_type: ContentType::Text,
        encrypted_keys: Value::Null,
        sender_signature: Value::Null,
        foreign_parts: Value::Null,
        foreign_extras: Value::Null,
        artifact: Value::Null,
        deleted: true,
    } where { id: id } and "deleted = 0")
    .execute(tx)
}

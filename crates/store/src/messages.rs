//! Messages of tasks.

use tandem_core::messages::{ContentType, DELETED, Message};
use tandem_core::{AgentId, MessageId, TaskId, Timestamp};

use crate::{Error, Row, Tx, Value};

const COLUMNS: &str = "m.id, m.task_id, m.number, m.sender_id, a.name, m.kind, m.content, m.content_type, \
     m.encrypted_keys, m.sender_signature, m.read_at, m.acknowledged_at, m.created_at";

fn from_row(mut row: Row) -> Result<Message, Error> {
    Ok(Message {
        id: row.take()?,
        task: row.take()?,
        number: row.take()?,
        sender: row.take()?,
        sender_name: row.take()?,
        kind: row.take()?,
        content: row.take()?,
        content_type: row.take()?,
        encrypted_keys: row.take()?,
        sender_signature: row.take()?,
        read_at: row.take()?,
        acknowledged_at: row.take()?,
        created_at: row.take()?,
    })
}

/// Adds a message.
pub fn insert(tx: &mut Tx<'_>, message: &Message) -> Result<(), Error> {
    tx.send(
        "insert into messages (id, task_id, number, sender_id, kind, content, content_type, deleted, created_at,
             encrypted_keys, sender_signature)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8, ?9, ?10)",
        &[
            (&message.id).into(),
            (&message.task).into(),
            message.number.into(),
            message.sender.as_ref().into(),
            message.kind.into(),
            (&message.content).into(),
            message.content_type.into(),
            message.created_at.into(),
            message.encrypted_keys.as_ref().into(),
            message.sender_signature.as_ref().into(),
        ],
    )
}

/// Notes a signature on a task; false when it was seen there before.
pub fn insert_signature(tx: &mut Tx<'_>, task: &TaskId, hash: &[u8]) -> Result<bool, Error> {
    let added = tx.execute(
        "insert into signatures (task_id, hash) values (?1, ?2) on conflict (task_id, hash) do nothing",
        &[task.into(), hash.into()],
    )?;
    Ok(added > 0)
}

/// One message of a task.
pub fn find(tx: &mut Tx<'_>, task: &TaskId, id: &MessageId) -> Result<Option<Message>, Error> {
    let sql = format!(
        "select {COLUMNS} from messages m left join agents a on a.id = m.sender_id where m.id = ?1 and m.task_id = ?2"
    );
    tx.optional(&sql, &[id.into(), task.into()])?.map(from_row).transpose()
}

/// The message with this number in a task, unless it was taken back.
pub fn numbered(tx: &mut Tx<'_>, task: &TaskId, number: i64) -> Result<Option<Message>, Error> {
    let sql = format!(
        "select {COLUMNS} from messages m left join agents a on a.id = m.sender_id
         where m.task_id = ?1 and m.number = ?2 and m.deleted = 0"
    );
    tx.optional(&sql, &[task.into(), number.into()])?.map(from_row).transpose()
}

/// What an agent wrote on a task, oldest first, unless it was taken back.
pub fn of_sender(tx: &mut Tx<'_>, task: &TaskId, sender: &AgentId) -> Result<Vec<Message>, Error> {
    let sql = format!(
        "select {COLUMNS} from messages m left join agents a on a.id = m.sender_id
         where m.task_id = ?1 and m.sender_id = ?2 and m.deleted = 0 order by m.number"
    );
    tx.rows(&sql, &[task.into(), sender.into()])?.into_iter().map(from_row).collect()
}

/// Which messages of a task one party has to look at: those that the other side wrote. A task may have had
/// several targets, but it has one initiator.
#[derive(Debug, Clone, Copy)]
pub struct For<'a> {
    /// The task.
    pub task: &'a TaskId,
    /// Its initiator.
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
    let sql = format!(
        "select {COLUMNS} from messages m left join agents a on a.id = m.sender_id
         where {FOR} and m.read_at is null and m.deleted = 0 order by m.number limit ?5"
    );
    let (rows, _) = tx.page(&sql, &of.params(&[limit.into()]))?;
    rows.into_iter().map(from_row).collect()
}

/// Marks what a party has to look at as read, up to a number.
pub fn mark_read(tx: &mut Tx<'_>, of: For<'_>, to: i64, now: Timestamp) -> Result<(), Error> {
    let sql = format!("update messages set read_at = ?6 where {FOR} and number <= ?5 and read_at is null");
    tx.send(&sql, &of.params(&[to.into(), now.into()]))
}

/// Marks what a party has to look at as acknowledged, and so as read.
pub fn mark_acknowledged(tx: &mut Tx<'_>, of: For<'_>, now: Timestamp) -> Result<(), Error> {
    let sql = format!(
        "update messages set acknowledged_at = ?5, read_at = coalesce(read_at, ?5)
         where {FOR} and acknowledged_at is null"
    );
    tx.send(&sql, &of.params(&[now.into()]))
}

/// The ids of what a party has not acknowledged, oldest first.
pub fn unacknowledged(tx: &mut Tx<'_>, of: For<'_>) -> Result<Vec<MessageId>, Error> {
    let sql = format!(
        "select id from messages where {FOR} and acknowledged_at is null and deleted = 0 order by number"
    );
    let rows = tx.rows(&sql, &of.params(&[]))?;
    rows.into_iter().map(|mut row| row.take()).collect()
}

/// Takes back the marks on what one party wrote, because the other is a new one; tells how much there is.
pub fn clear_marks(tx: &mut Tx<'_>, task: &TaskId, writer: &AgentId) -> Result<i64, Error> {
    let cleared = tx.execute(
        "update messages set read_at = null, acknowledged_at = null
         where task_id = ?1 and sender_id = ?2 and deleted = 0",
        &[task.into(), writer.into()],
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
    let sql = format!(
        "select {COLUMNS} from messages m left join agents a on a.id = m.sender_id
         where m.task_id = ?1 and m.number < ?2 order by m.number desc limit ?3"
    );
    let (rows, cut) = tx.page(&sql, &[task.into(), before.into(), limit.into()])?;
    let messages: Result<_, _> = rows.into_iter().rev().map(from_row).collect();
    Ok((messages?, cut))
}

/// Leaves only a tombstone of a message; false when it was one already.
pub fn bury(tx: &mut Tx<'_>, id: &MessageId) -> Result<bool, Error> {
    let buried = tx.execute(
        "update messages set content = ?2, content_type = ?3, encrypted_keys = null, sender_signature = null,
             deleted = 1
         where id = ?1 and deleted = 0",
        &[id.into(), DELETED.into(), ContentType::Text.into()],
    )?;
    Ok(buried > 0)
}

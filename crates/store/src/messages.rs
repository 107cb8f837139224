//! Messages of tasks.

use tandem_core::messages::{ContentType, DELETED, Message};
use tandem_core::{MessageId, TaskId};

use crate::{Error, Row, Tx};

const COLUMNS: &str = "m.id, m.task_id, m.number, m.sender_id, a.name, m.kind, m.content, m.content_type, \
     m.read_at, m.acknowledged_at, m.created_at";

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
        read_at: row.take()?,
        acknowledged_at: row.take()?,
        created_at: row.take()?,
    })
}

/// Adds a message.
pub fn insert(tx: &mut Tx<'_>, message: &Message) -> Result<(), Error> {
    tx.send(
        "insert into messages (id, task_id, number, sender_id, kind, content, content_type, deleted, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, 0, $8)",
        &[
            (&message.id).into(),
            (&message.task).into(),
            message.number.into(),
            message.sender.as_ref().into(),
            message.kind.into(),
            (&message.content).into(),
            message.content_type.into(),
            message.created_at.into(),
        ],
    )
}

/// One message of a task.
pub fn find(tx: &mut Tx<'_>, task: &TaskId, id: &MessageId) -> Result<Option<Message>, Error> {
    let sql = format!(
        "select {COLUMNS} from messages m left join agents a on a.id = m.sender_id where m.id = $1 and m.task_id = $2"
    );
    tx.optional(&sql, &[id.into(), task.into()])?.map(from_row).transpose()
}

/// The newest messages from before a number, oldest first.
pub fn before(tx: &mut Tx<'_>, task: &TaskId, before: i64, limit: i64) -> Result<Vec<Message>, Error> {
    let sql = format!(
        "select {COLUMNS} from messages m left join agents a on a.id = m.sender_id
         where m.task_id = $1 and m.number < $2 order by m.number desc limit $3"
    );
    let rows = tx.rows(&sql, &[task.into(), before.into(), limit.into()])?;
    rows.into_iter().rev().map(from_row).collect()
}

/// Leaves only a tombstone of a message; false when it was one already.
pub fn bury(tx: &mut Tx<'_>, id: &MessageId) -> Result<bool, Error> {
    let buried = tx.execute(
        "update messages set content = $2, content_type = $3, deleted = 1 where id = $1 and deleted = 0",
        &[id.into(), DELETED.into(), ContentType::Text.into()],
    )?;
    Ok(buried > 0)
}

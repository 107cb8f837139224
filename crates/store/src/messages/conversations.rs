//! Messages as clients of A2A see them: the history, the artifacts, and what came after a step.

use tandem_core::messages::Message;
use tandem_core::{AgentId, TaskId, Timestamp};

use super::TABLES;
use crate::query::Query;
use crate::table::sql;
use crate::{Error, Tx};

/// What both sides said. A file of the target is an artifact; one of the client belongs to the message that it came with.
const SAID: &str = "kind = 'message' and deleted = 0 and sender_id is not null
     and (content_type <> 'file' or (sender_id = ?2 and (foreign_id is null or foreign_parts is not null)))";
/// What the target handed over: its files, its artifacts, and its last reply.
const HANDED_OVER: &str = "m.deleted = 0 and (m.kind = 'artifact'
     or (m.content_type = 'file' and m.sender_id <> ?2 and m.foreign_id is null)
     or m.number = (select max(r.number) from messages r
         where r.task_id = ?1 and r.kind = 'reply' and r.deleted = 0))";

/// Whether a message of a task with this hash was written since a time.
pub fn has_foreign_hash(
    tx: &mut Tx<'_>,
    task: &TaskId,
    hash: &[u8],
    since: Timestamp,
) -> Result<bool, Error> {
    let sql = "select 1 from messages where foreign_hash = ?1 and created_at > ?2 and task_id = ?3 limit 1";
    Ok(tx.find::<i64>(sql, &[hash.into(), since.into(), task.into()])?.is_some())
}

/// The newest of what both sides said, oldest first, as much as fills a page.
pub fn history(
    tx: &mut Tx<'_>,
    task: &TaskId,
    initiator: &AgentId,
    limit: i64,
) -> Result<Vec<Message>, Error> {
    let sql = sql!(
        "select {} from {TABLES} where m.task_id = ?1 and {SAID} order by m.number desc limit ?3",
        Message
    );
    let (mut messages, _) = tx.list_page(sql, &[task.into(), initiator.into(), limit.into()])?;
    messages.reverse();
    Ok(messages)
}

/// The same for several tasks of one initiator, task by task; as much as fills a page.
pub fn histories(
    tx: &mut Tx<'_>,
    tasks: &[TaskId],
    initiator: &AgentId,
    limit: i64,
) -> Result<Vec<Message>, Error> {
    let mut query = Query::default();
    query.push(sql!("select {} from (", Message));
    for (number, task) in tasks.iter().enumerate() {
        query.push(if number > 0 { " union all " } else { "" });
        query.push("select id from (select id from messages where task_id = ").bind(task);
        query.push(" and kind = 'message' and deleted = 0 and sender_id is not null");
        query.push(" and (content_type <> 'file' or (sender_id = ").bind(initiator);
        query.push(" and (foreign_id is null or foreign_parts is not null)))");
        query.push(" order by number desc limit ").bind(limit).push(") newest");
    }
    query.push(") page join messages m on m.id = page.id left join agents a on a.id = m.sender_id");
    query.push(" order by m.task_id, m.number");
    Ok(tx.list_page(&query.sql, &query.params)?.0)
}

/// What the target handed over, oldest first, as much as fills a page.
pub fn artifacts(tx: &mut Tx<'_>, task: &TaskId, initiator: &AgentId) -> Result<Vec<Message>, Error> {
    let sql =
        sql!("select {} from {TABLES} where m.task_id = ?1 and {HANDED_OVER} order by m.number", Message);
    Ok(tx.list_page(sql, &[task.into(), initiator.into()])?.0)
}

/// The messages among the steps of a task after one, oldest first, and whether a page had no room for all that were asked
/// for.
pub fn later_steps(
    tx: &mut Tx<'_>,
    task: &TaskId,
    after: i64,
    limit: i64,
) -> Result<(Vec<Message>, bool), Error> {
    let sql = sql!(
        "select {} from {TABLES} where m.task_id = ?1 and m.step > ?2 order by m.step limit ?3",
        Message
    );
    tx.list_page(sql, &[task.into(), after.into(), limit.into()])
}

//! What an agent's log has told it since it last said "seen", as far as it still holds.

use tandem_core::{AgentId, Approval, Status, TaskId, Timestamp};

use crate::{Error, Tx};

/// What one line of the log means by now.
#[derive(Debug, Clone)]
pub struct News {
    /// Its number.
    pub seq: i64,
    /// The task it is about.
    pub task: TaskId,
    /// The task's title.
    pub title: String,
    /// Where the task stands.
    pub status: Status,
    /// How the gate answered.
    pub approval: Option<Approval>,
    /// Whom the task is for.
    pub target: AgentId,
    /// Who made it.
    pub initiator: AgentId,
    /// That agent's name.
    pub initiator_name: String,
    /// When the task was made.
    pub created_at: Timestamp,
    /// When the target acknowledged the task.
    pub acknowledged_at: Option<Timestamp>,
    /// When the task expires, unless somebody takes it.
    pub expires_at: Option<Timestamp>,
    /// When the target fetched the task.
    pub fetched_at: Option<Timestamp>,
    /// How many unread messages came with the task, because they were written when it was another's: of them the log
    /// told that one.
    pub inherited: i64,
    /// Whether the line tells of a message, and one that is still there unread.
    pub unread_message: bool,
    /// Whether the line tells of a message at all.
    pub is_message: bool,
}

/// New tasks and messages that the log told after a number, oldest first.
pub fn after(tx: &mut Tx<'_>, agent: &AgentId, after: i64, limit: i64) -> Result<Vec<News>, Error> {
    let rows = tx.rows(
        "select e.seq, t.id, t.title, t.status, t.approval, t.target_id, t.initiator_id, i.name, t.created_at,
             t.acknowledged_at, t.expires_at, t.fetched_at,
             case when e.type = 'message.created' or t.attempt = 1 then 0 else
                 (select count(*) from messages u where u.task_id = t.id and u.sender_id = t.initiator_id
                      and u.read_at is null and u.deleted = 0 and not exists
                      (select 1 from events l where l.task_id = t.id and l.agent_id = ?1 and l.message_id = u.id))
             end,
             case when m.id is null then 0 else 1 end,
             case when e.type = 'message.created' then 1 else 0 end
         from (select seq, type, task_id, message_id from events
               where agent_id = ?1 and seq > ?2
                   and type in ('task.created', 'task.approval_required', 'message.created')
               order by seq limit ?3) e
         join tasks t on t.id = e.task_id
         join agents i on i.id = t.initiator_id
         left join messages m on m.id = e.message_id and m.read_at is null and m.deleted = 0
         order by e.seq",
        &[agent.into(), after.into(), limit.into()],
    )?;
    rows.into_iter()
        .map(|mut row| {
            Ok(News {
                seq: row.take()?,
                task: row.take()?,
                title: row.take()?,
                status: row.take()?,
                approval: row.take()?,
                target: row.take()?,
                initiator: row.take()?,
                initiator_name: row.take()?,
                created_at: row.take()?,
                acknowledged_at: row.take()?,
                expires_at: row.take()?,
                fetched_at: row.take()?,
                inherited: row.take()?,
                unread_message: row.take()?,
                is_message: row.take()?,
            })
        })
        .collect()
}

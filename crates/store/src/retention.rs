//! Removing what is old enough, in the order of primary keys: no index is kept for it on tables where every index
//! slows down every new task.

use tandem_core::{AgentId, Timestamp};

use crate::table::{columns, sql};
use crate::{Error, Tx};

/// Some logs, and where to go on.
#[derive(Debug, Clone)]
pub struct Logs {
    /// Those whose first event is old.
    pub old: Vec<AgentId>,
    /// The last one that was looked at; nothing when there are no more.
    pub next: Option<String>,
}

/// Looks at the first events of so many logs, in the order of agents from after `after`.
pub fn logs_from(tx: &mut Tx<'_>, after: &str, until: Timestamp, limit: i64) -> Result<Logs, Error> {
    let first_events: Vec<(AgentId, Timestamp)> = tx.list(
        "select m.agent_id, coalesce((select e.created_at from events e where e.agent_id = m.agent_id
                                      order by e.seq limit 1), ?3)
         from mailboxes m where m.agent_id > ?1 order by m.agent_id limit ?2",
        &[after.into(), limit.into(), i64::MAX.into()],
    )?;
    let mut logs = Logs { old: Vec::new(), next: None };
    let full = i64::try_from(first_events.len()).is_ok_and(|count| count == limit);
    for (agent, first) in first_events {
        logs.next = full.then(|| agent.as_str().to_owned());
        if first <= until {
            logs.old.push(agent);
        }
    }
    Ok(logs)
}

/// How far an agent has come with its log, by each way of saying so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// The log's cursor.
    pub events_acked: i64,
    /// The updates' cursor.
    pub updates_acked: i64,
    /// How far the log has been turned into deliveries, where a webhook is on.
    pub webhook: Option<i64>,
}

columns! {
    "m", reached: Reached {
        events_acked,
        updates_acked,
        webhook: "case when a.webhook_active = 1 then a.webhook_cursor end",
    }
}

/// How far an agent has come; nothing when it is gone.
pub fn reached(tx: &mut Tx<'_>, agent: &AgentId) -> Result<Option<Reached>, Error> {
    let sql =
        sql!("select {} from mailboxes m join agents a on a.id = m.agent_id where m.agent_id = ?1", Reached);
    tx.find(sql, &[agent.into()])
}

/// Removes events from the beginning of a log, up to a number and a time; tells how many.
pub fn remove_events(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    up_to: i64,
    until: Timestamp,
    limit: i64,
) -> Result<u64, Error> {
    tx.execute(
        "delete from events where agent_id = ?1 and seq in
             (select e.seq from (select seq, created_at from events where agent_id = ?1 and seq <= ?2
                                 order by seq limit ?4) e
              where e.created_at <= ?3)",
        &[agent.into(), up_to.into(), until.into(), limit.into()],
    )
}

/// What was looked at of the deliveries.
#[derive(Debug, Clone)]
pub struct Deliveries {
    /// How many were removed.
    pub removed: u64,
    /// Where to go on; nothing when all others are younger.
    pub next: Option<String>,
}

/// Removes deliveries that are over, from after `after` in the order of their ids, which is that of time. Those that
/// still wait stay.
pub fn remove_deliveries(
    tx: &mut Tx<'_>,
    after: &str,
    until: Timestamp,
    limit: i64,
) -> Result<Deliveries, Error> {
    let last: Option<(String, Timestamp)> = tx.find(
        "select w.id, w.created_at from
             (select id, created_at from deliveries where id > ?1 order by id limit ?2) w
         order by w.id desc limit 1",
        &[after.into(), limit.into()],
    )?;
    let Some((id, created_at)) = last else { return Ok(Deliveries { removed: 0, next: None }) };
    let removed = tx.execute(
        "delete from deliveries where id > ?1 and id <= ?2 and created_at <= ?3 and state <> 'pending'",
        &[after.into(), (&id).into(), until.into()],
    )?;
    Ok(Deliveries { removed, next: (created_at <= until).then_some(id) })
}

//! Where clients of A2A have what happens to their tasks pushed to, and how far that has come.

use tandem_core::pushes::{PushConfig, PushReceiver};
use tandem_core::{AgentId, Task, TaskId, Timestamp};

use crate::declare::{change, insert, update};
use crate::query::Query;
use crate::table::{LATER, columns, sql};
use crate::{Error, Tx};

/// What a client sets.
const SETTINGS: u8 = 2;

columns! {
    "p", config: PushConfig {
        task: task_id,
        id,
        owner: owner_id,
        host: host_id,
        receiver: ..PushReceiver,
        extension [SETTINGS],
        base [SETTINGS],
        set_at [SETTINGS],
        steps,
        pushed,
        attempts [LATER],
        failing_since [LATER],
    }
}

columns! {
    "p", receiver: PushReceiver {
        url [SETTINGS],
        token [SETTINGS],
        scheme [SETTINGS],
        credentials [SETTINGS],
    }
}

/// Adds a config.
pub fn insert(tx: &mut Tx<'_>, config: &PushConfig) -> Result<(), Error> {
    let next_at = (config.steps > config.pushed).then_some(config.set_at);
    insert!(push_configs { ..config: PushConfig, next_at: next_at }).send(tx)
}

/// Writes back what a client has set. What waits is tried at once.
pub fn update(tx: &mut Tx<'_>, config: &PushConfig) -> Result<(), Error> {
    update!(push_configs { ..config: PushConfig[SETTINGS] } where { task_id: &config.task, id: &config.id })
        .send(tx)?;
    tx.send(
        "update push_configs set attempts = 0, failing_since = null,
             next_at = case when lease_until > 0 then next_at when steps > pushed then ?3 end
         where task_id = ?1 and id = ?2",
        &[(&config.task).into(), config.id.as_str().into(), config.set_at.into()],
    )
}

pub fn find(tx: &mut Tx<'_>, task: &TaskId, id: &str) -> Result<Option<PushConfig>, Error> {
    let sql = sql!("select {} from push_configs p where p.task_id = ?1 and p.id = ?2", PushConfig);
    tx.find(sql, &[task.into(), id.into()])
}

/// A task's configs, by id.
pub fn list(tx: &mut Tx<'_>, task: &TaskId, limit: i64) -> Result<Vec<PushConfig>, Error> {
    let sql = sql!("select {} from push_configs p where p.task_id = ?1 order by p.id limit ?2", PushConfig);
    tx.list(sql, &[task.into(), limit.into()])
}

pub fn remove(tx: &mut Tx<'_>, task: &TaskId, id: &str) -> Result<(), Error> {
    tx.send("delete from push_configs where task_id = ?1 and id = ?2", &[task.into(), id.into()])
}

pub fn remove_of_task(tx: &mut Tx<'_>, task: &TaskId) -> Result<(), Error> {
    tx.send("delete from push_configs where task_id = ?1", &[task.into()])
}

/// Removes what one of two agents has wanted of the other; unless `network_tasks`, not for tasks that were sent inside a
/// network.
pub fn remove_between(
    tx: &mut Tx<'_>,
    one: &AgentId,
    other: &AgentId,
    network_tasks: bool,
) -> Result<(), Error> {
    let of_all = "delete from push_configs where owner_id = ?1 and host_id = ?2";
    let of_others = "delete from push_configs where owner_id = ?1 and host_id = ?2 and task_id in
         (select t.id from tasks t where t.id = push_configs.task_id and t.network_id is null)";
    for (owner, host) in [(one, other), (other, one)] {
        tx.send(if network_tasks { of_all } else { of_others }, &[owner.into(), host.into()])?;
    }
    Ok(())
}

/// Notes how many steps a task has taken, for those who want them pushed. Other tasks have no such row, and those that are
/// no part of a conversation run no statement.
pub(crate) fn note_steps(tx: &mut Tx<'_>, task: &Task) -> Result<(), Error> {
    if task.links.context.is_none() {
        return Ok(());
    }
    let (steps, at) = (task.steps(), task.updated_at);
    change!(push_configs [steps, next_at] "steps = ?2, next_at = coalesce(next_at, ?3)"
        where "task_id = ?1 and steps < ?2" { task_id: 1 },
        [(&task.id).into(), steps.into(), at.into()])
    .send(tx)
}

/// Whether anybody wants anything pushed.
pub fn is_any(tx: &mut Tx<'_>) -> Result<bool, Error> {
    Ok(tx.find::<i64>("select 1 from push_configs limit 1", &[])?.is_some())
}

/// A config that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    pub next_at: Timestamp,
    pub task: TaskId,
    pub id: String,
    pub owner: AgentId,
    /// How its receiver behaved the last time.
    pub pace: i64,
}

columns! {
    "p", due: Due {
        next_at,
        task: task_id,
        id,
        owner: owner_id,
        pace,
    }
}

/// Configs that are due, by their times, from after one of them; without those of some owners.
pub fn due(
    tx: &mut Tx<'_>,
    now: Timestamp,
    after: Option<&Due>,
    without: &[AgentId],
    limit: i64,
) -> Result<Vec<Due>, Error> {
    let mut query = Query::default();
    query.push(sql!("select {} from push_configs p where p.next_at is not null and p.next_at <= ", Due));
    query.bind(now);
    if let Some(after) = after {
        query.push(" and (p.next_at, p.task_id, p.id) > (").bind(after.next_at);
        query.push(", ").bind(&after.task).push(", ").bind(after.id.as_str()).push(")");
    }
    for owner in without {
        query.push(" and p.owner_id <> ").bind(owner);
    }
    query.push(" order by p.next_at, p.task_id, p.id limit ").bind(limit);
    tx.list(&query.sql, &query.params)
}

/// Takes a config for a worker of `holder`; false when there is nothing due, or another holder has it. An attempt of a
/// holder that has not come back counts: its receiver may have got it.
pub fn lease(
    tx: &mut Tx<'_>,
    task: &TaskId,
    id: &str,
    holder: &str,
    now: Timestamp,
    until: Timestamp,
) -> Result<bool, Error> {
    let taken = tx.execute(
        "update push_configs set attempts = attempts + case when lease_until > 0 then 1 else 0 end,
             lease_until = ?5, lease_holder = ?3, next_at = ?5
         where task_id = ?1 and id = ?2
             and (lease_until <= ?4 and next_at <= ?4 or lease_until > 0 and lease_holder = ?3)",
        &[task.into(), id.into(), holder.into(), now.into(), until.into()],
    )?;
    Ok(taken > 0)
}

/// Makes due what a holder had when it was stopped.
pub fn free(tx: &mut Tx<'_>, holder: &str, now: Timestamp) -> Result<(), Error> {
    tx.send(
        "update push_configs set next_at = ?2
         where next_at is not null and lease_until > 0 and lease_holder = ?1",
        &[holder.into(), now.into()],
    )
}

/// Whether this holder still has a config.
pub fn is_held(tx: &mut Tx<'_>, task: &TaskId, id: &str, holder: &str) -> Result<bool, Error> {
    let sql =
        "select 1 from push_configs where task_id = ?1 and id = ?2 and lease_holder = ?3 and lease_until > 0";
    Ok(tx.find::<i64>(sql, &[task.into(), id.into(), holder.into()])?.is_some())
}

/// How far a config has come, and when to go on.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    pub pushed: i64,
    pub attempts: i64,
    pub failing_since: Option<Timestamp>,
    pub pace: i64,
    /// If there is more to push.
    pub next_at: Timestamp,
}

/// Gives a config back. Nothing is noted of it if it was set anew since, or somebody else has it.
pub fn release(
    tx: &mut Tx<'_>,
    config: &PushConfig,
    holder: &str,
    progress: Progress,
    now: Timestamp,
) -> Result<(), Error> {
    let Progress { pushed, attempts, failing_since, pace, next_at } = progress;
    let (task, id) = (&config.task, config.id.as_str());
    tx.send(
        "update push_configs set pushed = ?5, attempts = ?6, failing_since = ?7, pace = ?8, lease_until = 0,
             next_at = case when steps > ?5 then cast(?9 as bigint) end
         where task_id = ?1 and id = ?2 and lease_holder = ?3 and lease_until > 0 and set_at = ?4",
        &[
            task.into(),
            id.into(),
            holder.into(),
            config.set_at.into(),
            pushed.into(),
            attempts.into(),
            failing_since.into(),
            pace.into(),
            next_at.into(),
        ],
    )?;
    tx.send(
        "update push_configs set lease_until = 0,
             next_at = case when steps > pushed then cast(?4 as bigint) end
         where task_id = ?1 and id = ?2 and lease_holder = ?3 and lease_until > 0",
        &[task.into(), id.into(), holder.into(), now.into()],
    )
}

//! Removing an agent with everything that is its own, a part at a time.

use tandem_core::{AgentId, TaskId, Timestamp};

use crate::declare::{read, update};
use crate::{Error, Tx, Value};

/// Closes an account: its key is nobody's, and nobody finds it. What is its own still has to be removed.
pub fn close(tx: &mut Tx<'_>, agent: &AgentId, now: Timestamp) -> Result<(), Error> {
    // No hash is the id itself, so that no key opens it again.
    update!(agents {
        deleted_at: now,
        key_hash: agent.as_str().as_bytes(),
        discoverable: false,
        auto_accept: false,
        webhook_active: false,
        webhook_url: Value::Null,
        webhook_secret: Value::Null,
        webhook_next_at: Value::Null,
    } where { id: agent })
    .send(tx)?;
    crate::directory::remove(tx, agent)
}

/// Whether an account is open. A transaction that writes locks it, together with what else it asks for.
pub fn is_open(tx: &mut Tx<'_>, agent: &AgentId) -> Result<bool, Error> {
    let open = read!(1: "agents where id = ?1 and deleted_at is null",
        of agents { id: 1 } uses [deleted_at]; lock agents);
    // What is not read yet is there most likely; if not, the job learns so when it runs again.
    Ok(open.peek::<i64>(tx, &[agent.into()])?.is_none_or(|found| found.is_some()))
}

/// Accounts that were closed and are not gone yet.
pub fn closed(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<AgentId>, Error> {
    tx.list("select id from agents where deleted_at is not null order by id limit ?1", &[limit.into()])
}

/// Some of the tasks that an agent is a party of, and whether it knows of them: others' drafts it does not.
pub fn some_tasks(tx: &mut Tx<'_>, agent: &AgentId, limit: i64) -> Result<Vec<(TaskId, bool)>, Error> {
    for sql in [
        "select id, 1 from tasks where initiator_id = ?1 limit ?2",
        "select id, case when queued_at is null then 0 else 1 end from tasks where target_id = ?1 limit ?2",
    ] {
        let found = tx.list(sql, &[agent.into(), limit.into()])?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Removes some of an agent's events; false when there are none left.
pub fn remove_events(tx: &mut Tx<'_>, agent: &AgentId, limit: i64) -> Result<bool, Error> {
    let removed = tx.execute(
        "delete from events where agent_id = ?1 and seq in
             (select seq from events where agent_id = ?1 order by seq limit ?2)",
        &[agent.into(), limit.into()],
    )?;
    Ok(removed > 0)
}

/// Removes some of the rows that an agent may have many of; false when there are none left.
pub fn remove_some(tx: &mut Tx<'_>, agent: &AgentId, limit: i64) -> Result<bool, Error> {
    for sql in [
        "delete from idempotency where agent_id = ?1 and key in
             (select key from idempotency where agent_id = ?1 limit ?2)",
        "delete from deliveries where id in (select id from deliveries where agent_id = ?1 limit ?2)",
        "delete from network_messages where id in (select id from network_messages where sender_id = ?1 limit ?2)",
        "delete from decisions where agent_id = ?1 and task_id in
             (select task_id from decisions where agent_id = ?1 limit ?2)",
        "delete from blocks where agent_id = ?1 and blocked_id in
             (select blocked_id from blocks where agent_id = ?1 limit ?2)",
        "delete from blocks where blocked_id = ?1 and agent_id in
             (select agent_id from blocks where blocked_id = ?1 limit ?2)",
        "delete from remote_tasks where task_id in
             (select task_id from remote_tasks where agent_id = ?1 limit ?2)",
        "delete from pairs where low_id = ?1 and high_id in (select high_id from pairs where low_id = ?1 limit ?2)",
        "delete from pairs where high_id = ?1 and low_id in (select low_id from pairs where high_id = ?1 limit ?2)",
    ] {
        if tx.execute(sql, &[agent.into(), limit.into()])? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes whatever else there is of an agent, and the agent.
pub fn remove(tx: &mut Tx<'_>, agent: &AgentId) -> Result<(), Error> {
    for sql in [
        "delete from guests where agent_id = ?1",
        "delete from remotes where agent_id = ?1",
        "delete from pairing_codes where agent_id = ?1",
        "delete from sign_ins where subject = ?1",
        "delete from figures where subject = ?1",
        "delete from agent_capabilities where agent_id = ?1",
        "delete from mailboxes where agent_id = ?1",
        "delete from agents where id = ?1",
    ] {
        tx.send(sql, &[agent.into()])?;
    }
    Ok(())
}

//! Removing an agent with everything that is its own, a part at a time.

use tandem_core::{AgentId, TaskId, Timestamp};

use crate::{Error, Tx};

/// Closes an account: its key is nobody's, and nobody finds it. What is its own still has to be removed.
pub fn close(tx: &mut Tx<'_>, agent: &AgentId, now: Timestamp) -> Result<(), Error> {
    // No hash is the id itself, so that no key opens it again.
    tx.send(
        "update agents set deleted_at = ?2, key_hash = ?3, discoverable = 0, auto_accept = 0,
             webhook_active = 0, webhook_url = null, webhook_secret = null, webhook_next_at = null
         where id = ?1",
        &[agent.into(), now.into(), agent.as_str().as_bytes().into()],
    )
}

/// Accounts that were closed and are not gone yet.
pub fn closed(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<AgentId>, Error> {
    let rows =
        tx.rows("select id from agents where deleted_at is not null order by id limit ?1", &[limit.into()])?;
    rows.into_iter().map(|mut row| row.take()).collect()
}

/// Some of the tasks that an agent is a party of, and whether it knows of them: others' drafts it does not.
pub fn some_tasks(tx: &mut Tx<'_>, agent: &AgentId, limit: i64) -> Result<Vec<(TaskId, bool)>, Error> {
    let mut found = Vec::new();
    for sql in [
        "select id, 1 from tasks where initiator_id = ?1 limit ?2",
        "select id, case when queued_at is null then 0 else 1 end from tasks where target_id = ?1 limit ?2",
    ] {
        for mut row in tx.rows(sql, &[agent.into(), limit.into()])? {
            found.push((row.take()?, row.take()?));
        }
        if !found.is_empty() {
            break;
        }
    }
    Ok(found)
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

/// Removes whatever else there is of an agent, and the agent.
pub fn remove(tx: &mut Tx<'_>, agent: &AgentId) -> Result<(), Error> {
    for sql in [
        "delete from deliveries where agent_id = ?1",
        "delete from idempotency where agent_id = ?1",
        "delete from pairing_codes where agent_id = ?1",
        "delete from blocks where agent_id = ?1",
        "delete from blocks where blocked_id = ?1",
        "delete from pairs where low_id = ?1",
        "delete from pairs where high_id = ?1",
        "delete from network_messages where sender_id = ?1",
        "delete from agent_capabilities where agent_id = ?1",
        "delete from mailboxes where agent_id = ?1",
        "delete from agents where id = ?1",
    ] {
        tx.send(sql, &[agent.into()])?;
    }
    Ok(())
}

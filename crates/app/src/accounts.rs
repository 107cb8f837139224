//! Account deletion. Closing an account ends its key at once; its rows are then erased in batches, so that no
//! transaction is long. Knows nothing of HTTP or of the loop that calls it.

use tandem_core::{AgentId, Now};
use tandem_store::{
    Effect, Tx, accounts as rows, agents, connections, guests, networks, presences, remotes,
    tasks as task_rows,
};

use crate::connections::end_connection;
use crate::guests::GUESTS_MAX;
use crate::messages::delete_content_by;
use crate::remotes::REMOTES_MAX;
use crate::tasks::erase;
use crate::{Error, networks as network_cases};

/// Rows that one transaction removes at most.
const BATCH: i64 = 200;
/// The same for rows that only have to be deleted.
const ROWS_BATCH: i64 = 1_000;
/// Messages after which a transaction removes no further task.
const MESSAGES_BATCH: u64 = 1_000;
/// Messages that one transaction replaces by tombstones.
const TOMBSTONES_BATCH: i64 = 200;

/// The number of rows erased, by kind.
#[derive(Debug, Clone, Default)]
pub struct Erased {
    /// Connections that ended.
    pub connections: u64,
    /// Tasks that were deleted.
    pub tasks: u64,
    /// Messages that were deleted with their tasks, or replaced by tombstones.
    pub messages: u64,
    /// Files that were deleted.
    pub files: u64,
    /// Whether rows of this account remain.
    pub more: bool,
}

/// Closes an account, and those of its guests and remotes. Their API keys stop working at the commit.
pub fn close(tx: &mut Tx<'_>, by: &AgentId, now: &Now) -> Result<(), Error> {
    let (key_hash, _) = agents::key_of(tx, by)?.ok_or(Error::NotFound("agent"))?;
    let guests = guests::list(tx, by, GUESTS_MAX)?.into_iter().map(|guest| guest.agent);
    let remotes = remotes::list(tx, by, REMOTES_MAX)?.into_iter().map(|remote| remote.agent);
    let own: Vec<AgentId> = guests.chain(remotes).collect();
    close_one(tx, by, &key_hash, now)?;
    for agent in own {
        if let Some((key_hash, _)) = agents::key_of(tx, &agent)? {
            close_one(tx, &agent, &key_hash, now)?;
        }
    }
    Ok(())
}

fn close_one(tx: &mut Tx<'_>, agent: &AgentId, key_hash: &[u8], now: &Now) -> Result<(), Error> {
    agents::end_key(tx, key_hash, now.at)?;
    rows::close(tx, agent, now.at)?;
    presences::remove(tx, agent)?;
    guests::remove(tx, agent)?;
    remotes::remove(tx, agent)?;
    tx.after_commit(Effect::KeyEnded(agent.clone()));
    tx.after_commit(Effect::WebhookChanged(agent.clone()));
    Ok(())
}

/// Refuses to add rows for an account that is closed or deleted: its removal could miss them.
pub(crate) fn check_open(tx: &mut Tx<'_>, agent: &AgentId) -> Result<(), Error> {
    if rows::is_open(tx, agent)? { Ok(()) } else { Err(Error::NotFound("agent")) }
}

/// Locks the rows of two agents in the order of their ids, before anything else is locked: two that turn to each other
/// at the same moment would otherwise wait for each other.
pub(crate) fn lock_both(tx: &mut Tx<'_>, one: &AgentId, other: &AgentId) -> Result<(), Error> {
    let (low, high) = if one < other { (one, other) } else { (other, one) };
    rows::is_open(tx, low)?;
    rows::is_open(tx, high)?;
    Ok(())
}

/// Erases one batch of a closed account. The order is: connections (the peers get an event), tasks with their
/// content, messages on tasks that were reassigned away, the event log, networks, other rows, and last the agent
/// itself.
pub fn erase_batch(tx: &mut Tx<'_>, agent: &AgentId, now: &Now) -> Result<Erased, Error> {
    let mut erased = Erased { more: true, ..Erased::default() };
    let connected = connections::list(tx, agent, None, BATCH)?;
    if !connected.is_empty() {
        for connection in connected {
            end_connection(tx, agent, &connection.peer.id, &connection.id, now)?;
            erased.connections += 1;
        }
        return Ok(erased);
    }
    let tasks = rows::some_tasks(tx, agent, BATCH)?;
    if !tasks.is_empty() {
        let mut messages = 0;
        for (task, known) in tasks {
            let deleted = erase(tx, &task)?;
            erased.tasks += u64::from(known);
            erased.messages += if known { deleted.messages } else { 0 };
            erased.files += if known { deleted.files } else { 0 };
            messages += if deleted.in_parts { 0 } else { deleted.messages };
            if messages >= MESSAGES_BATCH {
                break;
            }
        }
        return Ok(erased);
    }
    if let Some(task) = task_rows::formerly_of(tx, agent, 1)?.first() {
        (erased.messages, erased.files) = delete_content_by(tx, agent, task, TOMBSTONES_BATCH)?;
        if erased.messages == 0 {
            task_rows::remove_former_target(tx, agent, task)?;
        }
        return Ok(erased);
    }
    if rows::remove_events(tx, agent, BATCH)? {
        return Ok(erased);
    }
    // One at a time: it may have a thousand members.
    if let Some(network) = network_cases::list(tx, agent)?.first() {
        if network.owner == *agent {
            networks::remove(tx, &network.id)?;
        } else {
            networks::remove_member(tx, &network.id, agent)?;
        }
        return Ok(erased);
    }
    if rows::remove_some(tx, agent, ROWS_BATCH)? {
        return Ok(erased);
    }
    rows::remove(tx, agent)?;
    erased.more = false;
    Ok(erased)
}

/// Accounts that are closed but not yet erased.
pub fn closed(tx: &mut Tx<'_>) -> Result<Vec<AgentId>, Error> {
    Ok(rows::closed(tx, BATCH)?)
}

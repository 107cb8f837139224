//! An agent that goes: at once for everybody else, and with everything of its own, a part at a time.

use tandem_core::{AgentId, FileId, Now};
use tandem_store::{Tx, accounts as rows, agents, connections, networks, tasks as task_rows};

use crate::connections::part;
use crate::messages::bury_all_of;
use crate::tasks::erase;
use crate::{Error, networks as network_cases};

/// How much one transaction removes.
const PART: i64 = 200;
/// On how many tasks, that it has no longer, one transaction removes what it wrote.
const FORMER_PART: i64 = 10;

/// What has gone so far.
#[derive(Debug, Clone, Default)]
pub struct Gone {
    /// Connections.
    pub connections: u64,
    /// Tasks.
    pub tasks: u64,
    /// Messages.
    pub messages: u64,
    /// Files: the caller removes their bytes.
    pub files: Vec<FileId>,
    /// Whether anything is left to remove.
    pub more: bool,
}

/// Closes the caller's account: from now on its key is nobody's.
pub fn close(tx: &mut Tx<'_>, by: &AgentId, now: &Now) -> Result<(), Error> {
    agents::find(tx, by)?.ok_or(Error::NotFound("agent"))?;
    Ok(rows::close(tx, by, now.at)?)
}

/// Removes a part of what a closed account has: connections first, of which its peers are told, then tasks with
/// all that belongs to them, what it wrote on tasks that were taken from it, networks, the log, and at last the agent.
pub fn erase_part(tx: &mut Tx<'_>, agent: &AgentId, now: &Now) -> Result<Gone, Error> {
    let mut gone = Gone { more: true, ..Gone::default() };
    let connected = connections::list(tx, agent, None, PART)?;
    if !connected.is_empty() {
        for connection in connected {
            part(tx, agent, &connection.peer.id, &connection.id, now)?;
            gone.connections += 1;
        }
        return Ok(gone);
    }
    let tasks = rows::some_tasks(tx, agent, PART)?;
    if !tasks.is_empty() {
        for (task, known) in tasks {
            let deleted = erase(tx, &task)?;
            gone.tasks += u64::from(known);
            gone.messages += if known { deleted.messages } else { 0 };
            gone.files.extend(deleted.files);
        }
        return Ok(gone);
    }
    let former = task_rows::formerly_of(tx, agent, FORMER_PART)?;
    if !former.is_empty() {
        for task in former {
            let (messages, files) = bury_all_of(tx, agent, &task)?;
            task_rows::remove_former_target(tx, agent, &task)?;
            gone.messages += messages;
            gone.files.extend(files);
        }
        return Ok(gone);
    }
    if rows::remove_events(tx, agent, PART)? {
        return Ok(gone);
    }
    for network in network_cases::list(tx, agent)? {
        if network.owner == *agent {
            networks::remove(tx, &network.id)?;
        } else {
            networks::remove_member(tx, &network.id, agent)?;
        }
    }
    rows::remove(tx, agent)?;
    gone.more = false;
    Ok(gone)
}

/// Accounts whose removal was begun and not finished.
pub fn closed(tx: &mut Tx<'_>) -> Result<Vec<AgentId>, Error> {
    Ok(rows::closed(tx, PART)?)
}

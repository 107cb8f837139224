//! Blocking: no discovery, no connection, no task, in either direction.

use tandem_core::{AgentId, Now};
use tandem_store::blocks::{self as rows, Block};
use tandem_store::{Tx, agents, connections};

use crate::connections::{ENDED, part};
use crate::tasks::Which;
use crate::{Error, Invalid, Page, tasks};

/// Blocks an agent; an existing connection ends. Tells how many tasks were cancelled.
pub fn block(tx: &mut Tx<'_>, by: &AgentId, agent: &AgentId, now: &Now) -> Result<i64, Error> {
    if agent == by {
        return Err(Invalid::field("agentId", "is your own").into());
    }
    if agents::find(tx, agent)?.is_none() {
        return Err(Error::NotFound("agent"));
    }
    rows::insert(tx, by, agent, now.at)?;
    if let Some(id) = connections::between(tx, by, agent)? {
        part(tx, by, agent, &id, now)?;
    }
    // They may have reached each other through a network, too.
    tasks::cancel_between(tx, by, agent, Which::All, ENDED, now)
}

/// Takes a block back.
pub fn unblock(tx: &mut Tx<'_>, by: &AgentId, agent: &AgentId) -> Result<(), Error> {
    if rows::remove(tx, by, agent)? { Ok(()) } else { Err(Error::NotFound("block")) }
}

/// Whom the caller has blocked.
pub fn list(
    tx: &mut Tx<'_>,
    by: &AgentId,
    after: Option<&AgentId>,
    limit: i64,
) -> Result<Page<Block, AgentId>, Error> {
    let found = rows::list(tx, by, after.map_or("", AgentId::as_str), limit + 1)?;
    Ok(Page::cut(found, limit, |block| block.agent.clone()))
}

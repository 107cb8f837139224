//! Blocks: two agents of which one has blocked the other cannot find each other, connect or exchange tasks.

use tandem_core::{AgentId, Now};
use tandem_store::blocks::{self as rows, Block};
use tandem_store::{Tx, connections};

use crate::accounts::{check_open, lock_both};
use crate::connections::end_connection;
use crate::{Error, Invalid, Page, tasks};

/// Blocks an agent and ends an existing connection. Returns the number of cancelled tasks.
pub fn block(tx: &mut Tx<'_>, by: &AgentId, agent: &AgentId, now: &Now) -> Result<i64, Error> {
    if agent == by {
        return Err(Invalid::field("agentId", "is your own").into());
    }
    lock_both(tx, by, agent)?;
    check_open(tx, by)?;
    check_open(tx, agent)?;
    connections::create_pair(tx, by, agent)?;
    rows::insert(tx, by, agent, now.at)?;
    if let Some(id) = connections::between(tx, by, agent)? {
        end_connection(tx, by, agent, &id, now)?;
    }
    // The two may also share tasks through a network.
    tasks::cancel_between(tx, by, agent, true, now)
}

pub fn unblock(tx: &mut Tx<'_>, by: &AgentId, agent: &AgentId) -> Result<(), Error> {
    if rows::remove(tx, by, agent)? { Ok(()) } else { Err(Error::NotFound("block")) }
}

pub fn list(
    tx: &mut Tx<'_>,
    by: &AgentId,
    after: Option<&AgentId>,
    limit: i64,
) -> Result<Page<Block, AgentId>, Error> {
    let found = rows::list(tx, by, after.map_or("", AgentId::as_str), limit + 1)?;
    Ok(Page::cut(found, limit, |block| block.agent.clone()))
}

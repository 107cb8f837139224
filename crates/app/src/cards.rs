//! Who reads the A2A card of an agent.

use tandem_core::AgentId;
use tandem_core::agents::{A2aAccess, Agent};
use tandem_store::{Tx, agents};

use crate::Error;
use crate::tasks::has_way;

/// Cards in a list of all public ones at most.
pub const LISTED_MAX: i64 = 1_000;

/// The agent, if this reader may read its card. A card that is hidden is as good as none.
pub fn find(tx: &mut Tx<'_>, reader: Option<&AgentId>, agent: &AgentId) -> Result<Agent, Error> {
    let hidden = Error::NotFound("agent");
    let Some(found) = agents::find_active(tx, agent)? else { return Err(hidden) };
    let may_read = match (found.a2a, reader) {
        (A2aAccess::Public, _) => true,
        (A2aAccess::Connected, Some(reader)) => reader == agent || has_way(tx, reader, agent)?,
        (A2aAccess::Connected, None) | (A2aAccess::Off, _) => false,
    };
    if may_read { Ok(found) } else { Err(hidden) }
}

/// The agent, if the caller may call it. Whether there is none, or it is out of reach, or takes no calls, looks the same.
pub fn find_to_call(tx: &mut Tx<'_>, by: &AgentId, agent: &AgentId) -> Result<Agent, Error> {
    let found = agents::find_active(tx, agent)?.filter(|found| found.a2a != A2aAccess::Off);
    match found {
        Some(found) if has_way(tx, by, agent)? => Ok(found),
        _ => Err(Error::NotConnected),
    }
}

/// The agents whose cards anybody may read, by id.
pub fn list_public(tx: &mut Tx<'_>) -> Result<Vec<Agent>, Error> {
    Ok(agents::list_public(tx, LISTED_MAX)?)
}

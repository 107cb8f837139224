//! What an operator may see.

use tandem_core::agents::Agent;
use tandem_core::{AgentId, Timestamp};
use tandem_store::Tx;
use tandem_store::admin::{self as rows, Totals};

use crate::{Error, Page};

/// How much there is of everything. Costly on a large hub; the answer is worth keeping for a while.
pub fn totals(tx: &mut Tx<'_>) -> Result<Totals, Error> {
    Ok(rows::totals(tx)?)
}

/// Every agent, newest first.
pub fn agents(
    tx: &mut Tx<'_>,
    before: Option<&(Timestamp, AgentId)>,
    limit: i64,
) -> Result<Page<Agent, (Timestamp, AgentId)>, Error> {
    let found = rows::list_agents(tx, before, limit + 1)?;
    Ok(Page::cut(found, limit, |agent| (agent.created_at, agent.id.clone())))
}

/// Whether the database answers.
pub fn ping(tx: &mut Tx<'_>) -> Result<(), Error> {
    Ok(rows::ping(tx)?)
}

/// A secret of the hub itself, made by the first who asks.
pub fn hub_secret(tx: &mut Tx<'_>, name: &str, fresh: &[u8]) -> Result<Vec<u8>, Error> {
    Ok(tandem_store::pairing::hub_secret(tx, name, fresh)?)
}

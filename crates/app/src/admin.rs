//! What an operator may see.

use tandem_core::agents::Agent;
use tandem_core::credits::Usd;
use tandem_core::{AgentId, Timestamp};
use tandem_store::admin::{self as rows, Totals};
use tandem_store::{Tx, agents};

use crate::{Error, Page};

/// How much there is of everything. Costly on a large hub; the answer is worth keeping for a while.
pub fn totals(tx: &mut Tx<'_>) -> Result<Totals, Error> {
    Ok(rows::totals(tx)?)
}

/// Every agent, newest first.
pub fn list_agents(
    tx: &mut Tx<'_>,
    before: Option<&(Timestamp, AgentId)>,
    limit: i64,
) -> Result<Page<Agent, (Timestamp, AgentId)>, Error> {
    let found = rows::list_agents(tx, before, limit + 1)?;
    Ok(Page::cut(found, limit, |agent| (agent.created_at, agent.id.clone())))
}

/// What the operator changes about an agent; what is nothing stays as it is.
#[derive(Debug, Clone, Default)]
pub struct AgentTerms {
    /// Whether tasks for it cost credits.
    pub costs_credits: Option<bool>,
    /// Its balance.
    pub credits: Option<Usd>,
    /// Whether its key is refused.
    pub suspended: Option<bool>,
}

/// Changes what only the operator may.
pub fn change_agent(tx: &mut Tx<'_>, id: &AgentId, terms: &AgentTerms) -> Result<Agent, Error> {
    let mut agent = agents::find(tx, id)?.ok_or(Error::NotFound("agent"))?;
    agent.costs_credits = terms.costs_credits.unwrap_or(agent.costs_credits);
    agent.credits_micro = terms.credits.map_or(agent.credits_micro, Usd::micro);
    agent.suspended = terms.suspended.unwrap_or(agent.suspended);
    agents::set_terms(tx, id, agent.costs_credits, agent.credits_micro, agent.suspended)?;
    Ok(agent)
}

/// Whether the database answers.
pub fn ping(tx: &mut Tx<'_>) -> Result<(), Error> {
    Ok(rows::ping(tx)?)
}

/// A secret of the hub itself, made by the first who asks.
pub fn hub_secret(tx: &mut Tx<'_>, name: &str, fresh: &[u8]) -> Result<Vec<u8>, Error> {
    Ok(tandem_store::pairing::hub_secret(tx, name, fresh)?)
}

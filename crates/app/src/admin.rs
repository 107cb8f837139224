//! What an operator may see.

use tandem_core::agents::Agent;
use tandem_core::credits::Usd;
use tandem_core::{AgentId, DeliveryId, TaskId, Timestamp};
use tandem_store::admin::{self as rows, DeliveryRow, EventRow, TaskRow, Totals};
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

/// Tasks, newest first, without a word of what they say.
pub fn tasks(tx: &mut Tx<'_>, before: Option<&TaskId>, limit: i64) -> Result<Page<TaskRow, TaskId>, Error> {
    let found = rows::list_tasks(tx, before, limit + 1)?;
    Ok(Page::cut(found, limit, |task| task.id.clone()))
}

/// An agent's log, or everybody's log by log, newest first, without what the events hold.
pub fn events(
    tx: &mut Tx<'_>,
    agent: Option<&AgentId>,
    before: Option<&(AgentId, i64)>,
    limit: i64,
) -> Result<Page<EventRow, (AgentId, i64)>, Error> {
    if let Some(agent) = agent {
        agents::find(tx, agent)?.ok_or(Error::NotFound("agent"))?;
    }
    let found = rows::list_events(tx, agent, before, limit + 1)?;
    Ok(Page::cut(found, limit, |event| (event.agent.clone(), event.seq)))
}

/// Webhook deliveries of everybody, newest first.
pub fn deliveries(
    tx: &mut Tx<'_>,
    before: Option<&DeliveryId>,
    limit: i64,
) -> Result<Page<DeliveryRow, DeliveryId>, Error> {
    let found = rows::list_deliveries(tx, before, limit + 1)?;
    Ok(Page::cut(found, limit, |delivery| delivery.id.clone()))
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

//! Use cases of the operator: statistics, lists without content, and the terms of an agent.

use tandem_core::agents::Agent;
use tandem_core::credits::Usd;
use tandem_core::{AgentId, DeliveryId, TaskId, Timestamp};
use tandem_store::admin::{self as rows, Counted, Counts, DeliveryRow, EventRow, TaskRow};
pub use tandem_store::admin::{BrokenWebhook, OldTask};
use tandem_store::{Effect, Tx, agents};

use crate::{Error, Page, webhooks};

/// Rows that one transaction counts, about.
const COUNTED_AT_ONCE: i64 = 10_000;

/// Live tasks, and agents with a broken webhook, that an operator is told of.
const TOLD_MAX: i64 = 10;

/// Some rows that were counted, and what an operator should know of them.
#[derive(Debug, Default)]
pub struct Part {
    pub counts: Counts,
    /// The oldest live tasks among them.
    pub oldest: Vec<OldTask>,
    pub broken_webhooks: Vec<BrokenWebhook>,
}

/// Counts some rows, from after a key.
pub fn count_some(tx: &mut Tx<'_>, what: Counted, after: &str) -> Result<Part, Error> {
    let counts = rows::count_some(tx, what, after, COUNTED_AT_ONCE)?;
    let until = counts.next.as_deref();
    let oldest = match what {
        Counted::Tasks => rows::oldest_some(tx, after, until, TOLD_MAX)?,
        _ => Vec::new(),
    };
    let broken_webhooks = match what {
        Counted::Agents => rows::broken_webhooks_some(tx, after, until, TOLD_MAX)?,
        _ => Vec::new(),
    };
    Ok(Part { counts, oldest, broken_webhooks })
}

/// What an operator is told of, whatever was found in each part.
pub fn most_urgent(oldest: &mut Vec<OldTask>, broken: &mut Vec<BrokenWebhook>) {
    let max = usize::try_from(TOLD_MAX).unwrap_or(usize::MAX);
    oldest.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
    oldest.truncate(max);
    broken.truncate(max);
}

/// The names of some agents.
pub fn names(tx: &mut Tx<'_>, ids: &[AgentId]) -> Result<Vec<(AgentId, String)>, Error> {
    Ok(agents::names(tx, ids)?)
}

/// All agents, newest first.
pub fn list_agents(
    tx: &mut Tx<'_>,
    before: Option<&(Timestamp, AgentId)>,
    limit: i64,
) -> Result<Page<Agent, (Timestamp, AgentId)>, Error> {
    let found = rows::list_agents(tx, before, limit + 1)?;
    Ok(Page::cut(found, limit, |agent| (agent.created_at, agent.id.clone())))
}

/// All tasks, newest first, without their content.
pub fn tasks(tx: &mut Tx<'_>, before: Option<&TaskId>, limit: i64) -> Result<Page<TaskRow, TaskId>, Error> {
    let found = rows::list_tasks(tx, before, limit + 1)?;
    Ok(Page::cut(found, limit, |task| task.id.clone()))
}

/// Events of one agent, or of all agents, newest first, without their data.
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

/// Webhook deliveries of all agents, newest first.
pub fn deliveries(
    tx: &mut Tx<'_>,
    before: Option<&DeliveryId>,
    limit: i64,
) -> Result<Page<DeliveryRow, DeliveryId>, Error> {
    let found = rows::list_deliveries(tx, before, limit + 1)?;
    Ok(Page::cut(found, limit, |delivery| delivery.id.clone()))
}

/// Changes to an agent by the operator. `None` leaves a field unchanged.
#[derive(Debug, Clone, Default)]
pub struct AgentTerms {
    pub costs_credits: Option<bool>,
    /// The balance in US dollars.
    pub credits: Option<Usd>,
    /// Whether requests with its key are refused.
    pub suspended: Option<bool>,
}

/// Applies the operator's changes to an agent. A suspension ends its key at the commit, and its webhook rests.
pub fn change_agent(
    tx: &mut Tx<'_>,
    id: &AgentId,
    terms: &AgentTerms,
    now: Timestamp,
) -> Result<Agent, Error> {
    let mut agent = agents::find(tx, id)?.ok_or(Error::NotFound("agent"))?;
    let was_suspended = agent.suspended;
    agent.costs_credits = terms.costs_credits.unwrap_or(agent.costs_credits);
    agent.credits_micro = terms.credits.map_or(agent.credits_micro, Usd::micro);
    agent.suspended = terms.suspended.unwrap_or(agent.suspended);
    agents::set_terms(tx, id, agent.costs_credits, agent.credits_micro, agent.suspended)?;
    if agent.suspended {
        tx.after_commit(Effect::KeyEnded(id.clone()));
    } else if was_suspended {
        webhooks::resume(tx, id, now)?;
    }
    Ok(agent)
}

/// Checks that the database can be written, without changing anything.
pub fn probe_write(tx: &mut Tx<'_>) -> Result<(), Error> {
    Ok(rows::probe_write(tx)?)
}

/// Checks that the database answers.
pub fn ping(tx: &mut Tx<'_>) -> Result<(), Error> {
    Ok(rows::ping(tx)?)
}

/// Stores a secret of the hub, in place of the one before.
pub fn set_hub_secret(tx: &mut Tx<'_>, name: &str, value: &[u8]) -> Result<(), Error> {
    Ok(tandem_store::pairing::set_hub_secret(tx, name, value)?)
}

/// A secret of the hub by name, if it is there.
pub fn find_hub_secret(tx: &mut Tx<'_>, name: &str) -> Result<Option<Vec<u8>>, Error> {
    Ok(tandem_store::pairing::find_hub_secret(tx, name)?)
}

/// Returns a secret of the hub by name. The first call stores `fresh`; later calls return the stored value.
pub fn hub_secret(tx: &mut Tx<'_>, name: &str, fresh: &[u8]) -> Result<Vec<u8>, Error> {
    Ok(tandem_store::pairing::hub_secret(tx, name, fresh)?)
}

//! Agents' profiles, their keys and the directory.

use std::sync::Arc;

use tandem_core::agents::Agent;
use tandem_core::text::searchable;
use tandem_core::wake::Ladder;
use tandem_core::{AgentId, Timestamp};

use crate::declare::{delete, insert, read, update};
use crate::query::Query;
use crate::statement::Read;
use crate::table::{columns, sql};
use crate::{Error, Tx, directory};

/// The columns that an agent's own changes write.
const PROFILE: u8 = 2;

columns! {
    "a", agent: Agent {
        id,
        name [PROFILE],
        description [PROFILE],
        capabilities [PROFILE],
        metadata [PROFILE],
        public_key,
        discoverable [PROFILE],
        auto_accept [PROFILE],
        default_approval [PROFILE],
        costs_credits,
        credits_micro,
        suspended,
        created_at,
        webhook_url,
        webhook_events,
        webhook_active,
        last_seen_at,
        wake,
        a2a [PROFILE],
        skills [PROFILE],
        profile_at [PROFILE],
        is_remote,
        = search_text [PROFILE]: search_text(agent),
    }
}

/// What a search in the directory looks at.
pub(crate) fn search_text(agent: &Agent) -> String {
    searchable(&format!("{}\n{}", agent.name, agent.description.as_deref().unwrap_or_default()))
}

/// Adds an agent with its empty mailbox.
pub fn insert(tx: &mut Tx<'_>, agent: &Agent, key_hash: &[u8]) -> Result<(), Error> {
    insert!(agents { ..agent: Agent, key_hash: key_hash }).send(tx)?;
    insert_capabilities(tx, agent)?;
    directory::insert(tx, agent)?;
    insert!(mailboxes {
        agent_id: &agent.id,
        last_seq: 0,
        events_acked: 0,
        updates_acked: 0,
        events_fetched: 0,
        tasks_ended: 0,
        tasks_completed: 0,
    })
    .send(tx)
}

fn insert_capabilities(tx: &mut Tx<'_>, agent: &Agent) -> Result<(), Error> {
    for capability in &agent.capabilities {
        insert!(agent_capabilities { capability: capability, agent_id: &agent.id }).send(tx)?;
    }
    Ok(())
}

fn by_id() -> &'static Arc<Read> {
    read!(Agent: "agents a where a.id = ?1", of agents as a { id: 1 } uses []; lock a)
}

/// The agent with this id. A transaction that writes locks it.
pub fn find(tx: &mut Tx<'_>, id: &AgentId) -> Result<Option<Agent>, Error> {
    by_id().find(tx, &[id.into()])
}

/// Says that [`find`] will be called, so that the agent is read together with others.
pub fn expect(tx: &mut Tx<'_>, id: &AgentId) -> Result<(), Error> {
    by_id().expect(tx, &[id.into()])
}

/// The agent with this id, unless it is suspended or its account is deleted.
pub fn find_active(tx: &mut Tx<'_>, id: &AgentId) -> Result<Option<Agent>, Error> {
    let sql =
        sql!("select {} from agents a where a.id = ?1 and a.deleted_at is null and a.suspended = 0", Agent);
    tx.find(sql, &[id.into()])
}

/// Agents whose cards anybody can read, by id.
pub fn list_public(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<Agent>, Error> {
    let sql = sql!(
        "select {} from agents a
         where a.a2a = 'public' and a.deleted_at is null and a.suspended = 0 order by a.id limit ?1",
        Agent
    );
    tx.list(sql, &[limit.into()])
}

/// The hash of an agent's key, and whether the agent is suspended.
pub type StoredKey = (Vec<u8>, bool);

fn locked_key() -> &'static Arc<Read> {
    read!([key_hash, suspended]: "agents where id = ?1 and deleted_at is null",
        of agents { id: 1 } uses [deleted_at]; lock agents)
}

/// The key of an agent that was not deleted. A transaction that writes locks the agent.
pub fn key_of(tx: &mut Tx<'_>, id: &AgentId) -> Result<Option<StoredKey>, Error> {
    locked_key().find(tx, &[id.into()])
}

/// The same with or without the lock. `None` means that it is read together with others, and the job runs again.
pub fn peek_key(tx: &mut Tx<'_>, id: &AgentId, lock: bool) -> Result<Option<Option<StoredKey>>, Error> {
    let unlocked = || {
        read!([key_hash, suspended]: "agents where id = ?1 and deleted_at is null",
            of agents { id: 1 } uses [deleted_at])
    };
    let key = if lock { locked_key() } else { unlocked() };
    key.peek(tx, &[id.into()])
}

/// The agent whose key has this hash, whether it is suspended, and whose guest it is.
pub fn by_key_hash(
    tx: &mut Tx<'_>,
    key_hash: &[u8],
) -> Result<Option<(AgentId, bool, Option<AgentId>)>, Error> {
    let sql = "select a.id, a.suspended, g.host_id from agents a left join guests g on g.agent_id = a.id
         where a.key_hash = ?1 and a.deleted_at is null";
    tx.find(sql, &[key_hash.into()])
}

/// Whether an agent has or had a key with this hash.
pub fn was_key(tx: &mut Tx<'_>, key_hash: &[u8]) -> Result<bool, Error> {
    let has = read!(1: "agents where key_hash = ?1", of agents { key_hash: 1 });
    let had = read!(1: "ended_keys where key_hash = ?1", of ended_keys { key_hash: 1 });
    had.expect(tx, &[key_hash.into()])?;
    Ok(has.exists(tx, &[key_hash.into()])? || had.exists(tx, &[key_hash.into()])?)
}

/// Notes that a key has ended. It is never used again.
pub fn end_key(tx: &mut Tx<'_>, key_hash: &[u8], now: Timestamp) -> Result<(), Error> {
    insert!(ended_keys { key_hash: key_hash, ended_at: now }, on conflict (key_hash) ignore).send(tx)
}

/// Sets what only the operator may.
pub fn set_terms(
    tx: &mut Tx<'_>,
    id: &AgentId,
    costs_credits: bool,
    credits_micro: i64,
    suspended: bool,
) -> Result<(), Error> {
    update!(agents {
        costs_credits: costs_credits,
        credits_micro: credits_micro,
        suspended: suspended,
    } where { id: id })
    .send(tx)
}

/// Takes from an agent's balance what there is of an amount; tells how much that was, and what is left.
pub fn deduct(tx: &mut Tx<'_>, id: &AgentId, micro: i64) -> Result<(i64, i64), Error> {
    let credits = read!([credits_micro]: "agents where id = ?1", of agents { id: 1 } uses []; lock agents);
    let balance: i64 = credits.get(tx, &[id.into()])?;
    let deducted = micro.min(balance).max(0);
    let left = balance - deducted;
    update!(agents { credits_micro: left } where { id: id }).send(tx)?;
    Ok((deducted, left))
}

/// Replaces an agent's key. The caller has locked the agent.
pub fn set_key_hash(tx: &mut Tx<'_>, id: &AgentId, key_hash: &[u8]) -> Result<(), Error> {
    update!(agents { key_hash: key_hash } where { id: id }).send(tx)
}

/// Writes back what an agent may change about itself.
pub fn update(tx: &mut Tx<'_>, agent: &Agent) -> Result<(), Error> {
    update!(agents { ..agent: Agent[PROFILE] } where { id: &agent.id }).send(tx)?;
    delete!(agent_capabilities where { agent_id: &agent.id }).send(tx)?;
    insert_capabilities(tx, agent)?;
    directory::remove(tx, &agent.id)?;
    directory::insert(tx, agent)
}

/// Writes how an agent can be woken.
pub fn set_wake(tx: &mut Tx<'_>, id: &AgentId, wake: &Ladder) -> Result<(), Error> {
    update!(agents { wake: wake.to_string() } where { id: id }).send(tx)
}

/// Writes down when an agent was last heard of.
pub fn set_last_seen(tx: &mut Tx<'_>, id: &AgentId, at: Timestamp) -> Result<(), Error> {
    update!(agents { last_seen_at: at } where { id: id }).send(tx)
}

/// The names of some agents.
pub fn names(tx: &mut Tx<'_>, ids: &[AgentId]) -> Result<Vec<(AgentId, String)>, Error> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = Query::default();
    query.push("select id, name from agents where id in (").bind_all(ids).push(")");
    tx.list(&query.sql, &query.params)
}

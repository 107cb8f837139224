//! Agents' profiles, their keys and the directory.

use tandem_core::agents::Agent;
use tandem_core::text::searchable;
use tandem_core::wake::Ladder;
use tandem_core::{AgentId, Timestamp};

use crate::table::{FromRow as _, columns, insert, sql, update};
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
    tx.send(
        "insert into mailboxes (agent_id, last_seq, events_acked, updates_acked, events_fetched, tasks_ended,
             tasks_completed)
         values (?1, 0, 0, 0, 0, 0, 0)",
        &[(&agent.id).into()],
    )
}

fn insert_capabilities(tx: &mut Tx<'_>, agent: &Agent) -> Result<(), Error> {
    for capability in &agent.capabilities {
        insert!(agent_capabilities { capability: capability, agent_id: &agent.id }).send(tx)?;
    }
    Ok(())
}

/// The agent with this id. A transaction that writes locks it.
pub fn find(tx: &mut Tx<'_>, id: &AgentId) -> Result<Option<Agent>, Error> {
    tx.find(sql!("select {} from agents a where a.id = ?1 /* lock a */", Agent), &[id.into()])
}

/// The hash of an agent's key, and whether the agent is suspended.
pub type StoredKey = (Vec<u8>, bool);

/// The key of an agent that was not deleted. A transaction that writes locks the agent.
pub fn key_of(tx: &mut Tx<'_>, id: &AgentId) -> Result<Option<StoredKey>, Error> {
    tx.find(LOCKED_KEY, &[id.into()])
}

const KEY: &str = "select key_hash, suspended from agents where id = ?1 and deleted_at is null";
const LOCKED_KEY: &str =
    "select key_hash, suspended from agents where id = ?1 and deleted_at is null /* lock agents */";

/// The key of an agent that was not deleted, without a lock or with one. `None` means that it is read together with
/// others, and the job runs again.
pub fn peek_key(tx: &mut Tx<'_>, id: &AgentId, lock: bool) -> Result<Option<Option<StoredKey>>, Error> {
    let sql = if lock { LOCKED_KEY } else { KEY };
    let Some(found) = tx.peek(sql, &[id.into()])? else { return Ok(None) };
    let first = found.into_iter().next();
    Ok(Some(first.map(|mut row| StoredKey::from_row(&mut row)).transpose()?))
}

/// The agent whose key has this hash, and whether it is suspended.
pub fn by_key_hash(tx: &mut Tx<'_>, key_hash: &[u8]) -> Result<Option<(AgentId, bool)>, Error> {
    tx.find("select id, suspended from agents where key_hash = ?1 and deleted_at is null", &[key_hash.into()])
}

/// Whether an agent has or had a key with this hash.
pub fn was_key(tx: &mut Tx<'_>, key_hash: &[u8]) -> Result<bool, Error> {
    let has = tx.optional("select 1 from agents where key_hash = ?1", &[key_hash.into()])?.is_some();
    let had = tx.optional("select 1 from ended_keys where key_hash = ?1", &[key_hash.into()])?.is_some();
    Ok(has || had)
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
    let sql = "select credits_micro from agents where id = ?1 /* lock agents */";
    let balance: i64 = tx.get(sql, &[id.into()])?;
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
    tx.send("delete from agent_capabilities where agent_id = ?1", &[(&agent.id).into()])?;
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

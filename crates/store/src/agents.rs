//! Agents' profiles, their keys and the directory.

use tandem_core::agents::Agent;
use tandem_core::text::{Capability, SearchText, searchable};
use tandem_core::{AgentId, Timestamp};

use crate::query::{Query, contains_pattern};
use crate::table::{columns, insert, sql, update};
use crate::{Error, Tx};

/// How many agents one look into the directory goes through at most.
const DIRECTORY_SCAN_MAX: i64 = 10_000;

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
        = search_text [PROFILE]: search_text(agent),
    }
}

fn search_text(agent: &Agent) -> String {
    searchable(&format!("{}\n{}", agent.name, agent.description.as_deref().unwrap_or_default()))
}

/// Adds an agent with its empty mailbox.
pub fn insert(tx: &mut Tx<'_>, agent: &Agent, key_hash: &[u8]) -> Result<(), Error> {
    insert!(agents { ..agent: Agent, key_hash: key_hash }).send(tx)?;
    insert_capabilities(tx, agent)?;
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

/// The agent with this id.
pub fn find(tx: &mut Tx<'_>, id: &AgentId) -> Result<Option<Agent>, Error> {
    tx.find(sql!("select {} from agents a where a.id = ?1", Agent), &[id.into()])
}

/// The hash of an agent's key, and whether the agent is suspended.
pub fn key_of(tx: &mut Tx<'_>, id: &AgentId) -> Result<Option<(Vec<u8>, bool)>, Error> {
    tx.find("select key_hash, suspended from agents where id = ?1 and deleted_at is null", &[id.into()])
}

/// The agent whose key has this hash, and whether it is suspended.
pub fn by_key_hash(tx: &mut Tx<'_>, key_hash: &[u8]) -> Result<Option<(AgentId, bool)>, Error> {
    tx.find("select id, suspended from agents where key_hash = ?1 and deleted_at is null", &[key_hash.into()])
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
    let balance: i64 = tx.get("select credits_micro from agents where id = ?1", &[id.into()])?;
    let deducted = micro.min(balance).max(0);
    let left = balance - deducted;
    update!(agents { credits_micro: left } where { id: id }).send(tx)?;
    Ok((deducted, left))
}

/// Replaces an agent's key; tells the old one's hash.
pub fn set_key_hash(tx: &mut Tx<'_>, id: &AgentId, key_hash: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let old = tx.find("select key_hash from agents where id = ?1", &[id.into()])?;
    update!(agents { key_hash: key_hash } where { id: id }).send(tx)?;
    Ok(old)
}

/// Writes back what an agent may change about itself.
pub fn update(tx: &mut Tx<'_>, agent: &Agent) -> Result<(), Error> {
    update!(agents { ..agent: Agent[PROFILE] } where { id: &agent.id }).send(tx)?;
    tx.send("delete from agent_capabilities where agent_id = ?1", &[(&agent.id).into()])?;
    insert_capabilities(tx, agent)
}

/// Writes down when an agent was last heard of.
pub fn set_last_seen(tx: &mut Tx<'_>, id: &AgentId, at: Timestamp) -> Result<(), Error> {
    update!(agents { last_seen_at: at } where { id: id }).send(tx)
}

/// What the directory is asked.
#[derive(Debug, Clone)]
pub struct Search {
    /// Only agents with this tag.
    pub capability: Option<Capability>,
    /// Only agents with this in their name or description.
    pub text: Option<SearchText>,
    /// Only agents that registered before this.
    pub registered_before: Timestamp,
    /// Whether the caller is in networks, whose members it sees in any case.
    pub in_networks: bool,
    /// How many at most.
    pub limit: i64,
    /// How many to pass over.
    pub offset: i64,
}

/// An agent in the directory, with what speaks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its profile.
    pub agent: Agent,
    /// How many connections it has; ten stands for ten or more.
    pub connection_count: i64,
    /// How many tasks for it have ended.
    pub tasks_ended: i64,
    /// How many of those it completed.
    pub tasks_completed: i64,
}

columns! {
    "a", listed: Listed {
        agent: join Agent,
        connection_count: "(select count(*) from (select 1 from connections c where c.agent_id = a.id limit 10) few)",
        tasks_ended: "m.tasks_ended",
        tasks_completed: "m.tasks_completed",
    }
}

/// Discoverable agents that fit, oldest first, and how many there are in all.
pub fn search(tx: &mut Tx<'_>, by: &AgentId, search: &Search) -> Result<(i64, Vec<Listed>), Error> {
    let mut query = Query::default();
    query.push("select count(*) from (select a.id");
    push_matches(&mut query, by, search);
    query.push(" limit ").bind(DIRECTORY_SCAN_MAX).push(") matches");
    let total = tx.get(&query.sql, &query.params)?;

    let mut query = Query::default();
    query.push(sql!("select {}", Listed));
    push_matches(&mut query, by, search);
    query.push(" order by a.created_at, a.id limit ").bind(search.limit).push(" offset ").bind(search.offset);
    Ok((total, tx.list(&query.sql, &query.params)?))
}

fn push_matches(query: &mut Query, by: &AgentId, search: &Search) {
    query.push(" from agents a join mailboxes m on m.agent_id = a.id");
    if let Some(capability) = &search.capability {
        query
            .push(" join agent_capabilities tag on tag.agent_id = a.id and tag.capability = ")
            .bind(capability.as_str());
    }
    if search.in_networks {
        // Who shares a network with the caller is there for it, whatever it shows to strangers.
        query.push(" where a.id in (select id from agents where discoverable = 1 and created_at <= ");
        query.bind(search.registered_before);
        query.push(" union select theirs.agent_id from network_members mine join network_members theirs");
        query.push(" on theirs.network_id = mine.network_id where mine.agent_id = ").bind(by).push(")");
    } else {
        query.push(" where a.discoverable = 1 and a.created_at <= ").bind(search.registered_before);
    }
    query.push(" and a.suspended = 0 and a.deleted_at is null");
    query.push(" and a.id <> ").bind(by);
    query
        .push(" and not exists (select 1 from blocks b where b.agent_id = a.id and b.blocked_id = ")
        .bind(by);
    query
        .push(") and not exists (select 1 from blocks b where b.blocked_id = a.id and b.agent_id = ")
        .bind(by);
    query.push(")");
    if let Some(text) = &search.text {
        query
            .push(" and a.search_text like ")
            .bind(contains_pattern(&searchable(text.as_str())))
            .push(" escape '!'");
    }
}

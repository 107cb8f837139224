//! Agents' profiles, their keys and the directory.

use tandem_core::agents::Agent;
use tandem_core::text::{Capability, SearchText, searchable};
use tandem_core::{AgentId, Timestamp};

use crate::query::{Query, contains_pattern};
use crate::{Error, Row, Tx};

/// How many agents one look into the directory goes through at most.
const DIRECTORY_SCAN_MAX: i64 = 10_000;

pub(crate) const COLUMNS: &str = "a.id, a.name, a.description, a.capabilities, a.metadata, a.public_key, \
     a.discoverable, a.auto_accept, a.default_approval, a.costs_credits, a.credits_micro, a.suspended, a.created_at, \
     a.webhook_url, a.webhook_events, a.webhook_active, a.last_seen_at";

pub(crate) fn from_row(row: &mut Row) -> Result<Agent, Error> {
    Ok(Agent {
        id: row.take()?,
        name: row.take()?,
        description: row.take()?,
        capabilities: split(&row.take::<String>()?),
        metadata: row.take()?,
        public_key: row.take()?,
        discoverable: row.take()?,
        auto_accept: row.take()?,
        default_approval: row.take()?,
        costs_credits: row.take()?,
        credits_micro: row.take()?,
        suspended: row.take()?,
        created_at: row.take()?,
        webhook_url: row.take()?,
        webhook_events: split(&row.take::<String>()?),
        webhook_active: row.take()?,
        last_seen_at: row.take()?,
    })
}

/// Tags hold no comma, so a comma keeps them apart.
pub(crate) fn split(tags: &str) -> Vec<String> {
    tags.split(',').filter(|tag| !tag.is_empty()).map(Into::into).collect()
}

fn search_text(agent: &Agent) -> String {
    searchable(&format!("{}\n{}", agent.name, agent.description.as_deref().unwrap_or_default()))
}

/// Adds an agent with its empty mailbox.
pub fn insert(tx: &mut Tx<'_>, agent: &Agent, key_hash: &[u8]) -> Result<(), Error> {
    tx.send(
        "insert into agents (id, name, description, capabilities, metadata, public_key, key_hash, discoverable,
             auto_accept, default_approval, costs_credits, credits_micro, search_text, created_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        &[
            (&agent.id).into(),
            (&agent.name).into(),
            agent.description.as_ref().into(),
            agent.capabilities.join(",").into(),
            agent.metadata.as_ref().into(),
            agent.public_key.as_ref().into(),
            key_hash.into(),
            agent.discoverable.into(),
            agent.auto_accept.into(),
            agent.default_approval.into(),
            agent.costs_credits.into(),
            agent.credits_micro.into(),
            search_text(agent).into(),
            agent.created_at.into(),
        ],
    )?;
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
        tx.send(
            "insert into agent_capabilities (capability, agent_id) values (?1, ?2)",
            &[capability.into(), (&agent.id).into()],
        )?;
    }
    Ok(())
}

/// The agent with this id.
pub fn find(tx: &mut Tx<'_>, id: &AgentId) -> Result<Option<Agent>, Error> {
    let sql = format!("select {COLUMNS} from agents a where a.id = ?1");
    tx.optional(&sql, &[id.into()])?.map(|mut row| from_row(&mut row)).transpose()
}

/// The hash of an agent's key, and whether the agent is suspended.
pub fn key_of(tx: &mut Tx<'_>, id: &AgentId) -> Result<Option<(Vec<u8>, bool)>, Error> {
    let row = tx.optional(
        "select key_hash, suspended from agents where id = ?1 and deleted_at is null",
        &[id.into()],
    )?;
    row.map(|mut row| Ok((row.take()?, row.take()?))).transpose()
}

/// The agent whose key has this hash, and whether it is suspended.
pub fn by_key_hash(tx: &mut Tx<'_>, key_hash: &[u8]) -> Result<Option<(AgentId, bool)>, Error> {
    let row = tx.optional(
        "select id, suspended from agents where key_hash = ?1 and deleted_at is null",
        &[key_hash.into()],
    )?;
    row.map(|mut row| Ok((row.take()?, row.take()?))).transpose()
}

/// Sets what only the operator may.
pub fn set_terms(
    tx: &mut Tx<'_>,
    id: &AgentId,
    costs_credits: bool,
    credits_micro: i64,
    suspended: bool,
) -> Result<(), Error> {
    tx.send(
        "update agents set costs_credits = ?2, credits_micro = ?3, suspended = ?4 where id = ?1",
        &[id.into(), costs_credits.into(), credits_micro.into(), suspended.into()],
    )
}

/// Takes from an agent's balance what there is of an amount; tells how much that was, and what is left.
pub fn deduct(tx: &mut Tx<'_>, id: &AgentId, micro: i64) -> Result<(i64, i64), Error> {
    let balance: i64 = tx.one("select credits_micro from agents where id = ?1", &[id.into()])?.take()?;
    let deducted = micro.min(balance).max(0);
    let left = balance - deducted;
    tx.send("update agents set credits_micro = ?2 where id = ?1", &[id.into(), left.into()])?;
    Ok((deducted, left))
}

/// Replaces an agent's key; tells the old one's hash.
pub fn set_key_hash(tx: &mut Tx<'_>, id: &AgentId, key_hash: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let row = tx.optional("select key_hash from agents where id = ?1", &[id.into()])?;
    let old = row.map(|mut row| row.take()).transpose()?;
    tx.send("update agents set key_hash = ?2 where id = ?1", &[id.into(), key_hash.into()])?;
    Ok(old)
}

/// Writes back what an agent may change about itself.
pub fn update(tx: &mut Tx<'_>, agent: &Agent) -> Result<(), Error> {
    tx.send(
        "update agents set name = ?2, description = ?3, capabilities = ?4, metadata = ?5, discoverable = ?6,
             auto_accept = ?7, default_approval = ?8, search_text = ?9
         where id = ?1",
        &[
            (&agent.id).into(),
            (&agent.name).into(),
            agent.description.as_ref().into(),
            agent.capabilities.join(",").into(),
            agent.metadata.as_ref().into(),
            agent.discoverable.into(),
            agent.auto_accept.into(),
            agent.default_approval.into(),
            search_text(agent).into(),
        ],
    )?;
    tx.send("delete from agent_capabilities where agent_id = ?1", &[(&agent.id).into()])?;
    insert_capabilities(tx, agent)
}

/// Writes down when an agent was last heard of.
pub fn set_last_seen(tx: &mut Tx<'_>, id: &AgentId, at: Timestamp) -> Result<(), Error> {
    tx.send("update agents set last_seen_at = ?2 where id = ?1", &[id.into(), at.into()])
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
#[derive(Debug, Clone)]
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

/// Discoverable agents that fit, oldest first, and how many there are in all.
pub fn search(tx: &mut Tx<'_>, by: &AgentId, search: &Search) -> Result<(i64, Vec<Listed>), Error> {
    let mut query = Query::default();
    query.push("select count(*) from (select a.id");
    push_matches(&mut query, by, search);
    query.push(" limit ").bind(DIRECTORY_SCAN_MAX).push(") matches");
    let total = tx.one(&query.sql, &query.params)?.take()?;

    let mut query = Query::default();
    query.push("select ").push(COLUMNS).push(
        ", (select count(*) from (select 1 from connections c where c.agent_id = a.id limit 10) few),
           m.tasks_ended, m.tasks_completed",
    );
    push_matches(&mut query, by, search);
    query.push(" order by a.created_at, a.id limit ").bind(search.limit).push(" offset ").bind(search.offset);
    let rows = tx.rows(&query.sql, &query.params)?;
    let listed: Result<Vec<Listed>, Error> = rows
        .into_iter()
        .map(|mut row| {
            Ok(Listed {
                agent: from_row(&mut row)?,
                connection_count: row.take()?,
                tasks_ended: row.take()?,
                tasks_completed: row.take()?,
            })
        })
        .collect();
    Ok((total, listed?))
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

//! The directory: agents that can be discovered, found by terms so that a search does not go through all of them.
//!
//! A term is a tag, or three characters that follow each other in a name or description. Only agents that can be
//! discovered have terms. A search takes the rarest of its terms and looks at the agents that have it, the oldest
//! first and a bounded number of them.

use std::collections::BTreeSet;

use tandem_core::agents::Agent;
use tandem_core::text::{Capability, SearchText, searchable};
use tandem_core::{AgentId, Timestamp};

use crate::agents::search_text;
use crate::declare::{delete, insert};
use crate::query::{Query, contains_pattern};
use crate::table::{columns, sql};
use crate::{Error, Tx};

/// How many agents one search looks at, of those with its rarest term and of those in the caller's networks each.
pub const LOOKED_AT_MAX: i64 = 5_000;
/// How many characters a term of a text has.
const TERM_CHARS: usize = 3;
/// How many terms of a text are compared to find a rare one.
const COMPARED_MAX: usize = 8;
/// A term that so many agents have is as common as any.
const COMMON: i64 = 1_000;

fn tag_term(tag: &str) -> String {
    format!("tag:{tag}")
}

/// The terms of a text, in the form in which texts are compared.
fn text_terms(text: &str) -> BTreeSet<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.windows(TERM_CHARS).map(|term| format!("txt:{}", term.iter().collect::<String>())).collect()
}

/// Adds the terms of an agent that can be discovered.
pub(crate) fn insert(tx: &mut Tx<'_>, agent: &Agent) -> Result<(), Error> {
    if !agent.discoverable {
        return Ok(());
    }
    let mut terms = text_terms(&search_text(agent));
    terms.extend(agent.capabilities.iter().map(|tag| tag_term(tag)));
    for term in &terms {
        insert!(directory_terms { term: term, agent_id: &agent.id }).send(tx)?;
    }
    Ok(())
}

pub(crate) fn remove(tx: &mut Tx<'_>, agent: &AgentId) -> Result<(), Error> {
    delete!(directory_terms where { agent_id: agent }).send(tx)
}

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
    pub limit: i64,
    /// How many to pass over.
    pub offset: i64,
}

/// An agent in the directory, with what speaks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub agent: Agent,
    /// How many connections it has; ten stands for ten or more.
    pub connection_count: i64,
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

/// Agents that fit, oldest first, and how many there are among those that were looked at.
pub fn search(tx: &mut Tx<'_>, by: &AgentId, search: &Search) -> Result<(i64, Vec<Listed>), Error> {
    let term = rarest_term(tx, search)?;
    let mut query = Query::default();
    query.push("select count(*)");
    push_matches(&mut query, by, search, term.as_deref());
    let total = tx.get(&query.sql, &query.params)?;

    let mut query = Query::default();
    query.push(sql!("select {}", Listed));
    push_matches(&mut query, by, search, term.as_deref());
    query.push(" order by a.created_at, a.id limit ").bind(search.limit).push(" offset ").bind(search.offset);
    Ok((total, tx.list(&query.sql, &query.params)?))
}

/// The term of a search that the fewest agents have; none for a search by nothing, or by one or two characters.
fn rarest_term(tx: &mut Tx<'_>, search: &Search) -> Result<Option<String>, Error> {
    let tag = search.capability.iter().map(|tag| tag_term(tag.as_str()));
    let text = search.text.iter().flat_map(|text| text_terms(&searchable(text.as_str().trim())));
    let mut rarest = None;
    for term in tag.chain(text).take(COMPARED_MAX) {
        let sql = "select count(*) from (select 1 from directory_terms where term = ?1 limit ?2) few";
        let count: i64 = tx.get(sql, &[term.as_str().into(), COMMON.into()])?;
        if rarest.as_ref().is_none_or(|(least, _)| count < *least) {
            rarest = Some((count, term));
        }
    }
    Ok(rarest.map(|(_, term)| term))
}

/// The agents that fit, as everything of a query behind its columns. The candidates come first, and SQLite must not
/// begin with the agents.
fn push_matches(query: &mut Query, by: &AgentId, search: &Search, term: Option<&str>) {
    const FELLOWS: &str = "from network_members mine join network_members theirs
         on theirs.network_id = mine.network_id where mine.agent_id = ";
    query.push(" from (select id from (");
    match term {
        Some(term) => query
            .push("select agent_id as id from directory_terms where term = ")
            .bind(term)
            .push(" order by agent_id limit "),
        None => query
            .push("select id from agents where discoverable = 1 and created_at <= ")
            .bind(search.registered_before)
            .push(" order by created_at, id limit "),
    };
    query.bind(LOOKED_AT_MAX).push(") listed");
    if search.in_networks {
        query.push(" union select id from (select theirs.agent_id as id ").push(FELLOWS).bind(by);
        query.push(" limit ").bind(LOOKED_AT_MAX).push(") fellows");
    }
    query.push(
        ") found cross join agents a cross join mailboxes m where a.id = found.id and m.agent_id = a.id",
    );
    query.push(" and ((a.discoverable = 1 and a.created_at <= ").bind(search.registered_before).push(")");
    if search.in_networks {
        // Who shares a network with the caller is there for it, whatever it shows to strangers.
        query.push(" or exists (select 1 ").push(FELLOWS).bind(by).push(" and theirs.agent_id = a.id)");
    }
    query.push(") and a.suspended = 0 and a.deleted_at is null and a.id <> ").bind(by);
    for (who, whom) in [("agent_id", "blocked_id"), ("blocked_id", "agent_id")] {
        query.push(" and not exists (select 1 from blocks b where b.").push(who);
        query.push(" = a.id and b.").push(whom).push(" = ").bind(by).push(")");
    }
    if let Some(capability) = &search.capability {
        query.push(" and exists (select 1 from agent_capabilities tag where tag.agent_id = a.id and tag.capability = ");
        query.bind(capability.as_str()).push(")");
    }
    if let Some(text) = &search.text {
        let pattern = contains_pattern(&searchable(text.as_str().trim()));
        query.push(" and a.search_text like ").bind(pattern).push(" escape '!'");
    }
}

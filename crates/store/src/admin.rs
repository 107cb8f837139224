//! What an operator sees: counts and agents, never content.

use tandem_core::agents::Agent;
use tandem_core::{AgentId, Timestamp};

use crate::query::Query;
use crate::{Error, Tx, agents};

/// How much there is of everything.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// Registered agents.
    pub agents: i64,
    /// Connections between two agents.
    pub connections: i64,
    /// Messages.
    pub messages: i64,
    /// Events in all logs.
    pub events: i64,
    /// Tasks by status.
    pub tasks: Vec<(String, i64)>,
}

/// Counts everything. The cost grows with what is stored: ask rarely and keep the answer.
pub fn totals(tx: &mut Tx<'_>) -> Result<Totals, Error> {
    let mut row = tx.one(
        "select (select count(*) from agents), (select count(*) from connections),
             (select count(*) from messages), (select count(*) from events)",
        &[],
    )?;
    let mut totals = Totals {
        agents: row.take()?,
        connections: row.take::<i64>()? / 2,
        messages: row.take()?,
        events: row.take()?,
        tasks: Vec::new(),
    };
    for mut row in tx.rows("select status, count(*) from tasks group by status order by status", &[])? {
        totals.tasks.push((row.take()?, row.take()?));
    }
    Ok(totals)
}

/// All agents, newest first, from before a place in that order.
pub fn list_agents(
    tx: &mut Tx<'_>,
    before: Option<&(Timestamp, AgentId)>,
    limit: i64,
) -> Result<Vec<Agent>, Error> {
    let mut query = Query::default();
    query.push("select ").push(agents::COLUMNS).push(" from agents a");
    if let Some((at, id)) = before {
        query.push(" where (a.created_at, a.id) < (").bind(*at).push(", ").bind(id).push(")");
    }
    query.push(" order by a.created_at desc, a.id desc limit ").bind(limit);
    tx.rows(&query.sql, &query.params)?.into_iter().map(|mut row| agents::from_row(&mut row)).collect()
}

/// Answers when the database does.
pub fn ping(tx: &mut Tx<'_>) -> Result<(), Error> {
    tx.one("select 1", &[]).map(drop)
}

//! What was decided at approval gates. Decisions outlive their tasks.

use tandem_core::text::{SearchText, searchable};
use tandem_core::{AgentId, TaskId, Timestamp, Verdict, Way};

use crate::declare::insert;
use crate::query::{Query, contains_pattern};
use crate::table::{columns, sql};
use crate::{Error, Tx};

/// How many of an agent's newest decisions one search goes through.
const SEARCH_SCAN_MAX: i64 = 5_000;

/// Times of decisions that are read at once.
const TIMES_MAX: i64 = 1_000;

/// A decision about one attempt of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub task: TaskId,
    pub attempt: i64,
    /// The agent at whose gate it was.
    pub agent: AgentId,
    pub at: Timestamp,
    /// When the request came to the gate; none in decisions of older versions.
    pub asked_at: Option<Timestamp>,
    pub verdict: Verdict,
    pub title: String,
    pub sender: AgentId,
    pub sender_name: String,
    /// The note of an approval, or the reason of a rejection.
    pub note: Option<String>,
    /// The version of the task that was decided on.
    pub version: i64,
    /// How many files it had then.
    pub files: i64,
    /// SHA-256 of what it said then.
    pub content_hash: Vec<u8>,
    /// How the decision came in; none if nobody decided.
    pub way: Option<Way>,
    /// The browser of a person, in words.
    pub device: Option<String>,
    /// The beginning of the id of that browser's session.
    pub session: Option<String>,
    pub address: Option<String>,
}

columns! {
    "d", decision: Decision {
        task: task_id,
        attempt,
        agent: agent_id,
        at: decided_at,
        asked_at,
        verdict,
        title,
        sender: sender_id,
        sender_name,
        note,
        = search: searchable(&format!("{} {}", decision.title, decision.note.as_deref().unwrap_or_default())),
        version,
        files,
        content_hash,
        way,
        device,
        session,
        address,
    }
}

pub fn insert(tx: &mut Tx<'_>, decision: &Decision) -> Result<(), Error> {
    insert!(decisions { ..decision: Decision }).send(tx)
}

/// When each of an agent's newest decisions was asked for and made, since a time.
pub fn waits(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    since: Timestamp,
    limit: i64,
) -> Result<Vec<(Timestamp, Option<Timestamp>, Verdict)>, Error> {
    tx.list(
        "select decided_at, asked_at, verdict from decisions where agent_id = ?1 and decided_at >= ?2
         order by decided_at desc, task_id desc, attempt desc limit ?3",
        &[agent.into(), since.into(), limit.into()],
    )
}

/// When attempts of some tasks were decided, the first ones first.
pub fn times_of(tx: &mut Tx<'_>, tasks: &[TaskId]) -> Result<Vec<(TaskId, Timestamp)>, Error> {
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = Query::default();
    query.push("select task_id, decided_at from decisions where task_id in (").bind_all(tasks);
    query.push(") order by task_id, attempt limit ").bind(TIMES_MAX);
    tx.list(&query.sql, &query.params)
}

/// Which decisions are asked for.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub verdict: Option<Verdict>,
    pub sender: Option<AgentId>,
    /// Only since this time.
    pub since: Option<Timestamp>,
    /// Only with this in title or note.
    pub text: Option<SearchText>,
    /// Only from before this place in the order.
    pub before: Option<(Timestamp, TaskId)>,
    pub limit: i64,
}

/// An agent's decisions, the newest first. With a filter, a bounded number of them is searched.
pub fn list(tx: &mut Tx<'_>, agent: &AgentId, filter: &Filter) -> Result<Vec<Decision>, Error> {
    let is_searched = filter.verdict.is_some() || filter.sender.is_some() || filter.text.is_some();
    let mut query = Query::default();
    query.push(sql!("select {} from (select * from decisions where agent_id = ", Decision)).bind(agent);
    if let Some((at, task)) = &filter.before {
        query.push(" and (decided_at, task_id) < (").bind(*at).push(", ").bind(task).push(")");
    }
    if let Some(since) = filter.since {
        query.push(" and decided_at >= ").bind(since);
    }
    query.push(" order by decided_at desc, task_id desc, attempt desc limit ");
    query.bind(if is_searched { SEARCH_SCAN_MAX } else { filter.limit }).push(") d where 1 = 1");
    if let Some(verdict) = filter.verdict {
        query.push(" and d.verdict = ").bind(verdict);
    }
    if let Some(sender) = &filter.sender {
        query.push(" and d.sender_id = ").bind(sender);
    }
    if let Some(text) = &filter.text {
        query.push(" and d.search like ").bind(contains_pattern(&searchable(text.as_str().trim())));
        query.push(" escape '!'");
    }
    query.push(" order by d.decided_at desc, d.task_id desc, d.attempt desc limit ").bind(filter.limit);
    tx.list(&query.sql, &query.params)
}

/// When each attempt of a task was decided, the first one first.
pub fn of_task(tx: &mut Tx<'_>, task: &TaskId, limit: i64) -> Result<Vec<Decision>, Error> {
    let sql =
        sql!("select {} from decisions d where d.task_id = ?1 order by d.attempt desc limit ?2", Decision);
    let mut found: Vec<Decision> = tx.list(sql, &[task.into(), limit.into()])?;
    found.reverse();
    Ok(found)
}

/// Removes some of the decisions up to a time.
pub fn sweep(tx: &mut Tx<'_>, until: Timestamp, limit: i64) -> Result<u64, Error> {
    tx.execute(
        "delete from decisions where (task_id, attempt) in
             (select task_id, attempt from decisions where decided_at <= ?1 order by decided_at limit ?2)",
        &[until.into(), limit.into()],
    )
}

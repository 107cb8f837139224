//! Tasks found by their parties, their status or their parent.

use std::sync::LazyLock;

use tandem_core::tasks::{HELD_LANES, Task};
use tandem_core::text::{SearchText, searchable};
use tandem_core::{AgentId, Role, Status, TaskId, Timestamp};

use super::JOINED;
use crate::query::{Query, contains_pattern};
use crate::table::{select_items_without, select_list, sql};
use crate::{Error, Tx, Value};

/// How many of an agent's tasks one search by title goes through. Each of their rows is read.
const SEARCH_SCAN_MAX: i64 = 5_000;
/// How many a search for silent ones goes through. Each of their rows is read, for every view of Home.
const SILENT_SCAN_MAX: i64 = 500;
/// How many one search by party alone goes through. Only entries of indexes are read, and merged.
const PARTY_SCAN_MAX: i64 = 2_000;

/// The ids of the live tasks of two agents, oldest first. The target is compared in a way that no index serves: the
/// index by status finds the few live ones, the one by parties would go through all there ever were.
pub fn live_between(
    tx: &mut Tx<'_>,
    one: &AgentId,
    other: &AgentId,
    network_tasks: bool,
    until: Timestamp,
    limit: i64,
) -> Result<Vec<TaskId>, Error> {
    let mut found: Vec<(Timestamp, TaskId)> = Vec::new();
    for (initiator, target) in [(one, other), (other, one)] {
        let sql = "select created_at, id from tasks where initiator_id = ?1 and target_id || '' = ?2
                 and status in ('submitted', 'working', 'input-required', 'auth-required')
                 and (network_id is null or ?4 = 1) and queued_at <= ?5
             order by created_at, id limit ?3";
        let params = [initiator.into(), target.into(), limit.into(), network_tasks.into(), until.into()];
        found.extend(tx.list::<(_, _)>(sql, &params)?);
    }
    found.sort();
    Ok(found.into_iter().map(|place| place.1).collect())
}

#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only in one of these statuses; empty for all.
    pub statuses: Vec<Status>,
    /// Only those that are held at the caller's gate.
    pub held: bool,
    /// Without description, and with an empty text in place of a result, for lists that show neither: they may be
    /// large.
    pub brief: bool,
    /// Only those whose target has given no sign of life in time.
    pub stalled: bool,
    /// Only where the caller has this role.
    pub role: Option<Role>,
    /// Only with this other party.
    pub with: Option<AgentId>,
    /// Only with this in their title.
    pub text: Option<SearchText>,
    /// Only from before this place in the order.
    pub before: Option<(Timestamp, TaskId)>,
    pub limit: i64,
}

#[derive(Debug)]
pub struct Found {
    /// The tasks, newest first.
    pub tasks: Vec<Task>,
    /// Where it stopped before it had found enough, because the page is full or a search has gone through enough.
    pub stopped_at: Option<(Timestamp, TaskId)>,
}

/// An agent's tasks, newest first. Drafts for it are not among them.
pub fn list(tx: &mut Tx<'_>, by: &AgentId, filter: &Filter) -> Result<Found, Error> {
    let mut sides = Vec::new();
    if filter.held {
        return newest_of(tx, by, &held_lanes(), filter);
    }
    for role in [Role::Initiator, Role::Target] {
        if filter.role.is_some_and(|only| only != role) {
            continue;
        }
        for status in Status::ALL {
            let hidden = role == Role::Target && status == Status::Draft;
            if !hidden && (filter.statuses.is_empty() || filter.statuses.contains(&status)) {
                sides.extend(lanes(role, status).map(|lane| Lane { role, status, lane }));
            }
        }
    }
    newest_of(tx, by, &sides, filter)
}

/// The tasks held at an agent's gate, newest first.
pub fn held(
    tx: &mut Tx<'_>,
    target: &AgentId,
    before: Option<&(Timestamp, TaskId)>,
    limit: i64,
) -> Result<Found, Error> {
    let filter = Filter { before: before.cloned(), limit, ..Filter::default() };
    newest_of(tx, target, &held_lanes(), &filter)
}

fn held_lanes() -> Vec<Lane> {
    let lanes = (HELD_LANES..2 * HELD_LANES).map(Some);
    lanes.map(|lane| Lane { role: Role::Target, status: Status::Submitted, lane }).collect()
}

/// A part of an index in which an agent's tasks stand in the order of their age.
#[derive(Debug, Clone, Copy)]
struct Lane {
    role: Role,
    status: Status,
    lane: Option<i64>,
}

/// The lanes that an index keeps apart. Only the target's has any, and more than one only for what waits.
fn lanes(role: Role, status: Status) -> impl Iterator<Item = Option<i64>> {
    let (count, known) = match (role, status) {
        (Role::Target, Status::Submitted) => (2 * HELD_LANES, true),
        (Role::Target, _) => (1, true),
        (Role::Initiator | Role::Hub, _) => (1, false),
    };
    (0..count).map(move |lane| known.then_some(lane))
}

/// The columns of a task in lists that show no long text. A result is told by an empty one.
static BRIEF: LazyLock<String> = LazyLock::new(|| {
    let brief = |column| match column {
        "t.description" | "t.foreign_parts" | "t.foreign_extras" => "null",
        "t.result" => "case when t.result is null then null else '' end",
        other => other,
    };
    let all = select_list::<Task>();
    let columns: Vec<&str> = all.split(", ").map(brief).collect();
    columns.join(", ")
});

/// The newest tasks of several lanes together.
fn newest_of(tx: &mut Tx<'_>, by: &AgentId, sides: &[Lane], filter: &Filter) -> Result<Found, Error> {
    // Drafts for it: there are none that it may see.
    if sides.is_empty() {
        return Ok(Found { tasks: Vec::new(), stopped_at: None });
    }
    let scanned = match (&filter.text, &filter.with) {
        _ if filter.stalled => Some(SILENT_SCAN_MAX),
        (Some(_), _) => Some(SEARCH_SCAN_MAX),
        (None, Some(_)) => Some(PARTY_SCAN_MAX),
        (None, None) => None,
    };
    let mut query = Query::default();
    push_page(&mut query, by, sides, filter, scanned);
    let (tasks, cut) = rows_of(tx, query, filter)?;
    if cut {
        let stopped_at = tasks.last().map(|last| (last.created_at, last.id.clone()));
        return Ok(Found { tasks, stopped_at });
    }
    let enough = i64::try_from(tasks.len()).is_ok_and(|found| found >= filter.limit);
    let stopped_at = match scanned {
        Some(scanned) if !enough => last_looked_at(tx, by, sides, filter, scanned)?,
        _ => None,
    };
    Ok(Found { tasks, stopped_at })
}

/// The places of the tasks on a page, newest first: their ids come from the indexes, and what a filter asks besides is
/// looked up in their rows.
fn push_page(query: &mut Query, by: &AgentId, sides: &[Lane], filter: &Filter, scanned: Option<i64>) {
    let looks_into_rows = filter.text.is_some() || filter.stalled;
    if looks_into_rows {
        query.push("select t.id, t.created_at from (");
    }
    if filter.with.is_some() {
        query.push("select id, created_at from (");
    }
    push_newest(query, by, sides, filter);
    query.push(" limit ").bind(scanned.unwrap_or(filter.limit));
    if let Some(with) = &filter.with {
        query.push(") scanned where party = ").bind(with);
        if !looks_into_rows {
            query.push(NEWEST_FIRST).push(" limit ").bind(filter.limit);
        }
    }
    if !looks_into_rows {
        return;
    }
    query.push(") looked_at join tasks t on t.id = looked_at.id where 1 = 1");
    if let Some(text) = &filter.text {
        query.push(" and t.search_title like ").bind(contains_pattern(&searchable(text.as_str().trim())));
        query.push(" escape '!'");
    }
    if filter.stalled {
        query.push(" and t.stalled_at is not null");
    }
    query.push(" order by t.created_at desc, t.id desc limit ").bind(filter.limit);
}

/// The rows of a page, and whether they are more than fit on it. SQLite reads each by its key: in one query it would read
/// all columns into a table of its own and sort that. For PostgreSQL each query is a message, so it gets one.
fn rows_of(tx: &mut Tx<'_>, page: Query, filter: &Filter) -> Result<(Vec<Task>, bool), Error> {
    static BY_KEY: LazyLock<[String; 2]> = LazyLock::new(|| {
        [select_list::<Task>(), BRIEF.clone()]
            .map(|columns| format!("select {columns} from tasks t {JOINED} where t.id = ?1"))
    });
    if !tx.asks_by_message() {
        let places = tx.list::<(TaskId, Timestamp)>(&page.sql, &page.params)?;
        let ids: Vec<Value<'_>> = places.iter().map(|(id, _)| id.into()).collect();
        return tx.list_page_by_key(&BY_KEY[usize::from(filter.brief)], &ids);
    }
    let columns = if filter.brief { BRIEF.as_str() } else { sql!("{}", Task) };
    let sql = format!(
        "select {columns} from ({}) page join tasks t on t.id = page.id {JOINED} order by t.created_at desc, t.id desc",
        page.sql
    );
    tx.list_page(&sql, &page.params)
}

/// The oldest task that a search goes through; nothing if it goes through all there are.
fn last_looked_at(
    tx: &mut Tx<'_>,
    by: &AgentId,
    sides: &[Lane],
    filter: &Filter,
    scanned: i64,
) -> Result<Option<(Timestamp, TaskId)>, Error> {
    let mut query = Query::default();
    query.push("select id, created_at from (");
    push_newest(&mut query, by, sides, filter);
    query.push(" limit 1 offset ").bind(scanned - 1).push(") last");
    let last = tx.find::<(TaskId, Timestamp)>(&query.sql, &query.params)?;
    Ok(last.map(|(id, at)| (at, id)))
}

const NEWEST_FIRST: &str = " order by created_at desc, id desc";

/// Ids, times and other parties of all lanes' tasks, newest first. Every lane is in this order in its index, and has no
/// limit of its own: so a database merges them, and reads no more of each than it gives. SQLite would do so without the
/// lanes' own order; PostgreSQL would read and sort all there are.
fn push_newest(query: &mut Query, by: &AgentId, sides: &[Lane], filter: &Filter) {
    query.push("select id, created_at, party from (");
    for (number, side) in sides.iter().enumerate() {
        if number > 0 {
            query.push(" union all ");
        }
        let (own, party) = match side.role {
            Role::Target => ("target_id", "initiator_id"),
            Role::Initiator | Role::Hub => ("initiator_id", "target_id"),
        };
        query.push("select id, created_at, party from (select id, created_at, ").push(party);
        query.push(" as party from tasks where ").push(own);
        query.push(" = ").bind(by).push(" and status = ").bind(side.status);
        if let Some(lane) = side.lane {
            query.push(" and lane = ").bind(lane);
        }
        // A draft that was given up was never published.
        if side.role == Role::Target && side.status == Status::Cancelled {
            query.push(" and queued_at is not null");
        }
        if let Some((at, id)) = &filter.before {
            query.push(" and (created_at, id) < (").bind(*at).push(", ").bind(id).push(")");
        }
        query.push(NEWEST_FIRST).push(") lane");
    }
    query.push(") found").push(NEWEST_FIRST);
}

/// The newest task between two agents that is open to messages, among a bounded number of each's newest.
pub fn newest_open(tx: &mut Tx<'_>, one: &AgentId, other: &AgentId) -> Result<Option<TaskId>, Error> {
    let mut query = Query::default();
    query.push("select id from (");
    let mut first = true;
    for (initiator, target) in [(one, other), (other, one)] {
        for status in Status::ALL.into_iter().filter(|status| status.is_live()) {
            if !first {
                query.push(" union all ");
            }
            first = false;
            query.push("select id, created_at from (select id, created_at, target_id, lane from tasks");
            query.push(" where initiator_id = ").bind(initiator).push(" and status = ").bind(status);
            query.push(" order by created_at desc, id desc limit ").bind(SEARCH_SCAN_MAX);
            query.push(") newest where target_id = ").bind(target).push(" and lane < ").bind(HELD_LANES);
        }
    }
    query.push(") found order by created_at desc, id desc limit 1");
    tx.find(&query.sql, &query.params)
}

/// The published tasks that are part of another, oldest first, without what is written in them: nobody sees that here.
pub fn children(tx: &mut Tx<'_>, parent: &TaskId, limit: i64) -> Result<Vec<Task>, Error> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!(
            "select {} from tasks t {JOINED} where t.parent_id = ?1 and t.queued_at is not null
             order by t.created_at, t.id limit ?2",
            select_items_without::<Task>(&["description", "result", "parts", "extras"]).join(", ")
        )
    });
    tx.list(&SQL, &[parent.into(), limit.into()])
}

/// Who made a task, whatever its size.
pub fn initiator_of(tx: &mut Tx<'_>, id: &TaskId) -> Result<Option<AgentId>, Error> {
    Ok(tx.list("select initiator_id from tasks where id = ?1", &[id.into()])?.pop())
}

/// The oldest live tasks of an agent, without their contents. Drafts for it are not among them.
pub fn oldest_live(tx: &mut Tx<'_>, by: &AgentId, limit: i64) -> Result<Vec<Task>, Error> {
    let mut query = Query::default();
    query.push("select ").push(&BRIEF).push(" from (");
    let mut is_first = true;
    for role in [Role::Initiator, Role::Target] {
        for status in Status::ALL.into_iter().filter(|status| status.is_live()) {
            for lane in lanes(role, status) {
                query.push(if std::mem::take(&mut is_first) { "" } else { " union all " });
                query.push("select id from (select id from tasks where ");
                query.push(if role == Role::Target { "target_id = " } else { "initiator_id = " }).bind(by);
                query.push(" and status = ").bind(status);
                if let Some(lane) = lane {
                    query.push(" and lane = ").bind(lane);
                }
                query.push(" order by created_at, id limit ").bind(limit).push(") lane");
            }
        }
    }
    query.push(") page join tasks t on t.id = page.id ").push(JOINED);
    query.push(" order by t.created_at, t.id limit ").bind(limit);
    tx.list(&query.sql, &query.params)
}

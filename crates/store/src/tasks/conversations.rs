//! Tasks of a conversation: by what a client sent, and by their states.

use tandem_core::a2a::TaskState;
use tandem_core::tasks::Task;
use tandem_core::{AgentId, TaskId, Timestamp};

use super::JOINED;
use crate::query::Query;
use crate::table::sql;
use crate::{Error, Tx};

/// The newest task that was made by a message with this hash since a time.
pub fn by_foreign_hash(tx: &mut Tx<'_>, hash: &[u8], since: Timestamp) -> Result<Option<Task>, Error> {
    let sql = sql!(
        "select {} from tasks t {JOINED} where t.foreign_hash = ?1 and t.created_at > ?2
         order by t.created_at desc limit 1",
        Task
    );
    tx.find(sql, &[hash.into(), since.into()])
}

/// Which tasks of one agent for another are wanted, by the time of their last change of status, newest first.
#[derive(Debug, Clone)]
pub struct InState<'a> {
    pub initiator: &'a AgentId,
    pub target: &'a AgentId,
    /// Only of this conversation.
    pub context: Option<&'a str>,
    pub states: &'a [TaskState],
    /// Only those whose status changed at this time or later.
    pub since: Option<Timestamp>,
}

impl InState<'_> {
    /// The condition for one state. Each is a range of an index, in the order of time.
    fn push(&self, query: &mut Query, state: TaskState) {
        query.push(" from tasks where initiator_id = ").bind(self.initiator);
        query.push(" and target_id = ").bind(self.target);
        if let Some(context) = self.context {
            query.push(" and context_id = ").bind(context);
        }
        query.push(" and a2a_state = ").bind(state.number());
        if let Some(since) = self.since {
            query.push(" and status_at >= ").bind(since);
        }
    }
}

fn page_query(wanted: &InState<'_>, before: Option<&(Timestamp, TaskId)>, limit: i64) -> Query {
    let mut query = Query::default();
    query.push(sql!("select {} from (select id from (", Task));
    for (number, state) in wanted.states.iter().enumerate() {
        query.push(if number > 0 { " union all " } else { "" });
        query.push("select id, status_at from (select id, status_at");
        wanted.push(&mut query, *state);
        if let Some((at, id)) = before {
            query.push(" and (status_at, id) < (").bind(*at).push(", ").bind(id).push(")");
        }
        query.push(" order by status_at desc, id desc limit ").bind(limit).push(") lane");
    }
    query.push(") found order by status_at desc, id desc limit ").bind(limit);
    query.push(") page join tasks t on t.id = page.id ").push(JOINED);
    query.push(" order by t.status_at desc, t.id desc");
    query
}

/// Tasks from before a place in the order, and whether a page had no room for all that were asked for.
pub fn in_state(
    tx: &mut Tx<'_>,
    wanted: &InState<'_>,
    before: Option<&(Timestamp, TaskId)>,
    limit: i64,
) -> Result<(Vec<Task>, bool), Error> {
    let query = page_query(wanted, before, limit);
    tx.list_page(&query.sql, &query.params)
}

fn count_query(wanted: &InState<'_>, limit: i64) -> Query {
    let mut query = Query::default();
    query.push("select count(*) from (select 1 as one from (");
    for (number, state) in wanted.states.iter().enumerate() {
        query.push(if number > 0 { " union all " } else { "" });
        query.push("select 1 as one");
        wanted.push(&mut query, *state);
    }
    query.push(") found limit ").bind(limit).push(") counted");
    query
}

/// How many tasks there are, counted up to a limit.
pub fn count_in_state(tx: &mut Tx<'_>, wanted: &InState<'_>, limit: i64) -> Result<i64, Error> {
    let query = count_query(wanted, limit);
    tx.get(&query.sql, &query.params)
}

/// How SQLite reads what [`in_state`] and [`count_in_state`] ask for: a test looks for the indexes.
#[cfg(test)]
pub(crate) fn query_plans(tx: &mut Tx<'_>, wanted: &InState<'_>) -> Result<Vec<String>, Error> {
    let before = (Timestamp(1), wanted.initiator.as_str().parse().unwrap_or_else(|_| unreachable!("an id")));
    let mut plans = Vec::new();
    for query in [page_query(wanted, Some(&before), 9), count_query(wanted, 9)] {
        for mut row in tx.rows(&format!("explain query plan {}", query.sql), &query.params)? {
            // Two numbers of nodes and a number that is not used come before the words.
            let _: (i64, i64) = (row.take()?, row.take()?);
            let _: i64 = row.take()?;
            plans.push(row.take()?);
        }
    }
    Ok(plans)
}

/// What a client of A2A said beside the text of a task, and the task above it.
pub type ExtrasAndParent = (Option<String>, Option<TaskId>);

pub fn extras_of(tx: &mut Tx<'_>, id: &TaskId) -> Result<Option<ExtrasAndParent>, Error> {
    tx.find("select foreign_extras, parent_id from tasks where id = ?1", &[id.into()])
}

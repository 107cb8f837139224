//! What waits for an agent, from indexed state: reading it never depends on how long the agent's event log is.

use std::sync::LazyLock;

use tandem_core::tasks::HELD_LANES;
use tandem_core::{AgentId, Role, Status, Task, TaskId, Timestamp};

use crate::declare::read;
use crate::table::{columns, select_list};
use crate::{Error, Tx};

/// A task that waits for its target, to be taken or to be approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    pub task: TaskId,
    pub title: String,
    pub status: Status,
    /// Whether it is held at the target's approval gate.
    pub held: bool,
    pub initiator: AgentId,
    pub initiator_name: String,
    pub created_at: Timestamp,
    pub acknowledged_at: Option<Timestamp>,
    /// When it expires, unless somebody takes it.
    pub expires_at: Option<Timestamp>,
    pub fetched_at: Option<Timestamp>,
    /// When it was shown to the target's model.
    pub surfaced_at: Option<Timestamp>,
}

columns! {
    "t", news: News {
        task: id,
        title,
        status,
        held: "case when t.lane >= 3 then 1 else 0 end",
        initiator: initiator_id,
        initiator_name: "i.name",
        created_at,
        acknowledged_at,
        expires_at,
        fetched_at,
        surfaced_at,
    }
}

impl From<Task> for News {
    fn from(task: Task) -> Self {
        Self {
            held: task.position().held,
            task: task.id,
            title: task.content.title,
            status: task.status,
            initiator: task.initiator,
            initiator_name: task.initiator_name,
            created_at: task.created_at,
            acknowledged_at: task.delivery.acknowledged_at,
            expires_at: task.delivery.expires_at,
            fetched_at: task.delivery.fetched_at,
            surfaced_at: task.delivery.surfaced_at,
        }
    }
}

/// The newest submitted tasks of a target, in no order: at most `limit` of each lane, of which the index tells the
/// newest without reading the others.
pub fn submitted(tx: &mut Tx<'_>, target: &AgentId, limit: i64) -> Result<Vec<News>, Error> {
    tx.list(submitted_sql(), &[target.into(), limit.into()])
}

fn submitted_sql() -> &'static str {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let lane = |lane: i64| {
            format!(
                "select * from (select id, title, status, lane, initiator_id, created_at, acknowledged_at,
                     expires_at, fetched_at, surfaced_at from tasks
                 where target_id = ?1 and status = 'submitted' and lane = {lane}
                 order by created_at desc, id desc limit ?2) lane_{lane}"
            )
        };
        let lanes: Vec<String> = (0..2 * HELD_LANES).map(lane).collect();
        let (columns, lanes) = (select_list::<News>(), lanes.join(" union all "));
        format!("select {columns} from ({lanes}) t join agents i on i.id = t.initiator_id")
    });
    &SQL
}

/// A thread with messages that a party has neither read nor acknowledged as updates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    pub task: TaskId,
    pub title: String,
    /// Who made the task, and so wrote the title.
    pub initiator: AgentId,
    pub count: i64,
    /// The number of the first one's event in the party's log.
    pub first: i64,
}

/// The threads in which something came for an agent after the cursor that it has acknowledged, those that have waited
/// longest first.
pub fn unseen(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    role: Role,
    after: i64,
    limit: i64,
) -> Result<Vec<Thread>, Error> {
    tx.list(unseen_sql(role), &[agent.into(), after.into(), limit.into()])
}

columns! {
    "t", thread: Thread {
        task: id,
        title,
        initiator: initiator_id,
        count: "t.unseen",
        first: "t.unseen_first",
    }
}

fn unseen_sql(role: Role) -> &'static str {
    fn of(own: &str) -> String {
        let columns = select_list::<Thread>();
        format!(
            "select {columns} from (select id, title, initiator_id, {own}_unseen unseen,
                     {own}_unseen_first unseen_first from tasks
                 where {own}_id = ?1 and {own}_unseen_first > ?2 order by {own}_unseen_first limit ?3) t
             order by t.unseen_first"
        )
    }
    static INITIATOR: LazyLock<String> = LazyLock::new(|| of("initiator"));
    static TARGET: LazyLock<String> = LazyLock::new(|| of("target"));
    if role == Role::Target { &TARGET } else { &INITIATOR }
}

/// The threads of which an acknowledgement that moves the cursor covers some messages, and not all.
pub fn seen_in_part(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    role: Role,
    from: i64,
    to: i64,
) -> Result<Vec<TaskId>, Error> {
    let in_part = if role == Role::Target {
        read!([id]: "tasks where target_id = ?1 and target_unseen_first > ?2 and target_unseen_first <= ?3
                 and target_unseen_last > ?3",
            of tasks { target_id: 1 } uses [target_unseen_first, target_unseen_last])
    } else {
        read!([id]: "tasks where initiator_id = ?1 and initiator_unseen_first > ?2 and initiator_unseen_first <= ?3
                 and initiator_unseen_last > ?3",
            of tasks { initiator_id: 1 } uses [initiator_unseen_first, initiator_unseen_last])
    };
    in_part.list(tx, &[agent.into(), from.into(), to.into()])
}

/// How SQLite reads what [`submitted`] and [`unseen`] ask for: a test looks for the indexes.
pub fn query_plans(tx: &mut Tx<'_>) -> Result<Vec<String>, Error> {
    let mut plans = Vec::new();
    for sql in [submitted_sql(), unseen_sql(Role::Initiator), unseen_sql(Role::Target)] {
        let params = ["agent_x".into(), 1.into(), 1.into()];
        let used = if sql.contains("?3") { &params[..] } else { &params[..2] };
        for mut row in tx.rows(&format!("explain query plan {sql}"), used)? {
            // Two numbers of nodes and a number that is not used come before the words.
            let _: (i64, i64) = (row.take()?, row.take()?);
            let _: i64 = row.take()?;
            plans.push(row.take()?);
        }
    }
    Ok(plans)
}

//! How many tasks an agent has in each status, counted only up to a limit, so that the cost does not grow with what is
//! stored.

use std::sync::LazyLock;

use tandem_core::tasks::HELD_LANES;
use tandem_core::{AgentId, Role, Status, Timestamp};

use crate::{Error, Tx};

/// A number of tasks of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    pub role: Role,
    pub status: Status,
    /// Whether they are held for the target's approval. Those are not counted among the submitted ones.
    pub is_held: bool,
    /// How many there are, up to the limit.
    pub count: i64,
}

/// What is counted, in the order of the rows.
static COUNTED: LazyLock<Vec<(Role, Status, bool)>> = LazyLock::new(|| {
    let mut counted = vec![(Role::Initiator, Status::Draft, false), (Role::Target, Status::Submitted, true)];
    for role in [Role::Initiator, Role::Target] {
        counted.extend(Status::ALL.into_iter().filter(|s| *s != Status::Draft).map(|s| (role, s, false)));
    }
    counted
});

static SQL: LazyLock<String> = LazyLock::new(|| {
    let one = |(number, (role, status, is_held)): (usize, &(Role, Status, bool))| {
        let is_target = *role == Role::Target;
        let party = if is_target { "target_id" } else { "initiator_id" };
        let more = match (is_target, status.is_terminal(), is_held) {
            (_, _, true) => format!(" and lane >= {HELD_LANES}"),
            (true, false, _) => format!(" and lane < {HELD_LANES}"),
            // Ended tasks count for a while only. They are all in the first lane, so the index serves the time. A draft
            // that was cancelled is its initiator's alone.
            (true, true, _) => " and lane = 0 and created_at >= ?2 and queued_at is not null".to_owned(),
            (false, true, _) => " and created_at >= ?2".to_owned(),
            (false, false, _) => String::new(),
        };
        format!(
            "select {number} as number, (select count(*) from
                 (select 1 from tasks where {party} = ?1 and status = '{}'{more} limit ?3) as c) as found",
            status.as_str()
        )
    };
    COUNTED.iter().enumerate().map(one).collect::<Vec<_>>().join(" union all ")
});

/// The tasks of an agent by role and status. Ended tasks are counted if they were created since `since`; each number
/// stops at `limit`.
pub fn counts(tx: &mut Tx<'_>, agent: &AgentId, since: Timestamp, limit: i64) -> Result<Vec<Count>, Error> {
    let rows: Vec<(i64, i64)> = tx.list(&SQL, &[agent.into(), since.into(), limit.into()])?;
    let counted = rows.into_iter().filter_map(|(number, count)| {
        let (role, status, is_held) = *COUNTED.get(usize::try_from(number).ok()?)?;
        Some(Count { role, status, is_held, count })
    });
    Ok(counted.collect())
}

/// How many open tasks an agent would have before a new one of a rank, up to a limit.
pub fn ahead_of_new(tx: &mut Tx<'_>, target: &AgentId, rank: i64, limit: i64) -> Result<i64, Error> {
    let of = |status: Status, lanes: &str| {
        let status = status.as_str();
        format!("select id from tasks where target_id = ?1 and status = '{status}' and lane {lanes}")
    };
    let ranges = [
        of(Status::Submitted, "<= ?2"),
        of(Status::Working, "= 0"),
        of(Status::InputRequired, "= 0"),
        of(Status::AuthRequired, "= 0"),
    ];
    let sql = format!(
        "select count(*) from (select 1 as one from ({}) found limit ?3) counted",
        ranges.join(" union all ")
    );
    tx.get(&sql, &[target.into(), rank.into(), limit.into()])
}

/// How many of the tasks that an agent has sent since a time ended in a status, by their targets. At most so many are
/// looked at, the newest; only an index is read.
pub fn ended_by_target(
    tx: &mut Tx<'_>,
    initiator: &AgentId,
    status: Status,
    since: Timestamp,
    limit: i64,
) -> Result<Vec<(AgentId, i64)>, Error> {
    tx.list(
        "select target_id, count(*) from
             (select target_id from tasks where initiator_id = ?1 and status = ?2 and created_at >= ?3
              order by created_at desc, id desc limit ?4) ended
         group by target_id",
        &[initiator.into(), status.into(), since.into(), limit.into()],
    )
}

//! Tasks at an agent's approval gate: those that wait, those that were decided, and the record of a sender there.

use std::sync::LazyLock;

use tandem_core::tasks::{HELD_LANES, Task};
use tandem_core::{AgentId, Approval, Status, TaskId, Timestamp};

use super::JOINED;
use crate::query::Query;
use crate::table::sql;
use crate::{Error, Tx};

/// How many of an agent's newest tasks in each status are searched for decided ones.
const DECIDED_SCAN_MAX: i64 = 20;

/// The tasks held at an agent's gate, oldest first, from after a place in that order, and whether a page had no room for
/// all that were asked for.
pub fn held_oldest(
    tx: &mut Tx<'_>,
    target: &AgentId,
    after: Option<&(Timestamp, TaskId)>,
    limit: i64,
) -> Result<(Vec<Task>, bool), Error> {
    let mut query = Query::default();
    query.push(sql!("select {} from (select id, created_at from (", Task));
    for lane in HELD_LANES..2 * HELD_LANES {
        if lane > HELD_LANES {
            query.push(" union all ");
        }
        query.push("select id, created_at from (select id, created_at from tasks where target_id = ");
        query.bind(target).push(" and status = ").bind(Status::Submitted).push(" and lane = ").bind(lane);
        if let Some((at, id)) = after {
            query.push(" and (created_at, id) > (").bind(*at).push(", ").bind(id).push(")");
        }
        query.push(" order by created_at, id limit ").bind(limit).push(") lane");
    }
    query.push(") found order by created_at, id limit ").bind(limit);
    query.push(") page join tasks t on t.id = page.id ").push(JOINED).push(" order by t.created_at, t.id");
    tx.list_page(&query.sql, &query.params)
}

/// Some tasks on which an agent decided lately, the last changed first. A bounded number of its newest tasks is searched.
pub fn decided(tx: &mut Tx<'_>, target: &AgentId, limit: i64) -> Result<Vec<Task>, Error> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        // Each lane by itself, so that the index gives the order. Only submitted tasks have lanes.
        let newest = |(status, lane): (Status, i64)| {
            format!(
                "select id, approval, updated_at from (select id, approval, updated_at from tasks
                     where target_id = ?1 and status = '{}' and lane = {lane} and queued_at is not null
                     order by created_at desc, id desc limit ?2) s",
                status.as_str()
            )
        };
        let published = Status::ALL.into_iter().filter(|status| *status != Status::Draft);
        let lanes = |status: Status| 0..if status == Status::Submitted { HELD_LANES } else { 1 };
        let all = published.flat_map(|status| lanes(status).map(move |lane| (status, lane)));
        let all = all.map(newest).collect::<Vec<_>>().join(" union all ");
        let columns = crate::table::select_items_without::<Task>(&[
            "description",
            "result",
            "description_keys",
            "parts",
            "extras",
        ])
        .join(", ");
        format!(
            "select {columns} from (select id, updated_at from ({all}) a where approval in ('approved', 'rejected')
                 order by updated_at desc, id desc limit ?3) page
             join tasks t on t.id = page.id {JOINED} order by t.updated_at desc, t.id desc"
        )
    });
    tx.list(&SQL, &[target.into(), DECIDED_SCAN_MAX.into(), limit.into()])
}

/// How many tasks of a sender an agent has approved and rejected at its gate, each counted up to a limit.
pub fn record(
    tx: &mut Tx<'_>,
    target: &AgentId,
    initiator: &AgentId,
    limit: i64,
) -> Result<(i64, i64), Error> {
    let mut count = |decision: Approval| {
        let sql = "select count(*) from (select 1 from tasks
             where target_id = ?1 and initiator_id = ?2 and approval = ?3 limit ?4) counted";
        tx.get(sql, &[target.into(), initiator.into(), decision.into(), limit.into()])
    };
    Ok((count(Approval::Approved)?, count(Approval::Rejected)?))
}

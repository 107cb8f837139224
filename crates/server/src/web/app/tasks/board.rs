//! The board: the same tasks in columns by whose turn it is. Cards are links; tasks are moved on their own pages.

use std::collections::HashSet;

use tandem_api::tasks::PartyRole;
use tandem_core::Status;
use tandem_hub::ops::needs::{self, Followed, Selection};
use tandem_hub::{Error, Hub};

use super::filters::{Filters, OPEN, Statuses};
use super::row::{Group, TaskRow};
use crate::web::app::{Shell, Viewer};

/// Cards in a column.
const CARDS: usize = 20;
/// Tasks of each status that are looked at.
const LOOKED_AT: i64 = 40;

pub(super) struct Column {
    pub(super) id: &'static str,
    pub(super) word: &'static str,
    pub(super) icon: &'static str,
    pub(super) tone: &'static str,
    pub(super) cards: Vec<TaskRow>,
    /// Whether there are more than were found.
    pub(super) has_more: bool,
    /// The list where the others are.
    pub(super) all: String,
}

pub(super) async fn columns(
    hub: &Hub,
    viewer: &Viewer,
    shell: &Shell,
    filters: &Filters,
) -> Result<Vec<Column>, Error> {
    let (open, is_cut) = open_tasks(hub, viewer, filters).await?;
    let rows: Vec<TaskRow> = open.into_iter().map(|task| TaskRow::new(task, shell)).collect();
    let parts = [
        (Group::YourTurn, "turn", "gate", "wait"),
        (Group::Others, "others", "clock", "plain"),
        (Group::InWork, "work", "status-working", "active"),
    ];
    let mut columns = Vec::with_capacity(parts.len() + 2);
    for (group, id, icon, tone) in parts {
        let of_group = rows.iter().filter(|row| row.group() == group);
        let found = of_group.clone().count();
        columns.push(Column {
            id,
            word: group.word(),
            icon,
            tone,
            cards: of_group.take(CARDS).cloned().collect(),
            has_more: found > CARDS || is_cut,
            all: filters.in_statuses(Statuses::Open).href(&shell.base),
        });
    }
    let ended = [
        ("done", "Completed", Statuses::One(Status::Completed), "status-completed", "good"),
        ("bad", "Ended badly", Statuses::Bad, "status-failed", "bad"),
    ];
    for (id, word, statuses, icon, tone) in ended {
        let selection = Selection { statuses: statuses.list(), cursor: None, ..filters.selection() };
        let limit = i64::try_from(CARDS).unwrap_or(LOOKED_AT);
        let found = needs::tasks(hub, &viewer.caller, selection, limit).await?;
        columns.push(Column {
            id,
            word,
            icon,
            tone,
            has_more: found.next.is_some(),
            all: filters.in_statuses(statuses).href(&shell.base),
            cards: found.items.into_iter().map(|task| TaskRow::new(task, shell)).collect(),
        });
    }
    Ok(columns)
}

/// The newest open tasks of each status, and those that wait for the owner among older ones, newest first; and whether there
/// are more.
async fn open_tasks(hub: &Hub, viewer: &Viewer, filters: &Filters) -> Result<(Vec<Followed>, bool), Error> {
    let of =
        |statuses: &[Status]| Selection { statuses: statuses.to_vec(), cursor: None, ..filters.selection() };
    let mut selections: Vec<Selection> = OPEN.iter().map(|status| of(&[*status])).collect();
    // Held is what others sent.
    if !matches!(filters.role, Some(PartyRole::Initiator)) {
        selections.push(Selection { held: true, ..of(&[]) });
    }
    selections.push(Selection { stalled: true, ..of(&[Status::Working]) });
    let (mut found, mut seen, mut is_cut) = (Vec::new(), HashSet::new(), false);
    for selection in selections {
        let listed = needs::tasks(hub, &viewer.caller, selection, LOOKED_AT).await?;
        is_cut |= listed.next.is_some();
        found.extend(listed.items.into_iter().filter(|task| seen.insert(task.task.id.clone())));
    }
    found.sort_by_key(|task| std::cmp::Reverse((task.task.created_at, task.task.id.clone())));
    Ok((found, is_cut))
}

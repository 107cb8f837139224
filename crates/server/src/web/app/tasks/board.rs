//! The board: the same tasks in five columns. Cards are links; tasks are moved on their own pages.

use tandem_app::tasks::COUNTED_MAX;
use tandem_core::Status;
use tandem_hub::ops::needs::{self, Selection};
use tandem_hub::{Error, Hub};

use super::filters::{Filters, Statuses};
use super::row::TaskRow;
use crate::web::app::words::{self, StatusMark};
use crate::web::app::{Shell, Viewer};

/// Cards in a column.
const CARDS: i64 = 20;

pub(super) struct Column {
    pub(super) id: &'static str,
    pub(super) word: &'static str,
    pub(super) mark: StatusMark,
    pub(super) count: String,
    pub(super) cards: Vec<TaskRow>,
    /// The list of all tasks of the column, if there are more.
    pub(super) all: Option<String>,
}

pub(super) async fn columns(
    hub: &Hub,
    viewer: &Viewer,
    shell: &Shell,
    filters: &Filters,
) -> Result<Vec<Column>, Error> {
    let parts = [
        ("submitted", "Submitted", Statuses::One(Status::Submitted), Status::Submitted),
        ("working", "Working", Statuses::One(Status::Working), Status::Working),
        ("waiting", "Waits for an answer", Statuses::Waiting, Status::InputRequired),
        ("done", "Done", Statuses::One(Status::Completed), Status::Completed),
        ("bad", "Ended badly", Statuses::Bad, Status::Failed),
    ];
    let mut columns = Vec::with_capacity(parts.len());
    for (id, word, statuses, status) in parts {
        let selection = Selection { statuses: statuses.list(), cursor: None, ..filters.selection() };
        let found = needs::tasks(hub, &viewer.caller, selection, CARDS).await?;
        let all = found.next.map(|_| filters.in_statuses(statuses).href(&shell.base));
        let count = match live_count(shell, filters, statuses) {
            Some(count) => words::count(count, COUNTED_MAX),
            None => format!("{}{}", found.items.len(), if all.is_some() { "+" } else { "" }),
        };
        let cards = found.items.iter().map(|task| TaskRow::new(task, shell)).collect();
        columns.push(Column { id, word, mark: words::status(status, None), count, cards, all });
    }
    Ok(columns)
}

/// How many live tasks there are; of ended ones and of those that a search finds, nobody counts all.
fn live_count(shell: &Shell, filters: &Filters, statuses: Statuses) -> Option<i64> {
    let me = shell.me.as_ref()?;
    let list = statuses.list();
    if filters.is_searched() || list.iter().any(|status| status.is_terminal()) {
        return None;
    }
    Some(filters.count(me, statuses))
}

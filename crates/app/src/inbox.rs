//! The inbox: tasks and approvals that wait for the caller, unread threads and broadcasts.

use tandem_core::tasks::Priority;
use tandem_core::{AgentId, Now, Role};
use tandem_store::inbox::{self as rows, Item, Kind, Place};
use tandem_store::{Tx, events};

use crate::tasks::refuse_overdue;
use crate::{Error, Page};

/// A page of the inbox, by priority and then oldest first. Broadcasts have normal priority and leave the inbox when
/// their event is acknowledged.
pub fn list(
    tx: &mut Tx<'_>,
    by: &AgentId,
    after: Option<&Place>,
    limit: i64,
    now: &Now,
) -> Result<Page<Item, Place>, Error> {
    let more = limit + 1;
    let mut items = rows::waiting(tx, by, Kind::Task, after, more, now.at)?;
    items.extend(rows::waiting(tx, by, Kind::Approval, after, more, now.at)?);
    let overdue = items.iter().filter(|item| item.overdue).filter_map(|item| item.task.clone());
    refuse_overdue(overdue.collect())?;
    for role in [Role::Initiator, Role::Target] {
        items.extend(rows::threads(tx, by, role, after, more)?);
    }
    let cursors = events::cursors(tx, by)?;
    let seen = cursors.events_acked.max(cursors.updates_acked);
    items.extend(rows::broadcasts(tx, by, seen, Priority::Normal.rank(), after, more)?);
    items.sort_by_key(Item::place);
    Ok(Page::cut(items, limit, Item::place))
}

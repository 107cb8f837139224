//! The caller's inbox, in the order of importance.

use tandem_api::inbox::{InboxItem, InboxKind, InboxView};
use tandem_api::tasks::PageQuery;
use tandem_api::text::{Author, PeerCursor, PeerName, PeerText};
use tandem_app::inbox;
use tandem_core::tasks::Priority;
use tandem_core::{AgentId, MessageId, TaskId, Timestamp};
use tandem_store::Owner;
use tandem_store::inbox::{Item, Kind, Place};

use crate::ops::paging;
use crate::{Caller, Error, HubParts};

/// The kinds in order, each with its letter in a cursor.
const KINDS: [(Kind, char, InboxKind); 4] = [
    (Kind::Task, 't', InboxKind::Task),
    (Kind::Approval, 'a', InboxKind::Approval),
    (Kind::Messages, 'm', InboxKind::Messages),
    (Kind::Broadcast, 'b', InboxKind::Broadcast),
];

pub async fn list(hub: &HubParts, caller: &Caller, query: PageQuery) -> Result<InboxView, Error> {
    let limit = paging::LIST.of(query.limit)?;
    let after = query.cursor.as_deref().map(place).transpose()?;
    let by = caller.agent.clone();
    let page = hub.read(caller, move |tx, now| inbox::list(tx, &by, after.as_ref(), limit, now)).await?;
    let unfetched = page.items.iter().filter(|item| item.unfetched).filter_map(|item| item.task.clone());
    hub.mark_fetched(caller, unfetched);
    Ok(InboxView {
        items: page.items.into_iter().map(|found| item(found, &caller.agent)).collect(),
        has_more: page.next.is_some(),
        next_cursor: page.next.as_ref().map(cursor).map(PeerCursor::peer),
    })
}

pub async fn is_waiting(hub: &HubParts, agent: &AgentId) -> Result<bool, Error> {
    let by = agent.clone();
    let page = hub.read_for(Owner::agent(agent), move |tx, now| inbox::list(tx, &by, None, 1, now)).await?;
    Ok(!page.items.is_empty())
}

fn item(item: Item, me: &AgentId) -> InboxItem {
    let author = Author::of(&item.from, me);
    InboxItem {
        kind: KINDS.iter().find(|known| known.0 == item.kind).map_or(InboxKind::Task, |known| known.2),
        task_id: item.task,
        title: PeerText::new(Author::of(&item.title_by, me), item.title),
        from_agent_id: item.from,
        from_agent_name: PeerName::new(author, item.from_name),
        content: None,
        priority: Priority::ALL.into_iter().find(|p| p.rank() == item.rank).unwrap_or(Priority::Normal),
        unread_count: item.unread,
        network_id: item.network,
        message_id: item.message,
        created_at: item.at,
    }
}

/// The cursor of the page that begins behind an item.
pub(super) fn cursor_after(item: &InboxItem) -> PeerCursor {
    let kind = KINDS.iter().find(|known| known.2 == item.kind).map_or(Kind::Task, |known| known.0);
    let task = item.task_id.as_ref().map(TaskId::as_str);
    let id = task.or(item.message_id.as_ref().map(MessageId::as_str)).unwrap_or_default();
    PeerCursor::peer(cursor(&(item.priority.rank(), item.created_at, kind, id.to_owned())))
}

fn cursor(place: &Place) -> String {
    let letter = KINDS.iter().find(|known| known.0 == place.2).map_or('t', |known| known.1);
    format!("{}.{}.{letter}.{}", place.0, place.1.0, place.3)
}

fn place(cursor: &str) -> Result<Place, Error> {
    let mut parts = cursor.splitn(4, '.');
    let mut next = || parts.next().ok_or_else(paging::bad_cursor);
    let rank = next()?.parse().map_err(|_| paging::bad_cursor())?;
    let at = next()?.parse().map_err(|_| paging::bad_cursor())?;
    let letter = next()?;
    let kind = KINDS.iter().find(|known| letter.chars().eq([known.1])).ok_or_else(paging::bad_cursor)?.0;
    let id = next()?.to_owned();
    if !(0..3).contains(&rank) || id.contains('\0') {
        return Err(paging::bad_cursor().into());
    }
    Ok((rank, Timestamp(at), kind, id))
}

//! What waits for the caller, in the order in which to look at it.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::inbox::{InboxItem, InboxKind, InboxView};
use tandem_api::tasks::PageQuery;
use tandem_app::inbox;
use tandem_core::Timestamp;
use tandem_core::tasks::Priority;
use tandem_store::inbox::{Item, Kind, Place};

use crate::http::front::{Caller, SentUri};
use crate::http::{ApiError, Query, json_response, paging};
use crate::hub::{Hub, json};

/// The kinds in their order, with the letter that stands for each in a cursor.
const KINDS: [(Kind, char, InboxKind); 4] = [
    (Kind::Task, 't', InboxKind::Task),
    (Kind::Approval, 'a', InboxKind::Approval),
    (Kind::Messages, 'm', InboxKind::Messages),
    (Kind::Broadcast, 'b', InboxKind::Broadcast),
];

/// What waits for you.
///
/// Tasks to take, tasks to approve, threads with something unread, broadcasts: by priority, then oldest first. A
/// broadcast stays until its event is acknowledged by `POST /events/ack` or `POST /updates/ack`.
#[utoipa::path(get, path = "/inbox", tag = "updates", params(PageQuery),
    responses((status = 200, body = InboxView)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Caller(me): Caller,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let limit = paging::LIST.of(query.limit)?;
    let after = query.cursor.as_deref().map(place).transpose()?;
    let by = me.clone();
    let page = hub.read(move |tx, now| inbox::list(tx, &by, after.as_ref(), limit, now)).await?;
    let unfetched = page.items.iter().filter(|item| item.unfetched).filter_map(|item| item.task.clone());
    hub.note_fetched(&me, unfetched.collect()).await?;
    let view = InboxView { items: page.items.into_iter().map(item).collect(), has_more: page.next.is_some() };
    let response = json_response(StatusCode::OK, json(&view));
    Ok(paging::linked(response, page.next.as_ref().map(cursor).as_deref(), &uri))
}

fn item(item: Item) -> InboxItem {
    InboxItem {
        kind: KINDS.iter().find(|known| known.0 == item.kind).map_or(InboxKind::Task, |known| known.2),
        task_id: item.task,
        title: item.title,
        from_agent_id: item.from,
        from_agent_name: item.from_name,
        priority: Priority::ALL.into_iter().find(|p| p.rank() == item.rank).unwrap_or(Priority::Normal),
        unread_count: item.unread,
        network_id: item.network,
        message_id: item.message,
        created_at: item.at,
    }
}

fn cursor(place: &Place) -> String {
    let letter = KINDS.iter().find(|known| known.0 == place.2).map_or('t', |known| known.1);
    format!("{}.{}.{letter}.{}", place.0, place.1.0, place.3)
}

fn place(cursor: &str) -> Result<Place, ApiError> {
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

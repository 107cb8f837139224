//! What is new for the caller, as a model is shown it: updates with the events beside them, and the text of broadcasts.

use tandem_api::error::Code;
use tandem_api::events::TypedEvent;
use tandem_api::inbox::InboxView;
use tandem_api::tasks::PageQuery;
use tandem_api::text::PeerText;
use tandem_api::updates::NewsView;
use tandem_app::events;
use tandem_app::updates::{self, Updates};
use tandem_core::MessageId;
use tandem_core::events::EventKind;
use tandem_store::events::Logged;

use super::events::view as event_view;
use super::{inbox, networks};
use crate::{Caller, Error, HubParts};

/// Events about tasks that are neither a new task nor a message, and broadcasts.
const CHANGES: [EventKind; 5] = [
    EventKind::TaskUpdated,
    EventKind::TaskStalled,
    EventKind::TaskReassigned,
    EventKind::MessageNoAck,
    EventKind::BroadcastCreated,
];
/// Events about connections.
const ABOUT_PEERS: [EventKind; 2] = [EventKind::AgentConnected, EventKind::AgentDisconnected];
/// Events that are no reason to wake anybody.
const RECEIPTS: [EventKind; 2] = [EventKind::MessageRead, EventKind::MessageAcknowledged];
/// Pages of the event log in one look.
const PAGES_MAX: usize = 20;

fn is_one_of(kinds: &[EventKind], event: &Logged) -> bool {
    kinds.iter().any(|kind| kind.as_str() == event.kind)
}

/// Whether an event ends a wait for news.
#[must_use]
pub fn ends_a_wait(event: &Logged) -> bool {
    !is_one_of(&RECEIPTS, event)
}

/// What is new for the caller.
#[derive(Debug)]
pub struct News {
    updates: Updates,
    events: Vec<Logged>,
}

impl News {
    /// Whether nothing is new.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let updates = &self.updates;
        updates.tasks.is_empty()
            && updates.approvals.is_empty()
            && updates.unread.is_empty()
            && self.events.is_empty()
    }

    /// The number of the last event that was looked at.
    #[must_use]
    pub fn cursor(&self) -> i64 {
        self.updates.cursor
    }
}

/// What is new since the caller's last acknowledgement, or after a number in its log. Events about connections are only
/// shown after `peers_after`, to a caller that waited for them.
pub async fn find(
    hub: &HubParts,
    caller: &Caller,
    after: Option<i64>,
    peers_after: Option<i64>,
) -> Result<News, Error> {
    let by = caller.agent.clone();
    // A caller that has waited may have lost its key meanwhile.
    let (updates, log) = hub
        .read_as(caller, move |tx, now| {
            let mut updates = updates::check(tx, &by, after, now)?;
            let mut log = events::read(tx, &by, Some(updates.since))?;
            for _ in 1..PAGES_MAX {
                if !log.has_more {
                    break;
                }
                let next = events::read(tx, &by, Some(log.cursor))?;
                (log.cursor, log.has_more) = (next.cursor, next.has_more);
                log.events.extend(next.events);
            }
            // What was not looked at is not shown, so it must not be acknowledged.
            updates.cursor = if log.has_more { updates.cursor.min(log.cursor) } else { updates.cursor };
            Ok((updates, log))
        })
        .await?;
    let is_late = |event: &Logged| peers_after.is_some_and(|after| event.seq > after);
    let is_shown = |event: &Logged| {
        event.seq <= updates.cursor
            && (is_one_of(&CHANGES, event) || (is_late(event) && is_one_of(&ABOUT_PEERS, event)))
    };
    let events = log.events.into_iter().filter(is_shown).collect();
    Ok(News { updates, events })
}

/// News as the wire type, with this cursor. The tasks in it count as fetched.
pub async fn view(hub: &HubParts, caller: &Caller, news: News, cursor: i64) -> Result<NewsView, Error> {
    let has_updates = !news.is_empty();
    let mut updates = super::updates::view(hub, caller, Updates { cursor, ..news.updates });
    updates.has_updates = has_updates;
    let mut events: Vec<TypedEvent> =
        news.events.into_iter().map(|event| event_view(event).typed()).collect();
    let is_broadcast = |event: &&mut TypedEvent| event.kind == EventKind::BroadcastCreated.into();
    for event in events.iter_mut().filter(is_broadcast) {
        event.data.content = broadcast_text(hub, caller, event.data.message_id.as_ref()).await?;
    }
    Ok(NewsView { updates, events })
}

/// How far the caller has acknowledged its updates.
pub async fn acknowledged(hub: &HubParts, caller: &Caller) -> Result<i64, Error> {
    let by = caller.agent.clone();
    hub.read(move |tx, _| updates::acknowledged(tx, &by)).await
}

/// A page of the inbox with the text of broadcasts.
pub async fn inbox(hub: &HubParts, caller: &Caller, page: PageQuery) -> Result<InboxView, Error> {
    let mut list = inbox::list(hub, caller, page).await?;
    for item in &mut list.items {
        item.content = broadcast_text(hub, caller, item.message_id.as_ref()).await?;
    }
    Ok(list)
}

async fn broadcast_text(
    hub: &HubParts,
    caller: &Caller,
    id: Option<&MessageId>,
) -> Result<Option<PeerText>, Error> {
    let Some(id) = id else { return Ok(None) };
    match networks::message(hub, caller, id).await {
        Ok(message) => Ok(Some(message.content)),
        // The network is gone, or the caller has left it.
        Err(gone) if gone.code() == Code::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

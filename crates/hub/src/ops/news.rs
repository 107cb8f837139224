//! What is new for the caller, as a model is shown it: updates with the events beside them, and the text of broadcasts.

use std::collections::HashMap;

use tandem_api::events::TypedEvent;
use tandem_api::inbox::InboxView;
use tandem_api::tasks::PageQuery;
use tandem_api::text::{Author, PeerText};
use tandem_api::updates::NewsView;
use tandem_app::updates::{self, Updates};
use tandem_app::{Error as AppError, events, networks};
use tandem_core::events::Subject;
use tandem_core::text::json_bytes;
use tandem_core::{AgentId, MessageId, TaskId};
use tandem_store::events::Logged;
use tandem_store::{Tx, tasks as rows};

use super::events::view as event_view;
use super::inbox;
use super::models::PAGE_BYTES_MAX;
use crate::{Caller, Error, HubParts};

/// Pages of the event log in one look.
const PAGES_MAX: usize = 20;

#[must_use]
pub fn ends_a_wait(event: &Logged) -> bool {
    event.subject().is_none_or(Subject::ends_a_wait)
}

#[derive(Debug)]
pub struct News {
    updates: Updates,
    events: Vec<TypedEvent>,
}

impl News {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let updates = &self.updates;
        updates.tasks.is_empty()
            && updates.approvals.is_empty()
            && updates.unread.is_empty()
            && self.events.is_empty()
    }

    /// Tasks in it that no model has been shown yet.
    #[must_use]
    pub fn unsurfaced(&self) -> Vec<TaskId> {
        let waiting = self.updates.tasks.iter().chain(&self.updates.approvals);
        waiting.filter(|news| news.surfaced_at.is_none()).map(|news| news.task.clone()).collect()
    }

    /// The number of the last event that was looked at.
    #[must_use]
    pub fn cursor(&self) -> i64 {
        self.updates.cursor
    }
}

/// What is new since the caller's last acknowledgement, or after a number in its log. Events about connections are only
/// shown after `peers_after`, to a caller that waited for them. The events have a limited size; the cursor then stops
/// before those that are not shown.
pub async fn find(
    hub: &HubParts,
    caller: &Caller,
    after: Option<i64>,
    peers_after: Option<i64>,
) -> Result<News, Error> {
    let by = caller.agent.clone();
    // A caller that has waited may have lost its key meanwhile.
    hub.read_as(caller, move |tx, now| {
        let mut updates = updates::check(tx, &by, after, now)?;
        let mut log = events::read(tx, &by, Some(updates.since))?;
        let is_late = |event: &Logged| peers_after.is_some_and(|after| event.seq > after);
        let is_shown = |event: &Logged| {
            event.subject().is_some_and(|it| it.is_news() || (it == Subject::Peer && is_late(event)))
        };
        let mut shown = EventsForModel::new(&by);
        let mut pages = 1;
        loop {
            let page = std::mem::take(&mut log.events);
            for event in page.into_iter().filter(|event| event.seq <= updates.cursor && is_shown(event)) {
                shown.add(tx, event)?;
            }
            if !log.has_more || shown.stopped_at.is_some() || pages == PAGES_MAX {
                break;
            }
            log = events::read(tx, &by, Some(log.cursor))?;
            pages += 1;
        }
        // What was not looked at is not shown, so it must not be acknowledged.
        updates.cursor = if log.has_more { updates.cursor.min(log.cursor) } else { updates.cursor };
        if let Some(seq) = shown.stopped_at {
            updates.cursor = updates.cursor.min(seq - 1);
        }
        Ok(News { updates, events: shown.events })
    })
    .await
}

/// Events with the text of broadcasts, up to a size.
struct EventsForModel<'a> {
    reader: &'a AgentId,
    events: Vec<TypedEvent>,
    bytes: usize,
    /// The first event that did not fit.
    stopped_at: Option<i64>,
    initiators: HashMap<TaskId, Option<AgentId>>,
}

impl<'a> EventsForModel<'a> {
    fn new(reader: &'a AgentId) -> Self {
        Self { reader, events: Vec::new(), bytes: 0, stopped_at: None, initiators: HashMap::new() }
    }

    fn add(&mut self, tx: &mut Tx<'_>, event: Logged) -> Result<(), AppError> {
        if self.stopped_at.is_some() {
            return Ok(());
        }
        let (seq, mut bytes) = (event.seq, event.data.len());
        let is_broadcast = event.subject() == Some(Subject::Broadcast);
        let initiator = match &event.task {
            Some(task) => match self.initiators.get(task) {
                Some(known) => known.clone(),
                None => {
                    let found = rows::initiator_of(tx, task)?;
                    self.initiators.insert(task.clone(), found.clone());
                    found
                }
            },
            None => None,
        };
        let mut event = event_view(event).typed_for(self.reader, initiator.as_ref());
        if let Some(id) = event.data.message_id.as_ref().filter(|_| is_broadcast) {
            event.data.content = broadcast_text(tx, self.reader, id)?;
            bytes += event.data.content.as_ref().map_or(0, |text| json_bytes(text.as_str()));
        }
        self.bytes += bytes;
        if self.bytes > PAGE_BYTES_MAX && !self.events.is_empty() {
            self.stopped_at = Some(seq);
        } else {
            self.events.push(event);
        }
        Ok(())
    }
}

/// News as the wire type, with this cursor. The tasks in it count as fetched.
pub async fn view(hub: &HubParts, caller: &Caller, news: News, cursor: i64) -> Result<NewsView, Error> {
    let has_updates = !news.is_empty();
    let mut updates = super::updates::view(hub, caller, Updates { cursor, ..news.updates });
    updates.has_updates = has_updates;
    Ok(NewsView { updates, events: news.events })
}

/// How far the caller has acknowledged its updates.
pub async fn acknowledged(hub: &HubParts, caller: &Caller) -> Result<i64, Error> {
    let by = caller.agent.clone();
    hub.read(caller, move |tx, _| updates::acknowledged(tx, &by)).await
}

/// A page of the inbox with the text of broadcasts, cut to a size.
pub async fn inbox(hub: &HubParts, caller: &Caller, page: PageQuery) -> Result<InboxView, Error> {
    let list = inbox::list(hub, caller, page).await?;
    let by = caller.agent.clone();
    hub.read_page(caller, move |tx, _| {
        let mut list = list.clone();
        let mut bytes = 0;
        for place in 0..list.items.len() {
            let item = &mut list.items[place];
            let Some(id) = &item.message_id else { continue };
            item.content = broadcast_text(tx, &by, id)?;
            bytes += item.content.as_ref().map_or(0, |text| json_bytes(text.as_str()));
            if bytes > PAGE_BYTES_MAX && place > 0 {
                list.items.truncate(place);
                list.has_more = true;
                list.next_cursor = list.items.last().map(inbox::cursor_after);
                break;
            }
        }
        Ok(list)
    })
    .await
}

/// The text of a broadcast; `None` if the network is gone or the caller has left it.
fn broadcast_text(tx: &mut Tx<'_>, by: &AgentId, id: &MessageId) -> Result<Option<PeerText>, AppError> {
    match networks::message(tx, by, id) {
        Ok(message) => Ok(Some(PeerText::new(Author::of(&message.sender, by), message.content))),
        Err(AppError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

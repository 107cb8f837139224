//! When events were written: a webhook's body says it, but what the hub pushes does not. It is in the log.

use std::collections::VecDeque;

use tandem_api::events::{EventView, EventsQuery};
use tandem_client::{Client, Error, StreamEvent};
use tandem_core::Timestamp;

/// The times of events, which are asked for in ascending order.
#[derive(Debug)]
pub(super) struct Times {
    client: Client,
    /// A page of the log. The hub limits its length.
    page: VecDeque<EventView>,
}

impl Times {
    pub(super) fn new(client: Client) -> Self {
        Self { client, page: VecDeque::new() }
    }

    /// Forgets what was read: after a restore of the hub, other events have the same numbers.
    pub(super) fn forget(&mut self) {
        self.page.clear();
    }

    /// When an event was written; `None` if it is no longer in the log.
    pub(super) async fn of(&mut self, event: &StreamEvent) -> Result<Option<Timestamp>, Error> {
        self.page.retain(|logged| logged.id >= event.cursor);
        if self.page.front().is_none_or(|first| first.id != event.cursor) {
            let query = EventsQuery { after: Some(event.cursor - 1), wait: None };
            self.page = self.client.events(&query).await?.events.into();
        }
        let is_same =
            |logged: &&EventView| logged.id == event.cursor && logged.data.get() == event.data.get();
        Ok(self.page.front().filter(is_same).map(|logged| logged.created_at))
    }
}

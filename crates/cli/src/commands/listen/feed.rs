//! An agent's events, one after the other, by long polling: a webhook's body has the time of its event, which sockets and
//! streams do not carry.

use std::collections::VecDeque;

use tandem_api::events::{EventView, EventsQuery};
use tandem_client::{Client, Error};

/// Seconds for which the hub holds a request without an event.
const WAIT_SECONDS: i64 = 50;

/// A place in an agent's event log.
#[derive(Debug)]
pub(super) struct Feed {
    client: Client,
    cursor: i64,
    read: VecDeque<EventView>,
}

impl Feed {
    /// The events after a cursor.
    pub(super) fn after(client: &Client, cursor: i64) -> Self {
        Self { client: client.clone(), cursor, read: VecDeque::new() }
    }

    /// Only events that are yet to come.
    pub(super) async fn from_now(client: &Client) -> Result<Self, Error> {
        // A cursor beyond the end means the end.
        let page = client.events(&EventsQuery { after: Some(i64::MAX), wait: None }).await?;
        Ok(Self::after(client, page.cursor))
    }

    /// The number of the last event that was returned.
    pub(super) fn cursor(&self) -> i64 {
        self.cursor
    }

    /// Waits for the next event. Dropping the future loses none.
    pub(super) async fn next(&mut self) -> Result<EventView, Error> {
        loop {
            if let Some(event) = self.read.pop_front() {
                self.cursor = event.id;
                return Ok(event);
            }
            let query = EventsQuery { after: Some(self.cursor), wait: Some(WAIT_SECONDS) };
            let page = self.client.events(&query).await?;
            // After a restore of an older backup it is smaller.
            self.cursor = self.cursor.min(page.cursor);
            self.read.extend(page.events);
        }
    }
}

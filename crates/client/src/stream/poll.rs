//! Events by long polls.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tandem_api::events::{EventsPage, EventsQuery};

use super::event::{Received, from_log};
use super::source::Interruption;
use crate::call::Call;
use crate::connection::Connection;
use crate::{Client, Error};

/// How long one request waits. Some proxies end a request without an answer after 30 seconds.
const WAIT: Duration = Duration::from_secs(25);
/// After this time the other transports are tried again.
const LIFETIME: Duration = Duration::from_secs(10 * 60);

/// Reads the log page by page, and waits at its end.
///
/// Between two requests the hub may be replaced by one that was restored. All requests use one connection, so the
/// replacement ends it. A proxy may keep it: so every page is read with the last event before it, which must still be
/// the same, and a request that waits brings no events but only says that it is time to read. Behind a proxy a restore
/// may thus be noticed as late as the end of a wait.
#[derive(Debug)]
pub(super) struct Poll {
    connection: Connection,
    events: VecDeque<Received>,
    /// The number of the last event that was read.
    position: i64,
    /// The hash of that event, once it is known. It is not if the event was deleted.
    hash: Option<u64>,
    since: Instant,
}

impl Poll {
    /// Finds the end of the log, or that it is not before the cursor.
    pub(super) async fn open(client: &Client, after: Option<i64>) -> Result<(Self, i64), Error> {
        let mut connection = Connection::over(client.connector().open().await?, client.hub()).await?;
        // The hub takes a cursor beyond the end as the end.
        let page = client.call_over(&mut connection, &call(after.unwrap_or(i64::MAX), false)).await?;
        let page: EventsPage = page.ok_or_else(|| Error::Lost {
            hub: client.hub().to_string(),
            cause: "the connection was closed".to_owned(),
        })?;
        // Events that follow a cursor show that it is not beyond the end.
        let position = if page.events.is_empty() { page.cursor } else { after.unwrap_or(page.cursor) };
        let poll = Self { connection, events: VecDeque::new(), position, hash: None, since: Instant::now() };
        Ok((poll, position))
    }

    pub(super) async fn next(
        &mut self,
        client: &Client,
        silence_max: Duration,
    ) -> Result<Received, Interruption> {
        let silence_max = silence_max.max(WAIT * 2);
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            if self.since.elapsed() > LIFETIME {
                return Err(Interruption::Renew);
            }
            match tokio::time::timeout(silence_max, self.read_or_wait(client)).await {
                Ok(read) => read?,
                Err(_) => return Err(client.timed_out(silence_max).into()),
            }
        }
    }

    /// Reads the next page. If it is empty, waits until it may no longer be.
    async fn read_or_wait(&mut self, client: &Client) -> Result<(), Interruption> {
        self.read(client).await?;
        if self.events.is_empty() {
            let waited = self.page(client, self.position, true).await?;
            self.check_end(&waited)?;
        }
        Ok(())
    }

    /// Reads the next page, if the log is still the same.
    async fn read(&mut self, client: &Client) -> Result<(), Interruption> {
        let page = self.page(client, (self.position - 1).max(0), false).await?;
        if page.events.is_empty() {
            // Nothing new, and the last event was deleted; or the log has become shorter.
            let page = self.page(client, self.position, false).await?;
            return self.check_end(&page);
        }
        let before = self.position;
        for event in page.events {
            let received = from_log(event).map_err(|cause| client.not_a_hub(cause.to_string()))?;
            let cursor = received.event.cursor;
            if cursor < before {
                continue;
            }
            if cursor == before && self.hash.is_some_and(|hash| hash != received.hash) {
                return Err(Interruption::Renew);
            }
            (self.position, self.hash) = (cursor, Some(received.hash));
            if cursor > before {
                self.events.push_back(received);
            }
        }
        Ok(())
    }

    async fn page(&mut self, client: &Client, after: i64, wait: bool) -> Result<EventsPage, Interruption> {
        client.call_over(&mut self.connection, &call(after, wait)).await?.ok_or(Interruption::Renew)
    }

    /// The hub continues from the end if our cursor is beyond it.
    fn check_end(&self, page: &EventsPage) -> Result<(), Interruption> {
        if page.cursor < self.position { Err(Interruption::Renew) } else { Ok(()) }
    }
}

fn call(after: i64, wait: bool) -> Call {
    let wait = wait.then(|| i64::try_from(WAIT.as_secs()).unwrap_or_default());
    Call::get("/events").query(&EventsQuery { after: Some(after), wait })
}

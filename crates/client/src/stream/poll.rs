//! Events by long polls.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tandem_api::events::{EventsPage, EventsQuery};

use super::event::{Start, StreamEvent, from_log, is_epoch};
use super::source::Interruption;
use crate::call::Call;
use crate::connection::Connection;
use crate::{Client, Error};

/// How long one request waits. Some proxies end a request without an answer after 30 seconds.
const WAIT: Duration = Duration::from_secs(25);
/// After this time the other transports are tried again.
const LIFETIME: Duration = Duration::from_secs(10 * 60);

/// The pause after an answer without events.
const EMPTY_PAUSE: Duration = Duration::from_millis(250);

/// Reads the log page by page, and waits at its end. Every page tells the log's epoch, so a hub that was restored between
/// two requests is noticed, also behind a proxy.
#[derive(Debug)]
pub(super) struct Poll {
    connection: Connection,
    events: VecDeque<StreamEvent>,
    /// The last event that was read.
    position: Start,
    since: Instant,
}

impl Poll {
    /// Finds where the events start.
    pub(super) async fn open(client: &Client, after: Option<&Start>) -> Result<(Self, Start), Error> {
        let mut connection = Connection::over(client.connector().open().await?, client.hub()).await?;
        // The hub takes a cursor beyond the end as the end.
        let asked = after.cloned().unwrap_or(Start { cursor: i64::MAX, epoch: None });
        let page = client.call_over(&mut connection, &call(&asked, false)).await?;
        let page: EventsPage = page.ok_or_else(|| Error::Lost {
            hub: client.hub().to_string(),
            cause: "the connection was closed".to_owned(),
        })?;
        let epoch = epoch_of(&page);
        let cursor = match page.events.first() {
            None => page.cursor,
            // Events that follow a cursor show that it is not beyond the end.
            Some(_) if asked.epoch.is_none() || asked.epoch == epoch => asked.cursor,
            Some(first) => first.id.saturating_sub(1),
        };
        let position = Start { cursor, epoch };
        let poll =
            Self { connection, events: VecDeque::new(), position: position.clone(), since: Instant::now() };
        Ok((poll, position))
    }

    pub(super) async fn next(
        &mut self,
        client: &Client,
        silence_max: Duration,
    ) -> Result<StreamEvent, Interruption> {
        let silence_max = silence_max.max(WAIT * 2);
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            if self.since.elapsed() > LIFETIME {
                return Err(Interruption::Renew);
            }
            match tokio::time::timeout(silence_max, self.read(client)).await {
                Ok(read) => read?,
                Err(_) => return Err(client.timed_out(silence_max).into()),
            }
        }
    }

    /// Reads the next page, and waits for it at the end of the log.
    async fn read(&mut self, client: &Client) -> Result<(), Interruption> {
        let page = client.call_over(&mut self.connection, &call(&self.position, true)).await?;
        let page: EventsPage = page.ok_or(Interruption::Renew)?;
        if epoch_of(&page) != self.position.epoch || page.cursor < self.position.cursor {
            return Err(Interruption::Renew);
        }
        if page.events.is_empty() {
            // A hub that does not wait is not asked without a pause.
            tokio::time::sleep(EMPTY_PAUSE).await;
        }
        for event in page.events {
            let event = from_log(event).map_err(|cause| client.not_a_hub(cause.to_string()))?;
            if event.cursor <= self.position.cursor {
                return Err(client.not_a_hub("a log whose cursor does not advance").into());
            }
            self.position.cursor = event.cursor;
            self.events.push_back(event);
        }
        Ok(())
    }
}

/// The epoch of a page. An older hub has none.
fn epoch_of(page: &EventsPage) -> Option<String> {
    Some(page.epoch.as_str().to_owned()).filter(|epoch| is_epoch(epoch))
}

fn call(after: &Start, wait: bool) -> Call {
    let wait = wait.then(|| i64::try_from(WAIT.as_secs()).unwrap_or_default());
    let query = EventsQuery { after: Some(after.cursor), wait, epoch: after.epoch.clone() };
    Call::get("/events").query(&query)
}

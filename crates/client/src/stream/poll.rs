//! Events by long polls.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tandem_api::events::{EventsPage, EventsQuery};

use super::event::{Received, from_log};
use super::source::Interruption;
use crate::{Client, Error};

/// How long one request waits. Some proxies end a request without an answer after 30 seconds.
const WAIT: Duration = Duration::from_secs(25);
/// Between two requests the hub may have been replaced. After this time the log is compared again.
const UNWATCHED_MAX: Duration = Duration::from_secs(5);
/// After this time the other transports are tried again.
const LIFETIME: Duration = Duration::from_secs(10 * 60);

/// The events of the last page, and where the next one begins.
#[derive(Debug)]
pub(super) struct Poll {
    events: VecDeque<Received>,
    after: i64,
    has_more: bool,
    since: Instant,
    answered_at: Instant,
}

impl Poll {
    /// Reads the first page.
    pub(super) async fn open(client: &Client, after: Option<i64>) -> Result<(Self, i64), Error> {
        // The hub takes a cursor beyond the end as the end.
        let query = EventsQuery { after: Some(after.unwrap_or(i64::MAX)), wait: None };
        let page = client.events(&query).await?;
        // Events that follow a cursor show that it is not beyond the end.
        let start = if page.events.is_empty() { page.cursor } else { after.unwrap_or(page.cursor) };
        let now = Instant::now();
        let mut poll =
            Self { events: VecDeque::new(), after: start, has_more: false, since: now, answered_at: now };
        poll.take(client, page)?;
        Ok((poll, start))
    }

    pub(super) async fn next(
        &mut self,
        client: &Client,
        silence_max: Duration,
    ) -> Result<Received, Interruption> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            if self.answered_at.elapsed() > UNWATCHED_MAX || self.since.elapsed() > LIFETIME {
                return Err(Interruption::Renew);
            }
            let wait = if self.has_more { None } else { i64::try_from(WAIT.as_secs()).ok() };
            let query = EventsQuery { after: Some(self.after), wait };
            let answer = tokio::time::timeout(silence_max.max(WAIT * 2), client.events(&query)).await;
            let page = answer.map_err(|_| Error::TimedOut {
                hub: client.hub().to_string(),
                after: silence_max.max(WAIT * 2),
            })??;
            if page.cursor < self.after {
                return Err(Interruption::Renew);
            }
            self.take(client, page)?;
        }
    }

    fn take(&mut self, client: &Client, page: EventsPage) -> Result<(), Error> {
        self.answered_at = Instant::now();
        self.has_more = page.has_more;
        self.after = page.cursor.max(self.after);
        for event in page.events {
            self.events.push_back(from_log(event).map_err(|cause| client.not_a_hub(cause.to_string()))?);
        }
        Ok(())
    }
}

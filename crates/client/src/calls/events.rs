//! The event log, its cursor and what is new.

use std::time::Duration;

use tandem_api::events::{AckCursor, Acknowledged, EventsPage, EventsQuery, TicketView};
use tandem_api::updates::UpdatesView;

use crate::call::Call;
use crate::stream::is_epoch;
use crate::{Client, Error};

impl Client {
    /// A page of the caller's event log. With `wait` it waits for an event if there is none.
    pub async fn events(&self, query: &EventsQuery) -> Result<EventsPage, Error> {
        let wait = Duration::from_secs(query.wait.and_then(|wait| u64::try_from(wait).ok()).unwrap_or(0));
        self.call(&Call::get("/events").query(query).waiting(wait)).await
    }

    /// The cursor at the end of the caller's event log: what happens from now on comes after it.
    pub async fn end_of_events(&self) -> Result<i64, Error> {
        Ok(self.end_of_log().await?.0)
    }

    /// The same with the epoch of the log; `None` from an older hub.
    pub async fn end_of_log(&self) -> Result<(i64, Option<String>), Error> {
        // The hub takes a cursor beyond the end as the end.
        let page = self.events(&EventsQuery { after: Some(i64::MAX), ..EventsQuery::default() }).await?;
        Ok((page.cursor, Some(page.epoch.as_str().to_owned()).filter(|epoch| is_epoch(epoch))))
    }

    /// Acknowledges all events up to a cursor.
    pub async fn acknowledge_events(&self, cursor: i64) -> Result<Acknowledged, Error> {
        self.call(&Call::post("/events/ack").json(&AckCursor { cursor })).await
    }

    /// What is new for the caller. Its cursor is not the end of the log if there is more than fits: see
    /// [`end_of_events`](Self::end_of_events).
    pub async fn updates(&self) -> Result<UpdatesView, Error> {
        self.call(&Call::get("/updates")).await
    }

    /// Acknowledges what [`updates`](Self::updates) returned.
    pub async fn acknowledge_updates(&self, cursor: i64) -> Result<Acknowledged, Error> {
        self.call(&Call::post("/updates/ack").json(&AckCursor { cursor })).await
    }

    /// A ticket with which a browser opens one socket or stream.
    pub async fn ticket(&self) -> Result<TicketView, Error> {
        self.call(&Call::post("/ws/ticket")).await
    }
}

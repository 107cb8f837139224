//! A stream of an agent's events: first those in the log, then new ones, without gaps or duplicates.

use std::sync::Arc;
use std::time::Duration;

use tandem_app::events;
pub use tandem_app::events::Start;
use tandem_core::AgentId;
use tandem_store::Owner;
pub use tandem_store::events::Logged;

use crate::delivery::bus::{EndReason, Listener, Transport};
use crate::hub::Hub;
use crate::{Error, Held, Holder};

/// What an idle feed costs, with the socket or stream that reads it.
const IDLE_BYTES: usize = 8 * 1024;
/// Pause before a page is read again for which there was no memory.
const MEMORY_PAUSE: Duration = Duration::from_millis(200);

/// A cursor in an agent's log that waits for new events.
#[derive(Debug)]
pub struct Feed {
    hub: Hub,
    agent: AgentId,
    cursor: i64,
    listener: Listener,
    held: Held,
    /// Whether the client's cursor was of another epoch.
    was_reset: bool,
    /// Whether there may be events after the cursor.
    unread: bool,
    /// Whether the agent itself reads it, and not a person at a page.
    is_of_agent: bool,
}

impl Drop for Feed {
    fn drop(&mut self) {
        if self.is_of_agent {
            self.hub.liveness.record_end(&self.agent);
        }
    }
}

/// What [`Feed::next`] returns.
#[derive(Debug)]
pub enum FeedItem {
    /// Events, oldest first.
    Events(Vec<Logged>),
    Ended(EndReason),
}

impl Feed {
    /// Opens a feed. Listening starts before the log is read, so an event
    /// that is committed in between is not lost.
    pub async fn open(hub: &Hub, agent: &AgentId, start: Start, transport: Transport) -> Result<Self, Error> {
        let held = hub.budget.hold(Holder::Agent(agent.clone()), IDLE_BYTES)?;
        let listener = hub.liveness.bus.listen(agent, transport, hub.config.max_streams)?;
        let by = agent.clone();
        let cursor =
            hub.read_for(Owner::agent(agent), move |tx, _| events::start_cursor(tx, &by, start)).await?;
        let (hub, agent, was_reset) = (Arc::clone(hub), agent.clone(), start == Start::Acknowledged);
        let is_of_agent = transport != Transport::Page;
        Ok(Self { hub, agent, cursor, listener, held, was_reset, unread: true, is_of_agent })
    }

    /// Whether the feed began at the acknowledged cursor, because the client's was of another epoch.
    #[must_use]
    pub fn was_reset(&self) -> bool {
        self.was_reset
    }

    /// The epoch of the log.
    #[must_use]
    pub fn epoch(&self) -> &str {
        &self.hub.epoch
    }

    /// The number of the last event returned.
    #[must_use]
    pub fn cursor(&self) -> i64 {
        self.cursor
    }

    /// Waits for events after the cursor, or for the end. Dropping the future loses nothing, and while there is nothing
    /// new, a later call reads nothing. The memory of a page is held until the next one is asked for.
    pub async fn next(&mut self) -> Result<FeedItem, Error> {
        loop {
            if !self.unread {
                self.listener.woken().await;
                self.unread = true;
            }
            self.listener.mark_seen();
            if let Some(end) = self.listener.ended() {
                return Ok(FeedItem::Ended(end));
            }
            let (by, after) = (self.agent.clone(), self.cursor);
            let page = self
                .hub
                .read_for(Owner::agent(&self.agent), move |tx, _| events::read(tx, &by, Some(after)))
                .await?;
            self.held.shrink_to(IDLE_BYTES);
            if !page.events.is_empty() {
                let bytes: usize = page.events.iter().map(|event| event.data.len()).sum();
                if self.held.grow(bytes).is_err() {
                    drop(page);
                    tokio::time::sleep(MEMORY_PAUSE).await;
                    continue;
                }
                self.cursor = page.cursor;
                return Ok(FeedItem::Events(page.events));
            }
            self.unread = false;
        }
    }

    /// Goes on after the sign-outs so far. Call it before looking whether the page is still signed in.
    pub fn ignore_sign_outs(&mut self) {
        self.listener.ignore_sign_outs();
    }

    /// Counts a client that reads too slowly.
    pub fn too_slow(&self) {
        self.hub.metrics.slow_readers.inc();
    }

    /// Records that events were sent: the latency, and which tasks were pushed.
    pub fn pushed(&self, pushed: &[Logged]) {
        let took = self.listener.woken_at().elapsed();
        self.hub.metrics.pushed(pushed.len(), took.as_secs_f64());
        let assigned = events::assigned_tasks(pushed);
        self.hub.marks.pushed(&self.agent, assigned, self.hub.time());
    }
}

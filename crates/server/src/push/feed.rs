//! An agent's log as something to wait for: what is there already, then what comes, without a gap or a
//! double in between.

use std::sync::Arc;

use tandem_app::{Error, events, tasks};
use tandem_core::AgentId;
use tandem_store::events::Logged;

use crate::bus::{End, Full, Listener, Way};
use crate::http::ApiError;
use crate::hub::Hub;

/// A place in an agent's log that moves forward.
#[derive(Debug)]
pub struct Feed {
    hub: Hub,
    agent: AgentId,
    cursor: i64,
    listener: Listener,
}

/// What a feed gives.
#[derive(Debug)]
pub enum Fed {
    /// Events, oldest first.
    Events(Vec<Logged>),
    /// Nothing more.
    Ended(End),
}

impl Feed {
    /// Begins after a number, or at the end. Listening begins before the log is read: what is committed
    /// in between is found by one or by the other.
    pub async fn open(hub: &Hub, agent: &AgentId, after: Option<i64>, way: Way) -> Result<Self, ApiError> {
        let listener = hub.bus.listen(agent, way, hub.config.max_streams).map_err(|full| match full {
            Full::Agent => ApiError::TooManyStreams,
            Full::Hub => ApiError::HubFull,
        })?;
        let by = agent.clone();
        let cursor = hub.read(move |tx, _| events::start(tx, &by, after)).await?;
        Ok(Self { hub: Arc::clone(hub), agent: agent.clone(), cursor, listener })
    }

    /// The number of the last event that was given.
    #[must_use]
    pub fn cursor(&self) -> i64 {
        self.cursor
    }

    /// Waits for events after the cursor, or for the end. May be dropped while it waits: nothing is lost.
    pub async fn next(&mut self) -> Result<Fed, Error> {
        loop {
            self.listener.catch_up();
            if let Some(end) = self.listener.ended() {
                return Ok(Fed::Ended(end));
            }
            let (by, after) = (self.agent.clone(), self.cursor);
            let look = self.hub.read(move |tx, _| events::read(tx, &by, Some(after))).await?;
            if !look.events.is_empty() {
                self.cursor = look.cursor;
                return Ok(Fed::Events(look.events));
            }
            self.listener.rung().await;
        }
    }

    /// Notes that the other end reads too slowly.
    pub fn too_slow(&self) {
        self.hub.metrics.slow_readers.inc();
    }

    /// Notes that events have left: how long that took, and which tasks have been pushed with them.
    pub fn pushed(&self, pushed: &[Logged]) {
        let took = self.listener.rung_at().elapsed();
        self.hub.metrics.pushed(pushed.len(), took.as_secs_f64());
        let handed_over = events::handed_over(pushed);
        if handed_over.is_empty() {
            return;
        }
        let (hub, agent) = (Arc::clone(&self.hub), self.agent.clone());
        // The mark is written behind the push: it must not delay the next event.
        tokio::spawn(async move {
            let marked = hub.write(move |tx, now| tasks::mark_pushed(tx, &agent, &handed_over, now)).await;
            if let Err(error) = marked {
                tracing::warn!(%error, "could not note that tasks were pushed");
            }
        });
    }
}

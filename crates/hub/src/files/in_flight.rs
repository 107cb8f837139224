//! Counts the bytes of uploads in progress by agent, because they take disk space before a row counts them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tandem_core::AgentId;

use super::Error;

/// Bytes of uploads in progress.
#[derive(Debug, Clone, Default)]
pub struct InFlight(Arc<Mutex<HashMap<AgentId, i64>>>);

impl InFlight {
    /// Starts to count an upload. `room` is what the agent may still store; `None` means any amount.
    #[must_use]
    pub fn begin(&self, agent: &AgentId, quota: i64, room: Option<i64>) -> InFlightBytes {
        InFlightBytes { all: self.clone(), agent: agent.clone(), quota, room, bytes: 0 }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AgentId, i64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bytes of one upload. Dropping it uncounts them.
#[derive(Debug)]
pub struct InFlightBytes {
    all: InFlight,
    agent: AgentId,
    quota: i64,
    room: Option<i64>,
    bytes: i64,
}

impl InFlightBytes {
    /// Counts more bytes, unless the agent has no room for them.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), Error> {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let mut all = self.all.lock();
        let in_flight = all.get(&self.agent).copied().unwrap_or(0).saturating_add(bytes);
        if self.room.is_some_and(|room| in_flight > room) {
            return Err(Error::Quota(self.quota));
        }
        all.insert(self.agent.clone(), in_flight);
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for InFlightBytes {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        if let Some(in_flight) = all.get_mut(&self.agent) {
            *in_flight -= self.bytes;
            if *in_flight <= 0 {
                all.remove(&self.agent);
            }
        }
    }
}

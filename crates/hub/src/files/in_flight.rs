//! Counts the bytes of uploads in progress by agent, because they take disk space before a row counts them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tandem_core::AgentId;

use super::Error;

/// What a body may hold beside its file: name, type, keys.
const BESIDE_FILE_BYTES: i64 = 64 * 1024;

/// Bytes of uploads in progress.
#[derive(Debug, Clone, Default)]
pub struct InFlight(Arc<Mutex<HashMap<AgentId, i64>>>);

impl InFlight {
    /// Starts to count an upload. `room` is what the agent may still store; `None` means any amount.
    #[must_use]
    pub fn begin(&self, agent: &AgentId, quota: i64, room: Option<i64>) -> InFlightBytes {
        InFlightBytes { all: self.clone(), agent: agent.clone(), quota, room, weight: (1, 1), bytes: 0 }
    }

    /// The same for a body with a file in base64: four of its characters are three bytes of the file.
    #[must_use]
    pub fn begin_base64(&self, agent: &AgentId, quota: i64, room: Option<i64>) -> InFlightBytes {
        let room = room.map(|room| room.saturating_add(BESIDE_FILE_BYTES));
        let mut counted = self.begin(agent, quota, room);
        counted.weight = (3, 4);
        counted
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
    /// By which fraction bytes count.
    weight: (i64, i64),
    bytes: i64,
}

impl InFlightBytes {
    /// Counts more bytes, unless the agent has no room for them.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), Error> {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX / 4) * self.weight.0 / self.weight.1;
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

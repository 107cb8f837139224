//! Who has been heard of lately.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tandem_core::{AgentId, Timestamp};

/// An agent counts as online for so long after a request.
const ONLINE_MS: i64 = 60_000;
/// How many agents are remembered before those not heard of lately are forgotten.
const REMEMBERED_MAX: usize = 100_000;

/// When each agent was last heard of.
#[derive(Debug, Default)]
pub struct Presence(Mutex<HashMap<AgentId, Timestamp>>);

impl Presence {
    /// Notes a sign of life.
    pub fn seen(&self, agent: &AgentId, now: Timestamp) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = seen.get_mut(agent) {
            *last = now;
            return;
        }
        if seen.len() >= REMEMBERED_MAX {
            seen.retain(|_, last| now.ms_since(*last) < ONLINE_MS);
        }
        if seen.len() < REMEMBERED_MAX {
            seen.insert(agent.clone(), now);
        }
    }

    /// Whether an agent was heard of within the last minute.
    #[must_use]
    pub fn is_online(&self, agent: &AgentId, now: Timestamp) -> bool {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(agent).is_some_and(|last| now.ms_since(*last) < ONLINE_MS)
    }

    /// How many agents were.
    #[must_use]
    pub fn online(&self, now: Timestamp) -> usize {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.values().filter(|last| now.ms_since(**last) < ONLINE_MS).count()
    }
}

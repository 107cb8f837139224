//! Who has been heard of lately.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tandem_core::{AgentId, Timestamp};

/// An agent counts as online for so long after a request.
const ONLINE_MS: i64 = 60_000;
/// How many agents are remembered before those not heard of lately are forgotten.
const REMEMBERED_MAX: usize = 100_000;

/// A sign of life, and whether it has been written down.
#[derive(Debug, Clone, Copy)]
struct Sign {
    at: Timestamp,
    written: bool,
}

/// When each agent was last heard of.
#[derive(Debug, Default)]
pub struct Presence(Mutex<HashMap<AgentId, Sign>>);

impl Presence {
    /// Notes a sign of life.
    pub fn seen(&self, agent: &AgentId, now: Timestamp) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sign = Sign { at: now, written: false };
        if let Some(last) = seen.get_mut(agent) {
            *last = sign;
            return;
        }
        if seen.len() >= REMEMBERED_MAX {
            seen.retain(|_, last| now.ms_since(last.at) < ONLINE_MS);
        }
        if seen.len() < REMEMBERED_MAX {
            seen.insert(agent.clone(), sign);
        }
    }

    /// When an agent was last heard of by this process.
    #[must_use]
    pub fn last_seen(&self, agent: &AgentId) -> Option<Timestamp> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(agent).map(|sign| sign.at)
    }

    /// Signs of life that have not been written down; they count as written from now on.
    #[must_use]
    pub fn take_unwritten(&self, limit: usize) -> Vec<(AgentId, Timestamp)> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let unwritten = seen.iter_mut().filter(|(_, sign)| !sign.written).take(limit);
        unwritten
            .map(|(agent, sign)| {
                sign.written = true;
                (agent.clone(), sign.at)
            })
            .collect()
    }

    /// Whether an agent was heard of within the last minute.
    #[must_use]
    pub fn is_online(&self, agent: &AgentId, now: Timestamp) -> bool {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(agent).is_some_and(|last| now.ms_since(last.at) < ONLINE_MS)
    }

    /// How many agents were.
    #[must_use]
    pub fn online(&self, now: Timestamp) -> usize {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.values().filter(|last| now.ms_since(last.at) < ONLINE_MS).count()
    }
}

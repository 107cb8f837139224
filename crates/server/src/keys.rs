//! Which key belongs to which agent, remembered so that a known key costs no look-up.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use tandem_app::keys::KeyHash;
use tandem_core::AgentId;

/// How many keys are remembered; beyond that the memory starts afresh.
const REMEMBERED_MAX: usize = 100_000;

/// The keys seen so far.
#[derive(Debug, Default)]
pub struct KnownKeys(RwLock<HashMap<KeyHash, AgentId>>);

impl KnownKeys {
    /// Whose key this is, if it was seen before.
    #[must_use]
    pub fn get(&self, hash: &KeyHash) -> Option<AgentId> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
    }

    /// Remembers a key.
    pub fn remember(&self, hash: KeyHash, agent: AgentId) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        known.insert(hash, agent);
    }

    /// Forgets every key of an agent.
    pub fn forget(&self, agent: &AgentId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).retain(|_, owner| owner != agent);
    }
}

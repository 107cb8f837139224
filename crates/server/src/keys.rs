//! Which key belongs to which agent, remembered so that a known key costs no look-up.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use tandem_app::keys::KeyHash;
use tandem_core::AgentId;

/// How many keys are remembered; beyond that the memory starts afresh.
const REMEMBERED_MAX: usize = 100_000;

#[derive(Debug, Default)]
struct Known {
    owners: HashMap<KeyHash, AgentId>,
    /// How often keys were forgotten.
    forgotten: u64,
    /// How often a key was looked up.
    look_ups: u64,
}

/// The keys seen so far.
#[derive(Debug, Default)]
pub struct KnownKeys(RwLock<Known>);

impl KnownKeys {
    /// Whose key this is, if it was seen before.
    #[must_use]
    pub fn get(&self, hash: &KeyHash) -> Option<AgentId> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).owners.get(hash).cloned()
    }

    /// Where this memory stands. Ask before a look-up, and hand it to [`Self::remember`] afterwards.
    #[must_use]
    pub fn state(&self) -> u64 {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.look_ups += 1;
        known.forgotten
    }

    /// How often a key had to be looked up, because it was not known.
    #[must_use]
    pub fn look_ups(&self) -> u64 {
        self.0.read().unwrap_or_else(PoisonError::into_inner).look_ups
    }

    /// Remembers a key that was looked up, unless any was forgotten in the meantime: it might be this one,
    /// ended after it was found.
    pub fn remember(&self, hash: KeyHash, agent: AgentId, state: u64) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.forgotten != state {
            return;
        }
        if known.owners.len() >= REMEMBERED_MAX {
            known.owners.clear();
        }
        known.owners.insert(hash, agent);
    }

    /// Forgets every key of an agent.
    pub fn forget(&self, agent: &AgentId) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.owners.retain(|_, owner| owner != agent);
        known.forgotten += 1;
    }
}

//! The agents whose connections or calls have changed, until other nodes are told.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tandem_core::AgentId;
use tokio::sync::Notify;

/// Agents that are remembered. Beyond that, all that is true is told anew.
const AGENTS_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct PresenceChanges {
    changed: Mutex<Changed>,
    added: Notify,
}

#[derive(Debug, Default)]
struct Changed {
    agents: HashSet<AgentId>,
    /// There were too many while nobody could be told.
    too_many: bool,
}

impl PresenceChanges {
    fn changed(&self) -> MutexGuard<'_, Changed> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, agent: &AgentId) {
        let mut changed = self.changed();
        if changed.too_many || changed.agents.contains(agent) {
            return;
        }
        if changed.agents.len() >= AGENTS_MAX {
            drop(changed);
            return self.tell_all();
        }
        changed.agents.insert(agent.clone());
        self.added.notify_one();
    }

    /// Has all that is true be told anew.
    pub(crate) fn tell_all(&self) {
        *self.changed() = Changed { agents: HashSet::new(), too_many: true };
        self.added.notify_one();
    }

    /// Whether that is due; whoever asks does it.
    pub(crate) fn take_all(&self) -> bool {
        std::mem::take(&mut self.changed().too_many)
    }

    /// Waits until there are some.
    pub(crate) async fn added(&self) {
        self.added.notified().await;
    }

    /// Takes up to so many of them.
    pub(crate) fn take(&self, limit: usize) -> Vec<AgentId> {
        let mut changed = self.changed();
        let taken: Vec<AgentId> = changed.agents.iter().take(limit).cloned().collect();
        for agent in &taken {
            changed.agents.remove(agent);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(number: usize) -> AgentId {
        format!("agent_{number}").parse().unwrap()
    }

    #[test]
    fn what_cannot_be_told_does_not_grow_for_ever() {
        let changes = PresenceChanges::default();
        for number in 0..AGENTS_MAX {
            changes.add(&agent(number));
            changes.add(&agent(0));
        }
        assert!(!changes.take_all());
        assert_eq!(changes.take(1).len(), 1);
        changes.add(&agent(AGENTS_MAX));
        assert_eq!(changes.take(usize::MAX).len(), AGENTS_MAX, "all of them fit");
        for number in 0..=AGENTS_MAX {
            changes.add(&agent(number));
        }
        assert!(changes.take(usize::MAX).is_empty() && changes.take_all(), "one more: all is told anew");
        assert!(!changes.take_all());
        changes.add(&agent(1));
        assert_eq!(changes.take(usize::MAX), [agent(1)]);
    }
}

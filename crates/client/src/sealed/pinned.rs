//! What is known of other agents and of encrypted tasks, as the file of the pins has it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tandem_core::{AgentId, TaskId};
use tandem_seal::PublicKey;

use super::PeerKey;
use super::names::{folded_name, one_line};

/// Encrypted tasks with a known other party that are remembered. Beyond, the oldest one of the agent with the most goes: one
/// that floods this agent with tasks makes it forget its own.
pub(super) const TASKS_MAX: usize = 10_000;
/// The same for those that nobody is known to have signed. A hub can make any number of them, so they take no room of others.
const UNSIGNED_MAX: usize = 1_000;

/// What the file contains.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Known {
    pub(super) agents: BTreeMap<AgentId, Pin>,
    /// Encrypted tasks, the oldest first. The other party is null until its signature was seen.
    #[serde(default)]
    pub(super) tasks: Vec<(TaskId, Option<AgentId>)>,
}

impl Known {
    pub(super) fn task(&self, task: &TaskId) -> Option<&(TaskId, Option<AgentId>)> {
        self.tasks.iter().rev().find(|(known, _)| known == task)
    }

    pub(super) fn peer(&self, task: &TaskId) -> Option<&AgentId> {
        self.task(task).and_then(|(_, peer)| peer.as_ref())
    }

    pub(super) fn remember(&mut self, task: &TaskId, peer: Option<&AgentId>) {
        match self.tasks.iter_mut().rev().find(|(known, _)| known == task) {
            Some((_, known)) => *known = peer.cloned(),
            None => self.tasks.push((task.clone(), peer.cloned())),
        }
        if let Some(oldest) = self.to_forget() {
            self.tasks.remove(oldest);
        }
    }

    /// The place of a task that finds no room any more.
    fn to_forget(&self) -> Option<usize> {
        let unsigned = self.tasks.iter().filter(|(_, peer)| peer.is_none()).count();
        let oldest_of = |wanted| self.tasks.iter().position(|(_, peer)| peer.as_ref() == wanted);
        if unsigned > UNSIGNED_MAX {
            return oldest_of(None);
        }
        if self.tasks.len() - unsigned <= TASKS_MAX {
            return None;
        }
        let mut counts: BTreeMap<&AgentId, usize> = BTreeMap::new();
        for peer in self.tasks.iter().filter_map(|(_, peer)| peer.as_ref()) {
            *counts.entry(peer).or_default() += 1;
        }
        oldest_of(counts.into_iter().max_by_key(|(_, count)| *count).map(|(peer, _)| peer))
    }

    /// Another agent that is pinned under one of these names.
    pub(super) fn other_called(&self, agent: &AgentId, names: &[String]) -> Option<(&AgentId, &Pin)> {
        let is_called = |(id, pin): &(&AgentId, &Pin)| names.iter().any(|name| pin.is_called(id, name));
        self.agents.iter().filter(|(id, _)| *id != agent).find(is_called)
    }

    /// No other agent is called so any more: the owner has said whom the name means. One that has chosen the name itself is
    /// called by its id.
    pub(super) fn take_name(&mut self, agent: &AgentId, name: &str) {
        let taken = folded_name(name);
        for (id, pin) in self.agents.iter_mut().filter(|(id, _)| *id != agent) {
            pin.names.retain(|name| folded_name(name) != taken);
            if folded_name(&pin.name) == taken {
                pin.name = id.to_string();
            }
        }
    }

    /// The agents that are pinned under a name, folded.
    pub(super) fn called(&self, name: &str) -> Vec<(&AgentId, &Pin)> {
        self.agents.iter().filter(|(id, pin)| pin.is_called(id, name)).collect()
    }
}

/// One agent's key. The fingerprint is for people who look into the file; it must match the key.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pin {
    pub(super) name: String,
    /// Aliases and later names, folded.
    #[serde(default)]
    pub(super) names: Vec<String>,
    fingerprint: String,
    public_key: String,
}

impl Pin {
    pub(super) fn new(found: &PeerKey) -> Self {
        Self {
            name: one_line(&found.name),
            names: found.names(),
            fingerprint: found.key.fingerprint().hex(),
            public_key: found.key.to_pem(),
        }
    }

    pub(super) fn key(&self) -> Option<PublicKey> {
        let key = PublicKey::from_pem(&self.public_key).ok()?;
        (key.fingerprint().hex() == self.fingerprint).then_some(key)
    }

    /// Whether a person who types this name, folded, means the agent.
    pub(super) fn is_called(&self, id: &AgentId, name: &str) -> bool {
        let own = [id.as_str(), &self.name];
        own.into_iter().chain(self.names.iter().map(String::as_str)).any(|known| folded_name(known) == name)
    }
}

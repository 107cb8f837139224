//! What is known of other agents and of encrypted tasks, as the file of the pins has it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tandem_core::{AgentId, TaskId};
use tandem_seal::PublicKey;

use super::PeerKey;
use super::names::{folded_name, one_line};

/// Encrypted tasks with a known other party that are remembered. Beyond, the oldest one of the agent with the most goes: one
/// that floods this agent with tasks makes it forget its own. A hub can make any number of agents with few tasks each, so
/// agents to which the owner has sent a task come last.
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
        let is_chosen = |peer: &AgentId| self.agents.get(peer).is_some_and(|pin| pin.is_chosen);
        let most = counts.into_iter().max_by_key(|(peer, count)| (!is_chosen(peer), *count));
        oldest_of(most.map(|(peer, _)| peer))
    }

    /// Notes that the owner sends a task to an agent. Returns whether that is new.
    pub(super) fn choose(&mut self, agent: &AgentId) -> bool {
        self.agents.get_mut(agent).is_some_and(|pin| !std::mem::replace(&mut pin.is_chosen, true))
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
    /// Whether the owner has sent it a task.
    #[serde(default, rename = "chosen", skip_serializing_if = "std::ops::Not::not")]
    is_chosen: bool,
}

impl Pin {
    pub(super) fn new(found: &PeerKey) -> Self {
        Self {
            name: one_line(&found.name),
            names: found.names(),
            fingerprint: found.key.fingerprint().hex(),
            public_key: found.key.to_pem(),
            is_chosen: false,
        }
    }

    pub(super) fn key(&self) -> Option<PublicKey> {
        let key = PublicKey::from_pem(&self.public_key).ok()?;
        (key.fingerprint().hex() == self.fingerprint).then_some(key)
    }

    pub(super) fn is_chosen(&self) -> bool {
        self.is_chosen
    }

    /// The owner has sent the agent a task, whatever key it had then.
    pub(super) fn keep_choice(&mut self, old: &Self) {
        self.is_chosen |= old.is_chosen;
    }

    /// Whether a person who types this name, folded, means the agent.
    pub(super) fn is_called(&self, id: &AgentId, name: &str) -> bool {
        let own = [id.as_str(), &self.name];
        own.into_iter().chain(self.names.iter().map(String::as_str)).any(|known| folded_name(known) == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(name: &str, is_chosen: bool) -> (AgentId, Pin) {
        let (fingerprint, public_key, names) = Default::default();
        (name.parse().unwrap(), Pin { name: name.to_owned(), names, fingerprint, public_key, is_chosen })
    }

    #[test]
    fn agents_that_a_hub_has_made_up_do_not_make_the_tasks_of_others_forgotten() {
        let mut known = Known::default();
        known.agents.extend([pin("bob", true), pin("carl", false)]);
        let task = |number: usize| -> TaskId { format!("task_{number}").parse().unwrap() };
        let made_up = |number: usize| -> AgentId { format!("agent_{}", number / 2).parse().unwrap() };
        let bob: AgentId = "bob".parse().unwrap();
        known.tasks.extend((0..500).map(|number| (task(number), Some(bob.clone()))));
        known.tasks.extend((500..TASKS_MAX).map(|number| (task(number), Some(made_up(number)))));
        for number in TASKS_MAX..TASKS_MAX + 50 {
            known.remember(&task(number), Some(&made_up(number)));
        }
        assert_eq!(known.tasks.len(), TASKS_MAX);
        assert!((0..500).all(|number| known.peer(&task(number)) == Some(&bob)));
        // Without any other, its own oldest one goes.
        known.tasks = (0..TASKS_MAX).map(|number| (task(number), Some(bob.clone()))).collect();
        known.remember(&task(TASKS_MAX), Some(&bob));
        assert_eq!((known.tasks.len(), known.peer(&task(0))), (TASKS_MAX, None));
    }
}

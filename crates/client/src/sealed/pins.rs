//! Pins: the public keys of other agents as first seen. A hub that later presents another key for an agent is noticed.
//! The hub also says which agent has a name and who takes part in a task, so names and tasks are remembered with them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tandem_core::{AgentId, TaskId};
use tandem_seal::PublicKey;

use super::PeerKey;
use super::names::one_line;
use super::pins_file::{failed, lock, read, write};
use crate::Error;
use crate::error::AnotherAgent;

/// Tasks whose other party is remembered, the newest.
const TASKS_MAX: usize = 10_000;
/// Names and aliases that are remembered for one agent.
const NAMES_MAX: usize = 16;

/// The public keys of other agents as first seen, and the other party of each encrypted task.
#[derive(Debug)]
pub struct Pins {
    /// None if they are kept in memory only.
    file: Option<PathBuf>,
    known: Mutex<Known>,
}

/// What the file contains.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Known {
    agents: BTreeMap<AgentId, Pin>,
    /// The oldest first.
    #[serde(default)]
    tasks: Vec<(TaskId, AgentId)>,
}

impl Known {
    fn peer(&self, task: &TaskId) -> Option<&AgentId> {
        self.tasks.iter().rev().find_map(|(known, peer)| (known == task).then_some(peer))
    }

    /// Another agent that is pinned under one of these names.
    fn other_called(&self, agent: &AgentId, names: &[String]) -> Option<(&AgentId, &Pin)> {
        let is_called = |(id, pin): &(&AgentId, &Pin)| names.iter().any(|name| pin.is_called(id, name));
        self.agents.iter().filter(|(id, _)| *id != agent).find(is_called)
    }
}

/// One agent's key. The fingerprint is for people who look into the file; it must match the key.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pin {
    name: String,
    /// Aliases and later names, in small letters.
    #[serde(default)]
    names: Vec<String>,
    fingerprint: String,
    public_key: String,
}

impl Pin {
    fn new(found: &PeerKey) -> Self {
        Self {
            name: one_line(&found.name),
            names: found.names(),
            fingerprint: found.key.fingerprint().hex(),
            public_key: found.key.to_pem(),
        }
    }

    fn key(&self) -> Option<PublicKey> {
        let key = PublicKey::from_pem(&self.public_key).ok()?;
        (key.fingerprint().hex() == self.fingerprint).then_some(key)
    }

    /// Whether a person who types this name, in small letters, means the agent.
    fn is_called(&self, id: &AgentId, name: &str) -> bool {
        self.all_names(id).any(|known| known == name)
    }

    fn all_names(&self, id: &AgentId) -> impl Iterator<Item = String> {
        [id.as_str().to_lowercase(), self.name.to_lowercase()].into_iter().chain(self.names.iter().cloned())
    }
}

impl Pins {
    /// Pins in a file with mode 0600. It is created with the first pin.
    pub fn at(path: PathBuf) -> Result<Self, Error> {
        let known = read(&path)?;
        Ok(Self { file: Some(path), known: Mutex::new(known) })
    }

    /// Pins that end with the process. The first key of each agent is trusted anew in every process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self { file: None, known: Mutex::default() }
    }

    /// The pinned key of an agent.
    pub fn get(&self, agent: &AgentId) -> Result<Option<PublicKey>, Error> {
        match self.known().agents.get(agent) {
            Some(pin) => pin.key().map(Some).ok_or_else(|| self.damaged(agent)),
            None => Ok(None),
        }
    }

    /// The name under which an agent was pinned. The hub cannot change it later.
    #[must_use]
    pub fn name(&self, agent: &AgentId) -> Option<String> {
        self.known().agents.get(agent).map(|pin| one_line(&pin.name))
    }

    /// Compares a key with the pinned one. The first key of an agent is pinned, unless another agent is pinned under the
    /// same name or alias: the hub alone says which agent has a name, so it could slip in one of its own.
    pub fn check(&self, agent: &AgentId, found: &PeerKey) -> Result<(), Error> {
        if self.known().agents.get(agent).is_some_and(|pin| {
            pin.key().is_some_and(|key| key == found.key)
                && found.names().iter().all(|name| pin.is_called(agent, name))
        }) {
            return Ok(());
        }
        // Another process may have pinned or accepted this key in the meantime, so the file is read again.
        self.change(|known| {
            let mut names = found.names();
            if let Some(pin) = known.agents.get(agent) {
                let pinned = pin.key().ok_or_else(|| self.damaged(agent))?;
                if pinned != found.key {
                    let (pinned, found) = (pinned.fingerprint(), found.key.fingerprint());
                    let name = one_line(&pin.name);
                    return Err(Error::KeyChanged { agent: agent.clone(), name, pinned, found });
                }
                names.retain(|name| !pin.is_called(agent, name));
            }
            if let Some((other, pin)) = known.other_called(agent, &names) {
                return Err(self.another(agent, found, other, pin));
            }
            let Some(pin) = known.agents.get_mut(agent) else {
                known.agents.insert(agent.clone(), Pin::new(found));
                return Ok(true);
            };
            names.truncate(NAMES_MAX.saturating_sub(pin.names.len()));
            let has_new = !names.is_empty();
            pin.names.append(&mut names);
            Ok(has_new)
        })
    }

    /// The pinned agent that a person has probably meant with `named`, if the hub finds another one, `agent`, for it:
    /// an agent with exactly this name, or one whose name begins so while `agent` is not pinned.
    #[must_use]
    pub fn meant_instead(&self, named: &str, agent: &AgentId) -> Option<AgentId> {
        let (known, named) = (self.known(), named.to_lowercase());
        let own = known.agents.get(agent);
        if named.is_empty() || own.is_some_and(|pin| pin.is_called(agent, &named)) || agent.as_str() == named
        {
            return None;
        }
        let is_meant = |(id, pin): &(&AgentId, &Pin)| match own {
            Some(_) => pin.is_called(id, &named),
            None => pin.all_names(id).any(|name| name.starts_with(&named)),
        };
        known.agents.iter().filter(|(id, _)| *id != agent).find(is_meant).map(|(id, _)| id.clone())
    }

    /// The error that says so, if the agent is not pinned, but another one is under the same name or alias.
    #[must_use]
    pub fn namesake(&self, agent: &AgentId, found: &PeerKey) -> Option<Error> {
        let known = self.known();
        if known.agents.contains_key(agent) {
            return None;
        }
        known.other_called(agent, &found.names()).map(|(other, pin)| self.another(agent, found, other, pin))
    }

    /// The error about an agent in place of a pinned one.
    pub(super) fn not_the_meant(&self, agent: &AgentId, found: &PeerKey, meant: &AgentId) -> Option<Error> {
        self.known().agents.get(meant).map(|pin| self.another(agent, found, meant, pin))
    }

    fn another(&self, agent: &AgentId, found: &PeerKey, other: &AgentId, pin: &Pin) -> Error {
        let Some(pinned) = pin.key() else { return self.damaged(other) };
        Error::AnotherAgent(Box::new(AnotherAgent {
            agent: agent.clone(),
            name: one_line(&pin.name),
            found: found.key.fingerprint(),
            pinned_agent: other.clone(),
            pinned: pinned.fingerprint(),
        }))
    }

    /// Pins a key in place of any other. Only for a person who has compared the fingerprints.
    pub fn accept(&self, agent: &AgentId, found: &PeerKey) -> Result<(), Error> {
        self.change(|known| {
            let mut pin = Pin::new(found);
            if let Some(old) = known.agents.remove(agent) {
                let names = [vec![old.name.to_lowercase()], old.names].concat();
                let new: Vec<_> = names.into_iter().filter(|name| !pin.is_called(agent, name)).collect();
                pin.names.extend(new.into_iter().take(NAMES_MAX));
            }
            known.agents.insert(agent.clone(), pin);
            Ok(true)
        })
    }

    /// Removes the pin of an agent: its next key is trusted.
    pub fn forget(&self, agent: &AgentId) -> Result<(), Error> {
        self.change(|known| Ok(known.agents.remove(agent).is_some()))
    }

    /// The other party of an encrypted task, as it was when the task was created or first opened.
    #[must_use]
    pub fn peer(&self, task: &TaskId) -> Option<AgentId> {
        self.known().peer(task).cloned()
    }

    /// Remembers the other party of an encrypted task. An error if it is another one than before.
    pub fn remember_peer(&self, task: &TaskId, peer: &AgentId) -> Result<(), Error> {
        if self.known().peer(task) == Some(peer) {
            return Ok(());
        }
        self.change(|known| match known.peer(task) {
            Some(known) if known == peer => Ok(false),
            Some(known) => Err(other_party(task, known, peer)),
            None => {
                known.tasks.push((task.clone(), peer.clone()));
                let too_many = known.tasks.len().saturating_sub(TASKS_MAX);
                known.tasks.drain(..too_many);
                Ok(true)
            }
        })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the pins, here and in the file. `change` returns whether there is something to write.
    fn change(&self, change: impl FnOnce(&mut Known) -> Result<bool, Error>) -> Result<(), Error> {
        let Some(path) = &self.file else {
            return change(&mut self.known()).map(|_| ());
        };
        let _locked = lock(path).map_err(failed("cannot lock", path))?;
        let mut known = read(path)?;
        let outcome = change(&mut known);
        if let Ok(true) = outcome {
            write(path, &known)?;
        }
        *self.known() = known;
        outcome.map(|_| ())
    }

    fn damaged(&self, agent: &AgentId) -> Error {
        let place = self.file.as_ref().map_or_else(|| "memory".to_owned(), |path| path.display().to_string());
        Error::Pins { place, why: format!("the key of {agent} is damaged") }
    }
}

/// The hub names another party of an encrypted task than before.
pub(super) fn other_party(task: &TaskId, known: &AgentId, found: &AgentId) -> Error {
    Error::OtherParty { task: task.clone(), known: known.clone(), found: found.clone() }
}

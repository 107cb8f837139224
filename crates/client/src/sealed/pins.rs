//! Pins: the public keys of other agents as first seen. A hub that later presents another key for an agent is noticed.
//! The hub also says which agent has a name or alias, which tasks are encrypted and who takes part in them, so these are
//! remembered too.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tandem_core::{AgentId, TaskId};
use tandem_seal::PublicKey;

use super::PeerKey;
use super::names::{folded_name, one_line};
use super::pinned::{Known, Pin};
use super::pins_file::{Version, failed, lock, read, version, write};
use crate::Error;
use crate::error::AnotherAgent;

/// Names and aliases that are remembered for one agent.
const NAMES_MAX: usize = 16;

/// Agents whose keys are pinned at first sight: a hub can present any number. An owner can accept more.
const AGENTS_MAX: usize = 10_000;

/// The public keys of other agents as first seen, and the encrypted tasks with their other parties.
#[derive(Debug)]
pub struct Pins {
    /// None if they are kept in memory only.
    file: Option<PathBuf>,
    known: Mutex<Known>,
    /// Which version of the file `known` is.
    version: Mutex<Option<Version>>,
}

impl Pins {
    /// Pins in a file with mode 0600. It is created with the first pin.
    pub fn at(path: PathBuf) -> Result<Self, Error> {
        let version = version(&path);
        let known = read(&path)?;
        Ok(Self { file: Some(path), known: Mutex::new(known), version: Mutex::new(version) })
    }

    /// Pins that end with the process. The first key of each agent is trusted anew in every process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self { file: None, known: Mutex::default(), version: Mutex::default() }
    }

    /// The pinned key of an agent.
    pub fn get(&self, agent: &AgentId) -> Result<Option<PublicKey>, Error> {
        match self.known().agents.get(agent) {
            Some(pin) => pin.key().map(Some).ok_or_else(|| self.damaged(agent)),
            None => Ok(None),
        }
    }

    /// The name under which an agent was pinned. The hub cannot change it later. `None` if another one has it too, or if
    /// nothing of it can be seen.
    #[must_use]
    pub fn name(&self, agent: &AgentId) -> Option<String> {
        let known = self.known();
        let name = one_line(&known.agents.get(agent)?.name);
        let is_its_own = known.other_called(agent, &[folded_name(&name)]).is_none();
        (is_its_own && !name.is_empty()).then_some(name)
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
                return Err(self.another(agent, Some(&found.key), other, pin));
            }
            let is_full = known.agents.len() >= AGENTS_MAX;
            let Some(pin) = known.agents.get_mut(agent) else {
                if is_full {
                    return Err(Error::TooManyPins);
                }
                known.agents.insert(agent.clone(), Pin::new(found));
                return Ok(true);
            };
            names.truncate(NAMES_MAX.saturating_sub(pin.names.len()));
            let has_new = !names.is_empty();
            pin.names.append(&mut names);
            Ok(has_new)
        })
    }

    /// An error if another agent is pinned under the name or alias that a person has typed than `agent`, which the hub
    /// finds for it, or if several are. `found` is the key that the hub presents for that one.
    pub fn check_named(&self, named: &str, agent: &AgentId, found: Option<&PublicKey>) -> Result<(), Error> {
        let known = self.known();
        let called = known.called(&folded_name(named));
        let is_it = |(id, _): &(&AgentId, &Pin)| *id == agent;
        match called.as_slice() {
            [] => Ok(()),
            [one] if is_it(one) => Ok(()),
            several if several.iter().any(is_it) => Err(same_name(named, several)),
            [(other, pin), ..] => Err(self.another(agent, found, other, pin)),
        }
    }

    /// Whether the pinned key vouches for an agent that the hub presents: `false` if none is pinned. An error if its key is
    /// another one, or if another agent is pinned under one of its names. Nothing is pinned.
    pub fn check_presented(
        &self,
        agent: &AgentId,
        names: &[String],
        found: Option<&PublicKey>,
    ) -> Result<bool, Error> {
        let known = self.known();
        let names: Vec<String> = names.iter().map(|name| folded_name(name)).collect();
        let pin = known.agents.get(agent);
        if let Some(pin) = pin {
            let (pinned, name) = (pin.key().ok_or_else(|| self.damaged(agent))?, one_line(&pin.name));
            let Some(found) = found else { return Err(Error::NoPeerKey { agent: agent.clone(), name }) };
            if pinned != *found {
                let (pinned, found) = (pinned.fingerprint(), found.fingerprint());
                return Err(Error::KeyChanged { agent: agent.clone(), name, pinned, found });
            }
            let shared = names.iter().find(|name| pin.is_called(agent, name) && known.called(name).len() > 1);
            if let Some(name) = shared {
                return Err(same_name(name, &known.called(name)));
            }
        }
        match known.other_called(agent, &names) {
            Some((other, pin)) => Err(self.another(agent, found, other, pin)),
            None => Ok(pin.is_some()),
        }
    }

    /// Notes that the owner has given an agent an alias, or taken its old one away.
    pub fn set_alias(&self, agent: &AgentId, old: Option<&str>, new: Option<&str>) -> Result<(), Error> {
        self.change(|known| {
            if let Some(new) = new {
                known.take_name(agent, new);
            }
            if let Some(pin) = known.agents.get_mut(agent) {
                let old = old.map(folded_name);
                pin.names.retain(|name| Some(folded_name(name)) != old);
                let new = new.map(folded_name).filter(|new| !pin.is_called(agent, new));
                // The owner's own name for it is never left out for others.
                pin.names.truncate(NAMES_MAX - 1);
                pin.names.extend(new);
            }
            Ok(true)
        })
    }

    /// The error that says so, if the agent is not pinned, but another one is under the same name or alias.
    #[must_use]
    pub fn namesake(&self, agent: &AgentId, found: &PeerKey) -> Option<Error> {
        let known = self.known();
        if known.agents.contains_key(agent) {
            return None;
        }
        known
            .other_called(agent, &found.names())
            .map(|(other, pin)| self.another(agent, Some(&found.key), other, pin))
    }

    /// The error about an agent in place of a pinned one.
    fn another(&self, agent: &AgentId, found: Option<&PublicKey>, other: &AgentId, pin: &Pin) -> Error {
        let Some(pinned) = pin.key() else { return self.damaged(other) };
        Error::AnotherAgent(Box::new(AnotherAgent {
            agent: agent.clone(),
            name: one_line(&pin.name),
            found: found.map(PublicKey::fingerprint),
            pinned_agent: other.clone(),
            pinned: pinned.fingerprint(),
        }))
    }

    /// Pins a key in place of any other. Only for a person who has compared the fingerprints. `named` is the name or alias
    /// that this person has typed for the agent: it means no other one from now on. A name that the hub or the agent says
    /// takes nothing away from others, so two can be pinned under one; then it means none of them.
    pub fn accept(&self, agent: &AgentId, found: &PeerKey, named: Option<&str>) -> Result<(), Error> {
        self.change(|known| {
            if let Some(named) = named {
                known.take_name(agent, named);
            }
            let mut pin = Pin::new(found);
            if let Some(old) = known.agents.remove(agent) {
                pin.keep_choice(&old);
                let names = [vec![old.name], old.names].concat();
                let names = names.iter().map(|name| folded_name(name));
                let new: Vec<_> = names.filter(|name| !pin.is_called(agent, name)).collect();
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

    /// Whether a task was seen encrypted.
    #[must_use]
    pub fn is_sealed(&self, task: &TaskId) -> bool {
        self.known().task(task).is_some()
    }

    /// The tasks that are remembered.
    pub(super) fn tasks(&self) -> Vec<TaskId> {
        self.known().tasks.iter().map(|(task, _)| task.clone()).collect()
    }

    /// Remembers that a task is encrypted.
    pub fn remember_sealed(&self, task: &TaskId) -> Result<(), Error> {
        if self.is_sealed(task) {
            return Ok(());
        }
        self.change(|known| {
            let is_new = known.task(task).is_none();
            if is_new {
                known.remember(task, None);
            }
            Ok(is_new)
        })
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
                known.remember(task, Some(peer));
                Ok(true)
            }
        })
    }

    /// Notes that the owner sends an encrypted task to an agent, and with whom it is.
    pub fn choose_peer(&self, task: &TaskId, peer: &AgentId) -> Result<(), Error> {
        self.remember_peer(task, peer)?;
        let is_chosen = self.known().agents.get(peer).is_none_or(Pin::is_chosen);
        if is_chosen { Ok(()) } else { self.change(|known| Ok(known.choose(peer))) }
    }

    /// What is known now, also by what another process has just pinned or accepted.
    fn known(&self) -> MutexGuard<'_, Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = &self.file {
            let mut read_version = self.version.lock().unwrap_or_else(PoisonError::into_inner);
            let now = version(path);
            // A file that is gone or damaged takes nothing away from what is known; the next change reports it.
            if *read_version != now
                && now.is_some()
                && let Ok(changed) = read(path)
            {
                (*known, *read_version) = (changed, now);
            }
        }
        known
    }

    /// Changes the pins, here and in the file. `change` returns whether there is something to write.
    fn change(&self, change: impl FnOnce(&mut Known) -> Result<bool, Error>) -> Result<(), Error> {
        let Some(path) = &self.file else {
            return change(&mut self.known()).map(|_| ());
        };
        let _locked = lock(path).map_err(failed("cannot lock", path))?;
        let was_there = self.version.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if was_there && version(path).is_none() {
            // Without it every key would be the first one.
            let why = "the file was there and is gone".to_owned();
            return Err(Error::Pins { place: path.display().to_string(), why });
        }
        let mut known = read(path)?;
        let outcome = change(&mut known);
        if let Ok(true) = outcome {
            write(path, &known)?;
        }
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
        *self.version.lock().unwrap_or_else(PoisonError::into_inner) = version(path);
        outcome.map(|_| ())
    }

    fn damaged(&self, agent: &AgentId) -> Error {
        let place = self.file.as_ref().map_or_else(|| "memory".to_owned(), |path| path.display().to_string());
        Error::Pins { place, why: format!("the key of {agent} is damaged") }
    }
}

/// Several pinned agents have one name.
fn same_name(name: &str, agents: &[(&AgentId, &Pin)]) -> Error {
    let agents = agents.iter().map(|(id, _)| (*id).clone()).collect();
    Error::SameName { name: one_line(name), agents }
}

/// The hub names another party of an encrypted task than before.
pub(super) fn other_party(task: &TaskId, known: &AgentId, found: &AgentId) -> Error {
    Error::OtherParty { task: task.clone(), known: known.clone(), found: found.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_that_are_gone_are_not_begun_anew() {
        let folder = std::env::temp_dir().join(format!("tandem-pins-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (file, bob) = (folder.join("ada.pins"), "agent_bob".parse::<AgentId>().unwrap());
        let task = |id: &str| id.parse::<TaskId>().unwrap();
        let pins = Pins::at(file.clone()).unwrap();
        pins.remember_peer(&task("one"), &bob).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert!(matches!(pins.remember_sealed(&task("two")), Err(Error::Pins { .. })));
        assert_eq!(pins.peer(&task("one")), Some(bob), "what is known is not forgotten");
        assert!(!file.exists());
        std::fs::remove_dir_all(folder).unwrap();
    }
}

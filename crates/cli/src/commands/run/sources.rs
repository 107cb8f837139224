//! Whose tasks the runner takes.

use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use tandem_api::connections::ConnectionView;
use tandem_client::Pins;
use tandem_core::AgentId;

use super::super::Session;
use super::super::agent_names::{self, Unclear, looks_like_id};
use crate::exit::{Failure, Outcome};
use crate::profiles::write_secret;
use crate::terminal::text;

/// How long the list of connections is used before it is read again.
const CONNECTIONS_FRESH: Duration = Duration::from_secs(60);

/// Whose tasks the runner takes.
#[derive(Debug)]
pub(super) enum Sources {
    Listed(HashSet<AgentId>),
    /// Those of every agent that is connected at the moment.
    Connected(Mutex<Option<(Instant, HashSet<AgentId>)>>),
}

impl Sources {
    /// The agents that the owner has listed: by id, alias or whole name.
    pub(super) async fn resolve(session: &Session, named: &[String], anyone: bool) -> Outcome<Self> {
        if anyone {
            return Ok(Self::Connected(Mutex::default()));
        }
        let connections = session.connections().await?;
        let pins = session.pins()?;
        let mut remembered = Remembered::load(session)?;
        let mut listed = HashSet::new();
        for name in named {
            let agent = remembered.find(&connections, name, pins.as_ref())?;
            session.terminal.note(&format!("Takes tasks from {} ({agent}).", text::line(name)));
            listed.insert(agent);
        }
        remembered.save()?;
        Ok(Self::Listed(listed))
    }

    /// Whether a task of this agent could be taken, as far as is known without asking the hub.
    pub(super) fn may_allow(&self, agent: &AgentId) -> bool {
        match self {
            Self::Listed(listed) => listed.contains(agent),
            Self::Connected(_) => true,
        }
    }

    /// Whether a task of this agent is taken.
    pub(super) async fn allow(&self, session: &Session, agent: &AgentId) -> Outcome<bool> {
        let known = match self {
            Self::Listed(listed) => return Ok(listed.contains(agent)),
            Self::Connected(known) => known,
        };
        let fresh = {
            let known = known.lock().unwrap_or_else(PoisonError::into_inner);
            known
                .as_ref()
                .filter(|(at, _)| at.elapsed() < CONNECTIONS_FRESH)
                .map(|(_, all)| all.contains(agent))
        };
        if fresh == Some(true) {
            return Ok(true);
        }
        let all: HashSet<AgentId> = session
            .connections()
            .await?
            .into_iter()
            .map(|connection| connection.connected.agent_id)
            .collect();
        let is_connected = all.contains(agent);
        *known.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), all));
        Ok(is_connected)
    }
}

/// Which agents the owner's words meant at first. Agents choose their names, so a name could come to mean another agent;
/// the runner goes on with the one that was meant, and never changes over by itself.
struct Remembered {
    file: std::path::PathBuf,
    ids: BTreeMap<String, AgentId>,
}

impl Remembered {
    fn load(session: &Session) -> Outcome<Self> {
        let name = session.profile.as_ref().map_or("", |profile| &profile.name);
        let file = session.profiles.state_folder(name).join("run/from.json");
        let unreadable = |why: &dyn std::fmt::Display| {
            Failure::refused(format!("cannot read whom --from meant before ({}): {why}", file.display()))
                .next("Remove the file if all agents still have the names that you give.")
        };
        let ids = match std::fs::read(&file) {
            // Without it, a name could mean another agent by now.
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|why| unreadable(&why))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(unreadable(&error)),
        };
        Ok(Self { file, ids })
    }

    fn find(&mut self, connections: &[ConnectionView], named: &str, pins: Option<&Pins>) -> Outcome<AgentId> {
        let is_id = looks_like_id(named);
        let before = self.ids.get(named).filter(|_| !is_id);
        let is_there = |agent: &&AgentId| connections.iter().any(|one| one.connected.agent_id == **agent);
        if let Some(agent) = before {
            // The owner may have said since that another agent is meant by the name.
            if let Some(Err(_)) = pins.map(|pins| pins.check_named(named, agent, None)) {
                let what = format!(
                    "{:?} meant {agent}, but the key of another agent is pinned under it now",
                    text::line(named)
                );
                return Err(Failure::refused(what).next("Give the id of the one that is meant."));
            }
            return before.filter(is_there).cloned().ok_or_else(|| {
                let what = format!("{:?} meant {agent}, which is no longer connected", text::line(named));
                Failure::refused(what).next("If another agent is meant now, give its id.")
            });
        }
        let found = find(connections, named, pins)?;
        if !is_id {
            self.ids.insert(named.to_owned(), found.clone());
        }
        Ok(found)
    }

    fn save(&self) -> Outcome {
        let text = serde_json::to_string(&self.ids).unwrap_or_default();
        write_secret(&self.file, &text)
    }
}

fn find(connections: &[ConnectionView], named: &str, pins: Option<&Pins>) -> Outcome<AgentId> {
    match agent_names::resolve(connections, named, pins) {
        Ok(one) => Ok(one.connected.agent_id),
        // A member of a network is no connection, so only its id can name it.
        Err(Unclear::Nobody(_)) if looks_like_id(named) => {
            named.parse().map_err(|_| Failure::usage(format!("{:?} is not an agent id", text::line(named))))
        }
        Err(unclear) => Err(unclear.failure(named)),
    }
}

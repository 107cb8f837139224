//! The wakes of the last hour by other agents, in a file that all programs of an agent share: bridges of several sessions,
//! and hooks.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use tandem_core::peer_wakes::PeerWakes;
use tandem_core::{AgentId, Timestamp};
use tandem_disk::read_regular;

use super::files::write_secret;

/// More than so many wakes need.
const BYTES_MAX: u64 = 1024 * 1024;

/// Limits how often another agent can wake this agent's model.
#[derive(Debug, Default)]
pub(crate) struct WakeLimit {
    /// None for an agent without a profile, which has no place for files.
    file: Option<PathBuf>,
    wakes: PeerWakes,
}

impl WakeLimit {
    pub(super) fn at(file: PathBuf) -> Self {
        Self { file: Some(file), wakes: PeerWakes::default() }
    }

    /// Reads what other programs have noted.
    pub(crate) fn refresh(&mut self, now: Timestamp) {
        if let Some(file) = &self.file {
            let stored = read_regular(file, BYTES_MAX).ok();
            // A file that cannot be read is one without wakes.
            self.wakes = stored.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        }
        self.wakes.forget_old(now);
    }

    /// How long an agent has to wait for its next wake; `None` if it may cause one now.
    pub(crate) fn wait_of(&self, agent: &AgentId, now: Timestamp) -> Option<Duration> {
        self.wakes.wait_of(agent, now)
    }

    /// Notes that these agents have woken the model, each once.
    pub(crate) fn note<'a>(&mut self, agents: impl Iterator<Item = &'a AgentId>, now: Timestamp) {
        for agent in agents.collect::<BTreeSet<_>>() {
            self.wakes.note(agent, now);
        }
        if let (Some(file), Ok(json)) = (&self.file, serde_json::to_string(&self.wakes)) {
            // What cannot be written down is not counted.
            let _ = write_secret(file, &json);
        }
    }
}

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
    /// Whether the last wakes could not be written down, so that they are known here only.
    is_unsaved: bool,
}

impl WakeLimit {
    pub(super) fn at(file: PathBuf) -> Self {
        Self { file: Some(file), ..Self::default() }
    }

    /// Reads what other programs have noted.
    pub(crate) fn refresh(&mut self, now: Timestamp) {
        if let Some(file) = self.file.as_ref().filter(|_| !self.is_unsaved) {
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
        // Another program may have noted some since this one looked.
        self.refresh(now);
        for agent in agents.collect::<BTreeSet<_>>() {
            self.wakes.note(agent, now);
        }
        if let (Some(file), Ok(json)) = (&self.file, serde_json::to_string(&self.wakes)) {
            // On a full disk it is counted in this process only.
            self.is_unsaved = write_secret(file, &json).is_err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_does_not_lift_the_limit() {
        let folder = std::env::temp_dir().join(format!("tandem-wake-limit-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        // A file where a folder is needed: nothing can be written there, whoever runs this.
        std::fs::write(folder.join("full"), "").unwrap();
        let (now, ada) = (Timestamp(1_800_000_000_000), "agent_ada".parse::<AgentId>().unwrap());
        for file in [folder.join("full/wakes.json"), folder.join("wakes.json")] {
            let mut limit = WakeLimit::at(file);
            let mut wakes = 0;
            while limit.wait_of(&ada, now).is_none() && wakes < 1_000 {
                limit.note(std::iter::once(&ada), now);
                limit.refresh(now);
                wakes += 1;
            }
            assert_eq!(wakes, 60);
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}

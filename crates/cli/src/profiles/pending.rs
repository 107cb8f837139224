//! A registration that has begun: what was sent to the hub, and the key that the hub may know by now. It is written before the
//! hub is asked, so the agent cannot get lost: not with an answer, and not with this process.

use std::io::ErrorKind;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tandem_api::agents::RegisterAgent;

use super::{Profiles, check_name, read_secret, write_secret};
use crate::exit::{Failure, Outcome};

/// What a registration is finished with.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pending {
    pub(crate) hub: String,
    pub(crate) api_key: String,
    pub(crate) idempotency_key: String,
    /// Whether the agent gets a key for encryption. Its file is written after this one, and before the hub is asked.
    pub(crate) encrypted: bool,
    /// Without keys and proof of work.
    pub(crate) request: RegisterAgent,
}

impl Pending {
    /// Refuses to finish another registration than the one that was begun.
    pub(crate) fn check(&self, hub: &str, request: &RegisterAgent, profile: &str) -> Outcome {
        if self.hub == hub && self.request.name == request.name {
            return Ok(());
        }
        let what = format!(
            "the registration of {:?} on {} was begun as profile {profile} and not finished",
            self.request.name.as_str(),
            self.hub
        );
        Err(Failure::refused(what).next(self.next_step(profile)))
    }

    /// How to finish it, or to give it up.
    pub(crate) fn next_step(&self, profile: &str) -> String {
        format!(
            "Finish it: `tandem register '{}' --as {profile} --hub {}`, or give it up: `tandem logout --agent {profile}`.",
            self.request.name.as_str().replace('\'', "'\\''"),
            self.hub
        )
    }
}

impl Profiles {
    fn pending_file(&self, name: &str) -> PathBuf {
        self.file(name, "pending")
    }

    /// The registration of a profile that was begun and not finished.
    pub(crate) fn pending(&self, name: &str) -> Outcome<Option<Pending>> {
        check_name(name)?;
        let path = self.pending_file(name);
        let Some(text) = read_secret(&path, "remove it and register again")? else { return Ok(None) };
        let pending = serde_json::from_str(&text);
        pending.map(Some).map_err(|cause| Failure::refused(format!("{}: {cause}", path.display())))
    }

    pub(crate) fn save_pending(&self, name: &str, pending: &Pending) -> Outcome {
        check_name(name)?;
        let text = serde_json::to_string(pending).map_err(|cause| Failure::refused(cause.to_string()))?;
        write_secret(&self.pending_file(name), &text)
    }

    pub(super) fn remove_pending(&self, name: &str) -> Outcome {
        match std::fs::remove_file(self.pending_file(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

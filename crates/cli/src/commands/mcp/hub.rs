//! The hub as the bridge sees it. Keys are read anew for every call, because the owner may change them with other commands
//! while the bridge runs: `tandem rotate`, `tandem trust`, `tandem login`.

use tandem_client::{Client, Keyring};

use crate::commands::Session;
use crate::profiles::{Profiles, WakeLock};

/// The agent, and how to reach its hub.
#[derive(Debug)]
pub(super) struct Hub {
    client: Client,
    profiles: Profiles,
    /// The name of the profile; none if `TANDEM_KEY` is set.
    profile: Option<String>,
}

impl Hub {
    pub(super) fn new(session: Session) -> Self {
        let profile = session.profile.map(|profile| profile.name);
        Self { client: session.client, profiles: session.profiles, profile }
    }

    /// A client with the keys of this moment. Clients share their connections.
    pub(super) fn client(&self) -> Client {
        let Some(name) = &self.profile else { return self.client.clone() };
        // A profile that cannot be read now may be in the middle of a change.
        let Ok(Some(profile)) = self.profiles.load(name) else { return self.client.clone() };
        let client = self.client.clone().with_key(&profile.api_key);
        let key_file = self.profiles.key_file(name);
        if !key_file.exists() {
            return client;
        }
        let keyring = Keyring::in_files(profile.agent_id, key_file, self.profiles.pins_file(name));
        client.with_keyring(keyring.named(&profile.agent_name))
    }

    /// Whether the agent has a private key here.
    pub(super) fn has_key(&self) -> bool {
        self.profile.as_ref().is_some_and(|name| self.profiles.key_file(name).exists())
    }

    /// Takes the right to wake this agent's model. `None` if another program has it; an agent without a profile has no lock
    /// that programs could share.
    pub(super) fn lock_wake(&self) -> Option<Option<WakeLock>> {
        match &self.profile {
            Some(name) => self.profiles.lock_wake(name).map(Some),
            None => Some(None),
        }
    }
}

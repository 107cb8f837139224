//! The hub as the bridge sees it. Keys are read anew for every call, because the owner may change them with other commands
//! while the bridge runs: `tandem rotate`, `tandem trust`, `tandem login`.

use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tandem_api::connections::ConnectedView;
use tandem_api::events::EventData;
use tandem_client::{Client, Error, Keyring, PeerKey, Pins};
use tandem_core::AgentId;
use tandem_core::pairing::CODE_LIFETIME_SECONDS;
use tandem_seal::PublicKey;

use crate::commands::Session;
use crate::commands::session::with_stored_key;
use crate::profiles::{Profile, Profiles, TakenLock, WakeLimit, WakeLock, Woken};

/// Connections whose keys are pinned while a pairing code is open.
const OFFERED_MAX: usize = 10;

/// The agent, and how to reach its hub.
#[derive(Debug)]
pub(super) struct Hub {
    client: Client,
    profiles: Profiles,
    /// The name of the profile; none if `TANDEM_KEY` is set.
    profile: Option<Named>,
    offers: Mutex<Offers>,
}

/// Pairing codes that this bridge has made.
#[derive(Debug, Default)]
struct Offers {
    open_until: Option<Instant>,
    /// Connections whose keys are still pinned in this time.
    left: usize,
}

#[derive(Debug, Clone)]
struct Named {
    name: String,
    agent: AgentId,
}

impl Hub {
    pub(super) fn new(session: Session) -> Self {
        let named = |profile: Profile| Named { name: profile.name, agent: profile.agent_id };
        let profile = session.profile.map(named);
        Self { client: session.client, profiles: session.profiles, profile, offers: Mutex::default() }
    }

    /// A client with the keys of this moment. Clients share their connections.
    pub(super) fn client(&self) -> Client {
        let Some(Named { name, agent }) = &self.profile else { return self.client.clone() };
        // A profile that cannot be read now may be in the middle of a change.
        let Ok(Some(profile)) = self.profiles.load(name) else { return self.client.clone() };
        // The owner may have given the name to another agent, as which this bridge must not act.
        if profile.agent_id != *agent {
            return self.client.clone();
        }
        let client = with_stored_key(self.client.clone(), &self.profiles, &profile);
        let key_file = self.profiles.key_file(name);
        if !key_file.exists() {
            return client;
        }
        // What was opened in one call is known in the next.
        let renewed = self.client.keyring().ok().and_then(|keyring| keyring.renewed());
        let keyring = renewed
            .unwrap_or_else(|| Keyring::in_files(profile.agent_id, key_file, self.profiles.pins_file(name)));
        client.with_keyring(keyring.named(&profile.agent_name))
    }

    /// The pinned keys; none without a profile.
    pub(super) fn pins(&self) -> Result<Option<Pins>, Error> {
        let file = self.profile.as_ref().map(|named| self.profiles.pins_file(&named.name));
        file.map(Pins::at).transpose()
    }

    /// Whether the agent has a private key here.
    pub(super) fn has_key(&self) -> bool {
        self.profile.as_ref().is_some_and(|named| self.profiles.key_file(&named.name).exists())
    }

    /// Takes the right to wake this agent's model. `None` if another program has it. An agent without a profile has no lock
    /// that programs could share, nor has one on a full disk; its model is woken all the same.
    pub(super) fn lock_wake(&self) -> Option<Option<WakeLock>> {
        let Some(named) = &self.profile else { return Some(None) };
        match self.profiles.lock_wake(&named.name) {
            TakenLock::Held(lock) => Some(Some(lock)),
            TakenLock::Busy => None,
            TakenLock::Impossible => Some(None),
        }
    }

    /// Says to the hooks of a session that this bridge wakes it by its inbox, until the file is closed.
    pub(super) fn mark_inbox(&self, socket: &Path) -> Option<File> {
        self.profiles.mark_inbox(&self.profile.as_ref()?.name, socket)
    }

    /// What models of this agent were woken for by any program of this machine, as far as is known.
    pub(super) fn woken(&self) -> Option<Woken> {
        self.profiles.woken(&self.profile.as_ref()?.name)
    }

    /// How often other agents may wake the model.
    pub(super) fn wake_limit(&self) -> WakeLimit {
        self.profile.as_ref().map(|named| self.profiles.wake_limit(&named.name)).unwrap_or_default()
    }

    /// Pins the key of a new connection, as `tandem pair` does: if the hub swaps it later, that is a changed key.
    pub(super) async fn pin(&self, connected: &ConnectedView) -> Result<(), Error> {
        if connected.public_key.is_none() {
            return Ok(());
        }
        self.check_pin(connected.agent_id.clone(), PeerKey::of(connected, None)?).await
    }

    /// Notes that the other owner has a pairing code of this agent.
    pub(super) fn offered(&self) {
        let open_until = Some(Instant::now() + Duration::from_secs(CODE_LIFETIME_SECONDS.unsigned_abs()));
        *self.offers.lock().unwrap_or_else(PoisonError::into_inner) =
            Offers { open_until, left: OFFERED_MAX };
    }

    /// Whether an agent that connects now may have redeemed a code. Others may connect without one, as many as they like:
    /// their keys are pinned at the first use, and not before.
    fn takes_offer(&self) -> bool {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = offers.left > 0 && offers.open_until.is_some_and(|until| Instant::now() < until);
        offers.left = offers.left.saturating_sub(usize::from(is_open));
        is_open
    }

    /// Pins the key of an agent that has connected, if it may have redeemed a code of this bridge.
    pub(super) async fn pin_connected(&self, event: EventData) {
        if !self.takes_offer() {
            return;
        }
        let (Some(agent), Some(name)) = (event.with_agent_id, event.with_agent_name) else { return };
        let Some(Ok(key)) = event.with_public_key.map(|key| PublicKey::from_pem(key.as_str())) else {
            return;
        };
        // Another key than the pinned one is reported where it would be used.
        let _ = self.check_pin(agent, PeerKey::new(name.as_str(), None, key)).await;
    }

    /// Compares a key with the pinned one; the first key of an agent is pinned.
    async fn check_pin(&self, agent: AgentId, found: PeerKey) -> Result<(), Error> {
        let Some(named) = &self.profile else { return Ok(()) };
        let file = self.profiles.pins_file(&named.name);
        let checked = tokio::task::spawn_blocking(move || Pins::at(file)?.check(&agent, &found)).await;
        // A thread that panicked has pinned nothing; the key is then pinned at its first use.
        checked.unwrap_or(Ok(()))
    }
}

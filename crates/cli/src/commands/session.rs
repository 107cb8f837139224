//! What a command works with: the hub, the agent, the terminal.

use std::future::Future;

use futures_util::FutureExt as _;
use tandem_api::connections::{ConnectedView, ConnectionView};
use tandem_client::{Client, HubUrl, Keyring, PeerKey, Pins};
use tandem_core::TaskId;

use super::Common;
use super::agent_names::{self, Unclear, described};
use super::input::confirm;
use super::pages::Extent;
use crate::exit::{Failure, Outcome};
use crate::profiles::{Profile, Profiles, State};
use crate::terminal::Terminal;
use crate::terminal::text;

/// The hub that is meant when nothing says otherwise.
pub(crate) const USUAL_HUB: &str = "http://127.0.0.1:3000";

/// A command that acts as an agent.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: Client,
    /// The profile; none if `TANDEM_KEY` is set.
    pub(crate) profile: Option<Profile>,
    pub(crate) profiles: Profiles,
    pub(crate) terminal: Terminal,
}

impl Session {
    /// Selects agent and hub: `TANDEM_KEY` with `--hub` or `TANDEM_HUB`, else a profile with its own hub.
    pub(crate) fn open(common: &Common) -> Outcome<Self> {
        let profiles = Profiles::of_user()?;
        let terminal = common.terminal();
        let key = std::env::var("TANDEM_KEY").ok().filter(|key| !key.is_empty());
        let (client, profile) = match key {
            Some(key) => (Client::new(hub_of(common)?)?.with_key(key.trim()), None),
            None => {
                let profile = profiles.select(common.agent.as_deref())?;
                let hub = hub_of_profile(common, &profile, &profiles)?;
                let client = with_stored_key(Client::new(hub)?, &profiles, &profile);
                let key_file = profiles.key_file(&profile.name);
                let client = match key_file.exists() {
                    true => {
                        let pins = profiles.pins_file(&profile.name);
                        let keyring = Keyring::in_files(profile.agent_id.clone(), key_file, pins);
                        client.with_keyring(keyring.named(&profile.agent_name))
                    }
                    false => client,
                };
                (client, Some(profile))
            }
        };
        Ok(Self { client, profile, profiles, terminal })
    }

    /// Runs a command that calls the hub.
    pub(crate) fn run<F>(common: &Common, command: impl FnOnce(Self) -> F) -> Outcome
    where
        F: Future<Output = Outcome>,
    {
        let session = Self::open(common)?;
        let (profile, profiles) = (session.profile.clone(), session.profiles.clone());
        block_on(command(session)).map_err(|failure| match &profile {
            Some(profile) => {
                let stored = profiles.load(&profile.name).ok().flatten();
                let is_replaced = stored.is_some_and(|stored| stored.api_key != profile.api_key);
                failure.for_profile(profile, is_replaced)
            }
            None => failure,
        })
    }

    /// What the profile remembers; empty without a profile.
    pub(crate) fn state(&self) -> State {
        match &self.profile {
            Some(profile) => self.profiles.state(&profile.name),
            None => State::default(),
        }
    }

    /// Remembers the task that `@` means.
    pub(crate) fn remember(&self, task: &TaskId) {
        self.state().set_last_task(task);
    }

    /// Pins the key of a new connection, which has been shown: if the hub swaps it later, that is a changed key.
    pub(crate) fn pin(&self, connected: &ConnectedView) -> Outcome {
        if let Some(pins) = self.pins()?.filter(|_| connected.public_key.is_some()) {
            pins.check(&connected.agent_id, &PeerKey::of(connected, None)?)?;
        }
        Ok(())
    }

    pub(crate) async fn connections(&self) -> Outcome<Vec<ConnectionView>> {
        let read = async |query| self.client.connections(&query).await;
        Ok(Extent::whole().read(read).await?.items)
    }

    /// The pinned keys; none without a profile.
    pub(crate) fn pins(&self) -> Outcome<Option<Pins>> {
        let file = self.profile.as_ref().map(|profile| self.profiles.pins_file(&profile.name));
        Ok(file.map(Pins::at).transpose()?)
    }

    /// The connected agent that a person means: by id, alias or whole name. The beginning of one is a question to the
    /// person, if there is one.
    pub(crate) async fn agent(&self, named: &str) -> Outcome<ConnectionView> {
        self.agent_among(named, self.pins()?.as_ref()).await
    }

    /// The same without the pins, for a command that compares the key itself.
    pub(crate) async fn presented_agent(&self, named: &str) -> Outcome<ConnectionView> {
        self.agent_among(named, None).await
    }

    async fn agent_among(&self, named: &str, pins: Option<&Pins>) -> Outcome<ConnectionView> {
        let connections = self.connections().await?;
        let unclear = match agent_names::resolve(&connections, named, pins) {
            Ok(one) => return Ok(one),
            Err(unclear) => unclear,
        };
        let Unclear::Nobody(similar) = &unclear else { return Err(unclear.failure(named)) };
        let ([one], true) = (similar.as_slice(), self.terminal.can_ask()) else {
            return Err(unclear.failure(named));
        };
        let question =
            format!("You have no connection to {:?}. Do you mean {}?", text::line(named), described(one));
        confirm(&question, false)?;
        // Chosen by a person, so it is named by what is only its own.
        let id = one.connected.agent_id.to_string();
        agent_names::resolve(&connections, &id, pins).map_err(|unclear| unclear.failure(named))
    }
}

/// A client with the key of a profile. A command that runs for days outlives its key if another one replaces it, so a
/// refused key is looked up again.
pub(crate) fn with_stored_key(client: Client, profiles: &Profiles, profile: &Profile) -> Client {
    let (stored, name, agent) = (profiles.clone(), profile.name.clone(), profile.agent_id.clone());
    client.with_key(&profile.api_key).with_key_source(move || {
        let stored = stored.load(&name).ok().flatten()?;
        // After a rotation without an answer, the refused key is the old one.
        (stored.agent_id == agent).then(|| stored.next_api_key.unwrap_or(stored.api_key))
    })
}

/// The hub of a command that uses no profile: the option or variable, else the usual one.
pub(crate) fn hub_of(common: &Common) -> Outcome<HubUrl> {
    let hub = common.hub.as_deref().unwrap_or(USUAL_HUB);
    hub.parse().map_err(|cause| Failure::usage(format!("--hub: {cause}")))
}

/// The hub of agents that are made besides others: the one that was named, else that of the selected profile.
pub(crate) fn hub_beside(common: &Common, profiles: &Profiles) -> Outcome<HubUrl> {
    if common.hub.is_some() {
        return hub_of(common);
    }
    let names = profiles.names()?;
    let selected = match (&common.agent, profiles.current()?, names.as_slice()) {
        (Some(name), _, _) => Some(name.clone()),
        (None, Some(current), _) => Some(current),
        (None, None, [only]) => Some(only.clone()),
        (None, None, _) => None,
    };
    match selected.map(|name| profiles.load(&name)).transpose()?.flatten() {
        Some(profile) => profile.hub_url(),
        None => hub_of(common),
    }
}

/// The hub of a profile. Its key goes to no other one, whatever `--hub` or `TANDEM_HUB` say.
pub(crate) fn hub_of_profile(common: &Common, profile: &Profile, profiles: &Profiles) -> Outcome<HubUrl> {
    let own = profile.hub_url()?;
    if common.hub.is_none() {
        return Ok(own);
    }
    let named = hub_of(common)?;
    if named == own {
        return Ok(own);
    }
    let name = &profile.name;
    let what = format!(
        "the agent of profile {name} is on {own}, but --hub or TANDEM_HUB names {named}; its key goes to no other hub"
    );
    let is_there = |other: &String| {
        profiles.load(other).ok().flatten().is_some_and(|other| other.hub.parse() == Ok(named.clone()))
    };
    let there = profiles.names()?.into_iter().find(is_there);
    Err(Failure::usage(what).next(match there {
        Some(other) => format!(
            "The profile {other} is on that hub: give --agent {other}, or switch with `tandem context use {other}`."
        ),
        None => format!(
            "Use an agent of that hub: `tandem login --hub {named}`, or `tandem register NAME --hub {named}`."
        ),
    }))
}

/// Runs a future on this thread.
pub(crate) fn block_on(work: impl Future<Output = Outcome>) -> Outcome {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work.boxed_local())
}

/// Runs a future on this thread, and waits for nothing that it has left behind: looking up the name of a hub cannot be
/// stopped, and takes long without a network.
pub(crate) fn block_on_and_leave(work: impl Future<Output = Outcome>) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(work.boxed_local());
    runtime.shutdown_background();
    outcome
}

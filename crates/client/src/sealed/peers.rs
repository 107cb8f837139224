//! The public keys of other agents: what the hub presents, and whether it is the pinned one.

use std::sync::Arc;

use tandem_api::connections::{ConnectedView, ConnectionView};
use tandem_api::networks::MemberView;
use tandem_api::tasks::TaskView;
use tandem_api::text::{PeerName, PeerToken};
use tandem_core::AgentId;
use tandem_seal::PublicKey;

use super::Keyring;
use super::names::{folded_name, one_line};
use super::pins::other_party;
use crate::{Client, Error, find_on_pages};

/// A public key as the hub presents it, not compared with any pin.
#[derive(Debug, Clone)]
pub struct PeerKey {
    /// The agent's name in one line. It comes from its owner.
    pub name: String,
    /// The caller's own name for it, as the hub says.
    pub alias: Option<String>,
    /// The key.
    pub key: PublicKey,
}

impl PeerKey {
    /// A key of an agent with this name.
    #[must_use]
    pub fn new(name: &str, alias: Option<&str>, key: PublicKey) -> Self {
        Self { name: one_line(name), alias: alias.map(one_line), key }
    }

    /// The key in a connection.
    pub fn of(connected: &ConnectedView, alias: Option<&str>) -> Result<Self, Error> {
        let (agent, name) = (connected.agent_id.clone(), connected.agent_name.as_str());
        match &connected.public_key {
            Some(pem) => Ok(Self::new(name, alias, PublicKey::from_pem(pem.as_str())?)),
            None => Err(Error::NoPeerKey { agent, name: one_line(name) }),
        }
    }

    /// What a person can call it, folded.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = [Some(&self.name), self.alias.as_ref()]
            .into_iter()
            .flatten()
            .map(|name| folded_name(name))
            .collect();
        names.dedup();
        names
    }
}

impl Client {
    /// The same client with keys, for encrypted tasks.
    #[must_use]
    pub fn with_keyring(mut self, keyring: Keyring) -> Self {
        self.keyring = Some(Arc::new(keyring));
        self
    }

    /// The keys of the caller's agent.
    pub fn keyring(&self) -> Result<&Arc<Keyring>, Error> {
        self.keyring.as_ref().ok_or(Error::NoKey)
    }

    /// The public key that the hub presents for an agent now: a connection, or a member of one of the caller's
    /// networks. It is not compared with the pinned key.
    pub async fn presented_key(&self, agent: &AgentId) -> Result<PeerKey, Error> {
        if let Some(found) = self.connected_key(agent).await? {
            return found;
        }
        let (name, key) = self.member_key(agent).await?.ok_or_else(|| Error::UnknownPeer(agent.clone()))?;
        match key {
            Some(pem) => Ok(PeerKey::new(name.as_str(), None, PublicKey::from_pem(pem.as_str())?)),
            None => Err(Error::NoPeerKey { agent: agent.clone(), name: one_line(name.as_str()) }),
        }
    }

    async fn connected_key(&self, agent: &AgentId) -> Result<Option<Result<PeerKey, Error>>, Error> {
        let read = async |query| self.connections(&query).await;
        find_on_pages(1_000, read, |item: ConnectionView| {
            let alias = item.alias.as_ref().map(|alias| alias.as_str());
            (item.connected.agent_id == *agent).then(|| PeerKey::of(&item.connected, alias))
        })
        .await
    }

    async fn member_key(&self, agent: &AgentId) -> Result<Option<(PeerName, Option<PeerToken>)>, Error> {
        for network in self.networks().await? {
            let read = async |query| self.members(&network.id, &query).await;
            let is_it =
                |item: MemberView| (item.agent_id == *agent).then_some((item.agent_name, item.public_key));
            if let Some(found) = find_on_pages(500, read, is_it).await? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The key to seal with for an agent: the one that the hub presents, if it is the pinned one.
    pub(super) async fn key_for_sealing(&self, agent: &AgentId) -> Result<PublicKey, Error> {
        let keyring = self.keyring()?;
        // The owner may have accepted another key since.
        if let Some(key) = keyring.checked(agent)
            && keyring.pins()?.get(agent)?.as_ref() == Some(&key)
        {
            return Ok(key);
        }
        let found = self.presented_key(agent).await?;
        keyring.pins()?.check(agent, &found)?;
        keyring.set_checked(agent, &found.key);
        Ok(found.key)
    }

    /// The key under which content of an agent must verify: its pinned one, also when the agents are no longer
    /// connected.
    pub(super) async fn key_for_opening(&self, agent: &AgentId) -> Result<PublicKey, Error> {
        let keyring = self.keyring()?;
        if agent == keyring.agent() {
            return Ok(keyring.key()?.public().clone());
        }
        match keyring.pins()?.get(agent)? {
            Some(pinned) => Ok(pinned),
            None => self.key_for_sealing(agent).await,
        }
    }

    /// The other participant of a task. An error if it was another one when the task was created or first opened.
    pub(super) fn peer_of<'a>(&self, task: &'a TaskView) -> Result<&'a AgentId, Error> {
        let keyring = self.keyring()?;
        let me = keyring.agent();
        let peer = match (&task.initiator_agent_id, &task.target_agent_id) {
            (initiator, target) if initiator == me && target != me => target,
            (initiator, target) if target == me && initiator != me => initiator,
            _ => return Err(Error::Unreadable(format!("{me}, whose key this is, has no part in the task"))),
        };
        match keyring.pins()?.peer(&task.id) {
            Some(known) if known != *peer => Err(other_party(&task.id, &known, peer)),
            _ => Ok(peer),
        }
    }

    /// The other participant of a task, to whom something may be sealed or whose content may be opened: its key is
    /// pinned, or may be at first sight. Only a task that was received, and is seen for the first time, may do that.
    pub(super) fn pinnable_peer<'a>(&self, task: &'a TaskView) -> Result<&'a AgentId, Error> {
        let peer = self.peer_of(task)?;
        let keyring = self.keyring()?;
        let pins = keyring.pins()?;
        let is_new_to_us = task.target_agent_id == *keyring.agent() && pins.peer(&task.id).is_none();
        if is_new_to_us || pins.get(peer)?.is_some() {
            return Ok(peer);
        }
        Err(Error::NotPinned { task: task.id.clone(), agent: peer.clone() })
    }
}

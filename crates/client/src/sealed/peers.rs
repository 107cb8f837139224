//! The public keys of other agents: what the hub presents, and whether it is the pinned one.

use std::sync::Arc;

use tandem_api::tasks::{PageQuery, TaskView};
use tandem_api::text::{PeerName, PeerToken};
use tandem_core::AgentId;
use tandem_seal::PublicKey;

use super::Keyring;
use crate::{Client, Error};

/// A public key as the hub presents it, not compared with any pin.
#[derive(Debug, Clone)]
pub struct PeerKey {
    /// The agent's name. It comes from its owner.
    pub name: String,
    /// The key.
    pub key: PublicKey,
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
        let (name, key) = match self.connected_key(agent).await? {
            Some(found) => found,
            None => self.member_key(agent).await?.ok_or_else(|| Error::UnknownPeer(agent.clone()))?,
        };
        let name: String = name.into();
        match key {
            Some(pem) => Ok(PeerKey { name, key: PublicKey::from_pem(pem.as_str())? }),
            None => Err(Error::NoPeerKey { agent: agent.clone(), name }),
        }
    }

    async fn connected_key(&self, agent: &AgentId) -> Result<Option<(PeerName, Option<PeerToken>)>, Error> {
        let mut query = PageQuery { limit: Some(1_000), cursor: None };
        loop {
            let page = self.connections(&query).await?;
            if let Some(found) = page.items.into_iter().find(|item| item.connected.agent_id == *agent) {
                return Ok(Some((found.connected.agent_name, found.connected.public_key)));
            }
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(None),
            }
        }
    }

    async fn member_key(&self, agent: &AgentId) -> Result<Option<(PeerName, Option<PeerToken>)>, Error> {
        for network in self.networks().await? {
            let mut query = PageQuery { limit: Some(500), cursor: None };
            loop {
                let page = self.members(&network.id, &query).await?;
                if let Some(found) = page.items.into_iter().find(|item| item.agent_id == *agent) {
                    return Ok(Some((found.agent_name, found.public_key)));
                }
                match page.next {
                    Some(next) => query.cursor = Some(next),
                    None => break,
                }
            }
        }
        Ok(None)
    }

    /// The key to seal with for an agent: the one that the hub presents, if it is the pinned one.
    pub(super) async fn key_for_sealing(&self, agent: &AgentId) -> Result<PublicKey, Error> {
        let keyring = self.keyring()?;
        if let Some(key) = keyring.checked(agent) {
            return Ok(key);
        }
        let found = self.presented_key(agent).await?;
        keyring.pins()?.check(agent, &found.name, &found.key)?;
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

    /// The other participant of a task.
    pub(super) fn peer_of<'a>(&self, task: &'a TaskView) -> Result<&'a AgentId, Error> {
        let me = self.keyring()?.agent();
        match (&task.initiator_agent_id, &task.target_agent_id) {
            (initiator, target) if initiator == me && target != me => Ok(target),
            (initiator, target) if target == me && initiator != me => Ok(initiator),
            _ => Err(Error::Unreadable(format!("{me}, whose key this is, has no part in the task"))),
        }
    }
}

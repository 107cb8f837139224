//! Registering, changing and finding agents.

use tandem_core::agents::Agent;
use tandem_core::text::{AgentDescription, AgentName, Capabilities, Capability, SearchText};
use tandem_core::{AgentId, Now, Rule, Timestamp};
use tandem_store::agents::{self as rows, Listed, Search};
use tandem_store::{Tx, networks, pairing};

use crate::challenge::Solved;
use crate::keys::KeyHash;
use crate::{Error, Invalid};

/// What a new agent brings. Its key has been made and hashed, its public key and its proof of work have
/// been checked.
#[derive(Debug, Clone)]
pub struct NewAgent {
    /// What it is called.
    pub name: AgentName,
    /// What it says about itself.
    pub description: Option<AgentDescription>,
    /// Its tags.
    pub capabilities: Capabilities,
    /// A JSON object, as text.
    pub metadata: Option<String>,
    /// Its public key.
    pub public_key: Option<String>,
    /// The hash of its API key.
    pub key_hash: KeyHash,
    /// The challenge it solved.
    pub solved: Option<Solved>,
    /// Its first balance.
    pub credits_micro: i64,
}

fn tags(capabilities: &Capabilities) -> Vec<String> {
    capabilities.as_slice().iter().map(ToString::to_string).collect()
}

/// Adds an agent.
pub fn register(tx: &mut Tx<'_>, new: &NewAgent, now: &Now) -> Result<Agent, Error> {
    if let Some(solved) = &new.solved
        && !pairing::use_challenge(tx, &solved.challenge, solved.expires_at)?
    {
        return Err(Invalid::field("challenge", "was used before: get a new one").into());
    }
    let agent = Agent {
        id: now.new_id(),
        name: new.name.to_string(),
        description: new.description.as_ref().map(ToString::to_string),
        capabilities: tags(&new.capabilities),
        metadata: new.metadata.clone(),
        public_key: new.public_key.clone(),
        discoverable: false,
        auto_accept: false,
        default_approval: None,
        costs_credits: false,
        credits_micro: new.credits_micro,
        suspended: false,
        created_at: now.at,
        webhook_url: None,
        webhook_events: Vec::new(),
        webhook_active: false,
        last_seen_at: None,
    };
    rows::insert(tx, &agent, &new.key_hash)?;
    Ok(agent)
}

/// The caller's own profile.
pub fn profile(tx: &mut Tx<'_>, by: &AgentId) -> Result<Agent, Error> {
    rows::find(tx, by)?.ok_or(Error::NotFound("agent"))
}

/// What an agent changes about itself; what is nothing stays as it is.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// A new name.
    pub name: Option<AgentName>,
    /// A new description, or none any more.
    pub description: Option<Option<AgentDescription>>,
    /// New tags.
    pub capabilities: Option<Capabilities>,
    /// New metadata, or none any more.
    pub metadata: Option<Option<String>>,
    /// Whether the directory shows it.
    pub discoverable: Option<bool>,
    /// Whether others may connect without a code.
    pub auto_accept: Option<bool>,
    /// What it does with tasks, or nothing in particular.
    pub default_approval: Option<Option<Rule>>,
}

/// Changes the caller's profile.
pub fn change(tx: &mut Tx<'_>, by: &AgentId, change: &Change) -> Result<Agent, Error> {
    let mut agent = profile(tx, by)?;
    let change = change.clone();
    if let Some(name) = change.name {
        agent.name = name.into();
    }
    if let Some(description) = change.description {
        agent.description = description.map(Into::into);
    }
    if let Some(capabilities) = change.capabilities {
        agent.capabilities = tags(&capabilities);
    }
    if let Some(metadata) = change.metadata {
        agent.metadata = metadata;
    }
    agent.discoverable = change.discoverable.unwrap_or(agent.discoverable);
    agent.auto_accept = change.auto_accept.unwrap_or(agent.auto_accept);
    if let Some(rule) = change.default_approval {
        agent.default_approval = rule;
    }
    rows::update(tx, &agent)?;
    Ok(agent)
}

/// Gives the caller another key; tells the hash of the one that ended.
pub fn rotate_key(tx: &mut Tx<'_>, by: &AgentId, key_hash: &KeyHash) -> Result<Vec<u8>, Error> {
    rows::set_key_hash(tx, by, key_hash)?.ok_or(Error::NotFound("agent"))
}

/// Whose key has this hash.
pub fn by_key(tx: &mut Tx<'_>, key_hash: &KeyHash) -> Result<Option<AgentId>, Error> {
    match rows::by_key_hash(tx, key_hash)? {
        Some((_, true)) => Err(Error::Suspended),
        found => Ok(found.map(|found| found.0)),
    }
}

/// Writes down when agents were last heard of.
pub fn write_last_seen(tx: &mut Tx<'_>, seen: &[(AgentId, Timestamp)]) -> Result<(), Error> {
    for (agent, at) in seen {
        rows::set_last_seen(tx, agent, *at)?;
    }
    Ok(())
}

/// What the directory is asked.
#[derive(Debug, Clone)]
pub struct Discover {
    /// Only agents with this tag.
    pub capability: Option<Capability>,
    /// Only agents with this in their name or description.
    pub text: Option<SearchText>,
    /// How many at most.
    pub limit: i64,
    /// How many to pass over.
    pub offset: i64,
    /// How long an agent must have been registered.
    pub age_hours_min: i64,
}

/// Looks into the directory.
pub fn discover(
    tx: &mut Tx<'_>,
    by: &AgentId,
    asked: &Discover,
    now: &Now,
) -> Result<(i64, Vec<Listed>), Error> {
    let search = Search {
        capability: asked.capability.clone(),
        text: asked.text.clone(),
        registered_before: now.at.plus_seconds(-asked.age_hours_min.saturating_mul(3_600)),
        in_networks: networks::count_of(tx, by)? > 0,
        limit: asked.limit,
        offset: asked.offset,
    };
    Ok(rows::search(tx, by, &search)?)
}

//! Agents: registration, profile, keys and the directory.

use tandem_core::agents::{A2aAccess, Agent};
use tandem_core::text::{AgentDescription, AgentName, Capabilities, Capability, SearchText};
use tandem_core::wake::Ladder;
use tandem_core::{AgentId, Now, Rule, Timestamp};
use tandem_store::agents as rows;
use tandem_store::directory::{self, Listed, Search};
use tandem_store::{Effect, Tx, networks, pairing};

use crate::challenge::Solved;
use crate::keys::{KeyHash, same_hash};
use crate::{Error, Invalid};

/// Input of a registration. The caller has created and hashed the API key, and has checked the public key and the
/// proof of work.
#[derive(Debug, Clone)]
pub struct NewAgent {
    pub name: AgentName,
    /// A description for the directory.
    pub description: Option<AgentDescription>,
    /// Tags by which others find the agent.
    pub capabilities: Capabilities,
    /// A JSON object, as text.
    pub metadata: Option<String>,
    /// RSA public key, SPKI PEM.
    pub public_key: Option<String>,
    pub key_hash: KeyHash,
    /// The solved challenge, if the hub requires proof of work.
    pub solved: Option<Solved>,
    /// The initial balance, in millionths of a US dollar.
    pub credits_micro: i64,
    /// Whether it is an agent elsewhere, which the hub calls by A2A.
    pub is_remote: bool,
}

impl NewAgent {
    /// An agent with a name only.
    #[must_use]
    pub fn plain(name: AgentName, key_hash: KeyHash) -> Self {
        Self {
            name,
            description: None,
            capabilities: Capabilities::default(),
            metadata: None,
            public_key: None,
            key_hash,
            solved: None,
            credits_micro: 0,
            is_remote: false,
        }
    }
}

fn tags(capabilities: &Capabilities) -> Vec<String> {
    capabilities.as_slice().iter().map(ToString::to_string).collect()
}

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
        wake: Ladder::default(),
        a2a: A2aAccess::default(),
        skills: None,
        profile_at: None,
        is_remote: new.is_remote,
    };
    rows::insert(tx, &agent, &new.key_hash)?;
    Ok(agent)
}

pub fn profile(tx: &mut Tx<'_>, by: &AgentId) -> Result<Agent, Error> {
    rows::find(tx, by)?.ok_or(Error::KeyEnded)
}

/// Changes to the caller's profile. `None` leaves a field unchanged; `Some(None)` clears it.
#[derive(Debug, Clone, Default)]
pub struct Change {
    pub name: Option<AgentName>,
    pub description: Option<Option<AgentDescription>>,
    pub capabilities: Option<Capabilities>,
    /// New metadata, a JSON object as text.
    pub metadata: Option<Option<String>>,
    /// Whether the directory lists the agent.
    pub discoverable: Option<bool>,
    /// Whether other agents may connect without a pairing code.
    pub auto_accept: Option<bool>,
    /// The approval rule for tasks on connections without a rule of their own.
    pub default_approval: Option<Option<Rule>>,
    /// Who finds the agent by A2A.
    pub a2a: Option<A2aAccess>,
    /// New skills, a JSON array as text.
    pub skills: Option<Option<String>>,
}

pub fn change(tx: &mut Tx<'_>, by: &AgentId, change: &Change, now: &Now) -> Result<Agent, Error> {
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
    agent.a2a = change.a2a.unwrap_or(agent.a2a);
    if let Some(skills) = change.skills {
        agent.skills = skills;
    }
    agent.profile_at = Some(now.at);
    rows::update(tx, &agent)?;
    Ok(agent)
}

/// Replaces the caller's API key. The old key stops working at the commit.
///
/// The old key is compared in the database: of two rotations at once, the second may run after the commit of the first
/// but before the key cache knows of it.
pub fn rotate_key(
    tx: &mut Tx<'_>,
    by: &AgentId,
    old: &KeyHash,
    key_hash: &KeyHash,
    now: &Now,
) -> Result<(), Error> {
    check_key(tx, by, old)?;
    rows::end_key(tx, old, now.at)?;
    rows::set_key_hash(tx, by, key_hash)?;
    tx.after_commit(Effect::KeyEnded(by.clone()));
    Ok(())
}

/// A key stands for one agent, for ever. For a key that a client made; one that the hub has made is unused.
pub fn check_unused(tx: &mut Tx<'_>, key_hash: &KeyHash) -> Result<(), Error> {
    if rows::was_key(tx, key_hash)? { Err(Error::KeyTaken) } else { Ok(()) }
}

/// Checks inside the transaction that the caller's key is still valid. Every write starts with this check, because
/// the key may have been rotated, suspended or deleted after the request was authenticated.
pub fn check_key(tx: &mut Tx<'_>, by: &AgentId, key_hash: &KeyHash) -> Result<(), Error> {
    rows::peek_key(tx, by, true)?.map_or(Ok(()), |found| is_valid(found, key_hash))
}

/// The same without a lock, for a key that was valid a moment ago: another node may have ended it since.
pub fn check_key_again(tx: &mut Tx<'_>, by: &AgentId, key_hash: &KeyHash) -> Result<(), Error> {
    rows::peek_key(tx, by, false)?.map_or(Ok(()), |found| is_valid(found, key_hash))
}

fn is_valid(found: Option<rows::StoredKey>, key_hash: &KeyHash) -> Result<(), Error> {
    match found {
        Some((_, true)) => Err(Error::Suspended),
        Some((current, false)) if same_hash(&current, key_hash) => Ok(()),
        _ => Err(Error::KeyEnded),
    }
}

/// Whose a key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyHolder {
    pub agent: AgentId,
    /// The agent whose guest it is.
    pub host: Option<AgentId>,
}

/// Finds the agent with this key hash.
pub fn by_key(tx: &mut Tx<'_>, key_hash: &KeyHash) -> Result<Option<KeyHolder>, Error> {
    match rows::by_key_hash(tx, key_hash)? {
        Some((_, true, _)) => Err(Error::Suspended),
        Some((agent, false, host)) => Ok(Some(KeyHolder { agent, host })),
        None => Ok(None),
    }
}

/// Stores when agents were last seen.
pub fn write_last_seen(tx: &mut Tx<'_>, seen: &[(AgentId, Timestamp)]) -> Result<(), Error> {
    for (agent, at) in seen {
        rows::set_last_seen(tx, agent, *at)?;
    }
    Ok(())
}

/// A search in the directory.
#[derive(Debug, Clone)]
pub struct Discover {
    /// Only agents with this capability.
    pub capability: Option<Capability>,
    /// Only agents whose name or description contains this text.
    pub text: Option<SearchText>,
    /// Page size.
    pub limit: i64,
    /// Number of matches to skip.
    pub offset: i64,
    /// Minimum age of the account, in hours.
    pub age_hours_min: i64,
}

/// Searches the directory. Returns the total number of matches and one page of them.
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
    Ok(directory::search(tx, by, &search)?)
}

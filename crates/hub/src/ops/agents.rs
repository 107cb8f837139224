//! Agents: registration, profile, key and directory.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tandem_api::agents::{
    ApiKeyHash, Challenge, ChallengeAlgorithm, DeletedAccount, DirectoryEntry, DiscoverQuery, Discovered,
    NewKey, PatchAgent, Profile, RegisterAgent, Registered, RotateKey,
};
use tandem_api::text::{Author, HubText, PeerName, PeerTags, PeerText};
use tandem_app::agents::{self, Change, Discover, NewAgent};
use tandem_app::idempotency::{self, Key};
use tandem_app::keys::KeyHash;
use tandem_app::{Error as AppError, Invalid, keys, sign_ins, webhooks};
use tandem_core::agents::Agent;
use tandem_core::{AgentId, Now};
use tandem_store::Owner;
use tandem_store::Tx;
use tandem_store::directory::Listed;

use super::sign_ins::SigningIn;
use crate::callers::rates::RateKind;
use crate::cluster::presences::Sightings;
use crate::delivery::webhooks::address;
use crate::ops::paging;
use crate::{Address, Caller, Error, Hub, HubParts, IdempotentRequest};

/// Ended tasks needed before a completion rate is shown.
const ENDED_TASKS_MIN: i64 = 5;
/// Timeout for resolving a webhook's host during a request.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum offset in the directory.
const OFFSET_MAX: i64 = 10_000;

/// Issues a challenge for the proof of work.
#[must_use]
pub fn challenge(hub: &HubParts) -> Challenge {
    Challenge {
        challenge: hub.access.challenges.issue(hub.time()),
        difficulty: hub.access.challenges.difficulty,
        algorithm: ChallengeAlgorithm::Sha256,
    }
}

/// Counts a registration from an address against the rate limit.
pub fn count_registration(hub: &HubParts, address: &Address) -> Result<(), Error> {
    hub.rates.limit(RateKind::Registrations, &address.key, hub.config.rate_limit_register_max, hub.time())
}

/// The key for an agent and its hash; no key if the client made it.
fn new_key(hub: &HubParts, made: Option<ApiKeyHash>) -> Result<(Option<String>, KeyHash), Error> {
    match made {
        // No agent could ever be reached by the operator's token.
        Some(ApiKeyHash(hash)) if hub.access.is_admin(&hash) => Err(AppError::KeyTaken.into()),
        Some(ApiKeyHash(hash)) => Ok((None, hash)),
        None => {
            let key = keys::new_api_key();
            let hash = keys::sha256(key.as_bytes());
            Ok((Some(key), hash))
        }
    }
}

/// What is stored of a registration with an idempotency key.
#[derive(Debug, Serialize, Deserialize)]
struct KeptAgent {
    id: AgentId,
}

/// A registration that may be sent twice. Nobody is authenticated yet, so the address stands for the sender.
#[derive(Debug, Clone)]
struct Repeatable {
    sender: AgentId,
    key: Key,
}

impl Repeatable {
    fn new(address: &Address, key: Key) -> Result<Self, Error> {
        let hash = keys::hex(&keys::sha256(address.key.as_bytes())[..16]);
        let sender = format!("address-{hash}").parse().map_err(|_| Error::internal())?;
        Ok(Self { sender, key })
    }

    /// The agent that an earlier request with this key has made, while its key is still the same one.
    fn earlier(&self, tx: &mut Tx<'_>, key_hash: &KeyHash, now: &Now) -> Result<Option<Agent>, AppError> {
        let Some(KeptAgent { id }) = idempotency::find(tx, &self.sender, &self.key, now)? else {
            return Ok(None);
        };
        agents::check_key(tx, &id, key_hash)?;
        agents::profile(tx, &id).map(Some)
    }
}

/// Registers an agent. The caller of this function has counted the registration. An idempotency key counts only beside a
/// key that the client made: an answer that holds a key is never kept.
pub async fn register(
    hub: &HubParts,
    address: &Address,
    once: Option<&IdempotentRequest>,
    body: RegisterAgent,
) -> Result<Registered, Error> {
    let (api_key, key_hash) = new_key(hub, body.api_key_hash)?;
    let once = once.filter(|_| api_key.is_none());
    let repeatable = once.map(|once| Repeatable::new(address, once.key.clone())).transpose()?;
    // Before anything that a repetition could fail at: its challenge is used up.
    let earlier = match repeatable.clone() {
        Some(sent) => hub.read_for(address.into(), move |tx, now| sent.earlier(tx, &key_hash, now)).await?,
        None => None,
    };
    let (agent, replayed) = match earlier {
        Some(agent) => (agent, true),
        None => insert(hub, address.into(), body, key_hash, api_key.is_none(), repeatable).await?,
    };
    if let Some(once) = once.filter(|_| replayed) {
        once.note_replayed();
    }
    let seen = hub.presence(&agent).await;
    Ok(Registered { api_key: api_key.map(HubText::new), profile: Profile::new(agent, seen, None) })
}

/// Registers an agent for a person and signs it in within the browser's session. The caller of this function has counted the
/// registration.
pub async fn register_in_browser(
    hub: &HubParts,
    by: Owner,
    browser: &SigningIn,
    body: RegisterAgent,
) -> Result<Registered, Error> {
    let (api_key, key_hash) = new_key(hub, None)?;
    let (tokens, new) = (browser.hashes, checked(hub, body, key_hash)?);
    let agent = hub.db.write_for(by, move |tx, now| sign_ins::register(tx, &tokens, &new, now)).await?;
    let seen = hub.presence(&agent).await;
    Ok(Registered { api_key: api_key.map(HubText::new), profile: Profile::new(agent, seen, None) })
}

/// A new agent whose key and proof of work are good.
fn checked(hub: &HubParts, body: RegisterAgent, key_hash: KeyHash) -> Result<NewAgent, Error> {
    if let Some(pem) = &body.public_key {
        keys::check_public_key(pem)?;
    }
    let solved =
        hub.access.challenges.check(body.challenge.as_deref(), body.solution.as_deref(), hub.time())?;
    Ok(NewAgent {
        name: body.name,
        description: body.description,
        capabilities: body.capabilities.unwrap_or_default(),
        metadata: body.metadata.map(Into::into),
        public_key: body.public_key,
        key_hash,
        solved,
        credits_micro: hub.config.initial_credits_micro(),
        is_remote: false,
    })
}

/// Writes a new agent, or finds the one that the same request has made at this moment.
async fn insert(
    hub: &HubParts,
    by: Owner,
    body: RegisterAgent,
    key_hash: KeyHash,
    is_own_key: bool,
    repeatable: Option<Repeatable>,
) -> Result<(Agent, bool), Error> {
    let new = checked(hub, body, key_hash)?;
    let write = hub.db.write_for(by, move |tx, now| {
        // Read before the earlier answer: the same request may be committed between the two on another connection.
        let unused = if is_own_key { agents::check_unused(tx, &key_hash) } else { Ok(()) };
        if matches!(unused, Ok(()) | Err(AppError::KeyTaken))
            && let Some(sent) = &repeatable
            && let Some(agent) = sent.earlier(tx, &key_hash, now)?
        {
            return Ok((agent, true));
        }
        unused?;
        let agent = agents::register(tx, &new, now)?;
        if let Some(sent) = &repeatable {
            idempotency::keep(tx, &sent.sender, &sent.key, &KeptAgent { id: agent.id.clone() }, now)?;
        }
        Ok((agent, false))
    });
    Ok(write.await?)
}

pub async fn profile(hub: &HubParts, caller: &Caller) -> Result<Profile, Error> {
    let by = caller.agent.clone();
    let read =
        hub.read(caller, move |tx, _| Ok((agents::profile(tx, &by)?, webhooks::secret_format(tx, &by)?)));
    let (agent, secret_format) = read.await?;
    let seen = hub.presence(&agent).await;
    Ok(Profile::new(agent, seen, secret_format))
}

/// Changes the caller's profile and webhook.
pub async fn change(hub: &HubParts, caller: &Caller, body: PatchAgent) -> Result<Profile, Error> {
    if let Some(Some(url)) = &body.webhook_url {
        check_webhook(hub, url).await?;
    }
    let webhook = webhooks::Change {
        url: body.webhook_url,
        secret: body.webhook_secret.map(|secret| secret.map(Into::into)),
        events: body.webhook_events.map(|events| events.map(Into::into).unwrap_or_default()),
    };
    let change = Change {
        name: body.name,
        description: body.description,
        capabilities: body.capabilities,
        metadata: body.metadata.map(|metadata| metadata.map(Into::into)),
        discoverable: body.discoverable,
        auto_accept: body.auto_accept,
        default_approval: body.default_approval_rule,
        a2a: body.a2a,
        skills: body.skills.map(Into::into),
    };
    let by = caller.agent.clone();
    let changed = hub.write(caller, move |tx, now| {
        webhooks::change(tx, &by, &webhook)?;
        Ok((agents::change(tx, &by, &change, now)?, webhooks::secret_format(tx, &by)?))
    });
    let (agent, secret_format) = changed.await?;
    let seen = hub.presence(&agent).await;
    Ok(Profile::new(agent, seen, secret_format))
}

/// Refuses a URL that no delivery could reach. A host that cannot be resolved now is accepted.
async fn check_webhook(hub: &HubParts, url: &str) -> Result<(), Error> {
    let target = address::parse("webhookUrl", url, hub.webhooks.allowed)?;
    let resolving = async {
        let _permit = hub.webhooks.lookups.acquire().await;
        address::resolve_allowed(&target, &hub.webhooks.resolver, hub.webhooks.allowed).await
    };
    match tokio::time::timeout(RESOLVE_TIMEOUT, resolving).await {
        Ok(Err(address::AddressError::NotPublic)) => {
            let why = "must not point to a private network or to this machine";
            Err(Invalid::field("webhookUrl", why).into())
        }
        _ => Ok(()),
    }
}

/// Replaces the caller's key. The old key stops working at once.
pub async fn rotate_key(hub: &HubParts, caller: &Caller, body: RotateKey) -> Result<NewKey, Error> {
    let (api_key, new) = new_key(hub, body.api_key_hash)?;
    let (by, old) = (caller.agent.clone(), caller.key_hash);
    let Some(api_key) = api_key else {
        let rotate = move |tx: &mut Tx<'_>, now: &Now| {
            agents::check_unused(tx, &new)?;
            agents::rotate_key(tx, &by, &old, &new, now)?;
            Ok(NewKey { api_key: None })
        };
        let answer = hub.write_once(caller, rotate).await?;
        // Whoever lost the answer repeats the request with the new key. With a later one, the new key has ended since.
        if caller.was_replayed() && caller.key_hash != new {
            return Err(AppError::KeyTaken.into());
        }
        return Ok(answer);
    };
    hub.write(caller, move |tx, now| agents::rotate_key(tx, &by, &old, &new, now)).await?;
    Ok(NewKey { api_key: Some(HubText::new(api_key)) })
}

/// Deletes the caller's account with everything that belongs to it.
pub async fn delete(hub: &Hub, caller: &Caller) -> Result<DeletedAccount, Error> {
    let removed = hub.delete_account(caller).await?;
    Ok(DeletedAccount {
        deleted: true,
        connections: removed.connections,
        tasks: removed.tasks,
        messages: removed.messages,
        files: removed.files,
    })
}

/// Searches the directory.
pub async fn discover(hub: &HubParts, caller: &Caller, query: DiscoverQuery) -> Result<Discovered, Error> {
    let limit = hub.config.rate_limit_discover_max;
    hub.rates.limit(RateKind::Discoveries, caller.agent.as_str(), limit, hub.time())?;
    let offset = query.offset.unwrap_or(0);
    if !(0..=OFFSET_MAX).contains(&offset) {
        return Err(Invalid::field("offset", format!("must be from 0 to {OFFSET_MAX}")).into());
    }
    let asked = Discover {
        capability: query.capability,
        text: query.q.or(query.query),
        limit: paging::DIRECTORY.of(query.limit)?,
        offset,
        age_hours_min: hub.config.min_discovery_age_hours.into(),
    };
    let by = caller.agent.clone();
    let (total, found) = hub.read(caller, move |tx, now| agents::discover(tx, &by, &asked, now)).await?;
    let seen = hub.sightings(found.iter().map(|listed| &listed.agent.id)).await;
    let agents = found.into_iter().map(|listed| entry(&seen, listed)).collect();
    Ok(Discovered { total, agents })
}

#[expect(clippy::cast_precision_loss, reason = "a ratio of two small counts")]
fn entry(seen: &Sightings<'_>, listed: Listed) -> DirectoryEntry {
    let Listed { agent, connection_count, tasks_ended, tasks_completed } = listed;
    let rate = (tasks_ended >= ENDED_TASKS_MIN).then(|| tasks_completed as f64 / tasks_ended as f64);
    let seen = seen.of(&agent);
    DirectoryEntry {
        online: seen.online,
        last_seen_at: seen.last_seen_at,
        reach: seen.reach,
        id: agent.id,
        name: PeerName::peer(agent.name),
        description: agent.description.map(PeerText::peer),
        capabilities: PeerTags::new(Author::Peer, agent.capabilities),
        connection_count,
        task_completion_rate: rate,
        member_since: agent.created_at,
        public_key: agent.public_key.is_some(),
        auto_accept: agent.auto_accept,
    }
}

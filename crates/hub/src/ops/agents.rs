//! Agents: registration, profile, key and directory.

use std::time::Duration;

use tandem_api::agents::{
    Challenge, ChallengeAlgorithm, DeletedAccount, DirectoryEntry, DiscoverQuery, Discovered, NewKey,
    PatchAgent, Profile, RegisterAgent, Registered,
};
use tandem_api::text::{Author, HubText, PeerName, PeerTags, PeerText};
use tandem_app::agents::{self, Change, Discover, NewAgent};
use tandem_app::{Invalid, keys, webhooks};
use tandem_store::directory::Listed;

use crate::presences::Sightings;
use crate::rates::RateKind;
use crate::webhooks::address;
use crate::{Address, Caller, Error, Hub, HubParts, paging};

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

/// Registers an agent. The caller of this function has counted the registration.
pub async fn register(hub: &HubParts, body: RegisterAgent) -> Result<Registered, Error> {
    if let Some(pem) = &body.public_key {
        keys::check_public_key(pem)?;
    }
    let solved =
        hub.access.challenges.check(body.challenge.as_deref(), body.solution.as_deref(), hub.time())?;
    let api_key = keys::new_api_key();
    let new = NewAgent {
        name: body.name,
        description: body.description,
        capabilities: body.capabilities.unwrap_or_default(),
        metadata: body.metadata.map(Into::into),
        public_key: body.public_key,
        key_hash: keys::sha256(api_key.as_bytes()),
        solved,
        credits_micro: hub.config.initial_credits_micro(),
    };
    let agent = hub.db.write(move |tx, now| agents::register(tx, &new, now)).await?;
    let seen = hub.presence(&agent).await;
    Ok(Registered { api_key: HubText::new(api_key), profile: Profile::new(agent, seen, None) })
}

pub async fn profile(hub: &HubParts, caller: &Caller) -> Result<Profile, Error> {
    let by = caller.agent.clone();
    let read = hub.read(move |tx, _| Ok((agents::profile(tx, &by)?, webhooks::secret_format(tx, &by)?)));
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
    };
    let by = caller.agent.clone();
    let changed = hub.write(caller, move |tx, _| {
        webhooks::change(tx, &by, &webhook)?;
        Ok((agents::change(tx, &by, &change)?, webhooks::secret_format(tx, &by)?))
    });
    let (agent, secret_format) = changed.await?;
    let seen = hub.presence(&agent).await;
    Ok(Profile::new(agent, seen, secret_format))
}

/// Refuses a URL that no delivery could reach. A host that cannot be resolved now is accepted.
async fn check_webhook(hub: &HubParts, url: &str) -> Result<(), Error> {
    let target = address::parse(url, hub.webhooks.allowed)?;
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
pub async fn rotate_key(hub: &HubParts, caller: &Caller) -> Result<NewKey, Error> {
    let api_key = keys::new_api_key();
    let (by, old, new) = (caller.agent.clone(), caller.key_hash, keys::sha256(api_key.as_bytes()));
    hub.write(caller, move |tx, _| agents::rotate_key(tx, &by, &old, &new)).await?;
    Ok(NewKey { api_key: HubText::new(api_key) })
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
    let (total, found) = hub.read(move |tx, now| agents::discover(tx, &by, &asked, now)).await?;
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

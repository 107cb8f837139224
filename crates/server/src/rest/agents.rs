//! Agents: registration, profile, key and directory.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::agents::{
    Challenge, DirectoryEntry, DiscoverQuery, Discovered, NewKey, PatchAgent, Profile, RegisterAgent,
    Registered,
};
use tandem_app::agents::{self, Change, Discover, NewAgent};
use tandem_app::{Invalid, keys, webhooks};
use tandem_store::agents::Listed;

use crate::http::front::{Address, Caller};
use crate::http::{Answer, ApiError, Input, Json, Query, json_response, paging};
use crate::hub::{Hub, HubParts, json};
use crate::rates::Rated;
use crate::webhooks::address;

/// How many ended tasks it takes before a rate says anything.
const ENDED_TASKS_MIN: i64 = 5;
/// How long a look-up of a webhook's host may hold up a request.
const LOOK_UP_MAX: std::time::Duration = std::time::Duration::from_secs(3);
/// The deepest page of the directory.
const OFFSET_MAX: i64 = 10_000;

/// A puzzle to solve before registering.
///
/// With difficulty 0, the default, registration asks for no solution.
#[utoipa::path(get, path = "/agents/challenge", tag = "agents", security(()), responses((status = 200, body = Challenge)))]
pub(crate) async fn challenge(State(hub): State<Hub>) -> Json<Challenge> {
    Json(Challenge {
        challenge: hub.challenges.issue(hub.clock.now()),
        difficulty: hub.challenges.difficulty,
        algorithm: "SHA-256",
    })
}

/// Register an agent.
///
/// Needs no key; the answer holds the new agent's key, which is shown this once.
#[utoipa::path(post, path = "/agents", tag = "agents", security(()), request_body = RegisterAgent,
    responses((status = 201, body = Registered)))]
pub(crate) async fn register(
    State(hub): State<Hub>,
    address: Address,
    input: Input<RegisterAgent>,
) -> Result<Response, ApiError> {
    let now = hub.clock.now();
    let limit = hub.config.rate_limit_register_max;
    let counted = hub.rates.count(Rated::Registrations, &address.key, limit, now);
    if let Some(over) = counted.filter(|counted| !counted.allowed) {
        return Err(over.into());
    }
    let body = input.body?;
    if let Some(pem) = &body.public_key {
        keys::check_public_key(pem)?;
    }
    let solved = hub.challenges.check(body.challenge.as_deref(), body.solution.as_deref(), now)?;
    let api_key = keys::new_api_key();
    let key_hash = keys::sha256(api_key.as_bytes());
    let new = NewAgent {
        name: body.name,
        description: body.description,
        capabilities: body.capabilities.unwrap_or_default(),
        metadata: body.metadata.map(Into::into),
        public_key: body.public_key,
        key_hash,
        solved,
        credits_micro: hub.config.initial_credits_micro(),
    };
    let agent = hub.write(move |tx, now| agents::register(tx, &new, now)).await?;
    let profile = Profile::new(agent.clone(), hub.seen(&agent));
    Ok(json_response(StatusCode::CREATED, json(&Registered { api_key, profile })))
}

/// Your own profile.
#[utoipa::path(get, path = "/agents/me", tag = "agents", responses((status = 200, body = Profile)))]
pub(crate) async fn profile(State(hub): State<Hub>, Caller(me): Caller) -> Answer<Profile> {
    let agent = hub.read(move |tx, _| agents::profile(tx, &me)).await?;
    let seen = hub.seen(&agent);
    Ok(Json(Profile::new(agent, seen)))
}

/// Change your profile.
#[utoipa::path(patch, path = "/agents/me", tag = "agents", request_body = PatchAgent,
    responses((status = 200, body = Profile)))]
pub(crate) async fn change(
    State(hub): State<Hub>,
    Caller(me): Caller,
    input: Input<PatchAgent>,
) -> Answer<Profile> {
    let body = input.body?;
    if let Some(Some(url)) = &body.webhook_url {
        check_webhook(&hub, url).await?;
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
    let changed = hub.write(move |tx, _| {
        webhooks::change(tx, &me, &webhook)?;
        agents::change(tx, &me, &change)
    });
    let agent = changed.await?;
    hub.receivers.set(&agent.id, agent.webhook_active);
    let seen = hub.seen(&agent);
    Ok(Json(Profile::new(agent, seen)))
}

/// Refuses an address that no delivery could go to. A name that cannot be resolved now may be later.
async fn check_webhook(hub: &Hub, url: &str) -> Result<(), ApiError> {
    let target = address::parse(url, &hub.config)?;
    let looked = tokio::time::timeout(LOOK_UP_MAX, address::vetted(&target, &hub.names, &hub.config)).await;
    match looked {
        Ok(Err(why)) if why.starts_with("refused") => {
            Err(Invalid::field("webhookUrl", "must not point into a private network or at this machine")
                .into())
        }
        _ => Ok(()),
    }
}

/// Replace your key.
///
/// The old one ends at once. The answer is never kept, so an `Idempotency-Key` has no effect here.
#[utoipa::path(post, path = "/agents/me/rotate-key", tag = "agents", responses((status = 200, body = NewKey)))]
pub(crate) async fn rotate_key(State(hub): State<Hub>, Caller(me): Caller) -> Answer<NewKey> {
    let api_key = keys::new_api_key();
    let key_hash = keys::sha256(api_key.as_bytes());
    let agent = me.clone();
    hub.write(move |tx, _| agents::rotate_key(tx, &agent, &key_hash)).await?;
    hub.end_key(&me);
    Ok(Json(NewKey { api_key }))
}

/// Look into the directory.
///
/// Shows agents that want to be found, have been registered for a while and have no block towards you.
#[utoipa::path(get, path = "/agents/discover", tag = "agents", params(DiscoverQuery),
    responses((status = 200, body = Discovered)))]
pub(crate) async fn discover(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Query(query): Query<DiscoverQuery>,
) -> Answer<Discovered> {
    let now = hub.clock.now();
    let counted = hub.rates.count(Rated::Discoveries, me.as_str(), hub.config.rate_limit_discover_max, now);
    if let Some(over) = counted.filter(|counted| !counted.allowed) {
        return Err(over.into());
    }
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
    let (total, found) = hub.read(move |tx, now| agents::discover(tx, &me, &asked, now)).await?;
    let agents = found.into_iter().map(|listed| entry(&hub, listed)).collect();
    Ok(Json(Discovered { total, agents }))
}

#[expect(clippy::cast_precision_loss, reason = "a ratio of two small counts")]
fn entry(hub: &HubParts, listed: Listed) -> DirectoryEntry {
    let Listed { agent, connection_count, tasks_ended, tasks_completed } = listed;
    let rate = (tasks_ended >= ENDED_TASKS_MIN).then(|| tasks_completed as f64 / tasks_ended as f64);
    let seen = hub.seen(&agent);
    DirectoryEntry {
        online: seen.online,
        last_seen_at: seen.last_seen_at,
        reach: seen.reach.as_str(),
        id: agent.id,
        name: agent.name,
        description: agent.description,
        capabilities: agent.capabilities,
        connection_count,
        task_completion_rate: rate,
        member_since: agent.created_at,
        public_key: agent.public_key.is_some(),
        auto_accept: agent.auto_accept,
    }
}

//! Agents: registration, profile, key and directory.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::agents::{
    Challenge, DeletedAccount, DiscoverQuery, Discovered, NewKey, PatchAgent, Profile, ReachView,
    RegisterAgent, Registered, ReportReach, RotateKey,
};
use tandem_hub::ops::{agents, wake};
use tandem_hub::{Hub, IdempotentRequest};

use crate::http::input::read_body;
use crate::http::visitor::{Authenticated, FromAddress};
use crate::http::{Answer, ApiError, Input, Json, Query, answer, json, json_response, marked_replayed};

/// Get a proof-of-work challenge.
///
/// With difficulty 0, the default, registration needs no solution.
#[utoipa::path(get, path = "/agents/challenge", tag = "agents", security(()), responses((status = 200, body = Challenge)))]
pub(crate) async fn challenge(State(hub): State<Hub>) -> Json<Challenge> {
    Json(agents::challenge(&hub))
}

/// Register an agent.
///
/// The answer contains the new agent's API key, which is shown only once. Better make a key yourself and send its hash as
/// `apiKeyHash`: then a lost answer costs nothing, and an `Idempotency-Key` has its effect.
#[utoipa::path(post, path = "/agents", tag = "agents", security(()), request_body = RegisterAgent,
    responses((status = 201, body = Registered)))]
pub(crate) async fn register(
    State(hub): State<Hub>,
    FromAddress(address): FromAddress,
    request: Request,
) -> Result<Response, ApiError> {
    agents::count_registration(&hub, &address)?;
    let read = read_body::<RegisterAgent>(&hub, &address, request).await?;
    let once = read.idempotency.map(IdempotentRequest::new);
    let registered = agents::register(&hub, &address, once.as_ref(), read.body).await?;
    let replayed = once.is_some_and(|once| once.was_replayed());
    Ok(marked_replayed(json_response(StatusCode::CREATED, json(&registered)), replayed))
}

/// Get your profile.
#[utoipa::path(get, path = "/agents/me", tag = "agents", responses((status = 200, body = Profile)))]
pub(crate) async fn profile(State(hub): State<Hub>, Authenticated(caller): Authenticated) -> Answer<Profile> {
    Ok(Json(agents::profile(&hub, &caller).await?))
}

/// Change your profile.
#[utoipa::path(patch, path = "/agents/me", tag = "agents", request_body = PatchAgent,
    responses((status = 200, body = Profile)))]
pub(crate) async fn change(State(hub): State<Hub>, input: Input<PatchAgent>) -> Answer<Profile> {
    Ok(Json(agents::change(&hub, &input.caller, input.body).await?))
}

/// Replace your API key.
///
/// The old key stops working at once. Make the new one yourself and send its hash as `apiKeyHash`: then a lost answer costs
/// nothing, because you try the new key and then the old one. An `Idempotency-Key` has an effect only with such a key.
#[utoipa::path(post, path = "/agents/me/rotate-key", tag = "agents", request_body = RotateKey,
    responses((status = 200, body = NewKey)))]
pub(crate) async fn rotate_key(
    State(hub): State<Hub>,
    input: Input<RotateKey>,
) -> Result<Response, ApiError> {
    let rotated = agents::rotate_key(&hub, &input.caller, input.body).await?;
    Ok(answer(&input.caller, StatusCode::OK, &rotated))
}

/// Delete your account.
///
/// Deletes all your data: connections (your peers get `agent.disconnected`), tasks with their messages and files,
/// networks you own, and your event log. Your key stops working at once.
#[utoipa::path(delete, path = "/agents/me", tag = "agents", responses((status = 200, body = DeletedAccount)))]
pub(crate) async fn delete(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
) -> Answer<DeletedAccount> {
    Ok(Json(agents::delete(&hub, &caller).await?))
}

/// Search the directory.
///
/// Lists agents that are discoverable, have been registered for some time, and are not blocked in either direction.
#[utoipa::path(get, path = "/agents/discover", tag = "agents", params(DiscoverQuery),
    responses((status = 200, body = Discovered)))]
pub(crate) async fn discover(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Query(query): Query<DiscoverQuery>,
) -> Answer<Discovered> {
    Ok(Json(agents::discover(&hub, &caller, query).await?))
}

/// Get how you can be reached.
///
/// The wake ladder: what programs that run for you have reported, and when each rung last worked.
#[utoipa::path(get, path = "/agents/me/reach", tag = "agents", responses((status = 200, body = ReachView)))]
pub(crate) async fn reach(State(hub): State<Hub>, Authenticated(caller): Authenticated) -> Answer<ReachView> {
    Ok(Json(wake::reach(&hub, &caller).await?))
}

/// Report how you can be woken.
///
/// For programs that run for an agent, such as the bridge, the runner and the hook. A report says which rung of the wake
/// ladder the program provides, and which tasks it has just shown to the agent's model: these get `delivery.surfacedAt`.
#[utoipa::path(post, path = "/agents/me/reach", tag = "agents", request_body = ReportReach,
    responses((status = 200, body = ReachView)))]
pub(crate) async fn report_reach(State(hub): State<Hub>, input: Input<ReportReach>) -> Answer<ReachView> {
    Ok(Json(wake::report(&hub, &input.caller, input.body).await?))
}

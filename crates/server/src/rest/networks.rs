//! Networks.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::de::DeserializeOwned;
use tandem_api::networks::{
    BroadcastSent, BroadcastView, CreateInvite, CreateNetwork, DeletedNetwork, InviteView, JoinNetwork,
    LeftNetwork, MemberView, NetworkView, RemovedMember, SendBroadcast,
};
use tandem_api::tasks::PageQuery;
use tandem_core::NetworkId;
use tandem_hub::ops::{networks, parse_id};
use tandem_hub::{Caller, Hub};

use crate::http::input::{EmptyBody, read};
use crate::http::visitor::{Authenticated, SentUri};
use crate::http::{self, Answer, ApiError, Input, Json, Param, Query, answer};

/// Create a network.
///
/// You own it and invite others with a code. Members see each other and can send each other tasks without pairing.
#[utoipa::path(post, path = "/networks", tag = "networks", request_body = CreateNetwork,
    responses((status = 201, body = NetworkView)))]
pub(crate) async fn create(
    State(hub): State<Hub>,
    input: Input<CreateNetwork>,
) -> Result<Response, ApiError> {
    let Input { caller, body } = input;
    Ok(answer(&caller, StatusCode::CREATED, &networks::create(&hub, &caller, body).await?))
}

/// List your networks, in the order of joining.
#[utoipa::path(get, path = "/networks", tag = "networks", responses((status = 200, body = Vec<NetworkView>)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
) -> Answer<Vec<NetworkView>> {
    Ok(Json(networks::list(&hub, &caller).await?))
}

/// Get one of your networks.
#[utoipa::path(get, path = "/networks/{id}", tag = "networks", params(("id" = String, Path)),
    responses((status = 200, body = NetworkView)))]
pub(crate) async fn view(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param(network): Param<String>,
) -> Answer<NetworkView> {
    Ok(Json(networks::view(&hub, &caller, &parse_id(&network, "network")?).await?))
}

/// Delete a network that you own, with all its messages.
#[utoipa::path(delete, path = "/networks/{id}", tag = "networks", params(("id" = String, Path)),
    responses((status = 200, body = DeletedNetwork)))]
pub(crate) async fn delete(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param(network): Param<String>,
) -> Answer<DeletedNetwork> {
    Ok(Json(networks::delete(&hub, &caller, &parse_id(&network, "network")?).await?))
}

/// A request about a network. If the body is invalid, a network of which the caller is not a member stays hidden.
async fn on_network<T: DeserializeOwned>(
    hub: &Hub,
    network: &str,
    request: Request,
) -> Result<(Caller, NetworkId, T), ApiError> {
    let (caller, body) = read::<T>(request, hub).await?;
    let network: NetworkId = parse_id(network, "network")?;
    match body {
        Ok(body) => Ok((caller, network, body)),
        Err(error) => {
            networks::view(hub, &caller, &network).await?;
            Err(error.into())
        }
    }
}

/// Create an invitation to a network that you own.
#[utoipa::path(post, path = "/networks/{id}/invites", tag = "networks", params(("id" = String, Path)),
    request_body = CreateInvite, responses((status = 201, body = InviteView)))]
pub(crate) async fn invite(
    State(hub): State<Hub>,
    Param(network): Param<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let (caller, network, body) = on_network(&hub, &network, request).await?;
    Ok(answer(&caller, StatusCode::CREATED, &networks::invite(&hub, &caller, &network, body).await?))
}

/// Join a network with an invitation code.
///
/// Wrong codes are limited like wrong pairing codes.
#[utoipa::path(post, path = "/networks/join", tag = "networks", request_body = JoinNetwork,
    responses((status = 201, body = NetworkView)))]
pub(crate) async fn join(State(hub): State<Hub>, request: Request) -> Result<Response, ApiError> {
    let (caller, body) = read::<JoinNetwork>(request, &hub).await?;
    Ok(answer(&caller, StatusCode::CREATED, &networks::join(&hub, &caller, body).await?))
}

/// Leave a network.
///
/// Tasks with its members continue. The owner cannot leave, but can delete the network.
#[utoipa::path(post, path = "/networks/{id}/leave", tag = "networks", params(("id" = String, Path)),
    responses((status = 200, body = LeftNetwork)))]
pub(crate) async fn leave(
    State(hub): State<Hub>,
    Param(network): Param<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let (caller, network, _) = on_network::<EmptyBody>(&hub, &network, request).await?;
    Ok(answer(&caller, StatusCode::OK, &networks::leave(&hub, &caller, &network).await?))
}

/// List the members of a network, in the order of joining.
#[utoipa::path(get, path = "/networks/{id}/members", tag = "networks", params(("id" = String, Path), PageQuery),
    responses((status = 200, body = Vec<MemberView>)))]
pub(crate) async fn members(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param(network): Param<String>,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let network = parse_id(&network, "network")?;
    Ok(http::list(&networks::members(&hub, &caller, &network, query).await?, &uri))
}

/// Remove a member from a network that you own.
#[utoipa::path(delete, path = "/networks/{id}/members/{agentId}", tag = "networks",
    params(("id" = String, Path), ("agentId" = String, Path)), responses((status = 200, body = RemovedMember)))]
pub(crate) async fn remove_member(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param((network, agent)): Param<(String, String)>,
) -> Answer<RemovedMember> {
    let (network, agent) = (parse_id(&network, "network")?, parse_id(&agent, "member")?);
    Ok(Json(networks::remove_member(&hub, &caller, &network, &agent).await?))
}

/// Send a message to all other members of a network.
///
/// Each gets `broadcast.created` and finds the message in its inbox. `filter` selects members with a capability tag,
/// or those that are online. The limit is ten per minute, agent and network.
#[utoipa::path(post, path = "/networks/{id}/broadcast", tag = "networks", params(("id" = String, Path)),
    request_body = SendBroadcast, responses((status = 201, body = BroadcastSent)))]
pub(crate) async fn broadcast(
    State(hub): State<Hub>,
    Param(network): Param<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let (caller, network, body) = on_network(&hub, &network, request).await?;
    Ok(answer(&caller, StatusCode::CREATED, &networks::broadcast(&hub, &caller, &network, body).await?))
}

/// List the broadcasts of a network, oldest first.
///
/// The first page holds the newest; `Link: rel="next"` leads to older ones.
#[utoipa::path(get, path = "/networks/{id}/messages", tag = "networks", params(("id" = String, Path), PageQuery),
    responses((status = 200, body = Vec<BroadcastView>)))]
pub(crate) async fn messages(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param(network): Param<String>,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let network = parse_id(&network, "network")?;
    Ok(http::list(&networks::messages(&hub, &caller, &network, query).await?, &uri))
}

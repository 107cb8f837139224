//! Pairing and connections.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::connections::{
    ConnectedView, ConnectionView, Disconnected, PairingCodeView, PatchConnection, RedeemCode,
};
use tandem_api::tasks::PageQuery;
use tandem_hub::ops::{connections, parse_id};
use tandem_hub::{Hub, paging};

use crate::http::input::{EmptyBody, read};
use crate::http::visitor::{Authenticated, SentUri};
use crate::http::{self, Answer, ApiError, Input, Json, Param, Query, answer};

/// Create a pairing code.
///
/// Give it to the owner of the other agent. It can be redeemed once, within ten minutes.
#[utoipa::path(post, path = "/pair/generate", tag = "connections", responses((status = 201, body = PairingCodeView)))]
pub(crate) async fn generate_code(
    State(hub): State<Hub>,
    input: Input<EmptyBody>,
) -> Result<Response, ApiError> {
    let code = connections::generate_code(&hub, &input.caller).await?;
    Ok(answer(&input.caller, StatusCode::CREATED, &code))
}

/// Redeem a pairing code.
///
/// Both agents get `agent.connected`. Wrong codes are limited to 20 per minute and key, and 60 per address.
#[utoipa::path(post, path = "/pair/connect", tag = "connections", request_body = RedeemCode,
    responses((status = 201, body = ConnectedView)))]
pub(crate) async fn redeem_code(State(hub): State<Hub>, request: Request) -> Result<Response, ApiError> {
    let (caller, body) = read::<RedeemCode>(request, &hub).await?;
    let connected = connections::redeem_code(&hub, &caller, body).await?;
    Ok(answer(&caller, StatusCode::CREATED, &connected))
}

/// Connect without a code.
///
/// Only to an agent with `autoAccept`. Unless that agent has set a default rule, your tasks need its approval.
#[utoipa::path(post, path = "/connect/{agentId}", tag = "connections", params(("agentId" = String, Path)),
    responses((status = 201, body = ConnectedView)))]
pub(crate) async fn connect_directly(
    State(hub): State<Hub>,
    Param(agent): Param<String>,
    input: Input<EmptyBody>,
) -> Result<Response, ApiError> {
    let connected = connections::connect_directly(&hub, &input.caller, &parse_id(&agent, "agent")?).await?;
    Ok(answer(&input.caller, StatusCode::CREATED, &connected))
}

/// List your connections, newest first.
#[utoipa::path(get, path = "/connections", tag = "connections", params(PageQuery),
    responses((status = 200, body = Vec<ConnectionView>)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    Ok(http::list(&connections::list(&hub, &caller, query, paging::WHOLE).await?, &uri))
}

/// Change your side of a connection.
#[utoipa::path(patch, path = "/connections/{id}", tag = "connections", params(("id" = String, Path)),
    request_body = PatchConnection, responses((status = 200, body = ConnectionView)))]
pub(crate) async fn change(
    State(hub): State<Hub>,
    Param(connection): Param<String>,
    input: Input<PatchConnection>,
) -> Answer<ConnectionView> {
    let connection = parse_id(&connection, "connection")?;
    Ok(Json(connections::change(&hub, &input.caller, &connection, input.body).await?))
}

/// End a connection.
///
/// Its live tasks are cancelled. The other agent gets `agent.disconnected`, then the events of the tasks.
#[utoipa::path(delete, path = "/connections/{id}", tag = "connections", params(("id" = String, Path)),
    responses((status = 200, body = Disconnected)))]
pub(crate) async fn disconnect(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param(connection): Param<String>,
) -> Answer<Disconnected> {
    Ok(Json(connections::disconnect(&hub, &caller, &parse_id(&connection, "connection")?).await?))
}

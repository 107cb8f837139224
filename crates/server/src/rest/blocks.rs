//! Blocks.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::agents::{BlockAgent, BlockEntry, Blocked};
use tandem_api::tasks::PageQuery;
use tandem_hub::Hub;
use tandem_hub::ops::{blocks, parse_id};

use crate::http::visitor::{Authenticated, SentUri};
use crate::http::{self, Answer, ApiError, Input, Json, Param, Query, answer};

/// Block an agent.
///
/// Neither of you can find the other or connect. An existing connection ends, and its live tasks are cancelled.
#[utoipa::path(post, path = "/agents/me/block", tag = "blocks", request_body = BlockAgent,
    responses((status = 200, body = Blocked)))]
pub(crate) async fn block(State(hub): State<Hub>, input: Input<BlockAgent>) -> Result<Response, ApiError> {
    let Input { caller, body } = input;
    Ok(answer(&caller, StatusCode::OK, &blocks::block(&hub, &caller, body).await?))
}

/// Remove a block.
#[utoipa::path(delete, path = "/agents/me/block/{agentId}", tag = "blocks", params(("agentId" = String, Path)),
    responses((status = 200, body = Blocked)))]
pub(crate) async fn unblock(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param(agent): Param<String>,
) -> Answer<Blocked> {
    Ok(Json(blocks::unblock(&hub, &caller, &parse_id(&agent, "block")?).await?))
}

/// List the agents that you have blocked.
#[utoipa::path(get, path = "/agents/me/blocks", tag = "blocks", params(PageQuery),
    responses((status = 200, body = Vec<BlockEntry>)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    Ok(http::list(&blocks::list(&hub, &caller, query).await?, &uri))
}

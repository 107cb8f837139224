//! Blocks.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::agents::{BlockAgent, BlockEntry, Blocked};
use tandem_api::tasks::PageQuery;
use tandem_app::{Invalid, blocks};
use tandem_core::AgentId;

use crate::http::front::{Caller, SentUri};
use crate::http::{Answer, ApiError, Input, Json, Param, Query, paging};
use crate::hub::Hub;
use crate::rest::id;

/// Block an agent.
///
/// It cannot find you or connect to you, nor you to it. A connection ends, and its live tasks are cancelled.
#[utoipa::path(post, path = "/agents/me/block", tag = "blocks", request_body = BlockAgent,
    responses((status = 200, body = Blocked)))]
pub(crate) async fn block(
    State(hub): State<Hub>,
    Caller(me): Caller,
    input: Input<BlockAgent>,
) -> Result<Response, ApiError> {
    let agent = input.body?.agent_id;
    let by = me.clone();
    hub.answer_once(&me, input.key, StatusCode::OK, move |tx, now| {
        let cancelled_tasks = blocks::block(tx, &by, &agent, now)?;
        Ok(Blocked { agent_id: agent.clone(), blocked: true, cancelled_tasks })
    })
    .await
}

/// Take a block back.
#[utoipa::path(delete, path = "/agents/me/block/{agentId}", tag = "blocks", params(("agentId" = String, Path)),
    responses((status = 200, body = Blocked)))]
pub(crate) async fn unblock(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(agent): Param<String>,
) -> Answer<Blocked> {
    let agent: AgentId = id(&agent, "block")?;
    let unblocked = agent.clone();
    hub.write(move |tx, _| blocks::unblock(tx, &me, &unblocked)).await?;
    Ok(Json(Blocked { agent_id: agent, blocked: false, cancelled_tasks: 0 }))
}

/// Whom you have blocked.
#[utoipa::path(get, path = "/agents/me/blocks", tag = "blocks", params(PageQuery),
    responses((status = 200, body = Vec<BlockEntry>)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Caller(me): Caller,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let limit = paging::LIST.of(query.limit)?;
    let after: Option<AgentId> = match query.cursor {
        None => None,
        Some(text) => {
            Some(text.parse().map_err(|_| Invalid::field("cursor", "must be one that this hub gave out"))?)
        }
    };
    let page = hub.read(move |tx, _| blocks::list(tx, &me, after.as_ref(), limit)).await?;
    let entries: Vec<BlockEntry> = page
        .items
        .into_iter()
        .map(|block| BlockEntry {
            agent_id: block.agent,
            agent_name: block.name,
            created_at: block.created_at,
        })
        .collect();
    paging::list(&entries, page.next.as_ref().map(AgentId::as_str), &uri)
}

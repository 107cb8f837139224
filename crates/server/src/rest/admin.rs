//! What the operator sees; never the content of a task.

use axum::extract::State;
use axum::response::Response;
use tandem_api::admin::{AdminAgent, Overview, PatchAgentTerms};
use tandem_api::tasks::PageQuery;
use tandem_app::admin::{self, AgentTerms};
use tandem_core::AgentId;

use crate::bus::End;
use crate::http::front::{Admin, SentUri};
use crate::http::{Answer, ApiError, Input, Json, Param, Query, paging};
use crate::hub::Hub;
use crate::rest::{id, nothing_to_change};

/// The hub at a glance.
#[utoipa::path(get, path = "/admin/overview", tag = "admin", responses((status = 200, body = Overview)))]
pub(crate) async fn overview(State(hub): State<Hub>, _: Admin) -> Answer<Overview> {
    Ok(Json(hub.overview().await?))
}

/// Every agent, newest first.
#[utoipa::path(get, path = "/admin/agents", tag = "admin", params(PageQuery),
    responses((status = 200, body = Vec<AdminAgent>)))]
pub(crate) async fn agents(
    State(hub): State<Hub>,
    _: Admin,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let limit = paging::LIST.of(query.limit)?;
    let before = paging::place(query.cursor.as_deref())?;
    let page = hub.read(move |tx, _| admin::list_agents(tx, before.as_ref(), limit)).await?;
    let views: Vec<AdminAgent> = page
        .items
        .into_iter()
        .map(|agent| {
            let seen = hub.seen(&agent);
            AdminAgent::new(agent, seen)
        })
        .collect();
    paging::list(&views, page.next.as_ref().map(paging::cursor).as_deref(), &uri)
}

/// Change what only the operator may: whether an agent costs credits, its balance, whether it is suspended.
#[utoipa::path(patch, path = "/admin/agents/{id}", tag = "admin", params(("id" = String, Path)),
    request_body = PatchAgentTerms, responses((status = 200, body = AdminAgent)))]
pub(crate) async fn change_agent(
    State(hub): State<Hub>,
    _: Admin,
    Param(agent): Param<String>,
    input: Input<PatchAgentTerms>,
) -> Answer<AdminAgent> {
    let agent: AgentId = id(&agent, "agent")?;
    let body = input.body?;
    let terms =
        AgentTerms { costs_credits: body.costs_credits, credits: body.credits, suspended: body.suspended };
    if terms.costs_credits.is_none() && terms.credits.is_none() && terms.suspended.is_none() {
        return Err(nothing_to_change());
    }
    let changed = hub.write(move |tx, _| admin::change_agent(tx, &agent, &terms)).await?;
    if changed.suspended {
        // Its key is looked up anew, and what it has open ends.
        hub.keys.forget(&changed.id);
        hub.bus.end(&changed.id, End::KeyRotated);
    }
    let seen = hub.seen(&changed);
    Ok(Json(AdminAgent::new(changed, seen)))
}

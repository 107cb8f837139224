//! Routes of the operator. They never return the content of a task.

use axum::extract::{Request, State};
use axum::response::Response;
use tandem_api::admin::{
    AdminAgent, AdminDelivery, AdminEvent, AdminEventsQuery, AdminNode, AdminTask, Overview, PatchAgentTerms,
    SetupLink,
};
use tandem_api::tasks::PageQuery;
use tandem_hub::Hub;
use tandem_hub::ops::{admin, parse_id, sign_ins};

use crate::http::input::read_body;
use crate::http::visitor::{Admin, FromAddress, SentUri};
use crate::http::{self, Answer, ApiError, Json, Param, Query};

/// Get statistics of the hub.
#[utoipa::path(get, path = "/admin/overview", tag = "admin", responses((status = 200, body = Overview)))]
pub(crate) async fn overview(State(hub): State<Hub>, _: Admin) -> Answer<Overview> {
    Ok(Json(hub.overview().await?))
}

/// List the nodes that serve this hub.
#[utoipa::path(get, path = "/admin/nodes", tag = "admin", responses((status = 200, body = Vec<AdminNode>)))]
pub(crate) async fn nodes(State(hub): State<Hub>, _: Admin) -> Answer<Vec<AdminNode>> {
    Ok(Json(admin::nodes(&hub).await?))
}

/// List all agents, newest first.
#[utoipa::path(get, path = "/admin/agents", tag = "admin", params(PageQuery),
    responses((status = 200, body = Vec<AdminAgent>)))]
pub(crate) async fn agents(
    State(hub): State<Hub>,
    _: Admin,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    Ok(http::list(&admin::agents(&hub, query).await?, &uri))
}

/// Change an agent: whether it costs credits, its balance, whether it is suspended.
#[utoipa::path(patch, path = "/admin/agents/{id}", tag = "admin", params(("id" = String, Path)),
    request_body = PatchAgentTerms, responses((status = 200, body = AdminAgent)))]
pub(crate) async fn change_agent(
    State(hub): State<Hub>,
    _: Admin,
    FromAddress(address): FromAddress,
    Param(agent): Param<String>,
    request: Request,
) -> Answer<AdminAgent> {
    let agent = parse_id(&agent, "agent")?;
    let read = read_body::<PatchAgentTerms>(&hub, &address, request).await?;
    Ok(Json(admin::change_agent(&hub, &agent, read.body).await?))
}

/// Make a one-time link to the dashboard for the operator.
#[utoipa::path(post, path = "/admin/setup-link", tag = "admin", responses((status = 200, body = SetupLink)))]
pub(crate) async fn setup_link(State(hub): State<Hub>, _: Admin) -> Answer<SetupLink> {
    Ok(Json(sign_ins::new_setup_link(&hub).await?))
}

/// List all tasks, newest first, without their content.
#[utoipa::path(get, path = "/admin/tasks", tag = "admin", params(PageQuery),
    responses((status = 200, body = Vec<AdminTask>)))]
pub(crate) async fn tasks(
    State(hub): State<Hub>,
    _: Admin,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    Ok(http::list(&admin::tasks(&hub, query).await?, &uri))
}

/// List the events of one agent, or of all agents, newest first, without their data.
#[utoipa::path(get, path = "/admin/events", tag = "admin", params(AdminEventsQuery),
    responses((status = 200, body = Vec<AdminEvent>)))]
pub(crate) async fn events(
    State(hub): State<Hub>,
    _: Admin,
    SentUri(uri): SentUri,
    Query(query): Query<AdminEventsQuery>,
) -> Result<Response, ApiError> {
    Ok(http::list(&admin::events(&hub, query).await?, &uri))
}

/// List the webhook deliveries of all agents, newest first, without their URLs.
#[utoipa::path(get, path = "/admin/deliveries", tag = "admin", params(PageQuery),
    responses((status = 200, body = Vec<AdminDelivery>)))]
pub(crate) async fn deliveries(
    State(hub): State<Hub>,
    _: Admin,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    Ok(http::list(&admin::deliveries(&hub, query).await?, &uri))
}

/// Get the settings of this hub, without secrets.
#[utoipa::path(get, path = "/admin/settings", tag = "admin", responses((status = 200, body = Object)))]
pub(crate) async fn settings(State(hub): State<Hub>, _: Admin) -> Answer<serde_json::Value> {
    Ok(Json(hub.config.redacted()))
}

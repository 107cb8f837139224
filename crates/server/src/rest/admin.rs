//! What the operator sees; never the content of a task.

use axum::extract::State;
use axum::response::Response;
use tandem_api::admin::{
    AdminAgent, AdminDelivery, AdminEvent, AdminEventsQuery, AdminTask, Overview, PatchAgentTerms,
};
use tandem_api::tasks::PageQuery;
use tandem_app::admin::{self, AgentTerms};
use tandem_core::{AgentId, DeliveryId, Id, TaskId};

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
        hub.end_key(&changed.id);
    }
    let seen = hub.seen(&changed);
    Ok(Json(AdminAgent::new(changed, seen)))
}

/// A row of a list of ids as the place of its cursor.
fn place<T>(cursor: Option<&str>) -> Result<Option<Id<T>>, ApiError> {
    cursor.map(|text| text.parse().map_err(|_| paging::bad_cursor().into())).transpose()
}

/// Every task, newest first; never what it says.
#[utoipa::path(get, path = "/admin/tasks", tag = "admin", params(PageQuery),
    responses((status = 200, body = Vec<AdminTask>)))]
pub(crate) async fn tasks(
    State(hub): State<Hub>,
    _: Admin,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let limit = paging::LIST.of(query.limit)?;
    let before = place(query.cursor.as_deref())?;
    let page = hub.read(move |tx, _| admin::tasks(tx, before.as_ref(), limit)).await?;
    let view = |task: tandem_store::admin::TaskRow| AdminTask {
        id: task.id,
        status: task.status,
        priority: task.priority,
        attempt: task.attempt,
        encrypted: task.encrypted,
        initiator_agent_id: task.initiator,
        target_agent_id: task.target,
        message_count: task.messages,
        created_at: task.created_at,
        updated_at: task.updated_at,
    };
    let views: Vec<AdminTask> = page.items.into_iter().map(view).collect();
    paging::list(&views, page.next.as_ref().map(TaskId::as_str), &uri)
}

/// The logs of events, newest first in each; never what the events hold. `GET /debug/events` shows all as they happen.
#[utoipa::path(get, path = "/admin/events", tag = "admin", params(AdminEventsQuery),
    responses((status = 200, body = Vec<AdminEvent>)))]
pub(crate) async fn events(
    State(hub): State<Hub>,
    _: Admin,
    SentUri(uri): SentUri,
    Query(query): Query<AdminEventsQuery>,
) -> Result<Response, ApiError> {
    let limit = paging::LIST.of(query.limit)?;
    let before = match query.cursor.as_deref().map(|cursor| cursor.rsplit_once('.')) {
        None => None,
        Some(place) => {
            let (agent, seq) = place.ok_or_else(paging::bad_cursor)?;
            let agent: AgentId = agent.parse().map_err(|_| paging::bad_cursor())?;
            Some((agent, seq.parse().map_err(|_| paging::bad_cursor())?))
        }
    };
    let agent = query.agent_id;
    let page = hub.read(move |tx, _| admin::events(tx, agent.as_ref(), before.as_ref(), limit)).await?;
    let view = |event: tandem_store::admin::EventRow| AdminEvent {
        id: event.seq,
        agent_id: event.agent,
        kind: event.kind,
        task_id: event.task,
        from_agent_id: event.from,
        created_at: event.at,
    };
    let views: Vec<AdminEvent> = page.items.into_iter().map(view).collect();
    let next = page.next.map(|(agent, seq)| format!("{agent}.{seq}"));
    paging::list(&views, next.as_deref(), &uri)
}

/// Webhook deliveries of everybody, newest first; not where they go.
#[utoipa::path(get, path = "/admin/deliveries", tag = "admin", params(PageQuery),
    responses((status = 200, body = Vec<AdminDelivery>)))]
pub(crate) async fn deliveries(
    State(hub): State<Hub>,
    _: Admin,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let limit = paging::LIST.of(query.limit)?;
    let before = place(query.cursor.as_deref())?;
    let page = hub.read(move |tx, _| admin::deliveries(tx, before.as_ref(), limit)).await?;
    let view = |delivery: tandem_store::admin::DeliveryRow| AdminDelivery {
        id: delivery.id,
        agent_id: delivery.agent,
        event: delivery.event_type,
        state: delivery.state.as_str(),
        attempts: delivery.attempts,
        answer_status: delivery.answer_status,
        next_attempt_at: delivery.next_at,
        created_at: delivery.created_at,
    };
    let views: Vec<AdminDelivery> = page.items.into_iter().map(view).collect();
    paging::list(&views, page.next.as_ref().map(DeliveryId::as_str), &uri)
}

/// The settings this hub runs with, without secrets.
#[utoipa::path(get, path = "/admin/settings", tag = "admin", responses((status = 200, body = Object)))]
pub(crate) async fn settings(State(hub): State<Hub>, _: Admin) -> Answer<serde_json::Value> {
    Ok(Json(hub.config.shown()))
}

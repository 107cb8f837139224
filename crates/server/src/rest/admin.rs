//! What the operator sees; never the content of a task.

use axum::extract::State;
use axum::response::Response;
use tandem_api::admin::{AdminAgent, Overview};
use tandem_api::tasks::PageQuery;
use tandem_app::admin;

use crate::http::front::{Admin, SentUri};
use crate::http::{Answer, ApiError, Json, Query, paging};
use crate::hub::Hub;

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
    let page = hub.read(move |tx, _| admin::agents(tx, before.as_ref(), limit)).await?;
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

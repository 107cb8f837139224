//! REST: each handler parses a request, calls one operation of the hub and renders the answer.

pub mod admin;
pub mod agents;
pub mod approvals;
pub mod blocks;
pub mod connections;
pub mod events;
pub mod export;
pub mod files;
pub mod guests;
pub mod inbox;
pub mod messages;
pub mod networks;
pub mod openapi;
pub mod system;
pub mod tasks;
pub mod webhooks;
pub mod work;

use std::sync::Arc;

use axum::http::Uri;
use axum::{Router, middleware};
use tandem_hub::Hub;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::a2a;
use crate::http::{ApiError, error, front};
use crate::mcp::{self, Sessions};
use crate::push::{observe, socket, stream};
use crate::web;

/// All routes, and the OpenAPI document.
fn routes() -> (Router<Hub>, OpenApi) {
    let (router, mut document) =
        operator_routes().merge(agent_routes()).merge(task_routes()).split_for_parts();
    openapi::complete(&mut document);
    (router, document)
}

/// Routes for health, metrics and the operator.
fn operator_routes() -> OpenApiRouter<Hub> {
    OpenApiRouter::new()
        .routes(routes!(system::health))
        .routes(routes!(system::ready))
        .routes(routes!(system::metrics))
        .routes(routes!(observe::observe))
        .routes(routes!(admin::overview))
        .routes(routes!(admin::nodes))
        .routes(routes!(admin::agents))
        .routes(routes!(admin::change_agent))
        .routes(routes!(admin::setup_link))
        .routes(routes!(admin::tasks))
        .routes(routes!(admin::events))
        .routes(routes!(admin::deliveries))
        .routes(routes!(admin::settings))
}

/// Routes for agents, connections and networks.
fn agent_routes() -> OpenApiRouter<Hub> {
    OpenApiRouter::new()
        .routes(routes!(agents::challenge))
        .routes(routes!(agents::register))
        .routes(routes!(agents::profile, agents::change, agents::delete))
        .routes(routes!(export::export))
        .routes(routes!(agents::rotate_key))
        .routes(routes!(agents::reach, agents::report_reach))
        .routes(routes!(agents::discover))
        .routes(routes!(blocks::block))
        .routes(routes!(blocks::unblock))
        .routes(routes!(blocks::list))
        .routes(routes!(connections::generate_code))
        .routes(routes!(connections::redeem_code))
        .routes(routes!(connections::connect_directly))
        .routes(routes!(connections::list))
        .routes(routes!(connections::change, connections::disconnect))
        .routes(routes!(guests::create, guests::list))
        .routes(routes!(guests::delete))
        .routes(routes!(networks::create, networks::list))
        .routes(routes!(networks::view, networks::delete))
        .routes(routes!(networks::invite))
        .routes(routes!(networks::join))
        .routes(routes!(networks::leave))
        .routes(routes!(networks::members))
        .routes(routes!(networks::remove_member))
        .routes(routes!(networks::broadcast))
        .routes(routes!(networks::messages))
        .routes(routes!(webhooks::list))
        .routes(routes!(webhooks::replay))
        .routes(routes!(webhooks::ping))
}

/// Routes for tasks, messages, files and events.
fn task_routes() -> OpenApiRouter<Hub> {
    OpenApiRouter::new()
        .routes(routes!(tasks::create, tasks::list))
        .routes(routes!(tasks::view, tasks::change, tasks::delete))
        .routes(routes!(tasks::cancel))
        .routes(routes!(tasks::history))
        .routes(routes!(work::retry))
        .routes(routes!(work::reassign))
        .routes(routes!(work::reply))
        .routes(routes!(work::add_artifact))
        .routes(routes!(messages::read))
        .routes(routes!(messages::acknowledge))
        .routes(routes!(work::heartbeat))
        .routes(routes!(tasks::tree))
        .routes(routes!(work::report_usage))
        .routes(routes!(messages::send, messages::list))
        .routes(routes!(messages::delete))
        .routes(routes!(messages::send_to_agent))
        .routes(routes!(files::upload_json))
        .routes(routes!(files::form::upload))
        .routes(routes!(files::download, files::delete))
        .routes(routes!(inbox::list))
        .routes(routes!(approvals::list))
        .routes(routes!(approvals::approve))
        .routes(routes!(approvals::reject))
        .routes(routes!(approvals::approve_task))
        .routes(routes!(approvals::reject_task))
        .routes(routes!(inbox::updates))
        .routes(routes!(inbox::acknowledge))
        .routes(routes!(events::read))
        .routes(routes!(events::acknowledge))
        .routes(routes!(socket::socket))
        .routes(routes!(events::ticket))
        .routes(routes!(stream::stream))
}

/// The OpenAPI document of all routes.
#[must_use]
pub fn document() -> OpenApi {
    routes().1
}

pub fn router(hub: Hub, sessions: &Arc<Sessions>, mcp_extension: Option<Arc<dyn mcp::Extension>>) -> Router {
    let (api, document) = routes();
    api.merge(web::routes(&document))
        .merge(mcp::routes(&hub, sessions, mcp_extension))
        .merge(a2a::routes())
        .fallback(async |uri: Uri| {
            ApiError(if web::is_page(uri.path()) { error::no_page() } else { error::no_route() })
        })
        .method_not_allowed_fallback(async |uri: Uri| {
            ApiError(if web::is_page(uri.path()) { error::no_page_method() } else { error::no_method() })
        })
        .layer(middleware::from_fn_with_state(hub.clone(), front::front))
        .with_state(hub)
}

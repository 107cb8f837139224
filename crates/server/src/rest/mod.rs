//! REST: each handler parses, calls one use case and renders. An `if` about tasks here is a bug.

pub mod admin;
pub mod agents;
pub mod approvals;
pub mod blocks;
pub mod connections;
pub mod events;
pub mod export;
pub mod files;
pub mod inbox;
pub mod messages;
pub mod networks;
pub mod openapi;
pub mod system;
pub mod tasks;
pub mod updates;
pub mod webhooks;
pub mod work;

use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use axum::{Router, middleware};
use serde::Serialize;
use tandem_api::tasks::PageQuery;
use tandem_app::idempotency::{Answer, Key, kept, once};
use tandem_app::{Error, Invalid};
use tandem_core::{AgentId, Id, TaskId};
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::{ApiError, Query, front, json_response, paging};
use crate::hub::{Hub, HubParts, UseCase, json};
use crate::mcp;
use crate::push::{observe, socket, stream, ticket};
use crate::web;

/// All routes, and the document that describes them.
fn routes() -> (Router<Hub>, OpenApi) {
    let (router, mut document) = operating().merge(people()).merge(work()).split_for_parts();
    openapi::complete(&mut document);
    (router, document)
}

/// What keeps a hub running.
fn operating() -> OpenApiRouter<Hub> {
    OpenApiRouter::new()
        .routes(routes!(system::health))
        .routes(routes!(system::ready))
        .routes(routes!(system::metrics))
        .routes(routes!(observe::observe))
        .routes(routes!(admin::overview))
        .routes(routes!(admin::agents))
        .routes(routes!(admin::change_agent))
        .routes(routes!(admin::tasks))
        .routes(routes!(admin::events))
        .routes(routes!(admin::deliveries))
        .routes(routes!(admin::settings))
}

/// Agents, and how they come together.
fn people() -> OpenApiRouter<Hub> {
    OpenApiRouter::new()
        .routes(routes!(agents::challenge))
        .routes(routes!(agents::register))
        .routes(routes!(agents::profile, agents::change, export::delete))
        .routes(routes!(export::export))
        .routes(routes!(agents::rotate_key))
        .routes(routes!(agents::discover))
        .routes(routes!(blocks::block))
        .routes(routes!(blocks::unblock))
        .routes(routes!(blocks::list))
        .routes(routes!(connections::generate_code))
        .routes(routes!(connections::redeem_code))
        .routes(routes!(connections::connect_directly))
        .routes(routes!(connections::list))
        .routes(routes!(connections::change, connections::disconnect))
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

/// What they do together, and how they learn of it.
fn work() -> OpenApiRouter<Hub> {
    OpenApiRouter::new()
        .routes(routes!(tasks::create, tasks::list))
        .routes(routes!(tasks::view, tasks::change, tasks::delete))
        .routes(routes!(tasks::cancel))
        .routes(routes!(tasks::history))
        .routes(routes!(work::retry))
        .routes(routes!(work::reassign))
        .routes(routes!(work::reply))
        .routes(routes!(work::read))
        .routes(routes!(work::acknowledge))
        .routes(routes!(work::heartbeat))
        .routes(routes!(work::tree))
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
        .routes(routes!(updates::check))
        .routes(routes!(updates::acknowledge))
        .routes(routes!(events::read))
        .routes(routes!(events::acknowledge))
        .routes(routes!(socket::socket))
        .routes(routes!(ticket::issue))
        .routes(routes!(stream::stream))
}

/// The OpenAPI document of everything here.
#[must_use]
pub fn document() -> OpenApi {
    routes().1
}

/// The whole surface on one hub.
pub fn router(hub: Hub) -> Router {
    let (api, document) = routes();
    api.merge(web::routes(&document))
        .merge(mcp::routes(&hub))
        .fallback(async || ApiError::NoRoute)
        .method_not_allowed_fallback(async || ApiError::NoMethod)
        .layer(middleware::from_fn_with_state(hub.clone(), front::front))
        .with_state(hub)
}

/// An id out of a path; one that cannot be an id names nothing.
pub(crate) fn id<T>(text: &str, what: &'static str) -> Result<Id<T>, ApiError> {
    text.parse().map_err(|_| Error::NotFound(what).into())
}

impl HubParts {
    /// Runs a use case once for each idempotency key and answers with what it made.
    async fn answer_once<T: Serialize + Send + 'static>(
        &self,
        by: &AgentId,
        key: Option<Key>,
        status: StatusCode,
        use_case: impl UseCase<T>,
    ) -> Result<Response, ApiError> {
        let Some(key) = key else {
            let made = self.write(use_case).await?;
            return Ok(json_response(status, json(&made)));
        };
        let by = by.clone();
        let answer = self
            .write(move |tx, now| {
                once(tx, &by, Some(&key), now, status.as_u16(), |tx| {
                    use_case(tx, now).map(|made| json(&made))
                })
            })
            .await?;
        Ok(answered(answer))
    }

    /// The answer that was given before to a request with this key, if there was one.
    async fn kept_answer(&self, by: &AgentId, key: Option<&Key>) -> Result<Option<Response>, ApiError> {
        let Some(key) = key.cloned() else { return Ok(None) };
        let by = by.clone();
        Ok(self.read(move |tx, now| kept(tx, &by, &key, now)).await?.map(answered))
    }

    /// A part of a request; if it does not fit, the task it is about has the first word.
    pub(crate) async fn body_on_task<T>(
        &self,
        by: &AgentId,
        id: &TaskId,
        body: Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        match body {
            Err(ApiError::App(error)) => Err(self.refuse_on_task(by.clone(), id.clone(), error).await.into()),
            Err(error) if !error.is_ours() => {
                let (by, id) = (by.clone(), id.clone());
                let standing =
                    self.read(move |tx, now| tandem_app::tasks::standing(tx, &by, &id, now)).await?;
                Err(ApiError::OnTask(Box::new(error), standing))
            }
            other => other,
        }
    }
}

/// How many rows of a numbered list are asked for that clients read whole, and from where.
fn numbered_page(Query(query): Query<PageQuery>) -> Result<(i64, Option<i64>), ApiError> {
    Ok((paging::WHOLE.of(query.limit)?, paging::number(query.cursor.as_deref())?))
}

/// An answer that is kept, for the first time or again.
fn answered(answer: Answer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let mut response = json_response(status, answer.body);
    if answer.replayed {
        response.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
    response
}

/// A change that changes nothing is a mistake.
fn nothing_to_change() -> ApiError {
    Invalid::field("body", "holds nothing to change").into()
}

//! Agents elsewhere.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::remotes::{CreateRemote, DeletedRemote, PatchRemote, RemoteView};
use tandem_hub::Hub;
use tandem_hub::ops::{parse_id, remotes};

use crate::http::visitor::{Authenticated, Local};
use crate::http::{Answer, ApiError, Input, Json, Param, answer};

/// Add an agent elsewhere: it becomes an agent here, connected to you alone, to which you send tasks as to any other.
///
/// The hub reads its card, and calls it by A2A 1.0. It never follows a redirect, and calls public addresses only. What `auth`
/// says is never shown again. You can have 100 of them.
#[utoipa::path(post, path = "/a2a/remotes", tag = "remotes", request_body = CreateRemote,
    responses((status = 201, body = RemoteView)))]
pub(crate) async fn create(
    State(hub): State<Hub>,
    local: Local,
    input: Input<CreateRemote>,
) -> Result<Response, ApiError> {
    let Input { caller, body } = input;
    let base = hub.config.address_for(local.0);
    Ok(answer(&caller, StatusCode::CREATED, &remotes::create(&hub, &caller, &base, body).await?))
}

/// List your agents elsewhere, oldest first.
#[utoipa::path(get, path = "/a2a/remotes", tag = "remotes", responses((status = 200, body = Vec<RemoteView>)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
) -> Answer<Vec<RemoteView>> {
    Ok(Json(remotes::list(&hub, &caller).await?))
}

/// Change an agent elsewhere.
///
/// This is also the way on when its tasks wait: allow the origin that its card names, or accept the key that signs it now with
/// `keys: null`. The card is read again, and the change is refused if it still cannot be used.
#[utoipa::path(patch, path = "/a2a/remotes/{agentId}", tag = "remotes", params(("agentId" = String, Path)),
    request_body = PatchRemote, responses((status = 200, body = RemoteView)))]
pub(crate) async fn change(
    State(hub): State<Hub>,
    local: Local,
    Param(agent): Param<String>,
    input: Input<PatchRemote>,
) -> Answer<RemoteView> {
    let Input { caller, body } = input;
    let base = hub.config.address_for(local.0);
    let agent = parse_id(&agent, "remote")?;
    Ok(Json(remotes::change(&hub, &caller, &base, &agent, body).await?))
}

/// Remove an agent elsewhere.
///
/// Everything that belongs to it goes, as with any account: its tasks, messages and files. Its tasks are not cancelled on the
/// other side; cancel them first.
#[utoipa::path(delete, path = "/a2a/remotes/{agentId}", tag = "remotes", params(("agentId" = String, Path)),
    responses((status = 200, body = DeletedRemote)))]
pub(crate) async fn delete(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param(agent): Param<String>,
) -> Answer<DeletedRemote> {
    Ok(Json(remotes::delete(&hub, &caller, &parse_id(&agent, "remote")?).await?))
}

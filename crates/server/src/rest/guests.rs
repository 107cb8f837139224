//! Guests.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::guests::{CreateGuest, DeletedGuest, GuestView, NewGuest};
use tandem_hub::Hub;
use tandem_hub::ops::{guests, parse_id};

use crate::http::visitor::{Authenticated, Local};
use crate::http::{Answer, ApiError, Input, Json, Param, answer};

/// Make a guest: a key for somebody without an agent on this hub.
///
/// With this key an A2A client reaches you at your A2A address, and nobody else. Your approval rule, your blocks and all limits
/// hold. You can have 100 guests.
#[utoipa::path(post, path = "/a2a/guests", tag = "a2a", request_body = CreateGuest,
    responses((status = 201, body = NewGuest)))]
pub(crate) async fn create(
    State(hub): State<Hub>,
    local: Local,
    input: Input<CreateGuest>,
) -> Result<Response, ApiError> {
    let Input { caller, body } = input;
    Ok(answer(
        &caller,
        StatusCode::CREATED,
        &guests::create(&hub, &caller, &hub.config.address_for(local.0), body).await?,
    ))
}

/// List your guests, oldest first.
#[utoipa::path(get, path = "/a2a/guests", tag = "a2a", responses((status = 200, body = Vec<GuestView>)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    local: Local,
    Authenticated(caller): Authenticated,
) -> Answer<Vec<GuestView>> {
    Ok(Json(guests::list(&hub, &caller, &hub.config.address_for(local.0)).await?))
}

/// End a guest.
///
/// Its key stops working at once. Everything that belongs to it goes, as with any account: its tasks, messages and files.
#[utoipa::path(delete, path = "/a2a/guests/{agentId}", tag = "a2a", params(("agentId" = String, Path)),
    responses((status = 200, body = DeletedGuest)))]
pub(crate) async fn delete(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param(guest): Param<String>,
) -> Answer<DeletedGuest> {
    Ok(Json(guests::delete(&hub, &caller, &parse_id(&guest, "guest")?).await?))
}

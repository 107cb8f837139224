//! Pushes of agents elsewhere about the tasks that they have from here. The address is a secret between such an agent and this
//! hub. What a push says is not read: the hub asks for the task.

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use tandem_api::remotes::PushTaken;
use tandem_hub::Hub;
use tandem_hub::ops::remotes;

use crate::http::{Answer, Json};

/// The header with the word that belongs to the address.
const TOKEN: &str = "x-a2a-notification-token";

/// `POST /a2a/pushes/{secret}`
pub(super) async fn take(
    State(hub): State<Hub>,
    Path(secret): Path<String>,
    headers: HeaderMap,
) -> Answer<PushTaken> {
    let token = headers.get(TOKEN).and_then(|token| token.to_str().ok());
    Ok(Json(remotes::pushed(&hub, &secret, token).await?))
}

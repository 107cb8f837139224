//! A2A: an address for every agent of the hub, so that any A2A client can hand it a task.
//!
//! A call of A2A is one more caller of the same operations. No rule of a task is written here.

mod cards;
mod catalog;

use axum::Router;
use axum::routing::get;
use tandem_hub::Hub;
use tandem_hub::ops::cards::JWKS_PATH;

use crate::http::front::Local;

/// The address of an agent, and of everything that belongs to it.
const AGENT_PATH: &str = "/a2a/agents/{agent}";

pub(crate) fn routes() -> Router<Hub> {
    Router::new()
        .route(&format!("{AGENT_PATH}/.well-known/agent-card.json"), get(cards::card))
        .route("/.well-known/agent-card.json", get(cards::front))
        .route("/.well-known/ai-catalog.json", get(catalog::catalog))
        .route(JWKS_PATH, get(cards::key_set))
}

/// The hub's address in cards, without a slash at its end. Never what the client says in `Host`: a card is signed.
fn base(hub: &Hub, local: Option<&Local>) -> String {
    match (hub.config.public_address(), local) {
        (Some(url), _) => url.to_owned(),
        (None, Some(local)) => format!("http://{}", local.0),
        (None, None) => format!("http://{}", hub.config.listen),
    }
}

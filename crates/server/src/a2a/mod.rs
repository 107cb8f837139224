//! A2A: an address for every agent of the hub, so that any A2A client can hand it a task.
//!
//! A call of A2A is one more caller of the same operations. No rule of a task is written here.

mod bells;
mod bindings;
mod call;
mod cards;
mod catalog;
mod failure;
mod framing;
mod incoming;
mod links;
mod operation;
mod perform;
mod pushes;
mod remote_pushes;
mod streams;
mod waits;

use axum::Router;
use axum::routing::{any, get, post};
use tandem_hub::Hub;
use tandem_hub::ops::cards::JWKS_PATH;

pub(crate) use bindings::as_call;

/// The address of an agent, and of everything that belongs to it.
const AGENT_PATH: &str = "/a2a/agents/{agent}";

pub(crate) fn routes() -> Router<Hub> {
    Router::new()
        .route(&format!("{AGENT_PATH}/.well-known/agent-card.json"), get(cards::card))
        .route(AGENT_PATH, post(bindings::rpc))
        .route(&format!("{AGENT_PATH}/"), post(bindings::rpc))
        .route(&format!("{AGENT_PATH}/{{*rest}}"), any(bindings::http))
        .route(&format!("{AGENT_PATH}/files/{{file}}"), get(links::download))
        .route("/a2a/pushes/{secret}", post(remote_pushes::take))
        .route("/.well-known/agent-card.json", get(cards::front))
        .route("/.well-known/ai-catalog.json", get(catalog::catalog))
        .route(JWKS_PATH, get(cards::key_set))
}

/// Whether a path is one where both bindings write errors in the words of A2A.
pub(crate) fn is_call(path: &str) -> bool {
    let below =
        path.strip_prefix("/a2a/agents/").map(|rest| rest.split_once('/').map_or("", |(_, below)| below));
    below.is_some_and(|below| !below.starts_with(".well-known/") && !below.starts_with("files/"))
}

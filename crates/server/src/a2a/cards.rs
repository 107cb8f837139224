//! Agent cards, and the keys that they are signed with.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use tandem_core::AgentId;
use tandem_hub::ops::cards::{self, Card, Reader};
use tandem_hub::ops::parse_id;
use tandem_hub::{Error, Hub};

use crate::http::visitor::{FromAddress, Identity, Local};
use crate::http::{ApiError, json, json_response};

/// How long a client may keep a card.
const MAX_AGE_SECONDS: u32 = 300;

/// The reader of a card, whom a wrong key makes nobody.
pub(super) fn reader(identity: &Identity, address: &FromAddress) -> Reader {
    let agent = match identity {
        Identity::Agent(agent, _) => Some(agent.clone()),
        Identity::Nobody | Identity::Unknown | Identity::Admin | Identity::Browser(_) => None,
    };
    Reader { agent, address: address.0.clone() }
}

/// `GET /a2a/agents/{agent}/.well-known/agent-card.json`
pub(super) async fn card(
    State(hub): State<Hub>,
    Path(agent): Path<String>,
    identity: Identity,
    address: FromAddress,
    local: Local,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let agent: AgentId = parse_id(&agent, "agent")?;
    let base = hub.config.address_for(local.0);
    Ok(show(cards::card(&hub, reader(&identity, &address), &agent, &base).await?, &headers))
}

/// `GET /.well-known/agent-card.json`: the card of the agent that the operator chose.
pub(super) async fn front(
    State(hub): State<Hub>,
    identity: Identity,
    address: FromAddress,
    local: Local,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let agent = hub.config.a2a_front_agent.clone().ok_or_else(|| Error::not_found("card"))?;
    let base = hub.config.address_for(local.0);
    Ok(show(cards::card(&hub, reader(&identity, &address), &agent, &base).await?, &headers))
}

/// `GET /.well-known/jwks.json`
pub(super) async fn key_set(State(hub): State<Hub>) -> Response {
    let mut response = json_response(StatusCode::OK, json(&hub.signing.jwks()));
    cacheable(response.headers_mut(), true);
    response
}

/// A card, or that the client has it.
fn show(card: Card, asked: &HeaderMap) -> Response {
    // Weak, because each node signs by itself, and no two signatures are alike.
    let tag = format!("W/\"{}\"", card.hash);
    let mut response = if is_known(asked, &tag, &card.changed_at) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        json_response(StatusCode::OK, json(&card.card))
    };
    let headers = response.headers_mut();
    set(headers, header::ETAG, &tag);
    set(headers, header::LAST_MODIFIED, &card.changed_at);
    cacheable(headers, card.is_public);
    response
}

fn is_known(asked: &HeaderMap, tag: &str, changed_at: &str) -> bool {
    let text = |name: HeaderName| asked.get(name).and_then(|value| value.to_str().ok());
    match text(header::IF_NONE_MATCH) {
        Some(tags) => tags.split(',').any(|known| known.trim() == tag || known.trim() == "*"),
        None => text(header::IF_MODIFIED_SINCE) == Some(changed_at),
    }
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Lets clients keep a public document for a while, and pages of any site read it.
pub(super) fn cacheable(headers: &mut HeaderMap, is_public: bool) {
    let whose = if is_public { "public" } else { "private" };
    set(headers, header::CACHE_CONTROL, &format!("{whose}, max-age={MAX_AGE_SECONDS}"));
    set(headers, header::VARY, "authorization");
    set(headers, header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");
}

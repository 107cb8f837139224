//! Browsers in which somebody is signed in to the dashboard: whose cookie it is, and how much it may ask.

use std::sync::Arc;

use axum::extract::Request;
use tandem_app::keys;
use tandem_hub::ops::sign_ins;
use tandem_hub::rates::{Rate, RateKind};
use tandem_hub::{Address, Error, Hub};

use crate::http::cookie;
use crate::http::visitor::Identity;

/// Whether a path is a page of the dashboard, where a cookie counts.
pub(crate) fn is_page(path: &str) -> bool {
    path == "/app" || path.starts_with("/app/") || path == "/setup" || path == "/pair"
}

/// The token of a dashboard session, if the request is for one of its pages.
pub(crate) fn token(hub: &Hub, request: &Request) -> Option<String> {
    cookie::token(&hub.config, request.headers()).filter(|_| is_page(request.uri().path())).map(str::to_owned)
}

/// What the requests with one cookie are counted by.
pub(crate) fn counted_by(hash: &[u8]) -> String {
    format!("cookie {}", keys::hex(hash))
}

/// Whoever a cookie belongs to. One that has used up its requests is refused without a query. An address that has used up
/// its own waits for its turn, as with keys: a session must be found whatever others at its address send.
pub(crate) async fn identify(
    hub: &Hub,
    token: &str,
    address: &Address,
    rate: &mut Option<Rate>,
) -> Result<Identity, Error> {
    let over = |who: &str| {
        let left = hub.rates.peek(RateKind::Requests, who, hub.config.rate_limit_max, hub.time());
        left.filter(|left| !left.allowed)
    };
    if let Some(exhausted) = over(&counted_by(&keys::sha256(token.as_bytes()))) {
        *rate = Some(exhausted);
        return Err(exhausted.into());
    }
    let found = match over(&address.key) {
        Some(_) => sign_ins::session_in_turn(hub, address, token).await?,
        None => sign_ins::session(hub, address, token).await?,
    };
    Ok(found.map_or(Identity::Nobody, |session| Identity::Browser(Arc::new(session))))
}

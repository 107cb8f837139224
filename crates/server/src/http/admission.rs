//! What a request must pass before a handler sees it: who sends it, how much it may still ask, and memory for it.

use axum::extract::Request;
use axum::http::{HeaderMap, header};
use tandem_app::agents::KeyHolder;
use tandem_app::guests;
use tandem_app::keys::{self, KeyHash};
use tandem_hub::rates::{Rate, RateKind};
use tandem_hub::{Address, Error, Holder, Hub, RequestMemory};
use tracing::Span;

use crate::http::connection::Connection;
use crate::http::counted_body::REQUEST_BYTES;
use crate::http::unknown::UnknownOfRequest;
use crate::http::visitor::{Identity, Visitor};
use crate::http::{browser, error, forwarded, nodes, origin};
use crate::mcp;

/// Size limit of all headers together.
pub(crate) const HEADER_BYTES_MAX: usize = 32 * 1024;
/// Size limit of path and query.
const TARGET_BYTES_MAX: usize = 8 * 1024;
/// Routes without a rate limit: monitoring calls them often, and they are cheap.
const UNLIMITED: [&str; 3] = ["/health", "/ready", "/metrics"];

/// Admits a request and leaves its [`Visitor`] with it. Fills in `rate` for the response, whatever comes of the request.
/// Returns the memory of the request.
pub(crate) async fn admit(
    hub: &Hub,
    request: &mut Request,
    rate: &mut Option<Rate>,
) -> Result<Option<RequestMemory>, Error> {
    // Headers of nodes are for no one else to see, and count only where nodes pass requests on.
    let passed_on = nodes::take(request.headers_mut(), hub.cluster.secret())
        .filter(|_| request.uri().path() == mcp::PATH);
    let head_bytes = check_size(request)?;
    origin::check(&hub.config, request)?;
    let address = match passed_on {
        Some(passed) => Address::new(passed.client),
        None => address(hub, request)?,
    };
    let (identity, key_holder) = identify(hub, Credential::of(hub, request), &address, rate).await?;
    // What another node has passed on was counted there. A failed lookup counts on every route.
    let is_counted = !is_unlimited(request.uri().path()) && passed_on.is_none();
    if is_counted || matches!(identity, Identity::Unknown) {
        limit(hub, &identity, &address, rate)?;
    }
    if let Some(key_holder) = &key_holder {
        guests::check(key_holder, request.uri().path())?;
    }
    if let Identity::Agent(agent, _) = &identity {
        hub.liveness.record_request(agent, hub.time());
    }
    let memory = hold(hub, request, &identity, &address, head_bytes)?;
    let unknown = UnknownOfRequest::of(request);
    let visitor = Visitor { identity, address, memory: memory.clone(), span: Span::current(), unknown };
    request.extensions_mut().insert(visitor);
    if let Some(passed_on) = passed_on {
        request.extensions_mut().insert(passed_on);
    }
    Ok(memory)
}

/// Constant files of the dashboard are not counted either: strangers at an address must not take them from people who are
/// signed in there.
fn is_unlimited(path: &str) -> bool {
    UNLIMITED.contains(&path) || path.starts_with("/static/")
}

/// Checks the size of the head and returns it.
fn check_size(request: &Request) -> Result<usize, Error> {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    if target > TARGET_BYTES_MAX {
        return Err(error::target_too_long(TARGET_BYTES_MAX));
    }
    let headers: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers > HEADER_BYTES_MAX {
        return Err(error::headers_too_large(HEADER_BYTES_MAX));
    }
    Ok(target + headers)
}

/// The address of the client. Without proxies it is that of the connection.
fn address(hub: &Hub, request: &Request) -> Result<Address, Error> {
    let peer = &Connection::of(request.extensions())?.peer;
    let client = forwarded::client(&hub.config, peer.ip, request.headers());
    Ok(if client == peer.ip { peer.clone() } else { Address::new(client) })
}

/// By what a request says who sends it.
enum Credential {
    Key(KeyHash),
    /// The token of a dashboard session.
    Cookie(String),
    None,
}

impl Credential {
    fn of(hub: &Hub, request: &Request) -> Self {
        match bearer(request.headers()) {
            Some(key) => Self::Key(keys::sha256(key.as_bytes())),
            None => browser::token(hub, request).map_or(Self::None, Self::Cookie),
        }
    }
}

/// Who sends a request, and whose an agent's key is.
async fn identify(
    hub: &Hub,
    credential: Credential,
    address: &Address,
    rate: &mut Option<Rate>,
) -> Result<(Identity, Option<KeyHolder>), Error> {
    let hash = match credential {
        Credential::Key(hash) => hash,
        Credential::Cookie(token) => return Ok((browser::identify(hub, &token, address, rate).await?, None)),
        Credential::None => return Ok((Identity::Nobody, None)),
    };
    if hub.access.is_admin(&hash) {
        return Ok((Identity::Admin, None));
    }
    Ok(match find_holder(hub, hash, address, rate).await? {
        Some(holder) => (Identity::Agent(holder.agent.clone(), hash), Some(holder)),
        None => (Identity::Unknown, None),
    })
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

async fn find_holder(
    hub: &Hub,
    hash: KeyHash,
    address: &Address,
    rate: &mut Option<Rate>,
) -> Result<Option<KeyHolder>, Error> {
    if let Some(holder) = hub.access.known(&hash) {
        return Ok(Some(holder));
    }
    // Every key is looked up, because a valid one must be found whatever others at its address send. An address without
    // requests left waits for its turn instead.
    let (now, limit) = (hub.time(), hub.config.rate_limit_max);
    let left = hub.rates.peek(RateKind::Requests, &address.key, limit, now);
    let over = left.filter(|left| !left.allowed);
    let found = match over {
        None => hub.access.look_up(hash, address.into()).await,
        Some(_) => hub.access.look_up_in_turn(hash, address.into()).await,
    };
    found.map_err(|error| {
        *rate = hub.rates.count(RateKind::Requests, &address.key, limit, now);
        // A refusal, as of a suspended agent, counts like a wrong key.
        over.filter(|_| !error.is_internal()).map_or(error, Into::into)
    })
}

/// Counts a request and refuses it if its sender has none left.
fn limit(hub: &Hub, identity: &Identity, address: &Address, rate: &mut Option<Rate>) -> Result<(), Error> {
    let count = |who: &str| hub.rates.count(RateKind::Requests, who, hub.config.rate_limit_max, hub.time());
    *rate = match identity {
        Identity::Admin => None,
        Identity::Agent(agent, _) => count(agent.as_str()),
        Identity::Browser(session) => {
            count(&browser::counted_by(&session.hash));
            // Counted by whoever is signed in: a new session must not be a new budget.
            let who = session.agents().next().map_or(&*address.key, |agent| agent.as_str());
            count(&format!("browser {who}"))
        }
        Identity::Nobody | Identity::Unknown => count(&address.key),
    };
    match rate.filter(|rate| !rate.allowed) {
        Some(exhausted) => Err(exhausted.into()),
        None => Ok(()),
    }
}

/// Takes the memory of a request from the budget of its sender.
fn hold(
    hub: &Hub,
    request: &Request,
    identity: &Identity,
    address: &Address,
    head_bytes: usize,
) -> Result<Option<RequestMemory>, Error> {
    // Monitoring must see a hub that is full.
    if UNLIMITED.contains(&request.uri().path()) {
        return Ok(None);
    }
    let holder = match identity {
        Identity::Admin => return Ok(None),
        Identity::Agent(agent, _) => Holder::Agent(agent.clone()),
        Identity::Nobody | Identity::Unknown => Holder::from(address),
        Identity::Browser(session) => session
            .agents()
            .next()
            .map_or_else(|| Holder::from(address), |first| Holder::Agent(first.clone())),
    };
    Ok(Some(RequestMemory::new(hub.budget.hold(holder, REQUEST_BYTES + head_bytes)?)))
}

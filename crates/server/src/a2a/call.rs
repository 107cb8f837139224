//! A call: who calls whom, and what its headers ask for.

use axum::RequestExt as _;
use axum::body::Bytes;
use axum::extract::{Path, Request};
use axum::http::{HeaderMap, header};
use tandem_api::a2a::{HUB_EXTENSION, MEDIA_TYPE, Reason};
use tandem_api::agents::Presence;
use tandem_core::AgentId;
use tandem_hub::config::WAIT_SECONDS_MAX;
use tandem_hub::ops::a2a::{Reader, Shown};
use tandem_hub::{Caller, Error, Hub};

use super::failure::Failure;
use crate::http::error;
use crate::http::files::{BodyPermit, JSON_BYTES_MAX, read_whole};
use crate::http::input::{BODY_BYTES_MAX, idempotency_key};
use crate::http::visitor::{Authenticated, Local};

/// What the headers of a call ask for.
#[derive(Debug, Clone)]
pub(super) struct Wishes {
    /// How long to wait for the agent, instead of what the operator has set.
    pub(super) wait_seconds: Option<u32>,
    /// The last step that a stream has shown.
    pub(super) after_step: Option<i64>,
    /// Whether the client knows the hub's extension.
    pub(super) extension: bool,
    pub(super) traceparent: Option<String>,
    pub(super) tracestate: Option<String>,
    pub(super) idempotency_key: Option<String>,
    /// Whether answers have the media type of A2A.
    pub(super) is_a2a_json: bool,
}

/// A call of an agent.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) hub: Hub,
    pub(super) caller: Caller,
    /// The agent that is called.
    pub(super) host: AgentId,
    /// The hub's address.
    pub(super) base: String,
    pub(super) wishes: Wishes,
}

impl Call {
    /// Writes tasks for the caller, who has seen this of the agent.
    pub(super) fn shown(&self, seen: Presence) -> Shown<'_> {
        let reader = Reader {
            agent: self.caller.agent.clone(),
            host: self.host.clone(),
            base: self.base.clone(),
            extension: self.wishes.extension.then_some(seen),
        };
        Shown::new(&self.hub, reader)
    }
}

/// The body of a call, and the permit to keep it in memory.
#[derive(Debug)]
pub(super) struct CallBody {
    pub(super) bytes: Bytes,
    _permit: BodyPermit,
}

impl CallBody {
    /// Whether it is so large that only a file can be the reason.
    pub(super) fn is_large(&self) -> bool {
        self.bytes.len() > BODY_BYTES_MAX
    }
}

/// The body is too large for a message without a file.
pub(super) fn too_large() -> Failure {
    Failure::of(&error::body_too_large(BODY_BYTES_MAX))
}

/// Authenticates a call and reads its body. `key` names the parameter of the path that is the agent.
pub(super) async fn receive(hub: &Hub, mut request: Request) -> Result<(Call, CallBody), Failure> {
    let authenticated = request.extract_parts::<Authenticated>().await;
    let Authenticated(caller) = authenticated.map_err(|refused| Failure::of(&refused.0))?;
    let Ok(Path(path)) = request.extract_parts::<Path<Vec<(String, String)>>>().await else {
        return Err(not_connected());
    };
    let named = path.into_iter().find(|(name, _)| name == "agent").map(|(_, agent)| agent);
    let host: AgentId = named.unwrap_or_default().parse().map_err(|_| not_connected())?;
    let (parts, body) = request.into_parts();
    check_version(&parts.headers, parts.uri.query())?;
    check_media_type(&parts.headers)?;
    let wishes = wishes(&parts.headers)?;
    let may_be_again = wishes.idempotency_key.is_some();
    let (bytes, permit) = read_whole(hub, &caller, body, JSON_BYTES_MAX, may_be_again).await?;
    // The body may have taken its time.
    hub.access.check(&caller).await?;
    let base = hub.config.address_for(Local::of(&parts).map_err(|error| Failure::of(&error))?.0);
    Ok((Call { hub: Hub::clone(hub), caller, host, base, wishes }, CallBody { bytes, _permit: permit }))
}

/// An agent that does not exist and one that the caller cannot reach look the same.
fn not_connected() -> Failure {
    Failure::of(&Error::from(tandem_app::Error::NotConnected))
}

/// A client that says nothing speaks 0.3.
fn check_version(headers: &HeaderMap, query: Option<&str>) -> Result<(), Failure> {
    let of_query = || {
        let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        pairs
            .find(|(name, _)| name.eq_ignore_ascii_case("a2a-version"))
            .map(|(_, version)| version.into_owned())
    };
    let version = text(headers, "a2a-version").map(str::to_owned).or_else(of_query).unwrap_or_default();
    let mut numbers = version.trim().split('.');
    let is_number = |part: Option<&str>| {
        part.is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    // The number of a patch says nothing about the protocol.
    let is_known = numbers.next() == Some("1")
        && is_number(numbers.next())
        && numbers.next().is_none_or(|patch| is_number(Some(patch)))
        && numbers.next().is_none();
    if is_known {
        return Ok(());
    }
    let said = if version.trim().is_empty() { "0.3".to_owned() } else { version };
    let why =
        format!("This hub speaks A2A 1.0, and the request is for {said}: send the header A2A-Version: 1.0");
    Err(Failure::new(Reason::VersionNotSupported, why))
}

fn check_media_type(headers: &HeaderMap) -> Result<(), Failure> {
    let Some(given) = text(headers, header::CONTENT_TYPE.as_str()) else { return Ok(()) };
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence == "application/json" || essence == MEDIA_TYPE {
        return Ok(());
    }
    let why = format!("Send the request as application/json or {MEDIA_TYPE}");
    Err(Failure::new(Reason::ContentTypeNotSupported, why))
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn wishes(headers: &HeaderMap) -> Result<Wishes, Failure> {
    let after_step = match text(headers, "last-event-id").filter(|id| !id.is_empty()) {
        None => None,
        Some(id) => {
            let step = id.parse().ok().filter(|step: &i64| *step >= 0);
            Some(
                step.ok_or_else(|| Failure::field("Last-Event-ID", "must be the id of a step of this task"))?,
            )
        }
    };
    let names = |name: &str, word: &str| text(headers, name).is_some_and(|value| value.contains(word));
    let extensions = headers.get_all("a2a-extensions").iter().filter_map(|value| value.to_str().ok());
    let extension = extensions.flat_map(|value| value.split(',')).any(|uri| uri.trim() == HUB_EXTENSION);
    let traced = |name: &str| text(headers, name).filter(|value| value.len() <= 512).map(str::to_owned);
    Ok(Wishes {
        wait_seconds: wait_seconds(headers),
        after_step,
        extension,
        traceparent: traced("traceparent"),
        tracestate: traced("tracestate"),
        idempotency_key: idempotency_key(headers)?,
        is_a2a_json: names("accept", MEDIA_TYPE) || names("content-type", MEDIA_TYPE),
    })
}

/// `Prefer: wait=10` (RFC 7240). What cannot be read is no preference.
fn wait_seconds(headers: &HeaderMap) -> Option<u32> {
    let preferences = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    let mut waits = preferences.flat_map(|value| value.split([',', ';'])).filter_map(|preference| {
        let (name, value) = preference.split_once('=')?;
        name.trim().eq_ignore_ascii_case("wait").then(|| value.trim().parse::<u32>().ok()).flatten()
    });
    waits.next().map(|seconds| seconds.min(WAIT_SECONDS_MAX))
}

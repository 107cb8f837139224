//! Requests that a web page makes its visitor's browser send.
//!
//! A hub is often reachable only from one machine or network, and anybody's web page can make a browser there send
//! requests to it. A browser says so in `Origin` and `Sec-Fetch-Site`, which pages cannot change; programs send neither.
//! `/mcp` checks its own clients.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use tandem_hub::{Config, Error};

use crate::http::error;

/// Refuses a writing request from a web page of another site.
pub(crate) fn check(config: &Config, request: &Request) -> Result<(), Error> {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if reads || request.uri().path() == "/mcp" {
        return Ok(());
    }
    let headers = request.headers();
    let mut origins = headers.get_all(header::ORIGIN).iter().peekable();
    if origins.peek().is_none() {
        let from_page =
            headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
        return if from_page { Err(error::foreign_origin("an unknown origin")) } else { Ok(()) };
    }
    for origin in origins {
        let origin = origin.to_str().unwrap_or("null");
        if !is_allowed(config, headers, origin) {
            return Err(error::foreign_origin(origin));
        }
    }
    Ok(())
}

/// The headers that a page may send, besides those that every page may. The list cannot be `*`, which would leave out
/// `Authorization`.
const REQUEST_HEADERS: &str = "authorization, content-type, idempotency-key, if-match, if-none-match, if-range, \
     last-event-id, mcp-protocol-version, mcp-session-id, range, x-request-id";

/// The origin of a page that the operator has allowed, if one sent the request.
pub(crate) fn allowed_page(config: &Config, headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    config.allowed_origins.contains(origin.to_str().ok()?).then(|| origin.clone())
}

/// Whether a browser asks if a page may send a request.
pub(crate) fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Lets an allowed page send its requests.
pub(crate) fn preflight() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, PATCH, DELETE")),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS)),
        (header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600")),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Lets an allowed page read the response.
pub(crate) fn share(page: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, page);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}

fn is_allowed(config: &Config, headers: &HeaderMap, origin: &str) -> bool {
    if config.allowed_origins.contains(origin) {
        return true;
    }
    let Some((scheme, page)) = origin.split_once("://") else { return false };
    if let Some((public_scheme, rest)) = config.public_address().and_then(|url| url.split_once("://")) {
        let public = rest.split('/').next().unwrap_or_default();
        if public_scheme.eq_ignore_ascii_case(scheme) && public.eq_ignore_ascii_case(page) {
            return true;
        }
    }
    // The hub's own page. A name proves nothing: its owner can point it to this hub's address (DNS rebinding).
    let own = headers.get(header::HOST).and_then(|host| host.to_str().ok()).is_some_and(|host| host == page);
    own && (is_local_name(page) || host_of(page).parse::<IpAddr>().is_ok())
}

/// Whether `Host` names this machine. A web page under another name cannot send that, wherever its name points.
pub(crate) fn is_for_this_machine(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    // A program may leave it out; a browser never does.
    host.is_none_or(|host| {
        let ip = host_of(host).parse::<IpAddr>();
        is_local_name(host) || ip.is_ok_and(|ip| ip.to_canonical().is_loopback())
    })
}

fn is_local_name(authority: &str) -> bool {
    host_of(authority).eq_ignore_ascii_case("localhost")
}

/// The host of `host:port`, without the brackets of an IPv6 address.
fn host_of(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    }
}

//! Errors of the hub as HTTP responses.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tandem_api::error::Code;
use tandem_app::Invalid;
use tandem_hub::Error;
use tandem_hub::rates::Rate;

use crate::http::{json, json_response};

/// Characters of an unknown host that are repeated in the response and in the log.
const HOST_CHARS_MAX: usize = 100;

#[derive(Debug)]
pub struct ApiError(pub Error);

impl<E: Into<Error>> From<E> for ApiError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

/// An error of the HTTP layer.
fn new(code: Code, sentence: impl AsRef<str>) -> Error {
    Error::new(code, sentence)
}

/// The body exceeds the size limit.
pub(crate) fn body_too_large(max: usize) -> Error {
    new(Code::TooLarge, format!("the request body is larger than {max} bytes"))
}

/// The headers exceed the size limit.
pub(crate) fn headers_too_large(max: usize) -> Error {
    new(Code::TooLarge, format!("the request headers are larger than {max} bytes")).with_status(431)
}

/// The URL exceeds the size limit.
pub(crate) fn target_too_long(max: usize) -> Error {
    new(Code::TooLarge, format!("the request target is longer than {max} bytes")).with_status(414)
}

/// The body did not arrive in time.
pub(crate) fn body_timeout() -> Error {
    new(Code::Timeout, "the request body did not arrive in time")
}

/// The body ended early.
pub(crate) fn body_cut_off() -> Error {
    Invalid::field("body", "ended before it was complete").into()
}

/// The body is not JSON.
pub(crate) fn not_json() -> Error {
    new(Code::UnsupportedMediaType, "send the body as application/json")
}

/// The body is compressed.
pub(crate) fn encoded() -> Error {
    new(Code::UnsupportedMediaType, "send the body without a Content-Encoding")
}

/// The body is not a form.
pub(crate) fn not_a_form() -> Error {
    new(
        Code::UnsupportedMediaType,
        "send the file as multipart/form-data with a field \"file\", or as JSON to /files/json",
    )
}

/// The body is not a form of a page.
pub(crate) fn not_a_page_form() -> Error {
    new(Code::UnsupportedMediaType, "send the form of the page, as application/x-www-form-urlencoded")
}

/// A form does not carry the proof that it comes from a page of this session.
pub(crate) fn foreign_form() -> Error {
    let why = "this form is not of your present session; go back, load the page again and send it once more";
    new(Code::ForeignOrigin, why)
}

/// There is no such route.
pub(crate) fn no_route() -> Error {
    new(Code::NotFound, "there is no such route; GET /docs lists all routes")
}

/// There is no such page.
pub(crate) fn no_page() -> Error {
    new(Code::NotFound, "there is no such page")
}

/// Nothing is sent to this page.
pub(crate) fn no_page_method() -> Error {
    new(
        Code::MethodNotAllowed,
        "this page is only looked at, or its form only sent; go back and try once more",
    )
}

/// The route does not support this method.
pub(crate) fn no_method() -> Error {
    new(Code::MethodNotAllowed, "this route does not support that method; GET /docs lists all routes")
}

/// The route requires a WebSocket handshake.
pub(crate) fn upgrade_needed() -> Error {
    let why = "this route needs a WebSocket handshake; use GET /events or GET /events/stream for plain HTTP";
    new(Code::UpgradeRequired, why)
}

/// The route requires the operator's token.
pub(crate) fn admin_only() -> Error {
    new(Code::AdminOnly, "this route needs the operator's token")
}

/// A browser sent the request for a web page of another site.
pub(crate) fn foreign_origin(origin: &str) -> Error {
    let why = format!(
        "a web page of {origin} may not call this hub; the operator can allow it with allowed_origins, or with \
         public_url if it is the hub's own page"
    );
    new(Code::ForeignOrigin, why)
}

/// The error for an unknown host or origin. The operator finds the same in the log.
pub(crate) fn foreign_host(what: &str, value: &str) -> Error {
    let value: String = value.chars().take(HOST_CHARS_MAX).collect();
    tracing::warn!(%what, %value, "refused an MCP request; mcp_hosts or public_url can allow its host name");
    let why = format!(
        "MCP is not served for the {what} {value}; the operator can add its host name to the setting mcp_hosts, or set \
         public_url"
    );
    new(Code::ForeignHost, why)
}

/// Adds the state of a rate limit to the headers of a response.
pub(crate) fn show_rate(rate: &Rate, headers: &mut HeaderMap) {
    let shown = [
        ("ratelimit-limit", i64::from(rate.limit)),
        ("ratelimit-remaining", i64::from(rate.remaining)),
        ("ratelimit-reset", rate.reset_seconds),
    ];
    for (name, value) in shown {
        headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
    }
}

/// Why a request was refused, beside the body that says so to programs: where people read, it becomes a page.
#[derive(Debug, Clone)]
pub(crate) struct Refused(pub(crate) String);

/// The error itself, for surfaces that write errors in their own way.
#[derive(Debug, Clone)]
pub(crate) struct Failed(pub(crate) Arc<Error>);

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Self(error) = self;
        let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = json_response(status, json(&error.body));
        let headers = response.headers_mut();
        if let Some(seconds) = error.retry_after_seconds {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(rate) = &error.rate {
            show_rate(rate, headers);
        }
        response.extensions_mut().insert(Refused(error.to_string()));
        response.extensions_mut().insert(Failed(Arc::new(error)));
        let headers = response.headers_mut();
        match status {
            StatusCode::UPGRADE_REQUIRED => {
                headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
            }
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

//! Server-sent events: the response, and the cursor by which a client goes on.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use tandem_app::Invalid;

pub(crate) fn event_stream(body: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, body).into_response()
}

/// What a client sends of the last event that it got.
pub(crate) fn sent_id(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get("last-event-id")?;
    Some(value.to_str().unwrap_or("?")).filter(|text| !text.is_empty())
}

pub(crate) fn parse_cursor(text: &str) -> Result<i64, Invalid> {
    let number = text.parse().ok().filter(|number: &i64| *number >= 0);
    number.ok_or_else(|| Invalid::field("Last-Event-ID", "must be a cursor of this stream"))
}

pub(crate) fn last_event_id(headers: &HeaderMap) -> Result<Option<i64>, Invalid> {
    sent_id(headers).map(parse_cursor).transpose()
}

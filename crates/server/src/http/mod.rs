//! What all HTTP surfaces share: the accept loop, the middleware, input parsing and the shape of responses.

mod admission;
pub(crate) mod browser;
pub mod client_io;
pub(crate) mod compression;
pub(crate) mod connection;
pub(crate) mod cookie;
mod counted_body;
pub mod error;
pub(crate) mod event_stream;
pub mod explain;
pub(crate) mod export;
pub(crate) mod files;
mod forwarded;
pub mod front;
pub(crate) mod hosts;
pub mod input;
pub(crate) mod nodes;
pub(crate) mod origin;
mod refusal;
mod request_id;
pub(crate) mod router;
pub mod serve;
pub mod slots;
pub(crate) mod unknown;
mod unread_body;
pub mod visitor;

pub use error::ApiError;
pub use input::{Input, OnTask, Param, Query};

use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tandem_hub::{Caller, Listed};

#[derive(Debug)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        json_response(StatusCode::OK, json(&self.0))
    }
}

pub type Answer<T> = Result<Json<T>, ApiError>;

/// A response of this size is worth a copy that saves memory.
const LARGE_BYTES: usize = 64 * 1024;

/// Serialises a wire type.
pub(crate) fn json<T: Serialize>(value: &T) -> String {
    #[expect(clippy::expect_used, reason = "our wire types have text keys and finite numbers only")]
    let mut json = tandem_api::json::to_string(value).expect("wire types are JSON");
    // A string that grew may have room for twice its length, and a client may take its time to read it.
    if json.capacity() > LARGE_BYTES {
        json.shrink_to_fit();
    }
    json
}

/// A response whose body is already JSON.
#[must_use]
pub fn json_response(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}

/// The response of an idempotent request. A header says whether it was replayed.
pub(crate) fn answer<T: Serialize>(caller: &Caller, status: StatusCode, view: &T) -> Response {
    marked_replayed(json_response(status, json(view)), caller.was_replayed())
}

/// Says in a header whether an answer is that of an earlier request.
pub(crate) fn marked_replayed(mut response: Response, replayed: bool) -> Response {
    if replayed {
        response.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
    response
}

/// A list as an array, with a `Link` header to the next page if there is one.
pub(crate) fn list<T: Serialize>(listed: &Listed<T>, uri: &Uri) -> Response {
    linked(json_response(StatusCode::OK, json(&listed.items)), listed.next.as_deref(), uri)
}

/// Adds a `Link` header to the next page, if there is one.
pub(crate) fn linked(mut response: Response, next: Option<&str>, uri: &Uri) -> Response {
    if let Some(cursor) = next {
        let query = uri.query().unwrap_or_default();
        let mut to = form_urlencoded::Serializer::new(String::new());
        to.extend_pairs(form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != "cursor"));
        to.append_pair("cursor", cursor);
        // A path that begins with two slashes would name another host.
        let path = uri.path().trim_start_matches('/');
        let link = format!("</{path}?{}>; rel=\"next\"", to.finish());
        if let Ok(value) = HeaderValue::from_str(&link) {
            response.headers_mut().insert(header::LINK, value);
        }
    }
    response
}

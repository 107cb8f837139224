//! Pages of lists: a limit, a cursor, and the way to the next page in a `Link` header.

use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use serde::Serialize;
use tandem_app::Invalid;
use tandem_core::{Id, Timestamp};

use crate::http::{ApiError, json_response};
use crate::hub::json;

/// How many rows a list gives: by default, and at most.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// When nothing is said.
    pub default: i64,
    /// Whatever is said.
    pub max: i64,
}

/// Most lists.
pub const LIST: Limits = Limits { default: 50, max: 500 };
/// Lists that clients read whole.
pub const WHOLE: Limits = Limits { default: 500, max: 1_000 };
/// The directory.
pub const DIRECTORY: Limits = Limits { default: 20, max: 100 };

impl Limits {
    /// The limit asked for, cut to what is allowed.
    pub fn of(self, asked: Option<i64>) -> Result<i64, Invalid> {
        match asked {
            None => Ok(self.default),
            Some(limit) if limit < 1 => Err(Invalid::field("limit", "must be at least 1")),
            Some(limit) => Ok(limit.min(self.max)),
        }
    }
}

/// What is said about a cursor that was made up.
pub fn bad_cursor() -> Invalid {
    Invalid::field("cursor", "must be one that this hub gave out in a Link header")
}

/// The place that a cursor of a time-ordered list stands for.
pub fn place<T>(cursor: Option<&str>) -> Result<Option<(Timestamp, Id<T>)>, Invalid> {
    let Some(cursor) = cursor else { return Ok(None) };
    let (at, id) = cursor.split_once('.').ok_or_else(bad_cursor)?;
    let at: i64 = at.parse().map_err(|_| bad_cursor())?;
    Ok(Some((Timestamp(at), id.parse().map_err(|_| bad_cursor())?)))
}

/// The cursor of such a place.
#[must_use]
pub fn cursor<T>(place: &(Timestamp, Id<T>)) -> String {
    format!("{}.{}", place.0.0, place.1)
}

/// The number that a cursor of a numbered list stands for.
pub fn number(cursor: Option<&str>) -> Result<Option<i64>, Invalid> {
    let Some(cursor) = cursor else { return Ok(None) };
    let number = cursor.parse().ok().filter(|number: &i64| *number >= 0);
    number.map(Some).ok_or_else(bad_cursor)
}

/// A bare array, with a `Link` to the next page if there is one.
pub fn list<T: Serialize>(items: &[T], next: Option<&str>, uri: &Uri) -> Result<Response, ApiError> {
    Ok(linked(json_response(StatusCode::OK, json(&items)), next, uri))
}

/// An answer with a `Link` to the next page, if there is one.
pub fn linked(mut response: Response, next: Option<&str>, uri: &Uri) -> Response {
    if let Some(cursor) = next {
        let query = uri.query().unwrap_or_default();
        let mut to = form_urlencoded::Serializer::new(String::new());
        to.extend_pairs(form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != "cursor"));
        to.append_pair("cursor", cursor);
        let link = format!("<{}?{}>; rel=\"next\"", uri.path(), to.finish());
        if let Ok(value) = HeaderValue::from_str(&link) {
            response.headers_mut().insert(header::LINK, value);
        }
    }
    response
}

//! What all HTTP surfaces share: the accept loop, what happens before and after every handler, reading
//! requests into checked types, and the one shape of every error.

pub mod error;
pub mod front;
pub mod input;
mod leftover;
pub mod paging;
pub mod patience;
pub mod serve;

pub use error::ApiError;
pub use input::{Input, Param, Query};

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::hub::json;

/// A JSON answer.
#[derive(Debug)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        json_response(StatusCode::OK, json(&self.0))
    }
}

/// An answer whose body is JSON text already.
#[must_use]
pub fn json_response(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}

/// What a handler gives back.
pub type Answer<T> = Result<Json<T>, ApiError>;

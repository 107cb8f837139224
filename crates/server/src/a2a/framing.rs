//! How each binding frames what an operation gives: as a whole, and as the events of a stream.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::value::RawValue;
use tandem_api::a2a::MEDIA_TYPE;

use super::failure::Failure;
use crate::http::json_response;

/// The binding of a request.
#[derive(Debug, Clone)]
pub(super) enum Framing {
    /// JSON-RPC, with the id of the request.
    Rpc(Box<RawValue>),
    /// HTTP+JSON, with the media type of A2A or without.
    Http { is_a2a_json: bool },
}

impl Framing {
    /// JSON-RPC, before the id of the request is known.
    pub(super) fn rpc_without_id() -> Self {
        Self::Rpc(RawValue::NULL.to_owned())
    }

    /// What an operation gave.
    pub(super) fn result(&self, json: String) -> String {
        match self {
            Self::Rpc(id) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{json}}}", id.get()),
            Self::Http { .. } => json,
        }
    }

    /// Why it gave nothing.
    pub(super) fn failure(&self, failure: &Failure) -> String {
        match self {
            Self::Rpc(id) => failure.as_rpc(id),
            Self::Http { .. } => failure.as_http(),
        }
    }

    /// The response to a call that failed.
    pub(super) fn refuse(&self, failure: &Failure) -> Response {
        let response = failure.respond(self.failure(failure), matches!(self, Self::Rpc(_)));
        self.with_media_type(response)
    }

    /// The response to a call that succeeded at once.
    pub(super) fn answer(&self, json: String) -> Response {
        self.with_media_type(json_response(StatusCode::OK, self.result(json)))
    }

    pub(super) fn with_media_type(&self, mut response: Response) -> Response {
        if matches!(self, Self::Http { is_a2a_json: true }) {
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        }
        response
    }

    /// One event of a stream. Some clients take these three characters for the end of a line.
    pub(super) fn event(&self, step: i64, json: String) -> String {
        let mut data = self.result(json);
        for (line_end, escape) in [('\u{85}', "\\u0085"), ('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029")] {
            if data.contains(line_end) {
                data = data.replace(line_end, escape);
            }
        }
        format!("id: {step}\ndata: {data}\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::Framing;

    #[test]
    fn no_text_ends_a_line() {
        let event = Framing::rpc_without_id().event(7, "\"a\u{2028}b\u{2029}c\u{85}d\"".to_owned());
        let expected =
            "id: 7\ndata: {\"jsonrpc\":\"2.0\",\"id\":null,\"result\":\"a\\u2028b\\u2029c\\u0085d\"}\n\n";
        assert_eq!(event, expected);
    }
}

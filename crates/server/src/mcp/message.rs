//! A message before the SDK parses it: its size, and what the hub must know about it.
//!
//! Parsed JSON can be thirty times as large as its text, and some messages are kept: the first one of a session, and the
//! arguments of a call that waits. Such messages must be small, and every message may hold only so many JSON values.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use rmcp::model::{
    ClientCapabilities, ErrorCode, Implementation, InitializeRequestParams, JsonObject, SamplingCapability,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use tandem_api::error::Code;
use tandem_hub::{Caller, Error, Hub};

use super::{BODY_BYTES_MAX, tools};
use crate::http::files;
use crate::http::input::SMALL_BYTES_MAX;
use crate::http::{error, json_response};

/// Size limit of messages other than ordinary tool calls and answers to the hub.
const KEPT_BYTES_MAX: usize = 64 * 1024;
/// JSON values in a message. The largest argument, metadata of 4 KB, has up to 2,000.
const VALUES_MAX: usize = 4_096;
/// Characters of each text that is kept of a client's description of itself.
const INFO_CHARS_MAX: usize = 128;

/// A body that was read.
pub(super) enum Read {
    /// A message, and its method.
    Message(Request, Option<String>),
    /// It is no message; this says why.
    Broken(Response),
}

/// Reads the body of a request, and the method of its message. A large body waits for a memory permit and holds it until
/// it is processed.
pub(super) async fn read(hub: &Hub, caller: &Caller, request: Request) -> Result<Read, Error> {
    let (mut parts, body) = request.into_parts();
    let (bytes, permit) = files::read_whole(hub, caller, body, BODY_BYTES_MAX, false).await?;
    // The key may have ended while the body arrived.
    hub.access.check(caller).await?;
    let head = Head::of(&bytes);
    if head.is_none()
        && is_json(&parts.headers)
        && let Some(broken) = broken(&bytes)
    {
        return Ok(Read::Broken(broken));
    }
    let bytes_max = head.as_ref().map_or(KEPT_BYTES_MAX, Head::bytes_max);
    if bytes.len() > bytes_max {
        return Err(error::body_too_large(bytes_max));
    }
    // Each value takes a byte at least.
    if bytes.len() > VALUES_MAX && has_more_values_than(&bytes, VALUES_MAX) {
        let why = format!("the message has more than {VALUES_MAX} JSON values");
        return Err(Error::new(Code::TooLarge, why));
    }
    // The SDK may understand what cannot be parsed here.
    let method = head.map(|head| head.method.unwrap_or_default().into_owned());
    // The parts of a request are passed with its message to the tool.
    parts.extensions.insert(Arc::new(permit));
    Ok(Read::Message(Request::from_parts(parts, Body::from(bytes)), method))
}

/// Whether a request says that its body is JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.is_some_and(|value| value.starts_with("application/json"))
}

/// Why a body that has no head is no message, if that can be told from its form.
fn broken(bytes: &[u8]) -> Option<Response> {
    match serde_json::from_slice::<IgnoredAny>(bytes) {
        Err(cause) => Some(refusal(ErrorCode::PARSE_ERROR, &format!("the body is not JSON: {cause}"))),
        Ok(_) => match bytes.trim_ascii_start().first() {
            Some(b'{') => None,
            Some(b'[') => {
                let why = "a batch is not supported; send one message with each request";
                Some(refusal(ErrorCode::INVALID_REQUEST, why))
            }
            _ => Some(refusal(ErrorCode::INVALID_REQUEST, "the body is not a JSON-RPC message")),
        },
    }
}

/// The response to what is no message: an error without an id.
pub(super) fn refusal(code: ErrorCode, why: &str) -> Response {
    let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code.0, "message": why } });
    json_response(StatusCode::BAD_REQUEST, error.to_string())
}

/// The fields of a message that are needed before it is handled.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<HeadParams<'a>>,
}

#[derive(Deserialize)]
struct HeadParams<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
}

impl<'a> Head<'a> {
    fn of(bytes: &'a Bytes) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    fn bytes_max(&self) -> usize {
        let tool = self.params.as_ref().and_then(|params| params.name.as_deref());
        match (self.method.as_deref(), tool) {
            (Some("tools/call"), Some("upload_file")) => BODY_BYTES_MAX,
            (Some("tools/call"), Some(tool)) if tools::waits(tool) => KEPT_BYTES_MAX,
            // Without a method it is an answer to the hub.
            (Some("tools/call") | None, _) => SMALL_BYTES_MAX,
            _ => KEPT_BYTES_MAX,
        }
    }
}

/// Whether a JSON text has more values than this. Counts what separates values; a text that is not JSON may give any
/// answer.
fn has_more_values_than(json: &[u8], max: usize) -> bool {
    let (mut values, mut rest) = (0, json);
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b',' | b'[' | b'{')) {
        let is_text = rest[at] == b'"';
        rest = &rest[at + 1..];
        if is_text {
            rest = after_text(rest);
        } else {
            values += 1;
            if values > max {
                return true;
            }
        }
    }
    false
}

/// What follows the end of a JSON text.
fn after_text(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        let skipped = if rest[at] == b'"' { 1 } else { 2 };
        let after = rest.get(at + skipped..).unwrap_or_default();
        if skipped == 1 {
            return after;
        }
        rest = after;
    }
    &[]
}

/// Reduces the first message of a session to what the hub uses of it, because the SDK keeps it as long as the session.
pub(super) fn keep_essentials(params: &mut InitializeRequestParams) {
    params.meta = None;
    let able = std::mem::take(&mut params.capabilities);
    let mut capabilities = ClientCapabilities::default();
    let said = |settings: Option<JsonObject>| settings.map(|_| JsonObject::new());
    capabilities.sampling = able.sampling.map(|sampling| {
        let mut kept = SamplingCapability::default();
        (kept.tools, kept.context) = (said(sampling.tools), said(sampling.context));
        kept
    });
    (capabilities.elicitation, capabilities.roots) = (able.elicitation, able.roots);
    params.capabilities = capabilities;
    let cut = |text: &str| text.chars().take(INFO_CHARS_MAX).collect::<String>();
    let client = &params.client_info;
    params.client_info = Implementation::new(cut(&client.name), cut(&client.version));
}

#[cfg(test)]
mod tests {
    use super::has_more_values_than;

    #[test]
    fn values_are_counted_outside_of_texts() {
        let many = |json: &str, max| has_more_values_than(json.as_bytes(), max);
        assert!(many("[[],[],[]]", 5) && !many("[[],[],[]]", 6));
        assert!(many(r#"{"a":1,"b":[2,3]}"#, 3) && !many(r#"{"a":1,"b":[2,3]}"#, 4));
        assert!(!many(r#"["[[[[,,,,{{{{\"[[[[\\",1]"#, 2));
        assert!(!many(r#"["\"#, 1) && !many("", 0) && !many("\"", 0));
    }
}

//! MCP at `/mcp`, in the form without sessions: for a local MCP server that passes calls on.

use std::time::Duration;

use http::HeaderValue;
use http::header::{ACCEPT, HeaderName};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::{Client, Error};

/// The revision that has no sessions.
const REVISION: &str = "2026-07-28";

/// An answer to an MCP request.
#[derive(Debug, Clone)]
pub enum McpAnswer {
    /// The result.
    Result(Value),
    /// An error of the protocol, such as a tool that does not exist.
    Refused {
        /// The JSON-RPC code.
        code: i32,
        /// A sentence for people.
        message: String,
    },
}

#[derive(Deserialize)]
struct Message {
    result: Option<Value>,
    error: Option<ErrorObject>,
}

#[derive(Deserialize)]
struct ErrorObject {
    code: i32,
    message: String,
}

impl Client {
    /// Sends an MCP request, such as `tools/call`, and returns its answer. `repeatable` says that a second time does no
    /// harm; `wait` is added to the time limit of the answer.
    pub async fn mcp(
        &self,
        method: &str,
        mut params: Map<String, Value>,
        repeatable: bool,
        wait: Duration,
    ) -> Result<McpAnswer, Error> {
        let name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str);
        let name = name.and_then(|name| HeaderValue::from_str(name).ok());
        let about = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientInfo": { "name": "tandem", "version": env!("CARGO_PKG_VERSION") },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        params.insert("_meta".to_owned(), about);
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut call = Call::post_once("/mcp").json(&message).waiting(wait);
        call.repeatable = repeatable;
        let revision = HeaderValue::from_static(REVISION);
        call.headers.push((HeaderName::from_static("mcp-protocol-version"), revision));
        let types = HeaderValue::from_static("application/json, text/event-stream");
        call.headers.push((ACCEPT, types));
        if let Ok(method) = HeaderValue::from_str(method) {
            call.headers.push((HeaderName::from_static("mcp-method"), method));
        }
        if let Some(name) = name {
            call.headers.push((HeaderName::from_static("mcp-name"), name));
        }
        let (_, bytes) = self.answer(&call).await?;
        let answer: Message = match self.parse(&bytes) {
            Ok(answer) => answer,
            Err(not_json) => self.parse(last_event(&bytes).ok_or(not_json)?)?,
        };
        match (answer.result, answer.error) {
            (Some(result), _) => Ok(McpAnswer::Result(result)),
            (None, Some(error)) => Ok(McpAnswer::Refused { code: error.code, message: error.message }),
            (None, None) => Err(self.not_a_hub("an MCP message without a result")),
        }
    }
}

/// The last message of an answer that is a stream of events.
fn last_event(bytes: &[u8]) -> Option<&[u8]> {
    bytes.split(|byte| *byte == b'\n').rev().find_map(|line| line.strip_prefix(b"data: "))
}

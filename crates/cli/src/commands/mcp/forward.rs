//! Tools that the hub carries out: the call is passed on, and the answer is returned as it is.

use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::{Map, Value, json};
use tandem_api::error::Code;
use tandem_client::{Client, Error as ClientError, McpAnswer};
use tandem_hub::Error;

use super::claims;
use super::failures::to_hub_error;
use super::handler::Bridge;
use super::titles::Words;

/// How long a tool may wait for news.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// The text of a wait without news.
const NOTHING_NEW: &str = "Nothing new. check_updates lists what has come before and still waits.";

impl Bridge {
    /// Calls a tool of the hub.
    pub(super) async fn forward(
        &self,
        client: &Client,
        name: &str,
        arguments: JsonObject,
    ) -> Result<CallToolResult, Error> {
        let params = json!({ "name": name, "arguments": arguments });
        // A second change of a status would be refused because of the first; asking for news twice does no harm.
        let hints = self.tool(name).and_then(|tool| tool.annotations.as_ref());
        let reads = hints.is_some_and(|hints| hints.read_only_hint == Some(true));
        let repeatable = reads || ["check_updates", "wait_for_updates"].contains(&name);
        let wait = if name == "wait_for_updates" { WAIT_MAX } else { Duration::ZERO };
        let answer = request(client, "tools/call", params, repeatable, wait).await?;
        serde_json::from_value(answer).map_err(|_| Error::internal())
    }

    /// `wait_for_updates`. The hub remembers what it has told an agent, but not to which of its sessions; so the bridge
    /// says from where on it wants news, and begins with everything that is there.
    pub(super) async fn wait_for_updates(
        &self,
        client: &Client,
        mut arguments: JsonObject,
    ) -> Result<CallToolResult, Error> {
        if !arguments.contains_key("after") {
            let known = self.reported();
            let after = match known {
                Some(cursor) => cursor,
                None => {
                    let mut check = JsonObject::new();
                    if let Some(acknowledge) = arguments.get("acknowledge") {
                        check.insert("acknowledge".to_owned(), acknowledge.clone());
                    }
                    let now = self.check_updates(client, "check_updates", check).await?;
                    let Some(cursor) = self.reported().filter(|_| is_empty(&now)) else { return Ok(now) };
                    cursor
                }
            };
            arguments.insert("after".to_owned(), after.into());
        }
        self.check_updates(client, "wait_for_updates", arguments).await
    }

    /// Calls a tool that reports news, and notes up to where.
    pub(super) async fn check_updates(
        &self,
        client: &Client,
        name: &str,
        arguments: JsonObject,
    ) -> Result<CallToolResult, Error> {
        let mut result = self.forward(client, name, arguments).await?;
        if let Some(cursor) = result.structured_content.as_ref().and_then(|data| data["cursor"].as_i64()) {
            self.set_reported(cursor);
        }
        self.open_titles(client, &mut result, Words::Report).await;
        if name == "wait_for_updates" && is_empty(&result) {
            result.content = vec![ContentBlock::text(NOTHING_NEW)];
        }
        Ok(result)
    }
}

/// Whether a report of news has none.
fn is_empty(result: &CallToolResult) -> bool {
    let Some(data) = &result.structured_content else { return false };
    let has_events = data["events"].as_array().is_some_and(|events| !events.is_empty());
    data["hasUpdates"] == false && !has_events
}

pub(super) async fn request(
    client: &Client,
    method: &str,
    params: Value,
    repeatable: bool,
    wait: Duration,
) -> Result<Value, Error> {
    let params = match params {
        Value::Object(params) => params,
        _ => Map::new(),
    };
    match client.mcp(method, params, repeatable, wait).await {
        Ok(McpAnswer::Result(mut result)) => {
            claims::remove(&mut result);
            Ok(result)
        }
        Ok(McpAnswer::Refused { message, .. }) => Err(Error::new(Code::Validation, message)),
        Err(ClientError::Lost { hub, cause }) => {
            let why = format!("the connection to {hub} was lost ({cause}); look before you repeat the call");
            Err(Error::new(Code::Unavailable, why))
        }
        Err(error) => Err(to_hub_error(error)),
    }
}

//! MCP resources.

use percent_encoding::percent_decode_str;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use tandem_api::tasks::PageQuery;

use tandem_api::error::Code;
use tandem_hub::ops::{models, news, parse_id};

use crate::mcp::call::Call;
use crate::mcp::fence;
use crate::mcp::reply::{compact, rpc};

/// The caller's inbox.
pub const INBOX: &str = "tandem://inbox";
/// Prefix of the URI of a task.
pub const TASK: &str = "tandem://tasks/";
const JSON: &str = "application/json";

#[must_use]
pub fn list() -> Vec<Resource> {
    let about = "Tasks, approvals and messages that wait for you, most urgent first. Subscribe to be notified of new items.";
    vec![Resource::new(INBOX, "inbox").with_title("Inbox").with_description(about).with_mime_type(JSON)]
}

#[must_use]
pub fn templates() -> Vec<ResourceTemplate> {
    let task = ResourceTemplate::new(format!("{TASK}{{id}}"), "task");
    vec![task.with_title("Task").with_description("A task with its messages.").with_mime_type(JSON)]
}

pub(crate) async fn read(call: &Call, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let id = uri.strip_prefix(TASK).map(|id| percent_decode_str(id).decode_utf8_lossy());
    let shown = async {
        match id {
            _ if uri == INBOX => compact(news::inbox(&call.hub, &call.caller, PageQuery::default()).await?),
            Some(id) => {
                let id = parse_id(fence::unfenced(&id), "task")?;
                compact(models::thread(&call.hub, &call.caller, &id, None).await?)
            }
            None => Err(tandem_hub::Error::not_found("resource")),
        }
    };
    match shown.await {
        Ok(shown) => {
            let contents = ResourceContents::text(shown, uri).with_mime_type(JSON);
            Ok(ReadResourceResult::new(vec![contents]))
        }
        Err(error) if error.code() == Code::NotFound => Err(unknown(uri)),
        Err(error) => Err(rpc(&error)),
    }
}

/// The error for a resource that does not exist, or that the caller may not see.
#[must_use]
pub fn unknown(uri: &str) -> ErrorData {
    let uri = serde_json::json!({"uri": uri});
    ErrorData::resource_not_found("this resource does not exist, or you may not see it", Some(uri))
}

/// The error for a subscription to anything but the inbox. It says nothing about whether a task exists.
#[must_use]
pub fn not_subscribable(uri: &str) -> ErrorData {
    if !uri.starts_with(TASK) {
        return unknown(uri);
    }
    let why = format!("only {INBOX} can be subscribed to; its news name the tasks that they are about");
    ErrorData::invalid_params(why, Some(serde_json::json!({"uri": uri})))
}

//! What can be read by its address.

use percent_encoding::percent_decode_str;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use tandem_api::tasks::PageQuery;

use crate::http::ApiError;
use crate::mcp::call::{Call, compact, rpc};
use crate::mcp::fence;

/// What waits for the caller.
pub(crate) const INBOX: &str = "tandem://inbox";
/// A task, before its id.
const TASK: &str = "tandem://tasks/";
const JSON: &str = "application/json";

pub(crate) fn list() -> Vec<Resource> {
    let about = "What waits for you, the most urgent first. Subscribe to it to be told when something comes.";
    vec![Resource::new(INBOX, "inbox").with_title("Inbox").with_description(about).with_mime_type(JSON)]
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let task = ResourceTemplate::new(format!("{TASK}{{id}}"), "task");
    vec![task.with_title("Task").with_description("A task with its messages.").with_mime_type(JSON)]
}

pub(crate) async fn read(call: &Call, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let id = uri.strip_prefix(TASK).map(|id| percent_decode_str(id).decode_utf8_lossy());
    let shown = match id {
        _ if uri == INBOX => call.inbox(PageQuery::default()).await,
        Some(id) => match call.whole_task(fence::unfenced(&id), None).await {
            Ok(task) => call.show(task).await,
            Err(error) => Err(error),
        },
        None => return Err(unknown(uri)),
    };
    match shown {
        Ok(shown) => {
            let contents = ResourceContents::text(compact(&shown.value), uri).with_mime_type(JSON);
            Ok(ReadResourceResult::new(vec![contents]))
        }
        Err(ApiError::App(tandem_app::Error::NotFound(_))) => Err(unknown(uri)),
        Err(error) => Err(rpc(&error)),
    }
}

pub(crate) fn unknown(uri: &str) -> ErrorData {
    let uri = serde_json::json!({"uri": uri});
    ErrorData::resource_not_found("there is nothing at this address for you", Some(uri))
}

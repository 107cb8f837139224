//! Titles of encrypted tasks in lists. The hub knows only that they are encrypted.

use std::collections::BTreeMap;

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use tandem_api::text::Author;
use tandem_client::{Client, Trust};
use tandem_core::TaskId;
use tandem_server::mcp::shared::fence;

use super::handler::Bridge;

/// Titles that are opened for one answer.
const TITLES_MAX: usize = 20;

impl Bridge {
    /// Opens the titles of encrypted tasks in an answer, as far as that is cheap.
    pub(super) async fn open_titles(&self, client: &Client, result: &mut CallToolResult) {
        let Some(data) = result.structured_content.as_mut().filter(|_| self.hub.has_key()) else { return };
        let mut sealed = BTreeMap::new();
        find(data, &mut sealed);
        let mut titles = BTreeMap::new();
        for id in sealed.into_keys().take(TITLES_MAX) {
            if let Some(title) = title_of(client, &id).await {
                titles.insert(id, title);
            }
        }
        if titles.is_empty() {
            return;
        }
        replace(data, &titles);
        let lines: Vec<String> =
            titles.iter().map(|(id, title)| format!("- {}: {title}", fence::id(id))).collect();
        result.content.push(ContentBlock::text(format!("Titles of encrypted tasks:\n{}", lines.join("\n"))));
    }
}

/// The title of an encrypted task for a model; `None` if it cannot be verified.
pub(super) async fn title_of(client: &Client, id: &str) -> Option<String> {
    let id: TaskId = fence::unfenced(id).parse().ok()?;
    let opened = client.open_description(client.task(&id).await.ok()?).await;
    let title = &opened.view.title;
    match opened.trust {
        Trust::Verified if title.author() == Author::Reader => Some(title.as_str().to_owned()),
        Trust::Verified | Trust::Plain => Some(fence::text(title.as_str())),
        Trust::Unopened | Trust::Unreadable(_) => None,
    }
}

/// The id of a task in a list, if its title is that of every encrypted task.
fn sealed_id(item: &Value) -> Option<String> {
    let title = item.get("title").or_else(|| item.get("taskTitle"))?.as_str()?;
    let id = item.get("taskId").or_else(|| item.get("id"))?.as_str()?;
    (fence::unfenced(title) == tandem_seal::CLEAR_TITLE).then(|| id.to_owned())
}

fn find(value: &Value, found: &mut BTreeMap<String, ()>) {
    match value {
        Value::Object(fields) => {
            found.extend(sealed_id(value).map(|id| (id, ())));
            fields.values().for_each(|field| find(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| find(item, found)),
        _ => {}
    }
}

fn replace(value: &mut Value, titles: &BTreeMap<String, String>) {
    let title = sealed_id(value).and_then(|id| titles.get(&id));
    match value {
        Value::Object(fields) => {
            for name in ["title", "taskTitle"] {
                if let (Some(field), Some(title)) = (fields.get_mut(name), title) {
                    *field = title.clone().into();
                }
            }
            fields.values_mut().for_each(|field| replace(field, titles));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, titles)),
        _ => {}
    }
}

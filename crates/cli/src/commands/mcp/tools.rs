//! The tools of the bridge: those of the hub, without what the bridge does by itself, and with files by path.

use std::sync::Arc;

use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use tandem_server::mcp::shared::{self, ToolSet, schema};

/// Tools about the agent's account, which belongs to the owner: the command line has them.
const OWNERS: [&str; 2] = ["rotate_api_key", "delete_account"];
/// File tools that the core set has here, in addition to the hub's.
const FILES: [&str; 2] = ["upload_file", "download_file"];
/// Fields of encryption, which the bridge makes and reads.
pub(super) const SEALED_FIELDS: [&str; 5] =
    ["id", "encrypted", "descriptionKeys", "encryptedKeys", "senderSignature"];

/// The tools of a set, in the hub's order.
pub(super) fn list(set: ToolSet) -> Vec<Tool> {
    let core = shared::tools(ToolSet::Core);
    let is_core =
        |tool: &Tool| FILES.contains(&tool.name.as_ref()) || core.iter().any(|other| other.name == tool.name);
    let all = shared::tools(ToolSet::Full).into_iter();
    all.filter(|tool| !OWNERS.contains(&tool.name.as_ref()))
        .filter(|tool| set == ToolSet::Full || is_core(tool))
        .map(|tool| {
            let loads = is_core(&tool);
            let mut tool = local(tool);
            if loads {
                // Claude Code otherwise shows the model the name only.
                let always = JsonObject::from_iter([("anthropic/alwaysLoad".to_owned(), Value::Bool(true))]);
                tool.meta = Some(MetaObject(always));
            }
            tool
        })
        .collect()
}

/// A tool as the bridge offers it.
fn local(mut tool: Tool) -> Tool {
    match tool.name.as_ref() {
        "create_task" => change(&mut tool, |input| {
            schema::remove(input, &SEALED_FIELDS);
            let encrypt = json!({"type": "boolean",
                "description": "End-to-end encryption. Default: if both of you have keys"});
            schema::add(input, "encrypt", encrypt, false);
        }),
        "send_message" | "send_reply" => change(&mut tool, |input| {
            schema::remove(input, &SEALED_FIELDS);
            if let Some(field) = input.get_mut("properties").and_then(|all| all.get_mut("contentType")) {
                field["description"] = "text (default) or json".into();
            }
        }),
        // The key belongs to the owner: another one would make everything unreadable.
        "update_profile" => change(&mut tool, |input| schema::remove(input, &["publicKey"])),
        "upload_file" => {
            tool.description = Some(
                "Add a file of this machine to a task, at most 50 MB. Use it when text is not enough.".into(),
            );
            tool.input_schema = Arc::new(fields(
                json!({
                    "taskId": {"type": "string"},
                    "path": {"type": "string", "description": "The file, below the working folder"},
                    "filename": {"type": "string", "description": "The name that the other side sees"},
                    "mimeType": {"type": "string", "description": "Default: by the name"},
                }),
                &["taskId", "path"],
            ));
        }
        "download_file" => {
            tool.description = Some(
                "Save a file of a task on this machine. Use it when a message of the task announces a file."
                    .into(),
            );
            let path = "Where to save it, below the working folder; the folder must exist";
            tool.input_schema = Arc::new(fields(
                json!({
                    "taskId": {"type": "string"},
                    "fileId": {"type": "string"},
                    "path": {"type": "string", "description": path},
                    "overwrite": {"type": "boolean", "description": "Replace a file that exists"},
                }),
                &["taskId", "fileId", "path"],
            ));
            tool.output_schema = Some(Arc::new(fields(
                json!({
                    "fileId": {"type": "string"},
                    "path": {"type": "string"},
                    "filename": {"type": "string"},
                    "mimeType": {"type": "string"},
                    "sizeBytes": {"type": "integer"},
                }),
                &["fileId", "path", "filename", "mimeType", "sizeBytes"],
            )));
            // It writes to the disk, and may replace a file.
            tool.annotations =
                Some(ToolAnnotations::from_raw(None, Some(false), Some(true), Some(true), Some(true)));
        }
        _ => {}
    }
    tool
}

fn change(tool: &mut Tool, change: impl FnOnce(&mut JsonObject)) {
    change(Arc::make_mut(&mut tool.input_schema));
}

fn fields(properties: Value, required: &[&str]) -> JsonObject {
    JsonObject::from_iter([
        ("type".to_owned(), "object".into()),
        ("properties".to_owned(), properties),
        ("required".to_owned(), required.into()),
    ])
}

//! Tools for files on a task.

use serde_json::{Value, json};
use tandem_api::files::{DeletedFile, DownloadedFile, UploadFile, UploadedFile};
use tandem_api::messages::MessageView;
use tandem_api::parts::AddArtifact;
use tandem_api::text::{PeerText, PeerToken};
use tandem_hub::ops::{artifacts, files};

use super::{Entry, ToolKind};
use crate::mcp::call::{Args, Call};
use crate::mcp::reply::{ToolReply, ToolResult, fenced};

pub(super) fn entries() -> Vec<Entry> {
    let task = |entry: Entry| entry.id("taskId");
    vec![
        task(
            Entry::new(
                "upload_file",
                ToolKind::Create,
                "Add a file of at most 50 MB to a task. Use it when text is not enough.",
                upload_file,
            )
            .input::<UploadFile<'_>>(),
        )
        .output::<UploadedFile>(),
        task(
            Entry::new(
                "add_artifact",
                ToolKind::Create,
                "Hand over a part of your work on a task assigned to you. Use it when a result has several parts; finish \
                 with send_reply.",
                add_artifact,
            )
            .input::<AddArtifact>()
            .without_input(&["parts", "description", "lastChunk", "artifactId", "append"])
            .field("parts", part_schema(), true)
            .field("artifactId", json!({ "type": "string" }), false)
            .field("append", append_schema(), false),
        )
        .output::<MessageView>(),
        Entry::new(
            "download_file",
            ToolKind::Read,
            "Get a file of at most 1 MB, as text or in base64. Use it when a message announces a file.",
            download_file,
        )
        .id("fileId")
        .output::<DownloadedFile>(),
        Entry::new(
            "delete_file",
            ToolKind::Delete,
            "Delete a file you uploaded, with its message. Use it when it was wrong or is no longer needed.",
            delete_file,
        )
        .id("fileId")
        .output::<DeletedFile>(),
    ]
}

async fn upload_file(call: Call, mut args: Args) -> ToolResult {
    // Take the bytes out before the rest is parsed, because they are large.
    let bytes = match args.0.get_mut("base64Content") {
        Some(Value::String(bytes)) => std::mem::take(bytes),
        _ => String::new(),
    };
    let (task, info) = call.on_task::<UploadFile<'static>>(args).await?;
    let file = UploadFile { base64_content: bytes.into(), ..info };
    uploaded(files::upload_json(&call.hub, &call.caller, &task, file).await?)
}

pub fn uploaded(file: UploadedFile) -> ToolResult {
    let sent = fenced(file);
    let words = format!(
        "File uploaded. File ID: {}, URL: {}, message ID: {}",
        sent.file_id,
        sent.url.as_str(),
        sent.message_id,
    );
    ToolReply::new(&sent, words)
}

fn append_schema() -> Value {
    json!({ "type": "boolean", "description": "Continue the artifact with this id; else replace it" })
}

/// Parts, in fewer words than the whole schema has.
fn part_schema() -> Value {
    let about = "Each has one of text, data (JSON), url, raw (base64) and fileId; also filename, mediaType";
    json!({ "type": "array", "items": { "type": "object" }, "description": about })
}

async fn add_artifact(call: Call, args: Args) -> ToolResult {
    let (task, body) = call.on_task(args).await?;
    let added = fenced(artifacts::add(&call.hub, &call.caller, &task, body).await?);
    ToolReply::new(&added, format!("Artifact added. Message ID: {}", added.id))
}

async fn download_file(call: Call, mut args: Args) -> ToolResult {
    let file = fenced(files::download(&call.hub, &call.caller, &args.id("fileId", "file")?).await?);
    let (text, base64) = (file.text.as_ref(), file.base64_content.as_ref());
    let content = text.map(PeerText::as_str).or(base64.map(PeerToken::as_str)).unwrap_or_default();
    let words = format!(
        "{} ({}, {} bytes):\n{content}",
        file.filename.as_str(),
        file.mime_type.as_str(),
        file.size_bytes
    );
    ToolReply::new(&file, words)
}

async fn delete_file(call: Call, mut args: Args) -> ToolResult {
    let deleted = files::delete(&call.hub, &call.caller, &args.id("fileId", "file")?).await?;
    ToolReply::new(&fenced(deleted), "File deleted.")
}

//! Files within a task.

use serde_json::Value;
use tandem_api::files::{DeletedFile, UploadFile, UploadedFile};

use super::{Does, Entry};
use crate::mcp::call::{Args, Call, Replied};
use crate::rest::files;

pub(super) fn entries() -> Vec<Entry> {
    let task = |entry: Entry| entry.id("taskId", "The task");
    vec![
        task(
            Entry::new(
                "upload_file",
                Does::Add,
                "Add a file to a task; a message brings it. At most 50 MB.",
                upload_file,
            )
            .takes::<UploadFile<'_>>(),
        )
        .gives::<UploadedFile>(),
        Entry::new("delete_file", Does::Destroy, "Take back a file of yours, with its message.", delete_file)
            .id("fileId", "The file")
            .gives::<DeletedFile>(),
    ]
}

async fn upload_file(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    // The bytes are taken out before the rest is read: they are most of it.
    let bytes = match args.0.get_mut("base64Content") {
        Some(Value::String(bytes)) => std::mem::take(bytes),
        _ => String::new(),
    };
    let label = Value::Object(args.0).to_string();
    let sent = call.own(files::upload_apart(&call.hub, &call.me, &task.0, &label, bytes).await?).await?;
    let words = format!(
        "File uploaded. File ID: {}, URL: {}, message ID: {}",
        sent.text("fileId"),
        sent.text("url"),
        sent.text("messageId"),
    );
    sent.said(words)
}

async fn delete_file(call: Call, mut args: Args) -> Replied {
    let file = args.take("fileId")?;
    call.show(files::delete(call.hub(), call.me(), file).await?).await?.said("File deleted.")
}

//! Messages, files and receipts within a task.

use serde_json::{Value, json};
use tandem_api::files::{DeletedFile, UploadFile, UploadedFile};
use tandem_api::messages::{DeletedMessage, MessageView, SendMessage};
use tandem_api::tasks::{AcknowledgedView, ReadView, RepliedView, ReplyTask, ReportUsage, UsageView};

use super::{Does, Entry};
use crate::mcp::call::{Args, Call, Replied};
use crate::rest::{files, messages, work};

pub(super) fn entries() -> Vec<Entry> {
    let task = |entry: Entry| entry.id("taskId", "The task");
    vec![
        task(
            Entry::new(
                "send_message",
                Does::Add,
                "Say something on a task. To finish with a result, use send_reply instead.",
                send_message,
            )
            .takes::<SendMessage>(),
        )
        .gives::<MessageView>()
        .core(),
        task(
            Entry::new(
                "send_reply",
                Does::Set,
                "Answer a task made for you: the content becomes its result, and it ends with the outcome.",
                send_reply,
            )
            .takes::<ReplyTask>(),
        )
        .gives::<RepliedView>()
        .core(),
        task(Entry::new(
            "task_read",
            Does::Set,
            "Read your unread messages on a task; their author is told.",
            task_read,
        ))
        .gives::<ReadView>(),
        task(Entry::new(
            "message_ack",
            Does::Set,
            "Acknowledge everything outstanding on a task; its author is told.",
            message_ack,
        ))
        .gives::<AcknowledgedView>(),
        task(
            Entry::new(
                "delete_message",
                Does::Destroy,
                "Take back a message of yours; [deleted] stays in its place.",
                delete_message,
            )
            .id("messageId", "The message"),
        )
        .gives::<DeletedMessage>(),
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
        task(
            Entry::new(
                "report_usage",
                Does::Add,
                "Report what the work on a task made for you has cost.",
                report_usage,
            )
            .takes::<ReportUsage>(),
        )
        .gives::<UsageView>(),
    ]
}

async fn send_message(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    let sent = call.show(messages::send(call.hub(), call.me(), task, args.input()).await?).await?;
    let words = format!("Message sent. Message ID: {}", sent.text("id"));
    sent.said(words)
}

async fn send_reply(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    let replied = call.show(work::reply(call.hub(), call.me(), task, args.input()).await?).await?;
    let message = replied.value.get("message").and_then(|message| message.get("id")).and_then(Value::as_str);
    let words = format!(
        "Reply sent. Message ID: {}. The task is {} now. {}",
        message.unwrap_or_default(),
        replied.text("status"),
        replied.text("note"),
    );
    replied.said(words.trim_end())
}

async fn task_read(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    let read = call.show(work::read(call.hub(), call.me(), task, args.input()).await?).await?;
    let is_empty = read.value.get("messages").and_then(Value::as_array).is_none_or(Vec::is_empty);
    if is_empty { read.said("No unread messages.") } else { read.as_json() }
}

async fn message_ack(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    let done = call.show(work::acknowledge(call.hub(), call.me(), task, args.input()).await?).await?;
    let count = done.value.get("messageIds").and_then(Value::as_array).map_or(0, Vec::len);
    done.said(format!("Acknowledged. Messages: {count}."))
}

async fn delete_message(call: Call, mut args: Args) -> Replied {
    let (task, message) = (args.take("taskId")?.0, args.take("messageId")?.0);
    let both = crate::http::Param((task, message));
    call.show(messages::delete(call.hub(), call.me(), both).await?).await?.said("Message deleted.")
}

async fn upload_file(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    // The bytes are taken out before the rest is read: they are most of it.
    let bytes = match args.0.get_mut("base64Content") {
        Some(Value::String(bytes)) => std::mem::take(bytes),
        _ => String::new(),
    };
    let label = Value::Object(args.0).to_string();
    let sent = call.show(files::upload_apart(&call.hub, &call.me, &task.0, &label, bytes).await?).await?;
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

async fn report_usage(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    let usage = call.show(work::report_usage(call.hub(), call.me(), task, args.input()).await?).await?;
    let dollars = |field: &str| usage.value.get(field).unwrap_or(&json!(0)).to_string();
    let paused = match usage.value.get("paused") {
        Some(Value::Bool(true)) => " The task is paused (input-required).",
        _ => "",
    };
    let words = format!(
        "Deducted ${}. The initiator's remaining balance: ${}.{paused}",
        dollars("deducted"),
        dollars("balance")
    );
    usage.said(words)
}

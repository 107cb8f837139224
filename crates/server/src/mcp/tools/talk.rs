//! Messages and receipts within a task.

use serde_json::{Value, json};
use tandem_api::messages::{DeletedMessage, MessageView, SendMessage};
use tandem_api::tasks::{AcknowledgedView, ReadView, RepliedView, ReplyTask, ReportUsage, UsageView};
use tandem_core::TaskId;

use super::{Does, Entry};
use crate::http::{Json, Param};
use crate::mcp::call::{Args, Call, Replied};
use crate::rest::{id, messages, work};

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
                Does::Add,
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
    let task: TaskId = id(&task.0, "task")?;
    let send = call.hub.new_message(&call.me, task.clone(), args.read()).await?;
    let sending = async { Ok(call.hub.write(send).await?) };
    let sent = call.show(Json(call.hub.counted_on_task(&call.me, &task, sending).await?)).await?;
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
    call.show(work::read(call.hub(), call.me(), task, args.input()).await?).await?.into_json()
}

async fn message_ack(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    let done = call.show(work::acknowledge(call.hub(), call.me(), task, args.input()).await?).await?;
    let count = done.value.get("messageIds").and_then(Value::as_array).map_or(0, Vec::len);
    done.said(format!("Acknowledged. Messages: {count}."))
}

async fn delete_message(call: Call, mut args: Args) -> Replied {
    let (task, message) = (args.take("taskId")?.0, args.take("messageId")?.0);
    let both = Param((task, message));
    call.show(messages::delete(call.hub(), call.me(), both).await?).await?.said("Message deleted.")
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

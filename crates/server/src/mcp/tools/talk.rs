//! Tools for messages, receipts and usage.

use tandem_api::messages::{DeletedMessage, MessageView, SendMessage};
use tandem_api::tasks::{AcknowledgedView, ReadView, RepliedView, ReplyTask, ReportUsage, UsageView};
use tandem_api::text::HubText;
use tandem_hub::ops::{messages, models, receipts, tasks};

use super::{Entry, ToolKind};
use crate::mcp::call::{Args, Call};
use crate::mcp::reply::{ToolReply, ToolResult, fenced};

pub(super) fn entries() -> Vec<Entry> {
    let task = |entry: Entry| entry.id("taskId");
    vec![
        task(
            Entry::new(
            "send_message",
            ToolKind::Create,
            "Send a message on a task: a question, an answer, progress. To finish with a result, use \
             send_reply.",
            send_message,
        )
            .input::<SendMessage>(),
        )
        .output::<MessageView>()
        .core(),
        task(
            Entry::new(
            "send_reply",
            ToolKind::Create,
            "Reply to a task assigned to you: the content becomes its result and the task ends. Use it when you \
             are done.",
            send_reply,
        )
            .input::<ReplyTask>()
            .without_input(&["direct"]),
        )
        .output::<RepliedView>()
        .core(),
        task(Entry::new(
            "task_read",
            ToolKind::Update,
            "Get your unread messages on a task and mark them read. Use it when check_updates shows some.",
            task_read,
        ))
        .output::<ReadView>(),
        task(Entry::new(
            "message_ack",
            ToolKind::Update,
            "Acknowledge a task and its messages. Use it to confirm receipt before you can answer.",
            message_ack,
        ))
        .output::<AcknowledgedView>(),
        task(
            Entry::new(
            "delete_message",
            ToolKind::Delete,
            "Delete a message you sent; [deleted] remains in its place. Use it for mistakes.",
            delete_message,
        )
            .id("messageId"),
        )
        .output::<DeletedMessage>(),
        task(
            Entry::new(
            "report_usage",
            ToolKind::Create,
            "Report the cost of your work on a task, in USD. Use it as the target, after each paid step.",
            report_usage,
        )
            .input::<ReportUsage>(),
        )
        .output::<UsageView>(),
    ]
}

async fn send_message(call: Call, args: Args) -> ToolResult {
    let (task, body) = call.on_task(args).await?;
    sent(messages::send(&call.hub, &call.caller, &task, body).await?)
}

pub fn sent(message: MessageView) -> ToolResult {
    let sent = fenced(message);
    ToolReply::new(&sent, format!("Message sent. Message ID: {}", sent.id))
}

async fn send_reply(call: Call, args: Args) -> ToolResult {
    let (task, body) = call.on_task(args).await?;
    let mut replied = tasks::reply(&call.hub, &call.caller, &task, body).await?;
    replied.task = models::task(&call.hub, &call.caller, replied.task).await?;
    shown_reply(replied)
}

pub fn shown_reply(replied: RepliedView) -> ToolResult {
    let replied = fenced(replied);
    let note = replied.note.as_ref().map_or("", HubText::as_str);
    let (message, status) = (&replied.message.id, replied.task.status);
    let words = format!("Reply sent. Message ID: {message}. The task is {status} now. {note}");
    ToolReply::new(&replied, words.trim_end())
}

async fn task_read(call: Call, mut args: Args) -> ToolResult {
    let read = models::read(&call.hub, &call.caller, &args.id("taskId", "task")?).await?;
    shown_messages(read)
}

/// Messages that are now marked as read.
pub fn shown_messages(read: ReadView) -> ToolResult {
    let more = read.unread_count;
    let note = (more > 0).then(|| format!("There are {more} more. Call again to read them"));
    Ok(ToolReply { note, ..ToolReply::json("", read)? })
}

async fn message_ack(call: Call, mut args: Args) -> ToolResult {
    let done = fenced(receipts::acknowledge(&call.hub, &call.caller, &args.id("taskId", "task")?).await?);
    ToolReply::new(&done, format!("Acknowledged. Messages: {}.", done.message_ids.len()))
}

async fn delete_message(call: Call, mut args: Args) -> ToolResult {
    let task = args.id("taskId", "task")?;
    let message = call.hub.on_task(&call.caller, &task, args.id("messageId", "message")).await?;
    let deleted = messages::delete(&call.hub, &call.caller, &task, &message).await?;
    ToolReply::new(&fenced(deleted), "Message deleted.")
}

async fn report_usage(call: Call, args: Args) -> ToolResult {
    let (task, body) = call.on_task(args).await?;
    let usage = fenced(tasks::report_usage(&call.hub, &call.caller, &task, body).await?);
    let (deducted, balance) = (usage.deducted.number(), usage.balance.number());
    let paused = if usage.paused { " The task is paused (input-required)." } else { "" };
    let words = format!("Deducted ${deducted}. The initiator's remaining balance: ${balance}.{paused}");
    ToolReply::new(&usage, words)
}

//! Tools for approvals, the session key, the history and the deletion of a task.

use serde_json::json;
use tandem_api::tasks::{DeletedTask, PageQuery, TaskLogView, TaskView, WithReason};
use tandem_hub::ops::{approvals, models, tasks};
use tandem_hub::paging;

use super::tasks::moved;
use super::{Entry, Page, ToolKind};
use crate::mcp::call::{Args, Call};
use crate::mcp::reply::{ToolReply, ToolResult, fenced};

pub(super) fn entries() -> Vec<Entry> {
    let task = |entry: Entry| entry.id("taskId");
    vec![
        Entry::new(
            "list_pending_approvals",
            ToolKind::Read,
            "List the tasks that need your approval. Use it before approve_task or reject_task.",
            list_pending_approvals,
        )
        .input::<Page>()
        .output_list::<TaskView>("tasks"),
        task(
            Entry::new(
                "approve_task",
                ToolKind::Update,
                "Approve a task that needs your approval. Use it when you are willing to do the work.",
                approve_task,
            )
            .field("note", json!({"type": "string", "maxLength": 1000}), false),
        )
        .output_task()
        .core(),
        task(
            Entry::new(
                "reject_task",
                ToolKind::Delete,
                "Reject a task that needs your approval; it is cancelled. Give a reason, if you can.",
                reject_task,
            )
            .input::<WithReason>(),
        )
        .output_task()
        .core(),
        task(
            Entry::new(
                "set_session_key",
                ToolKind::Update,
                "Set your session key on a task. Use it to route its events: each contains the key.",
                set_session_key,
            )
            .field(
                "sessionKey",
                json!({"type": ["string", "null"], "maxLength": 256,
                "description": "Opaque to the hub; null clears it"}),
                true,
            ),
        )
        .output_task(),
        task(
            Entry::new(
                "get_task_events",
                ToolKind::Read,
                "Get a task's history, oldest first. Use it to learn who changed its status, when and why.",
                get_task_events,
            )
            .input::<Page>(),
        )
        .output_list::<TaskLogView>("events"),
        task(Entry::new(
            "delete_task",
            ToolKind::Delete,
            "Delete an ended task, or a draft of yours, with its messages and files.",
            delete_task,
        ))
        .output::<DeletedTask>(),
    ]
}

async fn list_pending_approvals(call: Call, args: Args) -> ToolResult {
    let list = models::approvals(&call.hub, &call.caller, args.read::<PageQuery>()?).await?;
    ToolReply::list("tasks", list, Some("No pending approvals."))
}

async fn approve_task(call: Call, args: Args) -> ToolResult {
    let (task, body) = call.on_task(args).await?;
    moved(&call, approvals::approve(&call.hub, &call.caller, &task, body).await?, "Task approved.").await
}

async fn reject_task(call: Call, args: Args) -> ToolResult {
    let (task, body) = call.on_task(args).await?;
    moved(&call, approvals::reject(&call.hub, &call.caller, &task, body).await?, "Task rejected.").await
}

async fn set_session_key(call: Call, mut args: Args) -> ToolResult {
    let task = args.id("taskId", "task")?;
    let given = args.require("sessionKey", "is required; null clears it");
    call.hub.on_task(&call.caller, &task, given).await?;
    // Other tools handle the other fields of a change.
    args.0.retain(|name, _| name == "sessionKey");
    let is_cleared = args.0.get("sessionKey").is_some_and(serde_json::Value::is_null);
    let body = call.hub.on_task(&call.caller, &task, args.read()).await?;
    let words = if is_cleared { "Session key cleared." } else { "Session key set." };
    moved(&call, tasks::change(&call.hub, &call.caller, &task, body).await?.view, words).await
}

async fn get_task_events(call: Call, args: Args) -> ToolResult {
    let (task, query) = call.on_task::<PageQuery>(args).await?;
    let history = tasks::history(&call.hub, &call.caller, &task, query, paging::LIST).await?;
    ToolReply::list("events", history, None)
}

async fn delete_task(call: Call, mut args: Args) -> ToolResult {
    let gone = fenced(tasks::delete(&call.hub, &call.caller, &args.id("taskId", "task")?).await?);
    let (messages, files) = (gone.deleted_messages, gone.deleted_files);
    ToolReply::new(&gone, format!("Task deleted, with {messages} messages and {files} files."))
}

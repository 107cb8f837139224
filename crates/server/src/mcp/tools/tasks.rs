//! Tools for creating, reading and changing tasks.

use serde_json::json;
use tandem_api::tasks::{
    CreateTask, Heartbeat, PageQuery, PatchTask, ReassignTask, RetryTask, TaskView, TasksQuery, ThreadView,
    WithReason,
};
use tandem_api::text::HubText;
use tandem_core::{Approval, Status};
use tandem_hub::ops::{models, tasks};

use super::{Entry, ToolKind};
use crate::mcp::call::{Args, Call};
use crate::mcp::reply::{ToolReply, ToolResult, fenced};

pub(super) fn entries() -> Vec<Entry> {
    [made_and_found(), moved_on()].concat()
}

fn task(entry: Entry) -> Entry {
    entry.id("taskId")
}

fn made_and_found() -> Vec<Entry> {
    let cursor = json!({"type": "string",
        "description": "olderMessagesCursor of the previous call"});
    let messages = json!({"type": "array", "items": {"type": "object"}});
    vec![
        Entry::new(
            "create_task",
            ToolKind::Create,
            "Create a task for an agent you are connected with. Use it when another agent should do something \
             for you.",
            create_task,
        )
        .input::<CreateTask>()
        .without_input(&["contextId"])
        .output_task()
        .core(),
        Entry::new(
            "list_tasks",
            ToolKind::Read,
            "List all your tasks, newest first, also ended ones. Use it to browse; for what is new, use \
             check_updates.",
            list_tasks,
        )
        .input::<ListTasks>()
        .output_list::<TaskView>("tasks"),
        task(Entry::new(
            "get_task",
            ToolKind::Read,
            "Get one task with its messages. Use it before you work on a task or answer it.",
            get_task,
        ))
        .field("cursor", cursor, false)
        .output::<TaskView>()
        .output_field("messages", messages)
        .core(),
    ]
}

fn moved_on() -> Vec<Entry> {
    let status = json!({"type": "string",
        "description": "One of the task's nextStatuses; submitted publishes a draft"});
    vec![
        task(
            Entry::new(
                "update_task_status",
                ToolKind::Update,
                "Change a task's status: working when you start, input-required to ask, completed or failed at the end, \
             cancelled to give up, submitted to publish a draft. Its initiator reopens a completed task by \
             working.",
                update_task_status,
            )
            .input::<PatchTask>()
            .without_input(&[
                "sessionKey",
                "title",
                "description",
                "descriptionKeys",
                "senderSignature",
                "maxMessages",
            ])
            .field("status", status, true),
        )
        .output_task()
        .core(),
        task(
            Entry::new(
                "heartbeat",
                ToolKind::Create,
                "Report progress on a task you work on. Use it in long work: a task with a lease stalls without it.",
                heartbeat,
            )
            .input::<Heartbeat>(),
        )
        .output_task(),
        task(
            Entry::new(
                "cancel_task",
                ToolKind::Delete,
                "Cancel a task and tell the other party why. Use it when the work is no longer needed or \
             possible.",
                cancel_task,
            )
            .input::<WithReason>(),
        )
        .output_task(),
        task(
            Entry::new(
                "retry_task",
                ToolKind::Update,
                "Submit a task of yours again. Use it after it failed, was cancelled or expired.",
                retry_task,
            )
            .input::<RetryTask>(),
        )
        .output_task(),
        task(
            Entry::new(
                "reassign_task",
                ToolKind::Update,
                "Give a live task of yours to another agent. Use it when its target makes no progress.",
                reassign_task,
            )
            .input::<ReassignTask>(),
        )
        .output_task(),
    ]
}

/// Arguments of `list_tasks`.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "its schema is what it is for; it is read as the query of REST")]
struct ListTasks {
    /// Only tasks with this status
    #[schema(nullable = false)]
    status: Option<String>,
    /// initiator for tasks you created, target for tasks assigned to you
    #[schema(nullable = false)]
    role: Option<String>,
    /// Only tasks whose title contains this text
    #[schema(nullable = false)]
    q: Option<String>,
    /// Page size (default 50)
    #[schema(nullable = false)]
    limit: Option<i64>,
    /// nextCursor of the previous page
    #[schema(nullable = false)]
    cursor: Option<String>,
}

/// The status of a task in text, and what the caller can do next.
fn status_text(task: &TaskView, did: &str) -> String {
    let next: Vec<&str> = task.next_statuses.iter().map(|status| status.as_str()).collect();
    let next = if next.is_empty() { "none".to_owned() } else { next.join(", ") };
    let is_held = task.approval_status == Some(Approval::Pending);
    let held = if is_held { ", waiting for its target's approval" } else { "" };
    format!("{did} Task ID: {} (status: {}{held}). You may set it to: {next}.", task.id, task.status)
}

async fn create_task(call: Call, args: Args) -> ToolResult {
    let task = tasks::create(&call.hub, &call.caller, args.read()?).await?;
    created(models::task(&call.hub, &call.caller, task).await?)
}

/// A task that was just created, and what comes next.
pub fn created(task: TaskView) -> ToolResult {
    let next = match (task.status, task.requires_review) {
        (Status::Draft, _) => "Next: publish it with update_task_status, status submitted.",
        (_, true) => {
            "Next: wait_for_updates tells you when the other agent asks or delivers. Review the result with get_task, \
             then complete the task yourself."
        }
        (_, false) => {
            "Next: wait_for_updates tells you when the other agent asks, answers or finishes; get_task shows the \
             messages and the result."
        }
    };
    let task = fenced(task);
    ToolReply::new(&task, format!("{}\n{next}", status_text(&task, "Task created.")))
}

async fn list_tasks(call: Call, args: Args) -> ToolResult {
    let list = models::tasks(&call.hub, &call.caller, args.read::<TasksQuery>()?).await?;
    ToolReply::list("tasks", list, Some("No tasks found."))
}

async fn get_task(call: Call, args: Args) -> ToolResult {
    let (task, page) = call.on_task::<PageQuery>(args).await?;
    let thread = models::thread(&call.hub, &call.caller, &task, page.cursor.as_deref()).await?;
    shown_thread(thread)
}

pub fn shown_thread(thread: ThreadView) -> ToolResult {
    let note = thread.older_messages_cursor.as_ref().map(HubText::as_str);
    let note = note.map(|cursor| format!("There are older messages. Call again with cursor {cursor}"));
    Ok(ToolReply { note, ..ToolReply::json("", thread)? })
}

async fn update_task_status(call: Call, mut args: Args) -> ToolResult {
    let task = args.id("taskId", "task")?;
    call.hub.on_task(&call.caller, &task, args.require("status", "is required")).await?;
    // REST handles the other fields of a change.
    args.0.retain(|name, _| ["status", "reason", "expectedStatus"].contains(&name.as_str()));
    let body = call.hub.on_task(&call.caller, &task, args.read()).await?;
    moved(&call, tasks::change(&call.hub, &call.caller, &task, body).await?.view, "Task status updated.")
        .await
}

pub(super) async fn moved(call: &Call, task: TaskView, did: &str) -> ToolResult {
    let task = fenced(models::task(&call.hub, &call.caller, task).await?);
    ToolReply::new(&task, status_text(&task, did))
}

async fn heartbeat(call: Call, args: Args) -> ToolResult {
    let (task, body) = call.on_task(args).await?;
    moved(&call, tasks::heartbeat(&call.hub, &call.caller, &task, body).await?, "Heartbeat recorded.").await
}

async fn cancel_task(call: Call, args: Args) -> ToolResult {
    let (task, body) = call.on_task(args).await?;
    moved(&call, tasks::cancel(&call.hub, &call.caller, &task, body).await?, "Task cancelled.").await
}

async fn retry_task(call: Call, args: Args) -> ToolResult {
    let (task, body) = call.on_task(args).await?;
    moved(&call, tasks::retry(&call.hub, &call.caller, &task, body).await?, "Task retried.").await
}

async fn reassign_task(call: Call, args: Args) -> ToolResult {
    let (task, body) = call.on_task(args).await?;
    moved(&call, tasks::reassign(&call.hub, &call.caller, &task, body).await?, "Task reassigned.").await
}

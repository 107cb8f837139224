//! Tasks: making them, looking at them, moving them on.

use serde_json::{Map, Value, json};
use tandem_api::messages::MessageView;
use tandem_api::tasks::{
    CreateTask, DeletedTask, PageQuery, PatchTask, ReassignTask, RetryTask, TaskLogView, TaskView,
    TasksQuery, WithReason,
};
use tandem_app::{Invalid, messages};
use tandem_core::TaskId;

use super::people::Page;
use super::{Does, Entry};
use crate::http::Param;
use crate::mcp::call::{Args, Call, Replied, Shown, nowhere};
use crate::rest::{approvals, id, tasks, work};

/// How many messages come with a task, the newest of them.
const MESSAGES_MAX: i64 = 500;
/// How many bytes of their text.
const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

pub(super) fn entries() -> Vec<Entry> {
    let task = |entry: Entry| entry.id("taskId", "The task");
    let status = json!({"type": "string", "description": "One of the task's nextStatuses; submitted publishes a draft"});
    vec![
        Entry::new("create_task", Does::Add, "Hand a task to an agent you are connected with.", create_task)
            .takes::<CreateTask>().gives::<TaskView>().core(),
        Entry::new("list_tasks", Does::Look,
            "All your tasks, newest first, also ended ones. For what is new, use check_updates.", list_tasks)
            .takes::<ListTasks>().lists::<TaskView>("tasks"),
        task(Entry::new("get_task", Does::Look, "One task with its messages.", get_task))
            .gives::<TaskView>()
            .gives_also("messages", json!({"type": "array", "items": {"type": "object"}})).core(),
        task(Entry::new("update_task_status", Does::Set,
            "Move a task: working when you begin, input-required to ask, completed or failed at the end, cancelled to \
             give up; as its initiator, working reopens a completed one.", update_task_status)
            .takes::<PatchTask>().without(&["sessionKey", "title", "description", "descriptionKeys",
                "senderSignature", "maxMessages"]).field("status", status, true))
            .gives::<TaskView>().core(),
        task(Entry::new("cancel_task", Does::Destroy, "Cancel a task; the other party learns the reason.", cancel_task)
            .takes::<WithReason>()).gives::<TaskView>(),
        task(Entry::new("retry_task", Does::Set,
            "Try a task of yours again that failed, was cancelled or expired.", retry_task)
            .takes::<RetryTask>()).gives::<TaskView>(),
        task(Entry::new("reassign_task", Does::Set, "Give a live task of yours to another agent.", reassign_task)
            .takes::<ReassignTask>()).gives::<TaskView>(),
        task(Entry::new("set_session_key", Does::Set,
            "Keep a key of yours on a task; it comes back in every event about it.", set_session_key)
            .field("sessionKey", json!({"type": ["string", "null"], "maxLength": 256,
                "description": "Opaque to the hub; null clears it"}), true)).gives::<TaskView>(),
        task(Entry::new("get_task_events", Does::Look, "A task's history, oldest first.", get_task_events)
            .takes::<Page>()).lists::<TaskLogView>("events"),
        task(Entry::new("delete_task", Does::Destroy,
            "Delete a task that has ended, or a draft of yours, with its messages and files.", delete_task))
            .gives::<DeletedTask>(),
        Entry::new("list_pending_approvals", Does::Look, "Tasks that wait for your approval.", list_pending_approvals)
            .takes::<Page>().lists::<TaskView>("tasks"),
        task(Entry::new("approve_task", Does::Set, "Let a task in that waits for your approval.", approve_task))
            .gives::<TaskView>().core(),
        task(Entry::new("reject_task", Does::Destroy, "Decline a task that waits for your approval; it is cancelled.",
            reject_task).takes::<WithReason>()).gives::<TaskView>().core(),
    ]
}

/// Which tasks.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "its schema is what it is for; it is read as the query of REST")]
struct ListTasks {
    /// Only tasks in this status, such as submitted, working, input-required or completed
    status: Option<String>,
    /// initiator for those you made, target for those made for you
    role: Option<String>,
    /// Only tasks with this text in their title or description
    q: Option<String>,
    /// How many at most (default 50)
    limit: Option<i64>,
    /// nextCursor of the page before
    cursor: Option<String>,
}

/// What a task says about itself, and what can be done next.
fn stands(task: &Shown, did: &str) -> String {
    let next = task.value.get("nextStatuses").and_then(Value::as_array);
    let next: Vec<&str> = next.into_iter().flatten().filter_map(Value::as_str).collect();
    let next = if next.is_empty() { "none".to_owned() } else { next.join(", ") };
    let held = match task.text("approvalStatus") {
        "pending" => ", waiting for its target's approval",
        _ => "",
    };
    format!(
        "{did} Task ID: {} (status: {}{held}). You may set it to: {next}.",
        task.text("id"),
        task.text("status")
    )
}

async fn create_task(call: Call, args: Args) -> Replied {
    let task = call.show(tasks::create(call.hub(), call.me(), args.input()).await?).await?;
    let words = stands(&task, "Task created.");
    task.said(words)
}

async fn list_tasks(call: Call, args: Args) -> Replied {
    let query = args.query::<TasksQuery>()?;
    let list = tasks::list(call.hub(), call.me(), nowhere(), query).await?;
    call.show(list).await?.as_list("tasks", "No tasks found.")
}

async fn get_task(call: Call, mut args: Args) -> Replied {
    let Param(named) = args.take("taskId")?;
    call.show(call.whole_task(&named).await?).await?.as_json()
}

impl Call {
    /// A task with its messages.
    pub(crate) async fn whole_task(
        &self,
        named: &str,
    ) -> Result<crate::http::Json<Value>, crate::http::ApiError> {
        let answer = tasks::view(self.hub(), self.me(), Param(named.to_owned())).await?;
        let (mut task, _) = crate::mcp::call::Answer::value(answer).await?;
        let (by, of): (_, TaskId) = (self.me.clone(), id(named, "task")?);
        let page =
            self.hub.read(move |tx, now| messages::list(tx, &by, &of, None, MESSAGES_MAX, now)).await?;
        let mut room = MESSAGE_BYTES_MAX;
        let mut kept: Vec<MessageView> = Vec::new();
        let mut left_out = page.next.is_some();
        for message in page.items.into_iter().rev() {
            match room.checked_sub(message.content.len()) {
                Some(rest) => room = rest,
                None => {
                    left_out = true;
                    break;
                }
            }
            kept.push(message.into());
        }
        kept.reverse();
        if let Value::Object(fields) = &mut task {
            let messages = serde_json::to_value(kept).map_err(|_| crate::http::ApiError::Panicked)?;
            fields.insert("messages".into(), messages);
            if left_out {
                fields.insert("olderMessagesLeftOut".into(), true.into());
            }
        }
        Ok(crate::http::Json(task))
    }
}

async fn update_task_status(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    if !args.0.contains_key("status") {
        return Err(Invalid::field("status", "is required").into());
    }
    // The other fields of a change are for REST.
    let fields: Map<String, Value> = args
        .0
        .into_iter()
        .filter(|(name, _)| ["status", "reason", "expectedStatus"].contains(&name.as_str()))
        .collect();
    let changed = tasks::change(call.hub(), call.me(), task, Args(fields).input()).await?;
    moved(&call, changed, "Task status updated.").await
}

/// An answer about a task that was moved.
async fn moved(call: &Call, answer: impl crate::mcp::call::Answer, did: &str) -> Replied {
    let task = call.show(answer).await?;
    let words = stands(&task, did);
    task.said(words)
}

async fn cancel_task(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    moved(&call, tasks::cancel(call.hub(), call.me(), task, args.input()).await?, "Task cancelled.").await
}

async fn retry_task(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    moved(&call, work::retry(call.hub(), call.me(), task, args.input()).await?, "Task retried.").await
}

async fn reassign_task(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    moved(&call, work::reassign(call.hub(), call.me(), task, args.input()).await?, "Task reassigned.").await
}

async fn set_session_key(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    let key = args.0.shift_remove("sessionKey");
    let key = key.ok_or_else(|| Invalid::field("sessionKey", "is required; null clears it"))?;
    let only = Args(Map::from_iter([("sessionKey".to_owned(), key)]));
    moved(&call, tasks::change(call.hub(), call.me(), task, only.input()).await?, "Session key set.").await
}

async fn get_task_events(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    let query = args.query::<PageQuery>()?;
    let history = tasks::history(call.hub(), call.me(), task, nowhere(), query).await?;
    call.show(history).await?.as_list("events", "No events.")
}

async fn delete_task(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    let gone = call.show(tasks::delete(call.hub(), call.me(), task, Default::default()).await?).await?;
    let (messages, files) = (gone.number("deletedMessages"), gone.number("deletedFiles"));
    gone.said(format!("Task deleted, with {messages} messages and {files} files."))
}

async fn list_pending_approvals(call: Call, args: Args) -> Replied {
    let query = args.query::<PageQuery>()?;
    let list = approvals::list(call.hub(), call.me(), nowhere(), query).await?;
    call.show(list).await?.as_list("tasks", "No pending approvals.")
}

async fn approve_task(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    moved(&call, approvals::approve(call.hub(), call.me(), task, args.input()).await?, "Task approved.").await
}

async fn reject_task(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    moved(&call, approvals::reject(call.hub(), call.me(), task, args.input()).await?, "Task rejected.").await
}

//! Tasks: making them, looking at them, moving them on.

use serde_json::{Map, Value, json};
use tandem_api::messages::MessageView;
use tandem_api::tasks::{
    CreateTask, PageQuery, PatchTask, ReassignTask, RetryTask, TaskView, TasksQuery, WithReason,
};
use tandem_app::{Invalid, messages};
use tandem_core::TaskId;

use super::{Does, Entry};
use crate::http::{ApiError, Json, Param, paging};
use crate::mcp::call::{Args, Call, Rendered, Replied, Reply, Shown};
use crate::rest::{id, tasks, work};

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
            .field(
            "cursor",
            json!({"type": "string", "description": "olderMessagesCursor of the call before, for older messages"}),
            false,
        )
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
    /// Only tasks with this text in their title
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
    let make = call.hub.new_task(&call.me, args.read()?).await?;
    let task = call.show(Json(call.hub.write(make).await?)).await?;
    let words = stands(&task, "Task created.");
    task.said(words)
}

async fn list_tasks(call: Call, args: Args) -> Replied {
    let list = call.hub.list_tasks(&call.me, args.read::<TasksQuery>()?).await?;
    call.show(list).await?.into_list("tasks")?.or_if_empty("tasks", "No tasks found.")
}

async fn get_task(call: Call, mut args: Args) -> Replied {
    let Param(named) = args.take("taskId")?;
    let cursor = args.read::<PageQuery>()?.cursor;
    let task = call.show(call.whole_task(&named, cursor.as_deref()).await?).await?;
    let note = task.value.get("olderMessagesCursor").and_then(Value::as_str);
    let note = note.map(|cursor| format!("There are older messages. Call again with cursor {cursor}"));
    Ok(Reply { note, ..task.into_json()? })
}

impl Call {
    /// A task with its newest messages, or with those before a cursor.
    pub(crate) async fn whole_task(
        &self,
        named: &str,
        cursor: Option<&str>,
    ) -> Result<Json<Value>, ApiError> {
        let answer = tasks::view(self.hub(), self.me(), Param(named.to_owned())).await?;
        let (mut task, _) = Rendered::value(answer).await?;
        let (by, of): (_, TaskId) = (self.me.clone(), id(named, "task")?);
        let before = paging::number(cursor)?;
        let page =
            self.hub.read(move |tx, now| messages::list(tx, &by, &of, before, MESSAGES_MAX, now)).await?;
        let (mut room, mut older) = (MESSAGE_BYTES_MAX, page.next);
        let mut kept: Vec<MessageView> = Vec::new();
        for message in page.items.into_iter().rev() {
            let Some(rest) = room.checked_sub(message.content.len()) else {
                older = Some(message.number + 1);
                break;
            };
            room = rest;
            kept.push(message.into());
        }
        kept.reverse();
        if let Value::Object(fields) = &mut task {
            fields.insert("messages".into(), serde_json::to_value(kept).map_err(|_| ApiError::Panicked)?);
            if let Some(older) = older {
                fields.insert("olderMessagesCursor".into(), older.to_string().into());
            }
        }
        Ok(Json(task))
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
pub(super) async fn moved(call: &Call, answer: impl Rendered, did: &str) -> Replied {
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

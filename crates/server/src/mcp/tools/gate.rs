//! A task's gate, its history, and its end.

use serde_json::{Map, json};
use tandem_api::tasks::{DeletedTask, PageQuery, TaskLogView, TaskView, WithReason};
use tandem_app::Invalid;

use super::tasks::moved;
use super::{Does, Entry, Page};
use crate::mcp::call::{Args, Call, Replied, nowhere};
use crate::rest::{approvals, tasks};

pub(super) fn entries() -> Vec<Entry> {
    let task = |entry: Entry| entry.id("taskId", "The task");
    vec![
        Entry::new(
            "list_pending_approvals",
            Does::Look,
            "Tasks that wait for your approval.",
            list_pending_approvals,
        )
        .takes::<Page>()
        .lists::<TaskView>("tasks"),
        task(Entry::new(
            "approve_task",
            Does::Set,
            "Let a task in that waits for your approval.",
            approve_task,
        ))
        .gives::<TaskView>()
        .core(),
        task(
            Entry::new(
                "reject_task",
                Does::Destroy,
                "Decline a task that waits for your approval; it is cancelled.",
                reject_task,
            )
            .takes::<WithReason>(),
        )
        .gives::<TaskView>()
        .core(),
        task(
            Entry::new(
                "set_session_key",
                Does::Set,
                "Keep a key of yours on a task; it comes back in every event about it.",
                set_session_key,
            )
            .field(
                "sessionKey",
                json!({"type": ["string", "null"], "maxLength": 256,
                "description": "Opaque to the hub; null clears it"}),
                true,
            ),
        )
        .gives::<TaskView>(),
        task(
            Entry::new("get_task_events", Does::Look, "A task's history, oldest first.", get_task_events)
                .takes::<Page>(),
        )
        .lists::<TaskLogView>("events"),
        task(Entry::new(
            "delete_task",
            Does::Destroy,
            "Delete a task that has ended, or a draft of yours, with its messages and files.",
            delete_task,
        ))
        .gives::<DeletedTask>(),
    ]
}

async fn list_pending_approvals(call: Call, args: Args) -> Replied {
    let query = args.query::<PageQuery>()?;
    let list = approvals::list(call.hub(), call.me(), nowhere(), query).await?;
    call.show(list).await?.into_list("tasks")?.or_if_empty("tasks", "No pending approvals.")
}

async fn approve_task(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    moved(&call, approvals::approve(call.hub(), call.me(), task, args.input()).await?, "Task approved.").await
}

async fn reject_task(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    moved(&call, approvals::reject(call.hub(), call.me(), task, args.input()).await?, "Task rejected.").await
}

async fn set_session_key(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    let key = args.0.shift_remove("sessionKey");
    let key = key.ok_or_else(|| Invalid::field("sessionKey", "is required; null clears it"))?;
    let words = if key.is_null() { "Session key cleared." } else { "Session key set." };
    let only = Args(Map::from_iter([("sessionKey".to_owned(), key)]));
    moved(&call, tasks::change(call.hub(), call.me(), task, only.input()).await?, words).await
}

async fn get_task_events(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    let query = args.query::<PageQuery>()?;
    let history = tasks::history(call.hub(), call.me(), task, nowhere(), Ok(query)).await?;
    call.show(history).await?.into_list("events")
}

async fn delete_task(call: Call, mut args: Args) -> Replied {
    let task = args.take("taskId")?;
    let gone = call.show(tasks::delete(call.hub(), call.me(), task, Default::default()).await?).await?;
    let (messages, files) = (gone.number("deletedMessages"), gone.number("deletedFiles"));
    gone.said(format!("Task deleted, with {messages} messages and {files} files."))
}

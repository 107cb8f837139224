//! What models are shown of tasks and threads: pages of a limited size, who wrote the reason of a status, and the names of
//! files.

use std::collections::HashMap;

use tandem_api::messages::{MessageFile, MessageView};
use tandem_api::tasks::{PageQuery, ReadView, TaskView, TasksQuery, ThreadView};
use tandem_api::text::{HubText, PeerText};
use tandem_app::{Error as AppError, files, messages, tasks as use_cases};
use tandem_core::messages::ContentType;
use tandem_core::text::json_bytes;
use tandem_core::wake::Rung;
use tandem_core::{FileId, TaskId};
use tandem_store::tasks as rows;

use super::{approvals, tasks, wake};
use crate::ops::paging;
use crate::{Caller, Error, HubParts, Listed};

/// Size of the texts in one answer, as JSON. One item may be larger.
pub const PAGE_BYTES_MAX: usize = 1024 * 1024;
/// Messages that are shown with a task.
const MESSAGES_MAX: i64 = 500;

/// The caller's tasks, newest first.
pub async fn tasks(hub: &HubParts, caller: &Caller, query: TasksQuery) -> Result<Listed<TaskView>, Error> {
    let listed = tasks::list(hub, caller, query, paging::LIST).await?;
    shown(hub, caller, listed).await
}

/// Tasks that need the caller's approval, newest first.
pub async fn approvals(hub: &HubParts, caller: &Caller, page: PageQuery) -> Result<Listed<TaskView>, Error> {
    let listed = approvals::list(hub, caller, page, paging::LIST).await?;
    shown(hub, caller, listed).await
}

async fn shown(hub: &HubParts, caller: &Caller, listed: Listed<TaskView>) -> Result<Listed<TaskView>, Error> {
    let place = |task: &TaskView| paging::cursor(&(task.created_at, task.id.clone()));
    let mut listed = listed.cut(PAGE_BYTES_MAX, task_bytes, place);
    mark_own_reasons(hub, caller, &mut listed.items).await?;
    Ok(listed)
}

fn task_bytes(task: &TaskView) -> usize {
    let contents = [&task.description, &task.result].into_iter().flatten();
    let notes = [&task.status_reason, &task.progress_note].into_iter().flatten();
    contents.map(|text| json_bytes(text.as_str())).sum::<usize>()
        + notes.map(|text| json_bytes(text.as_str())).sum::<usize>()
}

/// One task, after a change.
pub async fn task(hub: &HubParts, caller: &Caller, mut task: TaskView) -> Result<TaskView, Error> {
    mark_own_reasons(hub, caller, std::slice::from_mut(&mut task)).await?;
    Ok(task)
}

/// Marks reasons that the caller wrote. A task does not say who gave its reason; its history does.
async fn mark_own_reasons(hub: &HubParts, caller: &Caller, tasks: &mut [TaskView]) -> Result<(), Error> {
    let explained = tasks.iter().filter(|task| task.status_reason.is_some());
    let explained: Vec<TaskId> = explained.map(|task| task.id.clone()).collect();
    if explained.is_empty() {
        return Ok(());
    }
    let by = caller.agent.clone();
    let own: HashMap<TaskId, String> = hub
        .read(caller, move |tx, _| {
            let mut own = HashMap::new();
            for id in &explained {
                let line = rows::last_log_line(tx, id)?.filter(|line| line.actor == by.as_str());
                if let Some(reason) = line.and_then(|line| line.detail) {
                    own.insert(id.clone(), reason);
                }
            }
            Ok(own)
        })
        .await?;
    for task in tasks {
        // The hub may have given another reason since.
        if let Some(reason) = own.get(&task.id)
            && task.status_reason.as_ref().is_some_and(|shown| *shown == **reason)
        {
            task.status_reason = Some(PeerText::own(reason.clone()));
        }
    }
    Ok(())
}

/// A task with its newest messages, or with those before a cursor.
pub async fn thread(
    hub: &HubParts,
    caller: &Caller,
    id: &TaskId,
    cursor: Option<&str>,
) -> Result<ThreadView, Error> {
    let view = tasks::view(hub, caller, id).await?.view;
    if view.target_agent_id == caller.agent && view.delivery.surfaced_at.is_none() {
        wake::shown_to_model(hub, caller, Rung::Pull, [id.clone()]);
    }
    let before = hub.on_task(caller, id, paging::number(cursor)).await?;
    let (by, of) = (caller.agent.clone(), id.clone());
    let page =
        hub.read_page(caller, move |tx, now| messages::list(tx, &by, &of, before, MESSAGES_MAX, now)).await?;
    let (mut bytes, mut older) = (0, page.next);
    let mut kept = Vec::new();
    for message in page.items.into_iter().rev() {
        bytes += json_bytes(&message.content);
        if bytes > PAGE_BYTES_MAX && !kept.is_empty() {
            older = Some(message.number + 1);
            break;
        }
        kept.push(MessageView::new(message, &caller.agent));
    }
    kept.reverse();
    name_files(hub, caller, &mut kept).await?;
    let older_messages_cursor = older.map(|number| HubText::new(number.to_string()));
    Ok(ThreadView { task: task(hub, caller, view).await?, messages: kept, older_messages_cursor })
}

/// Returns a page of the caller's unread messages and marks only these as read.
pub async fn read(hub: &HubParts, caller: &Caller, id: &TaskId) -> Result<ReadView, Error> {
    let (by, of) = (caller.agent.clone(), id.clone());
    let reading = hub.write(caller, move |tx, now| use_cases::read_page(tx, &by, &of, PAGE_BYTES_MAX, now));
    let read = reading.await?;
    let messages = read.messages.into_iter().map(|message| MessageView::new(message, &caller.agent));
    let mut view = ReadView { messages: messages.collect(), unread_count: read.unread };
    name_files(hub, caller, &mut view.messages).await?;
    Ok(view)
}

/// Adds the name, type and size of the files that messages announce.
async fn name_files(hub: &HubParts, caller: &Caller, messages: &mut [MessageView]) -> Result<(), Error> {
    let announced = messages.iter().filter(|message| message.content_type == ContentType::File);
    let ids: Vec<FileId> = announced.filter_map(|message| message.content.as_str().parse().ok()).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let by = caller.agent.clone();
    let found = hub
        .read(caller, move |tx, _| {
            let mut found = HashMap::new();
            for id in &ids {
                match files::find(tx, &by, id) {
                    Ok((file, _)) => drop(found.insert(id.clone(), file)),
                    // It was deleted.
                    Err(AppError::NotFound(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(found)
        })
        .await?;
    for message in messages {
        let id = message.content.as_str().parse::<FileId>().ok();
        let file = id.and_then(|id| found.get(&id)).filter(|_| message.content_type == ContentType::File);
        message.file = file.map(|file| MessageFile::new(file.clone(), &caller.agent));
    }
    Ok(())
}

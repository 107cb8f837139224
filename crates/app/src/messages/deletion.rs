//! Deleting messages: the words and the file go, a tombstone remains.

use tandem_core::events::EventKind;
use tandem_core::messages::{DELETED, Kind, Message};
use tandem_core::{AgentId, MessageId, Now, Role, Task, TaskId};
use tandem_store::{Tx, files, messages as rows, tasks};

use crate::Error;
use crate::events::{Event, append_event};
use crate::tasks::{on_task, take_from_unread};

/// Deletes one of the caller's messages with its file. A tombstone remains.
pub fn delete(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    message: &MessageId,
    now: &Now,
) -> Result<(), Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        let found = rows::find(tx, &task.id, message)?.ok_or(Error::NotFound("message"))?;
        if found.sender.as_ref() != Some(by) {
            return Err(Error::NotSender);
        }
        if delete_content(tx, &mut task, role, &found)?.existed && task.is_published() {
            let event =
                Event::on_task(EventKind::MessageDeleted, &task, task.party(role)).with_message(message);
            append_event(tx, task.other(role).0, event, now)?;
        }
        Ok(())
    })
}

/// What [`delete_content`] removed.
struct DeletedContent {
    existed: bool,
    had_file: bool,
}

/// Replaces a message by a tombstone and deletes its file.
fn delete_content(
    tx: &mut Tx<'_>,
    task: &mut Task,
    writer: Role,
    message: &Message,
) -> Result<DeletedContent, Error> {
    let existed = rows::bury(tx, &message.id)?;
    if existed {
        if message.kind == Kind::Reply && task.attempt.result.as_ref() == Some(&message.content) {
            task.attempt.result = Some(DELETED.to_owned());
            tasks::update(tx, task)?;
        }
        // The reader has one unread message less. What it has acknowledged may not be marked yet.
        let reader = task.side(writer.opposite()).map_or(0, |side| side.read);
        if message.read_at.is_none() && message.number > reader && task.is_published() {
            take_from_unread(tx, task, writer.opposite(), 1)?;
            tasks::update_thread(tx, task)?;
        }
    }
    let file = files::of_message(tx, &message.id)?;
    if let Some(file) = &file {
        files::remove(tx, file)?;
    }
    Ok(DeletedContent { existed, had_file: file.is_some() })
}

/// Deletes the oldest of what an agent wrote on a task while it was the target. Returns the number of messages and files;
/// no messages when there are none left.
pub(crate) fn delete_content_by(
    tx: &mut Tx<'_>,
    target: &AgentId,
    id: &TaskId,
    limit: i64,
) -> Result<(u64, u64), Error> {
    let (mut messages, mut files) = (0, 0);
    if let Some(mut task) = tasks::find(tx, id)? {
        for message in rows::of_sender(tx, id, target, limit)? {
            files += u64::from(delete_content(tx, &mut task, Role::Target, &message)?.had_file);
            messages += 1;
        }
    }
    Ok((messages, files))
}

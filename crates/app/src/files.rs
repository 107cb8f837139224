//! Files within a task: each comes with a message, and goes with it. The bytes are somebody else's business;
//! they are there before a file is added, and go after it is removed.

use tandem_core::events::EventKind;
use tandem_core::files::{ENCRYPTED_NAME, ENCRYPTED_TYPE, File, essence, is_allowed, safe_name};
use tandem_core::messages::{ContentType, Kind, Message};
use tandem_core::{AgentId, FileId, Now, Refusal, Role, Task, TaskId};
use tandem_store::{Tx, files as rows, messages, tasks as task_rows};

use crate::events::{Event, tell};
use crate::messages::{NewMessage, add, check_message, check_open, pause_if_spent};
use crate::sealed::Sealed;
use crate::tasks::on_task;
use crate::{Error, Invalid};

/// A file that is about to be added; its bytes are stored already.
#[derive(Debug, Clone)]
pub struct NewFile {
    /// Its id.
    pub id: FileId,
    /// What its sender calls it.
    pub name: String,
    /// What its sender says it is.
    pub mime_type: String,
    /// How large it is.
    pub size_bytes: i64,
    /// The keys and the signature that come with an encrypted one.
    pub sealed: Option<Sealed>,
}

/// Whether a caller may add a file to a task at all; asked before its bytes are taken. `quota` is how many bytes
/// an agent's files may have together, 0 for any number.
pub fn check(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    quota: i64,
    now: &Now,
) -> Result<(Task, Role), Error> {
    on_task(tx, by, id, now, |tx, task, role| {
        check_open(&task)?;
        if quota > 0 && rows::bytes_of(tx, by)? >= quota {
            return Err(Error::FileQuota(quota));
        }
        Ok((task, role))
    })
}

/// Adds a file to a task by a message, and tells the other party.
pub fn attach(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    new: &NewFile,
    quota: i64,
    now: &Now,
) -> Result<(File, Message), Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        let (name, mime_type) = described(&task, new)?;
        let content_type = if task.encrypted { ContentType::Encrypted } else { ContentType::File };
        let content = new.id.to_string().try_into().map_err(|_| Error::NotFound("file"))?;
        let message =
            NewMessage { content, content_type, check_in_seconds: None, sealed: new.sealed.clone() };
        check_message(&task, &message)?;
        if quota > 0 && rows::bytes_of(tx, by)? + new.size_bytes > quota {
            return Err(Error::FileQuota(quota));
        }
        let message = add(tx, &mut task, role, &message, Kind::Message, now)?;
        let file = File {
            id: new.id.clone(),
            task: task.id.clone(),
            message: message.id.clone(),
            uploader: by.clone(),
            name,
            mime_type,
            size_bytes: new.size_bytes,
            created_at: message.created_at,
        };
        rows::insert(tx, &file)?;
        task_rows::update_thread(tx, &task)?;
        pause_if_spent(tx, &mut task, role, now)?;
        Ok((file, message))
    })
}

/// What a file is called and what it is: on an encrypted task nobody but its readers knows.
fn described(task: &Task, new: &NewFile) -> Result<(String, String), Error> {
    if task.encrypted {
        return Ok((ENCRYPTED_NAME.to_owned(), ENCRYPTED_TYPE.to_owned()));
    }
    let essence =
        essence(&new.mime_type).ok_or_else(|| Invalid::field("mimeType", "must be a media type"))?;
    if !is_allowed(&essence) {
        return Err(Error::FileType(essence));
    }
    Ok((safe_name(&new.name), essence))
}

/// A file of a task that the caller takes part in.
pub fn find(tx: &mut Tx<'_>, by: &AgentId, id: &FileId) -> Result<(File, Task), Error> {
    let file = rows::find(tx, id)?.ok_or(Error::NotFound("file"))?;
    let task = task_rows::find(tx, &file.task)?.filter(|task| task.role_of(by).is_some());
    Ok((file, task.ok_or(Error::NotFound("file"))?))
}

/// Takes back a file of the caller's; its message stays as a tombstone. The caller of this removes the bytes.
pub fn delete(tx: &mut Tx<'_>, by: &AgentId, id: &FileId, now: &Now) -> Result<File, Error> {
    let (file, mut task) = find(tx, by, id)?;
    let role = task.role_of(by).ok_or(Refusal::NotYourMove)?;
    if file.uploader != *by {
        return Err(Error::NotSender.on_task(task.standing(role)));
    }
    let event = Event::on_task(EventKind::FileDeleted, &task, task.party(role))
        .with_message(&file.message)
        .with("fileId", file.id.as_str());
    tell(tx, task.other(role).0, event, now)?;
    let message = messages::find(tx, &task.id, &file.message)?;
    messages::bury(tx, &file.message)?;
    rows::remove(tx, &file)?;
    if message.is_some_and(|message| message.read_at.is_none()) {
        task.unread_less(role.opposite());
        task_rows::update_thread(tx, &task)?;
    }
    Ok(file)
}

/// The files of a task; whether the caller may see them has been decided already.
pub fn of_task(tx: &mut Tx<'_>, task: &TaskId) -> Result<Vec<File>, Error> {
    Ok(rows::of_task(tx, task)?)
}

/// Which of these files are known; the bytes of all others belong to nobody.
pub fn known(tx: &mut Tx<'_>, ids: &[FileId]) -> Result<Vec<FileId>, Error> {
    Ok(rows::known(tx, ids)?)
}

//! Files on a task. Each file belongs to one message and is deleted with it. This module handles rows only: the bytes
//! are stored before a file is added and deleted after it is removed.

use tandem_core::events::EventKind;
use tandem_core::files::{ENCRYPTED_NAME, ENCRYPTED_TYPE, File, essence, is_allowed, safe_name};
use tandem_core::messages::{ContentType, Kind, Message};
use tandem_core::{AgentId, FileId, Now, Refusal, Role, Task, TaskId};
use tandem_store::{Tx, files as rows, messages, tasks as task_rows};

use crate::events::{Event, append_event};
use crate::limits::Limit;
use crate::messages::{NewMessage, Sent, add, pause_if_budget_spent};
use crate::sealed::Sealed;
use crate::tasks::{on_task, take_from_unread};
use crate::{Error, Invalid};

/// A new file. Its bytes are already stored.
#[derive(Debug, Clone)]
pub struct NewFile {
    /// The id under which the bytes are stored.
    pub id: FileId,
    /// The file name given by the sender.
    pub name: String,
    /// The media type given by the sender.
    pub mime_type: String,
    /// The size of the stored bytes.
    pub size_bytes: i64,
    /// Wrapped keys and signature, if the task is encrypted.
    pub sealed: Option<Sealed>,
    /// How often its sender may write to the task.
    pub limit: Option<Limit>,
    /// What a client of another protocol sent with it.
    pub sent: Option<Sent>,
    /// The most bytes that the uploader may store; 0 means no limit.
    pub quota: i64,
}

/// Checks that the caller may add a file to a task, before its bytes are read. `quota` limits the bytes of all files
/// of an agent; 0 means no limit.
pub fn check(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    quota: i64,
    now: &Now,
) -> Result<(Task, Role), Error> {
    on_task(tx, by, id, now, |tx, task, role| {
        task.check_file(role)?;
        if quota > 0 && rows::bytes_of(tx, by)? >= quota {
            return Err(Error::FileQuota(quota));
        }
        Ok((task, role))
    })
}

/// How many bytes an agent may still store; `None` without a quota.
pub fn space_left(tx: &mut Tx<'_>, by: &AgentId, quota: i64) -> Result<Option<i64>, Error> {
    Ok(if quota > 0 { Some((quota - rows::bytes_of(tx, by)?).max(0)) } else { None })
}

/// A file that may be added to its task: everything is checked, and nothing is written.
#[derive(Debug)]
pub(crate) struct CheckedFile<'a> {
    new: &'a NewFile,
    message: NewMessage,
    name: String,
    mime_type: String,
}

impl CheckedFile<'_> {
    /// The last checks before it is added, as for any message. From here on it counts.
    pub(crate) fn count(&self, tx: &mut Tx<'_>, task: &Task, now: &Now) -> Result<(), Error> {
        self.message.count(tx, task, now)
    }
}

/// Checks the names and the types of files for a task. Whether the task accepts them, and whether there is room, is checked
/// apart.
pub(crate) fn checked_files(encrypted: bool, files: &[NewFile]) -> Result<Vec<CheckedFile<'_>>, Error> {
    files.iter().map(|new| checked_file(encrypted, new)).collect()
}

/// Checks that the uploader may store so much more.
pub(crate) fn check_quota(tx: &mut Tx<'_>, by: &AgentId, files: &[NewFile]) -> Result<(), Error> {
    let quota = files.first().map_or(0, |file| file.quota);
    let bytes = files.iter().fold(0_i64, |sum, file| sum.saturating_add(file.size_bytes));
    if quota > 0 && rows::bytes_of(tx, by)?.saturating_add(bytes) > quota {
        return Err(Error::FileQuota(quota));
    }
    Ok(())
}

fn checked_file(encrypted: bool, new: &NewFile) -> Result<CheckedFile<'_>, Error> {
    let (name, mime_type) = name_and_type(encrypted, new)?;
    let content_type = if encrypted { ContentType::Encrypted } else { ContentType::File };
    let content = new.id.to_string().try_into().map_err(|_| Error::NotFound("file"))?;
    let (sealed, limit, sent) = (new.sealed.clone(), new.limit.clone(), new.sent.clone());
    let message = NewMessage { content_type, sealed, limit, sent, ..NewMessage::plain(content) };
    Ok(CheckedFile { new, message, name, mime_type })
}

/// Adds files with their messages. The caller has counted them, and saves the task.
pub(crate) fn add_files(
    tx: &mut Tx<'_>,
    task: &mut Task,
    role: Role,
    files: &[CheckedFile<'_>],
    now: &Now,
) -> Result<Vec<(File, Message)>, Error> {
    let mut added = Vec::with_capacity(files.len());
    for file in files {
        let message = add(tx, task, role, &file.message, Kind::Message, now)?;
        let uploader = task.party(role).map(|party| party.0.clone()).ok_or(Refusal::NotYourMove)?;
        let row = File {
            id: file.new.id.clone(),
            task: task.id.clone(),
            message: message.id.clone(),
            uploader,
            name: file.name.clone(),
            mime_type: file.mime_type.clone(),
            size_bytes: file.new.size_bytes,
            created_at: message.created_at,
        };
        rows::insert(tx, &row)?;
        added.push((row, message));
    }
    Ok(added)
}

/// Adds a file with its message to a task, and notifies the other party; that of a draft when it is published.
pub fn attach(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    new: &NewFile,
    now: &Now,
) -> Result<(File, Message), Error> {
    if let Some(limit) = &new.limit {
        limit.expect(tx)?;
    }
    on_task(tx, by, id, now, |tx, mut task, role| {
        let new = std::slice::from_ref(new);
        let files = checked_files(task.content.encrypted, new)?;
        task.check_file(role)?;
        check_quota(tx, by, new)?;
        for file in &files {
            file.count(tx, &task, now)?;
        }
        let added = add_files(tx, &mut task, role, &files, now)?.pop();
        task_rows::update_thread(tx, &task)?;
        pause_if_budget_spent(tx, &mut task, role, now)?;
        added.ok_or(Error::NotFound("file"))
    })
}

/// The stored name and media type. On an encrypted task both are hidden from the hub.
fn name_and_type(encrypted: bool, new: &NewFile) -> Result<(String, String), Error> {
    if encrypted {
        return Ok((ENCRYPTED_NAME.to_owned(), ENCRYPTED_TYPE.to_owned()));
    }
    let essence =
        essence(&new.mime_type).ok_or_else(|| Invalid::field("mimeType", "must be a media type"))?;
    if !is_allowed(&essence) {
        return Err(Error::FileType(essence));
    }
    let name = safe_name(&new.name).ok_or_else(|| Invalid::field("filename", "must not be empty"))?;
    Ok((name, essence))
}

pub fn find(tx: &mut Tx<'_>, by: &AgentId, id: &FileId) -> Result<(File, Task), Error> {
    let file = rows::find(tx, id)?.ok_or(Error::NotFound("file"))?;
    let task = task_rows::find(tx, &file.task)?.filter(|task| task.role_of(by).is_some());
    Ok((file, task.ok_or(Error::NotFound("file"))?))
}

/// Deletes one of the caller's files. Its message becomes a tombstone.
pub fn delete(tx: &mut Tx<'_>, by: &AgentId, id: &FileId, now: &Now) -> Result<File, Error> {
    let (file, mut task) = find(tx, by, id)?;
    // It may have been deleted before the task was locked.
    if rows::of_message(tx, &file.message)?.is_none() {
        return Err(Error::NotFound("file"));
    }
    let role = task.role_of(by).ok_or(Refusal::NotYourMove)?;
    if file.uploader != *by {
        return Err(Error::NotSender.on_task(task.standing(role)));
    }
    if task.is_published() {
        let event = Event::on_task(EventKind::FileDeleted, &task, task.party(role))
            .with_message(&file.message)
            .with("fileId", file.id.as_str());
        append_event(tx, task.other(role).0, event, now)?;
    }
    let message = messages::find(tx, &task.id, &file.message)?;
    messages::bury(tx, &file.message)?;
    rows::remove(tx, &file)?;
    if task.is_published() && message.is_some_and(|message| message.read_at.is_none()) {
        take_from_unread(tx, &mut task, role.opposite(), 1)?;
        task_rows::update_thread(tx, &task)?;
    }
    Ok(file)
}

pub fn of_task(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, now: &Now) -> Result<Vec<File>, Error> {
    on_task(tx, by, id, now, |tx, task, _| Ok(rows::of_task(tx, &task.id)?))
}

/// Some files of a task that the caller may see.
pub fn first_of_task(tx: &mut Tx<'_>, id: &TaskId, limit: usize) -> Result<Vec<File>, Error> {
    Ok(rows::first_of_task(tx, id, i64::try_from(limit).unwrap_or(i64::MAX))?)
}

/// Which of these files exist. Stored bytes of any other id are orphaned.
pub fn existing(tx: &mut Tx<'_>, ids: &[FileId]) -> Result<Vec<FileId>, Error> {
    Ok(rows::known(tx, ids)?)
}

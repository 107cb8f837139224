//! What is known of files. Their bytes lie elsewhere, under their ids.

use tandem_core::files::File;
use tandem_core::{AgentId, FileId, MessageId, TaskId};

use crate::declare::{add, delete, insert, read};
use crate::query::Query;
use crate::table::{columns, sql};
use crate::{Effect, Error, Tx};

columns! {
    "f", file: File {
        id,
        task: task_id,
        message: message_id,
        uploader: uploader_id,
        name,
        mime_type,
        size_bytes,
        created_at,
    }
}

/// Adds a file, and counts its bytes for its uploader.
pub fn insert(tx: &mut Tx<'_>, file: &File) -> Result<(), Error> {
    insert!(files { ..file: File }).send(tx)?;
    count_bytes(tx, &file.uploader, file.size_bytes)
}

fn count_bytes(tx: &mut Tx<'_>, uploader: &AgentId, change: i64) -> Result<(), Error> {
    add!(agents { file_bytes: change } where { id: uploader }).send(tx)
}

/// How many bytes an agent's files have together.
pub fn bytes_of(tx: &mut Tx<'_>, uploader: &AgentId) -> Result<i64, Error> {
    read!([file_bytes]: "agents where id = ?1", of agents { id: 1 } uses []; lock agents)
        .get(tx, &[uploader.into()])
}

pub fn find(tx: &mut Tx<'_>, id: &FileId) -> Result<Option<File>, Error> {
    tx.find(sql!("select {} from files f where f.id = ?1", File), &[id.into()])
}

/// The file that a message brought.
pub fn of_message(tx: &mut Tx<'_>, message: &MessageId) -> Result<Option<File>, Error> {
    tx.find(sql!("select {} from files f where f.message_id = ?1", File), &[message.into()])
}

pub fn of_task(tx: &mut Tx<'_>, task: &TaskId) -> Result<Vec<File>, Error> {
    let sql = sql!("select {} from files f where f.task_id = ?1 order by f.created_at, f.id", File);
    tx.list(sql, &[task.into()])
}

/// Some files of these tasks.
pub fn of_tasks(tx: &mut Tx<'_>, tasks: &[TaskId], limit: i64) -> Result<Vec<File>, Error> {
    let mut query = Query::default();
    query.push(sql!("select {} from files f where f.task_id in (", File));
    for (place, task) in tasks.iter().enumerate() {
        query.push(if place > 0 { ", " } else { "" }).bind(task);
    }
    query.push(") limit ").bind(limit);
    tx.list(&query.sql, &query.params)
}

/// How many files a task has.
pub fn count_of_task(tx: &mut Tx<'_>, task: &TaskId) -> Result<i64, Error> {
    tx.get("select count(*) from files where task_id = ?1", &[task.into()])
}

/// Some files of a task, oldest first. Not the oldest ones: that would read all of them.
pub fn first_of_task(tx: &mut Tx<'_>, task: &TaskId, limit: i64) -> Result<Vec<File>, Error> {
    let sql = sql!("select {} from files f where f.task_id = ?1 limit ?2", File);
    let mut files: Vec<File> = tx.list(sql, &[task.into(), limit.into()])?;
    files.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
    Ok(files)
}

/// Removes a file's row; its bytes are removed after the commit.
pub fn remove(tx: &mut Tx<'_>, file: &File) -> Result<(), Error> {
    delete!(files where { id: &file.id }).send(tx)?;
    tx.after_commit(Effect::FilesRemoved(vec![file.id.clone()]));
    count_bytes(tx, &file.uploader, -file.size_bytes)
}

pub fn known(tx: &mut Tx<'_>, ids: &[FileId]) -> Result<Vec<FileId>, Error> {
    let mut query = Query::default();
    query.push("select id from files where id in (");
    for (place, id) in ids.iter().enumerate() {
        query.push(if place > 0 { ", " } else { "" }).bind(id);
    }
    query.push(")");
    tx.list(&query.sql, &query.params)
}

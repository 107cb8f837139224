//! What is known of files. Their bytes lie elsewhere, under their ids.

use tandem_core::files::File;
use tandem_core::{AgentId, FileId, MessageId, TaskId};

use crate::query::Query;
use crate::{Error, Row, Tx};

const COLUMNS: &str =
    "f.id, f.task_id, f.message_id, f.uploader_id, f.name, f.mime_type, f.size_bytes, f.created_at";

fn from_row(mut row: Row) -> Result<File, Error> {
    Ok(File {
        id: row.take()?,
        task: row.take()?,
        message: row.take()?,
        uploader: row.take()?,
        name: row.take()?,
        mime_type: row.take()?,
        size_bytes: row.take()?,
        created_at: row.take()?,
    })
}

/// Adds a file, and counts its bytes for its uploader.
pub fn insert(tx: &mut Tx<'_>, file: &File) -> Result<(), Error> {
    tx.send(
        "insert into files (id, task_id, message_id, uploader_id, name, mime_type, size_bytes, created_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        &[
            (&file.id).into(),
            (&file.task).into(),
            (&file.message).into(),
            (&file.uploader).into(),
            (&file.name).into(),
            (&file.mime_type).into(),
            file.size_bytes.into(),
            file.created_at.into(),
        ],
    )?;
    count_bytes(tx, &file.uploader, file.size_bytes)
}

fn count_bytes(tx: &mut Tx<'_>, uploader: &AgentId, change: i64) -> Result<(), Error> {
    tx.send("update agents set file_bytes = file_bytes + ?2 where id = ?1", &[uploader.into(), change.into()])
}

/// How many bytes an agent's files have together.
pub fn bytes_of(tx: &mut Tx<'_>, uploader: &AgentId) -> Result<i64, Error> {
    tx.one("select file_bytes from agents where id = ?1", &[uploader.into()])?.take()
}

/// The file with this id.
pub fn find(tx: &mut Tx<'_>, id: &FileId) -> Result<Option<File>, Error> {
    let sql = format!("select {COLUMNS} from files f where f.id = ?1");
    tx.optional(&sql, &[id.into()])?.map(from_row).transpose()
}

/// The file that a message brought.
pub fn of_message(tx: &mut Tx<'_>, message: &MessageId) -> Result<Option<File>, Error> {
    let sql = format!("select {COLUMNS} from files f where f.message_id = ?1");
    tx.optional(&sql, &[message.into()])?.map(from_row).transpose()
}

/// The files of a task.
pub fn of_task(tx: &mut Tx<'_>, task: &TaskId) -> Result<Vec<File>, Error> {
    let sql = format!("select {COLUMNS} from files f where f.task_id = ?1 order by f.created_at, f.id");
    tx.rows(&sql, &[task.into()])?.into_iter().map(from_row).collect()
}

/// Forgets a file, and no longer counts its bytes.
pub fn remove(tx: &mut Tx<'_>, file: &File) -> Result<(), Error> {
    tx.send("delete from files where id = ?1", &[(&file.id).into()])?;
    count_bytes(tx, &file.uploader, -file.size_bytes)
}

/// Which of these are known.
pub fn known(tx: &mut Tx<'_>, ids: &[FileId]) -> Result<Vec<FileId>, Error> {
    let mut query = Query::default();
    query.push("select id from files where id in (");
    for (place, id) in ids.iter().enumerate() {
        query.push(if place > 0 { ", " } else { "" }).bind(id);
    }
    query.push(")");
    tx.rows(&query.sql, &query.params)?.into_iter().map(|mut row| row.take()).collect()
}

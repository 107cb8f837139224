//! `upload_file` and `download_file`: files of this machine by their paths.

use std::fs::File;
use std::io::{self, Read as _, Write as _};

use rmcp::model::CallToolResult;
use serde_json::json;
use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskView;
use tandem_api::text::PeerText;
use tandem_client::{Client, Upload, each_page};
use tandem_core::{FileId, TaskId};
use tandem_hub::Error;
use tandem_server::mcp::shared::{Args, ToolReply, fence, invalid, to_result, uploaded};

use super::failures::to_hub_error;
use super::handler::Bridge;
use crate::commands::file::FILE_BYTES_MAX;
use crate::commands::media_type::mime_type_of;

/// Messages that are searched for a file, newest first.
const MESSAGES_MAX: usize = 10_000;

impl Bridge {
    pub(super) async fn upload_file(&self, client: &Client, mut args: Args) -> Result<CallToolResult, Error> {
        let id: TaskId = args.id("taskId", "task")?;
        let (file, path) = self.folder.existing(&args.take("path")?)?;
        let optional = |args: &mut Args, name: &str| match args.0.get(name) {
            None | Some(serde_json::Value::Null) => Ok(None),
            Some(_) => args.take(name).map(Some),
        };
        let own_name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let filename = optional(&mut args, "filename")?.or(own_name).unwrap_or_default();
        let mime_type = match optional(&mut args, "mimeType")? {
            Some(given) => given,
            None => mime_type_of(&file, &path).to_owned(),
        };
        let task = client.task(&id).await.map_err(to_hub_error)?;
        let sent = if client.is_encrypted(&task).map_err(to_hub_error)? {
            let bytes = blocking(move || read(file)).await?;
            client.upload_sealed(&task, &filename, &mime_type, bytes).await
        } else {
            let upload = Upload { path, filename: filename.clone(), mime_type: mime_type.clone() };
            client.upload_opened(&id, file, &upload, |_| {}).await
        };
        let mut sent = sent.map_err(to_hub_error)?;
        // The hub does not say who wrote what. A name that it has changed stays fenced.
        if sent.filename == *filename {
            sent.filename = PeerText::own(filename);
        }
        if sent.mime_type == *mime_type {
            sent.mime_type = PeerText::own(mime_type);
        }
        Ok(to_result(uploaded(sent)))
    }

    pub(super) async fn download_file(
        &self,
        client: &Client,
        mut args: Args,
    ) -> Result<CallToolResult, Error> {
        let task: TaskId = args.id("taskId", "task")?;
        let file: FileId = args.id("fileId", "file")?;
        let overwrite = args.flag("overwrite")?;
        let target = self.folder.target(&args.take("path")?, overwrite)?;
        let task = client.task(&task).await.map_err(to_hub_error)?;
        let (unfinished, filename, mime_type, size) = if client.is_encrypted(&task).map_err(to_hub_error)? {
            let message = announcement(client, &task, &file).await?;
            let opened = client.download_sealed(&task, &message).await.map_err(to_hub_error)?;
            let size = opened.bytes.len() as u64;
            let write = move || {
                let unfinished = target.begin()?;
                unfinished.file()?.write_all(&opened.bytes)?;
                Ok(unfinished)
            };
            let unfinished = blocking(move || write().map_err(|cause| unusable(&cause))).await?;
            (unfinished, opened.filename, opened.mime_type, size)
        } else {
            let info = client.file_info(&file).await.map_err(to_hub_error)?;
            if info.size_bytes > FILE_BYTES_MAX as u64 {
                return Err(invalid("fileId", "names a file that is too large"));
            }
            let begin = move || target.begin().and_then(|begun| Ok((begun.file()?, begun)));
            let (to, unfinished) = blocking(move || begin().map_err(|cause| unusable(&cause))).await?;
            let got = client.download_to(&file, to).await.map_err(to_hub_error)?;
            (unfinished, got.filename.unwrap_or_default(), got.mime_type.unwrap_or_default(), got.size_bytes)
        };
        let saved = blocking(move || unfinished.finish().map_err(|cause| unusable(&cause))).await?;
        let saved = saved.display().to_string();
        let data = json!({
            "fileId": file.as_str(),
            "path": saved,
            "filename": fence::text(&filename),
            "mimeType": fence::text(&mime_type),
            "sizeBytes": size,
        });
        let words =
            format!("Saved as {saved} ({size} bytes). Its sender calls it {}.", fence::text(&filename));
        Ok(to_result(Ok(ToolReply { words, data, note: None })))
    }
}

/// Runs work on the disk on a thread for blocking work.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(Error::internal()))
}

/// The message that announces a file: it has the keys and the signature.
async fn announcement(client: &Client, task: &TaskView, file: &FileId) -> Result<MessageView, Error> {
    let read = async |query| client.messages(&task.id, &query).await;
    let (mut found, mut searched) = (None, 0);
    each_page(1_000, read, |page| {
        searched += page.items.len();
        found = page.into_iter().find(|message| message.content.as_str() == file.as_str());
        found.is_none() && searched < MESSAGES_MAX
    })
    .await
    .map_err(to_hub_error)?;
    found.ok_or_else(|| invalid("fileId", "is not announced by a message of this task"))
}

fn read(file: File) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(|cause| unusable(&cause))?;
    if bytes.len() > FILE_BYTES_MAX {
        return Err(invalid("path", "names a file that is larger than 50 MB"));
    }
    Ok(bytes)
}

fn unusable(cause: &io::Error) -> Error {
    match cause.kind() {
        io::ErrorKind::AlreadyExists => {
            invalid("path", "names a file that exists; choose another, or set overwrite")
        }
        _ => invalid("path", &format!("cannot be used: {cause}")),
    }
}

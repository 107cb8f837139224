//! Files on a task.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tandem_api::error::Code;
use tandem_api::files::{DeletedFile, DownloadedFile, UploadFile, UploadedFile};
use tandem_api::text::{Author, PeerText, PeerToken};
use tandem_app::files::{self, NewFile};
use tandem_app::sealed::{Fields, Sealed, WrappedKeys};
use tandem_app::{Error as AppError, Invalid};
use tandem_core::files::{FILE_BYTES_MAX, File};
use tandem_core::{AgentId, FileId, TaskId};
use tandem_store::Owner;
use tracing::{Instrument as _, Span};

use super::messages::{limit_of, parties_of};
use crate::files::{self as stored, ByteStream, InFlight, InFlightBytes, Upload};
use crate::{Caller, Error, Hub, HubParts};

/// Field names of an encrypted file.
const FIELDS: Fields = Fields { content: "base64Content", keys: "encryptedKeys" };
/// Size limit of a file that is returned as a whole.
const DOWNLOAD_BYTES_MAX: u64 = 1024 * 1024;
/// Chunks of a download between two checks of the caller's access.
pub(super) const PIECES_PER_CHECK: usize = 4;

/// The description of an uploaded file.
#[derive(Debug, Default)]
pub struct FileInfo {
    /// The file name given by the sender.
    pub name: String,
    pub mime_type: String,
    /// On an encrypted task: the wrapped keys.
    pub keys: Option<WrappedKeys>,
    /// On an encrypted task: the sender's signature.
    pub signature: Option<String>,
}

/// Uploads a file sent as base64.
pub async fn upload_json(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    body: UploadFile<'_>,
) -> Result<UploadedFile, Error> {
    let info = FileInfo {
        name: body.filename,
        mime_type: body.mime_type,
        keys: body.encrypted_keys,
        signature: body.sender_signature,
    };
    let mut upload = begin(hub, caller).await?;
    let decoded = decode(body.base64_content.as_bytes(), &mut upload).await;
    drop(body.base64_content);
    hub.on_task(caller, task, decoded).await?;
    check(hub, caller, task).await?;
    if upload.size > FILE_BYTES_MAX {
        return hub.on_task(caller, task, Err(AppError::FileTooLarge)).await;
    }
    attach(hub, caller, task, upload, info).await
}

/// Base64 characters that are decoded at once, in groups of four.
const DECODED_AT_ONCE: usize = 1024 * 1024;

/// Decodes base64 into an upload, piece by piece, so that the decoded file is never in memory as a whole.
async fn decode(base64: &[u8], upload: &mut Upload) -> Result<(), Error> {
    let invalid = || Invalid::field("base64Content", "must be standard base64 with padding");
    let mut pieces = base64.chunks(DECODED_AT_ONCE).peekable();
    while let Some(piece) = pieces.next() {
        // Padding ends the text.
        if pieces.peek().is_some() && piece.contains(&b'=') {
            return Err(invalid().into());
        }
        let bytes = STANDARD.decode(piece).map_err(|_| invalid())?;
        if upload.size <= FILE_BYTES_MAX {
            upload.write(&bytes).await.map_err(storage_error)?;
        }
    }
    Ok(())
}

/// Starts an upload in chunks. What the caller uploads at the same time counts against its quota.
pub async fn begin(hub: &HubParts, caller: &Caller) -> Result<Upload, Error> {
    begin_counted(hub, caller, false, InFlight::begin).await
}

/// The same for an upload that may be a repetition, whose file is stored and counted already.
pub async fn begin_again(hub: &HubParts, caller: &Caller) -> Result<Upload, Error> {
    begin_counted(hub, caller, true, InFlight::begin).await
}

/// The same for a request body with a file in base64, which is a third larger than the file.
pub async fn begin_body(hub: &HubParts, caller: &Caller, may_be_again: bool) -> Result<Upload, Error> {
    begin_counted(hub, caller, may_be_again, InFlight::begin_base64).await
}

async fn begin_counted(
    hub: &HubParts,
    caller: &Caller,
    may_be_again: bool,
    count: impl FnOnce(&InFlight, &AgentId, i64, Option<i64>) -> InFlightBytes,
) -> Result<Upload, Error> {
    let (by, quota) = (caller.agent.clone(), hub.config.file_quota_bytes());
    let room = match may_be_again {
        true => (quota > 0).then_some(quota),
        false => hub.read_as(caller, move |tx, _| files::space_left(tx, &by, quota)).await?,
    };
    let counted = count(&hub.files.in_flight, &caller.agent, quota, room);
    hub.files.begin(&hub.db.now().new_id(), Some(counted)).await.map_err(storage_error)
}

/// Checks that the caller may add a file to a task, before its bytes are read.
pub async fn check(hub: &HubParts, caller: &Caller, task: &TaskId) -> Result<(), Error> {
    let (by, id, quota) = (caller.agent.clone(), task.clone(), hub.config.file_quota_bytes());
    hub.read(caller, move |tx, now| files::check(tx, &by, &id, quota, now).map(drop)).await
}

/// Checks and stores an upload, and adds it to the task. If that is refused, the bytes are deleted.
pub async fn attach(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    mut upload: Upload,
    info: FileInfo,
) -> Result<UploadedFile, Error> {
    let file = upload.id().clone();
    let (by, id, new_id) = (caller.agent.clone(), task.clone(), file.clone());
    let limit = Some(limit_of(hub, caller, task.as_str()));
    let attaching = async {
        let sealed = sealed_file(hub, caller, task, &mut upload, &info).await?;
        let new = NewFile {
            id: new_id,
            name: info.name,
            mime_type: info.mime_type,
            size_bytes: i64::try_from(upload.size).unwrap_or(i64::MAX),
            sealed,
            limit,
            sent: None,
            quota: hub.config.file_quota_bytes(),
        };
        hub.files.store(upload).await.map_err(storage_error)?;
        hub.write_once(caller, move |tx, now| {
            let (file, _) = files::attach(tx, &by, &id, &new, now)?;
            Ok(UploadedFile::new(file, &by))
        })
        .await
    };
    let answer = attaching.await;
    // The request was refused or replayed, so these bytes have no row. After an internal error a row may exist; if it
    // does not, the sweep removes the bytes.
    let has_no_row = |error: &Error| !error.is_internal() || error.code() == Code::StorageFull;
    if caller.was_replayed() || answer.as_ref().is_err_and(has_no_row) {
        hub.files.remove(&[file]).await;
    }
    answer
}

/// Converts a storage error into an answer and logs the cause.
pub fn storage_error(error: stored::Error) -> Error {
    if let stored::Error::Quota(quota) = error {
        return AppError::FileQuota(quota).into();
    }
    tracing::error!(%error, "cannot store or read a file");
    match error {
        stored::Error::Bucket(_) | stored::Error::Unusable { .. } | stored::Error::Shared { .. } => {
            Error::new(Code::Unavailable, "file storage is not available; try again shortly").retry_after(5)
        }
        stored::Error::Disk(error) if stored::is_full(&error) => Error::storage_full(),
        stored::Error::Disk(_) => {
            Error::new(Code::Unavailable, "the hub cannot use its disk at present; try again later")
                .retry_after(5)
        }
        stored::Error::Missing | stored::Error::Quota(_) => Error::internal(),
        stored::Error::App(error) => error.into(),
    }
}

/// Checks keys and signature of an encrypted file against the bytes on disk.
async fn sealed_file(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    upload: &mut Upload,
    info: &FileInfo,
) -> Result<Option<Sealed>, Error> {
    let Some(parties) = parties_of(hub, caller, task).await? else { return Ok(None) };
    let path = upload.written().await.map_err(storage_error)?.to_owned();
    let (id, keys, signature) = (task.clone(), info.keys.clone(), info.signature.clone());
    let span = Span::current();
    let checked = tokio::task::spawn_blocking(move || {
        let _in_request = span.entered();
        let mut bytes = std::fs::File::open(path).map_err(|error| storage_error(error.into()))?;
        let signature = signature.as_deref();
        Ok(parties.check_stored(&id, &mut bytes, keys.as_ref(), signature, FIELDS)?)
    });
    let checked: Result<Sealed, Error> = checked.await.unwrap_or_else(|_| Err(Error::internal()));
    hub.on_task(caller, task, checked).await.map(Some)
}

pub async fn find(hub: &HubParts, caller: &Caller, file: &FileId) -> Result<File, Error> {
    let (by, id) = (caller.agent.clone(), file.clone());
    hub.read_as(caller, move |tx, _| Ok(files::find(tx, &by, &id)?.0)).await
}

/// The same for whoever has a link of an agent: the agent can read the file at this moment.
pub async fn find_for(hub: &HubParts, agent: &AgentId, file: &FileId) -> Result<File, Error> {
    let (by, id) = (agent.clone(), file.clone());
    hub.read_for(Owner::agent(agent), move |tx, _| Ok(files::find(tx, &by, &id)?.0)).await
}

/// The bytes of a whole file that the caller of this function was allowed to read a moment ago.
pub async fn read_whole(hub: &HubParts, file: &File) -> Result<ByteStream, Error> {
    let bytes = hub.files.read_whole(&file.id, file.size_bytes.unsigned_abs()).await;
    bytes.map_err(storage_error)
}

/// The bytes of a file or of a range (offset and length). A long download checks repeatedly that the caller may still
/// read the file.
pub async fn read(
    hub: &Hub,
    caller: &Caller,
    file: &File,
    part: Option<(u64, u64)>,
) -> Result<ByteStream, Error> {
    let bytes = match part {
        Some(_) => hub.files.read(&file.id, part).await,
        None => hub.files.read_whole(&file.id, file.size_bytes.unsigned_abs()).await,
    };
    let bytes = bytes.map_err(storage_error)?;
    let state = (Hub::clone(hub), caller.clone(), file.id.clone(), bytes, 0_usize);
    let span = Span::current();
    let pieces = stream::try_unfold(state, move |(hub, caller, file, mut bytes, given)| {
        let next = async move {
            if given > 0 && given.is_multiple_of(PIECES_PER_CHECK) {
                find(&hub, &caller, &file).await.map_err(std::io::Error::other)?;
            }
            let piece = bytes.try_next().await?;
            Ok(piece.map(|piece| (piece, (hub, caller, file, bytes, given + 1))))
        };
        next.instrument(span.clone())
    });
    Ok(pieces.boxed())
}

/// A whole file of a limited size, for a model: text as text, anything else in base64.
pub async fn download(hub: &Hub, caller: &Caller, file: &FileId) -> Result<DownloadedFile, Error> {
    let file = find(hub, caller, file).await?;
    let size = u64::try_from(file.size_bytes).unwrap_or(u64::MAX);
    if size > DOWNLOAD_BYTES_MAX {
        let why = format!(
            "the file has {size} bytes, and a tool returns at most {DOWNLOAD_BYTES_MAX}; get it with GET /files/{}",
            file.id
        );
        return Err(Error::new(Code::TooLarge, why));
    }
    let mut stored = read(hub, caller, &file, None).await?;
    let mut bytes = Vec::new();
    while let Some(piece) = stored.try_next().await.map_err(|error| storage_error(error.into()))? {
        bytes.extend_from_slice(&piece);
    }
    let author = Author::of(&file.uploader, &caller.agent);
    let is_text = file.mime_type.starts_with("text/") || file.mime_type == "application/json";
    let (text, base64_content) = match String::from_utf8(bytes) {
        Ok(text) if is_text => (Some(PeerText::new(author, text)), None),
        Ok(text) => (None, Some(PeerToken::new(author, STANDARD.encode(text)))),
        Err(binary) => (None, Some(PeerToken::new(author, STANDARD.encode(binary.as_bytes())))),
    };
    Ok(DownloadedFile {
        file_id: file.id,
        filename: PeerText::new(author, file.name),
        mime_type: PeerText::new(author, file.mime_type),
        size_bytes: file.size_bytes,
        text,
        base64_content,
    })
}

pub async fn delete(hub: &HubParts, caller: &Caller, file: &FileId) -> Result<DeletedFile, Error> {
    let (by, id) = (caller.agent.clone(), file.clone());
    let deleted = hub.write(caller, move |tx, now| files::delete(tx, &by, &id, now)).await?;
    Ok(DeletedFile { deleted: true, file_id: deleted.id })
}

//! Files: streamed in, streamed out, and never in memory as a whole unless they come as JSON.

pub(crate) mod form;

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tandem_api::files::{DeletedFile, UploadFile, UploadedFile};
use tandem_app::files::{self, NewFile};
use tandem_app::idempotency::Key;
use tandem_app::sealed::{Fields, Sealed, WrappedKeys};
use tandem_app::{Error, Invalid, keys};
use tandem_core::files::FILE_BYTES_MAX;
use tandem_core::{AgentId, FileId, Now, TaskId};
use tandem_store::Tx;
use tokio::sync::OwnedSemaphorePermit;

use crate::files::{self as stored, Arriving};
use crate::http::front::Caller;
use crate::http::input::{Coming, SMALL_BYTES_MAX, idempotency_key, parse_json};
use crate::http::{Answer, ApiError, Json, Param};
use crate::hub::{Hub, HubParts};
use crate::rest::id;

/// The most bytes of a JSON upload.
const JSON_BYTES_MAX: usize = 72 * 1024 * 1024;
/// The most bytes of a form around its file.
const FORM_BYTES_MAX: u64 = FILE_BYTES_MAX + 1024 * 1024;
/// The most bytes of a form's other fields.
const FIELD_BYTES_MAX: u64 = 64 * 1024;
/// How long the next piece of an upload may take.
const PIECE_TIMEOUT: Duration = Duration::from_secs(30);
/// What the fields of an encrypted file are called.
const FIELDS: Fields = Fields { content: "base64Content", keys: "encryptedKeys" };

/// What came with the bytes.
#[derive(Debug, Default)]
struct Label {
    name: String,
    mime_type: String,
    keys: Option<WrappedKeys>,
    signature: Option<String>,
}

/// Upload a file as JSON.
///
/// It comes with a message of content type `file`, whose content is the file's id; on an encrypted task of content
/// type `encrypted`, with keys and signature. At most 50 MiB.
#[utoipa::path(post, path = "/tasks/{id}/files/json", tag = "files", params(("id" = String, Path)),
    request_body = UploadFile, responses((status = 201, body = UploadedFile)))]
pub(crate) async fn upload_json(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let task: TaskId = id(&task, "task")?;
    let (parts, body) = request.into_parts();
    let read = read_json(&hub, &parts.headers, body).await;
    let (bytes, _room) = hub.body_on_task(&me, &task, read).await?;
    let key = upload_key(&parts.headers, &parts.uri.to_string(), &keys::sha256(&bytes))?;
    if let Some(kept) = hub.kept_answer(&me, key.as_ref()).await? {
        return Ok(kept);
    }
    let parsed = parse_json::<UploadFile<'_>>(&bytes).and_then(unpack);
    let whole = hub.body_on_task(&me, &task, parsed).await?;
    drop(bytes);
    store_whole(&hub, &me, task, whole, key).await
}

/// Upload a file whose bytes were taken out of its JSON before.
pub(crate) async fn upload_apart(
    hub: &Hub,
    me: &AgentId,
    task: &str,
    label: &str,
    base64: String,
) -> Result<Response, ApiError> {
    let task: TaskId = id(task, "task")?;
    let parsed = parse_json::<UploadFile<'_>>(label.as_bytes())
        .and_then(|body| unpack(UploadFile { base64_content: base64.into(), ..body }));
    let whole = hub.body_on_task(me, &task, parsed).await?;
    store_whole(hub, me, task, whole, None).await
}

/// What a JSON upload holds: the bytes, and what was said about them.
fn unpack(body: UploadFile<'_>) -> Result<(Label, Vec<u8>), ApiError> {
    let label = Label {
        name: body.filename,
        mime_type: body.mime_type,
        keys: body.encrypted_keys,
        signature: body.sender_signature,
    };
    let decoded = STANDARD.decode(body.base64_content.as_bytes());
    let decoded =
        decoded.map_err(|_| Invalid::field("base64Content", "must be standard base64 with padding"))?;
    Ok((label, decoded))
}

async fn store_whole(
    hub: &Hub,
    me: &AgentId,
    task: TaskId,
    (label, decoded): (Label, Vec<u8>),
    key: Option<Key>,
) -> Result<Response, ApiError> {
    hub.check_upload(me, &task).await?;
    let fits = if decoded.len() as u64 > FILE_BYTES_MAX { Err(Error::FileTooLarge.into()) } else { Ok(()) };
    hub.body_on_task(me, &task, fits).await?;
    let id: FileId = hub.now().new_id();
    let mut arriving = hub.files.begin(&id).await.map_err(not_stored)?;
    arriving.write(&decoded).await.map_err(not_stored)?;
    drop(decoded);
    finish(hub, me, task, id, arriving, label, key).await
}

async fn read_json(hub: &Hub, headers: &HeaderMap, body: Body) -> Result<(Bytes, Room), ApiError> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if content_type.is_some_and(|value| !value.to_ascii_lowercase().contains("json")) {
        return Err(ApiError::NotJson);
    }
    let (bytes, room) = gathered(hub, body, JSON_BYTES_MAX).await?;
    Ok((if bytes.is_empty() { Bytes::from_static(b"{}") } else { bytes }, room))
}

/// Room in memory for what a request brought; nothing if that is small.
pub(crate) type Room = Option<OwnedSemaphorePermit>;

/// A body of at most so many bytes. A large one comes to the disk first, so that a slow one holds up nobody; then it
/// waits for room in memory, which it keeps until that is dropped.
pub(crate) async fn gathered(hub: &Hub, body: Body, max: usize) -> Result<(Bytes, Room), ApiError> {
    let mut coming = Coming::new(body, max);
    let (beginning, is_all) = coming.beginning(SMALL_BYTES_MAX).await?;
    if is_all {
        return Ok((beginning.into(), None));
    }
    let mut arriving = hub.files.begin(&hub.now().new_id()).await.map_err(not_stored)?;
    arriving.write(&beginning).await.map_err(not_stored)?;
    drop(beginning);
    while let Some(piece) = coming.piece().await? {
        arriving.write(&piece).await.map_err(not_stored)?;
    }
    let room = Arc::clone(&hub.files.in_memory).acquire_owned().await.map_err(|_| ApiError::Panicked)?;
    Ok((arriving.read().await.map_err(not_stored)?.into(), Some(room)))
}

fn upload_key(headers: &HeaderMap, uri: &str, hash: &[u8; 32]) -> Result<Option<Key>, ApiError> {
    let key = idempotency_key(headers)?;
    Ok(key.map(|key| {
        let about = [uri.as_bytes(), hash].concat();
        Key { key, request_hash: keys::sha256(&about) }
    }))
}

/// Checks what came, keeps it, and adds it to the task. Whatever goes wrong, no bytes stay behind.
async fn finish(
    hub: &Hub,
    me: &AgentId,
    task: TaskId,
    id: FileId,
    mut arriving: Arriving,
    label: Label,
    key: Option<Key>,
) -> Result<Response, ApiError> {
    let (by, of, new_id) = (me.clone(), task.clone(), id.clone());
    let attaching = async {
        let sealed = hub.sealed_file(me, &task, &mut arriving, &label).await?;
        let new = NewFile {
            id: new_id,
            name: label.name,
            mime_type: label.mime_type,
            size_bytes: i64::try_from(arriving.size).unwrap_or(i64::MAX),
            sealed,
        };
        hub.files.keep(arriving).await.map_err(not_stored)?;
        let quota = hub.config.file_quota_bytes();
        let attach = move |tx: &mut Tx<'_>, now: &Now| {
            let (file, _) = files::attach(tx, &by, &of, &new, quota, now)?;
            Ok(UploadedFile::from(file))
        };
        hub.answer_once(me, key, StatusCode::CREATED, attach).await
    };
    let answer = hub.counted_on_task(me, &task, attaching).await;
    // Refused, or answered with what an earlier request made: these bytes belong to nobody. Where it went wrong here,
    // a row may name them all the same; if none does, they are swept later.
    let replayed = answer.as_ref().is_ok_and(|answer| answer.headers().contains_key("idempotent-replayed"));
    if replayed || answer.as_ref().is_err_and(|error| !error.is_ours()) {
        hub.files.remove(&[id]).await;
    }
    answer
}

fn not_stored(error: stored::Error) -> ApiError {
    tracing::error!(%error, "cannot store or read a file");
    match error {
        stored::Error::Bucket(_) | stored::Error::Unusable { .. } => ApiError::NoFiles,
        stored::Error::Disk(_) | stored::Error::Missing => ApiError::Disk,
        stored::Error::App(error) => error.into(),
    }
}

impl HubParts {
    /// Whether the caller may add a file at all, before its bytes are taken.
    async fn check_upload(&self, me: &AgentId, task: &TaskId) -> Result<(), ApiError> {
        let (by, id, quota) = (me.clone(), task.clone(), self.config.file_quota_bytes());
        self.read(move |tx, now| files::check(tx, &by, &id, quota, now).map(drop)).await?;
        Ok(())
    }

    /// The keys and the signature of an encrypted file, checked against the bytes on the disk.
    async fn sealed_file(
        &self,
        me: &AgentId,
        task: &TaskId,
        arriving: &mut Arriving,
        label: &Label,
    ) -> Result<Option<Sealed>, ApiError> {
        let Some(parties) = self.parties_of(me, task).await? else { return Ok(None) };
        let path = arriving.written().await.map_err(not_stored)?.to_owned();
        let (id, keys, signature) = (task.clone(), label.keys.clone(), label.signature.clone());
        let checked = tokio::task::spawn_blocking(move || {
            let mut bytes = std::fs::File::open(path).map_err(|error| not_stored(error.into()))?;
            let signature = signature.as_deref();
            Ok(parties.check_stored(&id, &mut bytes, keys.as_ref(), signature, FIELDS)?)
        });
        match checked.await {
            Ok(Ok(sealed)) => Ok(Some(sealed)),
            Ok(Err(ApiError::App(error))) => {
                Err(self.refuse_on_task(me.clone(), task.clone(), error).await.into())
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(ApiError::Panicked),
        }
    }
}

/// A file's bytes.
///
/// For the two parties of its task, as an attachment. `Range` is understood.
#[utoipa::path(get, path = "/files/{id}", tag = "files",
    params(("id" = String, Path), ("Range" = Option<String>, Header)),
    responses((status = 200, description = "The bytes", content_type = "application/octet-stream"),
        (status = 206, description = "The part that was asked for")))]
pub(crate) async fn download(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(file): Param<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let file: FileId = id(&file, "file")?;
    let (file, _) = hub.read(move |tx, _| files::find(tx, &me, &file)).await?;
    let size = u64::try_from(file.size_bytes).unwrap_or_default();
    // There is nothing by which an earlier part could be known to fit, so who asks for that gets the whole.
    let range = headers.get(header::RANGE).filter(|_| !headers.contains_key(header::IF_RANGE));
    let part = match range.and_then(|value| value.to_str().ok()) {
        Some(range) => part_of(&range.to_ascii_lowercase(), size)?,
        None => None,
    };
    let (_, length) = part.unwrap_or((0, size));
    let bytes = hub.files.read(&file.id, part).await.map_err(not_stored)?;
    let mut response = Response::new(Body::from_stream(bytes));
    let mut set = |name: HeaderName, value: String| {
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().insert(name, value);
        }
    };
    set(header::CONTENT_TYPE, file.mime_type);
    set(header::CONTENT_LENGTH, length.to_string());
    set(header::CONTENT_DISPOSITION, disposition(&file.name));
    set(header::ACCEPT_RANGES, "bytes".into());
    set(header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox".into());
    if let Some((from, length)) = part {
        set(header::CONTENT_RANGE, format!("bytes {from}-{}/{size}", from + length - 1));
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    Ok(response)
}

/// The part that one range asks for: where it begins, and how long it is. What is no single range is ignored.
fn part_of(range: &str, size: u64) -> Result<Option<(u64, u64)>, ApiError> {
    let Some(range) = range.trim().strip_prefix("bytes=").filter(|range| !range.contains(',')) else {
        return Ok(None);
    };
    let Some((from, to)) = range.split_once('-') else { return Ok(None) };
    let (from, to) = (from.trim().parse::<u64>(), to.trim().parse::<u64>());
    let (from, end) = match (from, to) {
        (Ok(from), Ok(to)) if from <= to => (from, to.saturating_add(1).min(size)),
        (Ok(from), Err(_)) if range.trim_end().ends_with('-') => (from, size),
        (Err(_), Ok(last)) if range.trim_start().starts_with('-') => (size.saturating_sub(last), size),
        _ => return Ok(None),
    };
    if from >= end { Err(ApiError::NoSuchRange(size)) } else { Ok(Some((from, end - from))) }
}

/// The header that has a browser save a file under its name: for old readers without what is not ASCII.
fn disposition(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii() && !c.is_ascii_control() && !"\"\\".contains(c) { c } else { '_' })
        .collect();
    let mut header = format!("attachment; filename=\"{plain}\"");
    if plain != name {
        header.push_str("; filename*=UTF-8''");
        for byte in name.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                header.push(char::from(byte));
            } else {
                header.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    header
}

/// Take back a file of yours.
///
/// Its bytes go, its message becomes `[deleted]`, and the other party gets `file.deleted`.
#[utoipa::path(delete, path = "/files/{id}", tag = "files", params(("id" = String, Path)),
    responses((status = 200, body = DeletedFile)))]
pub(crate) async fn delete(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(file): Param<String>,
) -> Answer<DeletedFile> {
    let file: FileId = id(&file, "file")?;
    let gone = hub.write(move |tx, now| files::delete(tx, &me, &file, now)).await?;
    hub.files.remove(std::slice::from_ref(&gone.id)).await;
    Ok(Json(DeletedFile { deleted: true, file_id: gone.id }))
}

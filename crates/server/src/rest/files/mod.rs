//! Uploads and downloads. Files are streamed; only a JSON upload is held in memory.

pub(crate) mod form;

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use tandem_api::error::Code;
use tandem_api::files::{DeletedFile, UploadFile, UploadedFile};
use tandem_app::idempotency::Key;
use tandem_app::keys;
use tandem_core::files::File;
use tandem_hub::ops::files::{self, storage_error};
use tandem_hub::ops::parse_id;
use tandem_hub::{Caller, Error, Held, Hub};
use tokio::sync::OwnedSemaphorePermit;

use crate::http::explain::{Object, object_text};
use crate::http::input::{BodyReader, SMALL_BYTES_MAX, idempotency_key, on_task};
use crate::http::unknown::UnknownNames;
use crate::http::visitor::Authenticated;
use crate::http::{Answer, ApiError, Json, Param, answer, error};

/// The buffers of an upload or a download in progress.
pub(crate) const BUFFER_BYTES: usize = 512 * 1024;
/// Size limit of a JSON upload.
pub(crate) const JSON_BYTES_MAX: usize = 72 * 1024 * 1024;

/// Upload a file as JSON.
///
/// It is added with a message of content type `file` whose content is the file id; on an encrypted task of content
/// type `encrypted`, with keys and signature. At most 50 MiB.
#[utoipa::path(post, path = "/tasks/{id}/files/json", tag = "files", params(("id" = String, Path)),
    request_body = UploadFile, responses((status = 201, body = UploadedFile)))]
pub(crate) async fn upload_json(State(hub): State<Hub>, mut request: Request) -> Result<Response, ApiError> {
    let (caller, task) = on_task(&mut request).await?;
    let (parts, body) = request.into_parts();
    let read = read_json(&hub, &caller, &parts.headers, body).await;
    hub.access.check(&caller).await?;
    let (bytes, _permit) = hub.on_task(&caller, &task, read).await?;
    let key = upload_key(&parts.headers, &parts.uri.to_string(), &keys::sha256(&bytes));
    let key = hub.on_task(&caller, &task, key).await?;
    let caller = caller.with_idempotency_key(key);
    if let Some(earlier) = hub.earlier_answer::<UploadedFile>(&caller).await? {
        return Ok(answer(&caller, StatusCode::CREATED, &earlier));
    }
    let file = hub.on_task(&caller, &task, parse_upload(&bytes)).await?;
    let uploaded = files::upload_json(&hub, &caller, &task, file).await?;
    Ok(answer(&caller, StatusCode::CREATED, &uploaded))
}

/// Parses a JSON upload without copying its bytes.
pub(crate) fn parse_upload(bytes: &[u8]) -> Result<UploadFile<'_>, Error> {
    serde_json::from_str(object_text(bytes)?)
        .or_else(|_| Ok(Object::parse(bytes)?.read(&mut UnknownNames::default())?))
}

async fn read_json(
    hub: &Hub,
    caller: &Caller,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Bytes, BodyPermit), Error> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if content_type.is_some_and(|value| !value.to_ascii_lowercase().contains("json")) {
        return Err(error::not_json());
    }
    let may_be_again = headers.contains_key("idempotency-key");
    let (bytes, permit) = read_whole(hub, caller, body, JSON_BYTES_MAX, may_be_again).await?;
    Ok((if bytes.is_empty() { Bytes::from_static(b"{}") } else { bytes }, permit))
}

/// The permit to keep a body in memory.
#[derive(Debug)]
pub(crate) struct BodyPermit {
    _held: Held,
    /// `None` for a small body.
    _large: Option<OwnedSemaphorePermit>,
}

/// Reads a body with a size limit. A large body is written to disk first, so that a slow client delays nobody; then
/// it waits for its turn to be in memory.
pub(crate) async fn read_whole(
    hub: &Hub,
    caller: &Caller,
    body: Body,
    max: usize,
    may_be_again: bool,
) -> Result<(Bytes, BodyPermit), Error> {
    let mut coming = BodyReader::new(body, max, hub.budget.hold(caller, 0)?);
    let (beginning, is_all) = coming.read_up_to(SMALL_BYTES_MAX).await?;
    if is_all {
        return Ok((beginning.into(), BodyPermit { _held: coming.into_held(), _large: None }));
    }
    let mut upload = files::begin_body(hub, caller, may_be_again).await?;
    upload.write(&beginning).await.map_err(storage_error)?;
    drop(beginning);
    coming.hold_only(BUFFER_BYTES);
    while let Some(chunk) = coming.chunk().await? {
        upload.write(&chunk).await.map_err(storage_error)?;
    }
    // The budget has a part for one upload, which is not an agent's.
    let large = Arc::clone(&hub.files.in_memory).acquire_owned().await.map_err(|_| Error::internal())?;
    let held = coming.into_held();
    Ok((upload.read().await.map_err(storage_error)?.into(), BodyPermit { _held: held, _large: Some(large) }))
}

pub(crate) fn upload_key(headers: &HeaderMap, uri: &str, hash: &[u8; 32]) -> Result<Option<Key>, Error> {
    let key = idempotency_key(headers)?;
    Ok(key.map(|key| {
        let about = [uri.as_bytes(), hash].concat();
        Key { key, request_hash: keys::sha256(&about) }
    }))
}

/// Download a file.
///
/// For the two parties of its task, as an attachment. Supports `Range`.
#[utoipa::path(get, path = "/files/{id}", tag = "files",
    params(("id" = String, Path), ("Range" = Option<String>, Header)),
    responses((status = 200, description = "The bytes", content_type = "application/octet-stream"),
        (status = 206, description = "The part that was asked for")))]
pub(crate) async fn download(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param(file): Param<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    Ok(serve(&hub, &caller, &file, &headers).await?)
}

/// The bytes of a file for a caller, as an attachment that a browser does not open as a page.
pub(crate) async fn serve(
    hub: &Hub,
    caller: &Caller,
    file: &str,
    headers: &HeaderMap,
) -> Result<Response, Error> {
    let file = files::find(hub, caller, &parse_id(file, "file")?).await?;
    let size = u64::try_from(file.size_bytes).unwrap_or_default();
    // Files have no validator, so a request with `If-Range` gets the whole file.
    let range = headers.get(header::RANGE).filter(|_| !headers.contains_key(header::IF_RANGE));
    let part = match range.and_then(|value| value.to_str().ok()) {
        Some(range) => match part_of(&range.to_ascii_lowercase(), size) {
            Ok(part) => part,
            Err(NoBytes) => return Ok(no_such_range(size)),
        },
        None => None,
    };
    let (_, length) = part.unwrap_or((0, size));
    let held = hub.budget.hold(caller, BUFFER_BYTES)?;
    let bytes = files::read(hub, caller, &file, part).await?;
    let bytes = bytes.inspect(move |_| {
        // The stream owns its buffers' memory.
        let _ = &held;
    });
    let mut response = as_attachment(&file, length, Body::from_stream(bytes));
    if let Some((from, length)) = part {
        if let Ok(range) = HeaderValue::try_from(format!("bytes {from}-{}/{size}", from + length - 1)) {
            response.headers_mut().insert(header::CONTENT_RANGE, range);
        }
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    response.headers_mut().insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    Ok(response)
}

/// A file as an attachment that a browser does not open as a page.
pub(crate) fn as_attachment(file: &File, length: u64, body: Body) -> Response {
    let mut response = Response::new(body);
    let mut set = |name: HeaderName, value: String| {
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().insert(name, value);
        }
    };
    set(header::CONTENT_TYPE, file.mime_type.clone());
    set(header::CONTENT_LENGTH, length.to_string());
    set(header::CONTENT_DISPOSITION, disposition(&file.name));
    set(header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox".into());
    response
}

/// The requested range contains no bytes.
struct NoBytes;

fn no_such_range(size: u64) -> Response {
    let why = format!("the file has {size} bytes, and none of them is in that range");
    let mut response = ApiError(Error::new(Code::NoSuchRange, why)).into_response();
    if let Ok(range) = HeaderValue::try_from(format!("bytes */{size}")) {
        response.headers_mut().insert(header::CONTENT_RANGE, range);
    }
    response
}

/// Parses a single range into offset and length. Anything else is ignored.
fn part_of(range: &str, size: u64) -> Result<Option<(u64, u64)>, NoBytes> {
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
    if from >= end { Err(NoBytes) } else { Ok(Some((from, end - from))) }
}

/// The `Content-Disposition` header, with an ASCII name for old clients.
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

/// Delete one of your files.
///
/// Its bytes are deleted, its message becomes `[deleted]`, and the other party gets `file.deleted`.
#[utoipa::path(delete, path = "/files/{id}", tag = "files", params(("id" = String, Path)),
    responses((status = 200, body = DeletedFile)))]
pub(crate) async fn delete(
    State(hub): State<Hub>,
    Authenticated(caller): Authenticated,
    Param(file): Param<String>,
) -> Answer<DeletedFile> {
    Ok(Json(files::delete(&hub, &caller, &parse_id(&file, "file")?).await?))
}

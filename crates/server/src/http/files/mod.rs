//! Files as bodies: read into memory or onto the disk as they arrive, and sent as attachments. REST, MCP, A2A and the pages use
//! these.

pub(crate) mod form;

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use tandem_api::error::Code;
use tandem_app::idempotency::Key;
use tandem_app::keys;
use tandem_core::files::File;
use tandem_hub::ops::files::{self, storage_error};
use tandem_hub::ops::parse_id;
use tandem_hub::{Caller, Error, Held, Hub};
use tokio::sync::OwnedSemaphorePermit;

use crate::http::ApiError;
use crate::http::input::{BodyReader, SMALL_BYTES_MAX, idempotency_key};

/// The buffers of an upload or a download in progress.
pub(crate) const BUFFER_BYTES: usize = 512 * 1024;
/// Size limit of a JSON upload.
pub(crate) const JSON_BYTES_MAX: usize = 72 * 1024 * 1024;

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

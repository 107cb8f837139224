//! Uploads and downloads. Files are streamed; only a JSON upload is held in memory.

pub(crate) mod form;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use tandem_api::files::{DeletedFile, UploadFile, UploadedFile};
use tandem_app::keys;
use tandem_hub::ops::files;
use tandem_hub::ops::parse_id;
use tandem_hub::{Caller, Error, Hub};

use crate::http::explain::{Object, object_text};
use crate::http::files::{BodyPermit, JSON_BYTES_MAX, read_whole, serve, upload_key};
use crate::http::input::on_task;
use crate::http::unknown::UnknownNames;
use crate::http::visitor::Authenticated;
use crate::http::{Answer, ApiError, Json, Param, answer, error};

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

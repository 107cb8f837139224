//! Files that come as forms: written to where they stay while they arrive.

use axum::extract::{Request, State};
use axum::http::header;
use axum::response::Response;
use multer::{Constraints, Multipart, SizeLimit};
use tandem_api::files::{UploadForm, UploadedFile};
use tandem_app::{Error, Invalid, keys};
use tandem_core::files::FILE_BYTES_MAX;
use tandem_core::{FileId, TaskId};

use super::{FIELD_BYTES_MAX, FORM_BYTES_MAX, Label, PIECE_TIMEOUT, finish, not_stored, upload_key};
use crate::files::Arriving;
use crate::http::front::Caller;
use crate::http::input::idempotency_key;
use crate::http::{ApiError, Param};
use crate::hub::{Hub, HubParts};
use crate::rest::id;

/// Upload a file as a form.
///
/// The form's field is `file`; on an encrypted task `encryptedKeys` (a JSON object) and `senderSignature` come before
/// it. It is written to the disk as it arrives. At most 50 MiB.
#[utoipa::path(post, path = "/tasks/{id}/files", tag = "files", params(("id" = String, Path)),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = 201, body = UploadedFile)))]
pub(crate) async fn upload(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(task): Param<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let task: TaskId = id(&task, "task")?;
    let (parts, body) = request.into_parts();
    let content_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let boundary = content_type.and_then(|value| multer::parse_boundary(value).ok());
    let boundary = boundary.ok_or(ApiError::NotAForm);
    let boundary = hub.body_on_task(&me, &task, boundary).await?;
    // Sent with a key, it may have happened before, and then the task has nothing to say about it any more.
    let may_be_again = idempotency_key(&parts.headers)?.is_some();
    if !may_be_again {
        hub.check_upload(&me, &task).await?;
    }
    let limits = SizeLimit::new().whole_stream(FORM_BYTES_MAX).per_field(FIELD_BYTES_MAX);
    let limits = limits.for_field("file", FILE_BYTES_MAX);
    let form =
        Multipart::with_constraints(body.into_data_stream(), boundary, Constraints::new().size_limit(limits));
    let id: FileId = hub.now().new_id();
    // Hashing takes a good part of what an upload costs, and only a request with a key is recognised by it.
    let taken = take_form(&hub, form, &id, may_be_again.then(keys::Hashing::default)).await;
    let (arriving, label, hash) = hub.body_on_task(&me, &task, taken).await?;
    let key = upload_key(&parts.headers, &parts.uri.to_string(), &hash)?;
    if let Some(kept) = hub.kept_answer(&me, key.as_ref()).await? {
        return Ok(kept);
    }
    hub.check_upload(&me, &task).await?;
    finish(&hub, &me, task, id, arriving, label, key).await
}

/// Writes a form's file to the disk as it comes, and reads its other fields. The hash, if there is one, is of all of it.
async fn take_form(
    hub: &HubParts,
    mut form: Multipart<'_>,
    id: &FileId,
    mut hash: Option<keys::Hashing>,
) -> Result<(Arriving, Label, [u8; 32]), ApiError> {
    let mut label = Label::default();
    let mut taken: Option<Arriving> = None;
    let mut add = |bytes: &[u8]| {
        if let Some(hash) = &mut hash {
            hash.add(bytes);
        }
    };
    while let Some(mut field) = in_time(form.next_field()).await? {
        let name = field.name().unwrap_or_default().to_owned();
        add(name.as_bytes());
        if name != "file" {
            let text = in_time(field.text()).await?;
            add(text.as_bytes());
            match name.as_str() {
                "encryptedKeys" => {
                    let keys = serde_json::from_str(&text);
                    label.keys = Some(
                        keys.map_err(|_| Invalid::field("encryptedKeys", "must be a JSON object of text"))?,
                    );
                }
                "senderSignature" => label.signature = Some(text),
                _ => {}
            }
            continue;
        }
        if taken.is_some() {
            return Err(Invalid::field("file", "must be there once").into());
        }
        label.name = field.file_name().unwrap_or("file").to_owned();
        label.mime_type = field.content_type().map_or("application/octet-stream".into(), ToString::to_string);
        add(label.name.as_bytes());
        add(label.mime_type.as_bytes());
        let mut arriving = hub.files.begin(id).await.map_err(not_stored)?;
        while let Some(piece) = in_time(field.chunk()).await? {
            add(&piece);
            arriving.write(&piece).await.map_err(not_stored)?;
        }
        taken = Some(arriving);
    }
    let arriving = taken.ok_or_else(|| Invalid::field("file", "is missing"))?;
    Ok((arriving, label, hash.map(keys::Hashing::finish).unwrap_or_default()))
}

/// The next piece of an upload, unless it keeps us waiting or is too much.
async fn in_time<T>(piece: impl Future<Output = multer::Result<T>>) -> Result<T, ApiError> {
    match tokio::time::timeout(PIECE_TIMEOUT, piece).await {
        Err(_) => Err(ApiError::BodyTimeout),
        Ok(Ok(piece)) => Ok(piece),
        Ok(Err(multer::Error::FieldSizeExceeded { field_name: Some(name), .. })) if name != "file" => {
            Err(Invalid::field(&name, format!("must be at most {FIELD_BYTES_MAX} bytes long")).into())
        }
        Ok(Err(multer::Error::FieldSizeExceeded { .. } | multer::Error::StreamSizeExceeded { .. })) => {
            Err(Error::FileTooLarge.into())
        }
        Ok(Err(error)) => Err(Invalid::field("body", format!("is not a form: {error}")).into()),
    }
}

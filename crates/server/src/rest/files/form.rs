//! Uploads as multipart forms.

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::Response;
use tandem_api::files::{UploadForm, UploadedFile};
use tandem_app::keys;
use tandem_hub::Hub;
use tandem_hub::ops::files;

use crate::http::files::form::{self, Form, Read};
use crate::http::files::upload_key;
use crate::http::input::{idempotency_key, on_task};
use crate::http::{ApiError, answer};

/// Upload a file as a form.
///
/// The field is `file`; on an encrypted task `encryptedKeys` (a JSON object) and `senderSignature` come before it.
/// The file is written to disk as it arrives. At most 50 MiB.
#[utoipa::path(post, path = "/tasks/{id}/files", tag = "files", params(("id" = String, Path)),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = 201, body = UploadedFile)))]
pub(crate) async fn upload(State(hub): State<Hub>, mut request: Request) -> Result<Response, ApiError> {
    let (caller, task) = on_task(&mut request).await?;
    let (parts, body) = request.into_parts();
    let content_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let boundary = hub.on_task(&caller, &task, form::boundary(content_type)).await?;
    // With an idempotency key the request may be a repetition, for which the current state of the task does not
    // matter.
    let key = hub.on_task(&caller, &task, idempotency_key(&parts.headers)).await?;
    let may_be_again = key.is_some();
    if !may_be_again {
        files::check(&hub, &caller, &task).await?;
    }
    let form = Form::new(&hub, &caller, boundary, body)?;
    // Hashing is expensive, and only a request with a key needs the hash.
    let file = form::read(&hub, &caller, form, may_be_again.then(keys::Hashing::default), None).await;
    hub.access.check(&caller).await?;
    let Read { upload, info, hash, .. } = hub.on_task(&caller, &task, file).await?;
    let caller = caller.with_idempotency_key(upload_key(&parts.headers, &parts.uri.to_string(), &hash)?);
    if let Some(earlier) = hub.earlier_answer::<UploadedFile>(&caller).await? {
        return Ok(answer(&caller, StatusCode::CREATED, &earlier));
    }
    files::check(&hub, &caller, &task).await?;
    let uploaded = files::attach(&hub, &caller, &task, upload, info).await?;
    Ok(answer(&caller, StatusCode::CREATED, &uploaded))
}

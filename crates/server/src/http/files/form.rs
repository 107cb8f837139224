//! Uploads as multipart forms, written to disk as they arrive.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::http::request::Parts;
use futures_util::stream::{self, Stream};
use multer::{Constraints, Multipart, SizeLimit};
use tandem_api::files::UploadedFile;
use tandem_app::{Error as AppError, Invalid, keys};
use tandem_core::TaskId;
use tandem_core::files::FILE_BYTES_MAX;
use tandem_hub::files::Upload;
use tandem_hub::ops::files::{self, FileInfo, storage_error};
use tandem_hub::{Caller, Error, Hub};
use tokio::sync::Mutex;

use super::BUFFER_BYTES;
use crate::http::error;
use crate::http::input::{BodyReader, page_key};

/// Size limit of a form.
const FORM_BYTES_MAX: u64 = FILE_BYTES_MAX + 1024 * 1024;
/// Size limit of the fields other than the file.
const FIELD_BYTES_MAX: u64 = 64 * 1024;
/// Size limit of the headers of a field, and of text before the first one.
const BETWEEN_FIELDS_MAX: usize = 64 * 1024;

/// The boundary between the fields of a form.
pub(crate) fn boundary(content_type: Option<&str>) -> Result<String, Error> {
    content_type.and_then(|value| multer::parse_boundary(value).ok()).ok_or_else(error::not_a_form)
}

/// Takes the form of a page: a file that comes after a field `csrf` with this value, and adds it to the task. A form that is
/// sent twice adds one file.
pub(crate) async fn upload_of_page(
    hub: &Hub,
    caller: &Caller,
    task: &TaskId,
    (parts, body): (&Parts, Body),
    csrf: &str,
) -> Result<UploadedFile, Error> {
    let content_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let boundary = hub.on_task(caller, task, boundary(content_type)).await?;
    files::check(hub, caller, task).await?;
    let form = Form::new(hub, caller, boundary, body)?;
    let file = read(hub, caller, form, Some(keys::Hashing::default()), Some(csrf)).await;
    hub.access.check(caller).await?;
    let Read { upload, info, hash, once } = hub.on_task(caller, task, file).await?;
    let key = once.and_then(|once| page_key(&once, &[parts.uri.path().as_bytes(), &hash].concat()));
    let caller = &caller.clone().with_idempotency_key(key);
    if let Some(earlier) = hub.earlier_answer::<UploadedFile>(caller).await? {
        return Ok(earlier);
    }
    files::check(hub, caller, task).await?;
    files::attach(hub, caller, task, upload, info).await
}

/// What was read of a form.
pub(crate) struct Read {
    pub(crate) upload: Upload,
    pub(crate) info: FileInfo,
    /// The hash of all fields, if requested.
    pub(crate) hash: [u8; 32],
    /// The value of a page's form that must not take effect twice.
    once: Option<String>,
}

/// Writes the file of a form to disk and reads the other fields. The hash, if requested, covers all of them. The form of a
/// page proves that it is ours before its file is stored.
pub(crate) async fn read(
    hub: &Hub,
    caller: &Caller,
    mut form: Form<'_>,
    mut hash: Option<keys::Hashing>,
    csrf: Option<&str>,
) -> Result<Read, Error> {
    let (mut info, mut once) = (FileInfo::default(), None);
    let mut file: Option<Upload> = None;
    let mut is_ours = csrf.is_none();
    // Only a request that may be a repetition is hashed.
    let hash_wanted = hash.is_some();
    let mut add = |bytes: &[u8]| {
        if let Some(hash) = &mut hash {
            hash.add(bytes);
        }
    };
    while let Some(mut field) = form.next_field().await? {
        let name = field.name().unwrap_or_default().to_owned();
        add(name.as_bytes());
        if name != "file" {
            let text = result(field.text()).await?;
            add(text.as_bytes());
            match name.as_str() {
                "encryptedKeys" => {
                    let keys = serde_json::from_str(&text);
                    info.keys = Some(
                        keys.map_err(|_| Invalid::field("encryptedKeys", "must be a JSON object of text"))?,
                    );
                }
                "senderSignature" => info.signature = Some(text),
                "once" if csrf.is_some() => once = Some(text),
                "csrf" => is_ours |= csrf.is_some_and(|csrf| keys::same_text(&text, csrf)),
                _ => {}
            }
            continue;
        }
        if !is_ours {
            return Err(error::foreign_form());
        }
        if file.is_some() {
            return Err(Invalid::field("file", "must be there once").into());
        }
        info.name = field.file_name().unwrap_or("file").to_owned();
        info.mime_type = field.content_type().map_or("application/octet-stream".into(), ToString::to_string);
        add(info.name.as_bytes());
        add(info.mime_type.as_bytes());
        let mut upload = match hash_wanted {
            true => files::begin_again(hub, caller).await?,
            false => files::begin(hub, caller).await?,
        };
        while let Some(chunk) = result(field.chunk()).await? {
            add(&chunk);
            upload.write(&chunk).await.map_err(storage_error)?;
        }
        file = Some(upload);
    }
    form.finish().await?;
    if !is_ours {
        return Err(error::foreign_form());
    }
    let upload = file.ok_or_else(|| Invalid::field("file", "is missing"))?;
    Ok(Read { upload, info, hash: hash.map(keys::Hashing::finish).unwrap_or_default(), once })
}

/// A form, with a limit on what stands between its fields: the headers of a field, and text that belongs to none.
pub(crate) struct Form<'a> {
    form: Multipart<'a>,
    between_fields: Arc<AtomicUsize>,
    rest: Arc<Mutex<BodyReader>>,
}

impl Form<'static> {
    pub(crate) fn new(hub: &Hub, caller: &Caller, boundary: String, body: Body) -> Result<Self, Error> {
        let limits = SizeLimit::new().whole_stream(FORM_BYTES_MAX).per_field(FIELD_BYTES_MAX);
        let limits = limits.for_field("file", FILE_BYTES_MAX);
        let held = hub.budget.hold(caller, BUFFER_BYTES)?;
        let body = PacedBody::new(BodyReader::new(body, usize::MAX, held));
        let (between_fields, rest) = (body.between_fields(), Arc::clone(&body.body));
        let constraints = Constraints::new().size_limit(limits);
        Ok(Self {
            form: Multipart::with_constraints(body.into_stream(), boundary, constraints),
            between_fields,
            rest,
        })
    }
}

impl<'a> Form<'a> {
    async fn next_field(&mut self) -> Result<Option<multer::Field<'a>>, Error> {
        self.between_fields.store(0, Relaxed);
        let field = result(self.form.next_field()).await?;
        self.between_fields.store(IN_FIELD, Relaxed);
        Ok(field)
    }

    /// Reads what follows the last field. The parser stops there, but a body that was cut off is no request.
    async fn finish(self) -> Result<(), Error> {
        // The parser may hold the body, waiting for more of it.
        drop(self.form);
        let (mut rest, mut bytes) = (self.rest.lock().await, 0);
        while let Some(chunk) = rest.chunk().await? {
            bytes += chunk.len();
            if bytes > BETWEEN_FIELDS_MAX {
                let why = format!("has more than {BETWEEN_FIELDS_MAX} bytes after its last field");
                return Err(Invalid::field("body", why).into());
            }
        }
        Ok(())
    }
}

/// The count while a field is being read, which has its own limit.
const IN_FIELD: usize = usize::MAX;

/// The body of a form. The parser takes everything that is ready before it looks at it, so it gets one chunk at a
/// time, and only so many of them between two fields.
struct PacedBody {
    body: Arc<Mutex<BodyReader>>,
    between_fields: Arc<AtomicUsize>,
}

impl PacedBody {
    fn new(body: BodyReader) -> Self {
        Self { body: Arc::new(Mutex::new(body)), between_fields: Arc::default() }
    }

    fn between_fields(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.between_fields)
    }

    fn into_stream(self) -> impl Stream<Item = Result<Bytes, BodyError>> + Send {
        stream::try_unfold(self, async |paced| {
            // Lets the parser look at the last chunk first.
            tokio::task::yield_now().await;
            let chunk = paced.body.lock().await.chunk().await.map_err(BodyError)?;
            let Some(chunk) = chunk else { return Ok(None) };
            let counted = paced.between_fields.load(Relaxed);
            if counted != IN_FIELD {
                // The chunk may also hold the beginning of the field.
                if counted > BETWEEN_FIELDS_MAX {
                    let why = format!("has more than {BETWEEN_FIELDS_MAX} bytes before a field");
                    return Err(BodyError(Invalid::field("body", why).into()));
                }
                paced.between_fields.store(counted + chunk.len(), Relaxed);
            }
            Ok(Some((chunk, paced)))
        })
    }
}

/// An error of the body, which passes through the parser.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.body.error)]
struct BodyError(Error);

/// Converts the errors of the parser.
async fn result<T>(reading: impl Future<Output = multer::Result<T>>) -> Result<T, Error> {
    reading.await.map_err(|error| match error {
        multer::Error::StreamReadFailed(cause) => match cause.downcast::<BodyError>() {
            Ok(error) => error.0,
            Err(_) => error::body_cut_off(),
        },
        multer::Error::FieldSizeExceeded { field_name: Some(name), .. } if name != "file" => {
            Invalid::field(&name, format!("must be at most {FIELD_BYTES_MAX} bytes long")).into()
        }
        multer::Error::FieldSizeExceeded { .. } | multer::Error::StreamSizeExceeded { .. } => {
            AppError::FileTooLarge.into()
        }
        error => Invalid::field("body", format!("is not a form: {error}")).into(),
    })
}

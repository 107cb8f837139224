//! Uploads as a multipart form, piece by piece.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use futures_util::stream;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Request};
use http_body_util::StreamBody;
use hyper::body::Frame;
use tandem_api::files::UploadedFile;
use tandem_core::TaskId;
use tokio::sync::watch;

use super::{Attempts, blocking, file_error};
use crate::call::{Method, random_key};
use crate::connection::Body;
use crate::{Client, Error};

/// Size of the pieces that are read and sent.
const PIECE_BYTES: usize = 64 * 1024;
/// Bytes that buffers on the way take even if nothing arrives; only more than that is progress.
const IN_FLIGHT_BYTES: u64 = 8 * 1024 * 1024;
/// Time without a byte sent, and time for the answer after the last one.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// A file to upload.
#[derive(Debug, Clone)]
pub struct Upload {
    /// Where it is on this machine.
    pub path: PathBuf,
    /// The name that the other side sees.
    pub filename: String,
    /// The media type, such as `application/pdf`.
    pub mime_type: String,
}

impl Client {
    /// Uploads a file to a task. It is read piece by piece. `progress` is called with the bytes sent so far; the number
    /// falls back to zero if the upload has to start again.
    ///
    /// A lost connection is not the end: the upload starts again, with the same idempotency key, for as long as there
    /// was some progress in the last three minutes. So the file is added once, whatever happens. A file that changes
    /// in the meantime is an error.
    ///
    /// ```no_run
    /// # use tandem_client::{Client, Upload};
    /// # async fn example(client: Client, task: tandem_core::TaskId) -> anyhow::Result<()> {
    /// let report = Upload {
    ///     path: "report.pdf".into(),
    ///     filename: "report.pdf".to_owned(),
    ///     mime_type: "application/pdf".to_owned(),
    /// };
    /// let uploaded = client.upload(&task, &report, |bytes| eprintln!("{bytes} bytes")).await?;
    /// println!("{}", uploaded.id);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn upload(
        &self,
        task: &TaskId,
        file: &Upload,
        progress: impl FnMut(u64),
    ) -> Result<UploadedFile, Error> {
        let path = file.path.clone();
        self.upload_with(task, file, move || File::open(&path).map(Arc::new), progress).await
    }

    /// Uploads a file that is already open, so that the bytes are those of the file that the caller has checked, whatever
    /// becomes of its path. The path is used in errors only.
    pub async fn upload_opened(
        &self,
        task: &TaskId,
        opened: File,
        about: &Upload,
        progress: impl FnMut(u64),
    ) -> Result<UploadedFile, Error> {
        let opened = Arc::new(opened);
        self.upload_with(task, about, move || Ok(Arc::clone(&opened)), progress).await
    }

    async fn upload_with(
        &self,
        task: &TaskId,
        file: &Upload,
        open: impl Fn() -> io::Result<Arc<File>> + Clone + Send + 'static,
        mut progress: impl FnMut(u64),
    ) -> Result<UploadedFile, Error> {
        let key = self.idempotency_key.clone().unwrap_or_else(random_key);
        let boundary = format!("tandem-{}", random_key());
        let form = Form::new(file, &boundary);
        let (mut attempts, mut version) = (Attempts::new(self), None);
        loop {
            let (opened, found) = checked(open.clone(), &file.path).await?;
            if *version.get_or_insert(found) != found {
                return Err(changed(&file.path));
            }
            let (body, sending) = form.body(opened, found.size);
            let api_key = self.key();
            let mut request = self.head(&Method::POST, &format!("/tasks/{task}/files"))?;
            let headers = request.headers_mut();
            let text = |text: String| HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""));
            headers.insert(CONTENT_TYPE, text(format!("multipart/form-data; boundary={boundary}")));
            headers.insert(CONTENT_LENGTH, form.length(found.size).into());
            headers.insert("idempotency-key", text(key.clone()));
            *request.body_mut() = body;
            let sent = self.send_watched(request, &sending, |bytes| {
                if bytes > IN_FLIGHT_BYTES {
                    attempts.progressed();
                }
                progress(bytes);
            });
            let failure = match sent.await {
                Ok(uploaded) => return Ok(uploaded),
                Err(failure) => failure,
            };
            if let Some(cause) = sending.fault() {
                return Err(file_error("cannot read", &file.path, cause));
            }
            attempts.wait_after(self, failure, api_key.as_ref()).await?;
        }
    }

    /// Sends an upload and reports how much of it was taken.
    async fn send_watched(
        &self,
        request: Request<Body>,
        sending: &Sending,
        mut progress: impl FnMut(u64),
    ) -> Result<UploadedFile, Error> {
        let mut sent = sending.sent.subscribe();
        let answering = async {
            let (response, connection) = self.send(request).await?;
            let bytes = self.read(response.into_body()).await?;
            self.put_back(connection);
            self.parse(&bytes)
        };
        tokio::pin!(answering);
        loop {
            tokio::select! {
                answer = &mut answering => return answer,
                moved = tokio::time::timeout(SILENCE_MAX, sent.changed()) => match moved {
                    Ok(_) => progress(*sent.borrow_and_update()),
                    Err(_) => return Err(self.timed_out(SILENCE_MAX)),
                },
            }
        }
    }
}

/// By what a change of a file is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Version {
    size: u64,
    modified: Option<SystemTime>,
}

/// Opens a file on a thread for blocking work, and looks at it.
async fn checked(
    open: impl FnOnce() -> io::Result<Arc<File>> + Send + 'static,
    path: &Path,
) -> Result<(Arc<File>, Version), Error> {
    let looked = blocking(move || {
        let file = open()?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        Ok((file, Version { size: about.len(), modified: about.modified().ok() }))
    });
    looked.await.map_err(|cause| file_error("cannot open", path, cause))
}

fn changed(path: &Path) -> Error {
    file_error("cannot send", path, io::Error::other("it changed while it was sent"))
}

/// What stands around the file in the body.
struct Form {
    before: Bytes,
    after: Bytes,
}

impl Form {
    fn new(file: &Upload, boundary: &str) -> Self {
        // Inside quotes. The hub drops folders and control characters from the name anyway.
        let name: String = file
            .filename
            .chars()
            .filter(|character| !character.is_control())
            .map(|character| if character == '\\' { '_' } else { character })
            .collect();
        let name = name.replace('"', "\\\"");
        let mime_type: String = file.mime_type.chars().filter(|character| !character.is_control()).collect();
        let before = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             Content-Type: {mime_type}\r\n\r\n"
        );
        Self { before: before.into(), after: format!("\r\n--{boundary}--\r\n").into() }
    }

    fn length(&self, size: u64) -> u64 {
        self.before.len() as u64 + size + self.after.len() as u64
    }

    /// The body of a request, and what is known of it while it is sent.
    fn body(&self, file: Arc<File>, size: u64) -> (Body, Arc<Sending>) {
        let sending = Arc::new(Sending { sent: watch::Sender::new(0), fault: Mutex::new(None) });
        let next = Piece::Before(self.before.clone());
        let state = (next, file, size, self.after.clone(), Arc::clone(&sending));
        let pieces = stream::try_unfold(state, async |(next, file, size, after, sending)| {
            let (bytes, next) = match next {
                Piece::Before(before) => (before, Piece::File(0)),
                Piece::File(at) if at == size => (after.clone(), Piece::End),
                Piece::File(at) => match read_piece(Arc::clone(&file), at, size).await {
                    Ok(bytes) => {
                        let at = at + bytes.len() as u64;
                        sending.sent.send_replace(at);
                        (bytes, Piece::File(at))
                    }
                    Err(cause) => {
                        sending.fail(&cause);
                        return Err(cause);
                    }
                },
                Piece::End => return Ok(None),
            };
            Ok(Some((Frame::data(bytes), (next, file, size, after, sending))))
        });
        (Body::new(StreamBody::new(pieces)), sending)
    }
}

/// Which part of the body comes next.
enum Piece {
    Before(Bytes),
    /// The file from this byte on.
    File(u64),
    End,
}

/// Reads the next piece of a file. The position is given with every read: an attempt that was given up may still read from
/// the same file.
async fn read_piece(file: Arc<File>, at: u64, size: u64) -> io::Result<Bytes> {
    let length = usize::try_from(size - at).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
    blocking(move || {
        let mut piece = BytesMut::zeroed(length);
        let mut done = 0;
        while done < length {
            match file.read_at(&mut piece[done..], at + done as u64) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => done += read,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(cause),
            }
        }
        Ok(piece.freeze())
    })
    .await
}

/// An upload on its way.
struct Sending {
    sent: watch::Sender<u64>,
    /// Why the file could not be read.
    fault: Mutex<Option<io::Error>>,
}

impl Sending {
    fn fail(&self, cause: &io::Error) {
        let fault = match cause.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other("it changed while it was sent"),
            kind => io::Error::new(kind, cause.to_string()),
        };
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }

    fn fault(&self) -> Option<io::Error> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

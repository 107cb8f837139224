//! Stored files, in the data folder, in a folder that all nodes share, or in a bucket. The bytes are stored before a row
//! refers to them and deleted after the row is gone; a sweep removes what a crash leaves in between. Uploads arrive in
//! the data folder first, where they are counted and checked.

mod bucket;
pub(crate) mod durable;
mod in_flight;
mod removal;
mod s3;
mod shared;
mod space;
mod sweep;

use std::io::{ErrorKind, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt as _, TryStreamExt as _};
use tandem_app::keys::hex;
use tandem_core::FileId;
use tandem_store::Store;
use tokio::fs::{self, File};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _, BufWriter};
use tokio::sync::Semaphore;

use crate::callers::keys::hub_secret;
use crate::config::Config;
use bucket::Bucket;
pub use in_flight::{InFlight, InFlightBytes};
pub(crate) use removal::{Removals, remove_deleted};
use space::probe;
pub(crate) use sweep::{orphan_cutoff, remove_orphans, sweep};

/// Chunk size. Each chunk costs a switch to another thread.
const CHUNK_BYTES: usize = 256 * 1024;
/// Uploads that are held in memory at once; others wait.
const IN_MEMORY_MAX: usize = 1;
/// Folder for uploads in progress.
const UPLOADS_DIR: &str = "arriving";
/// How long a deletion waits for the bucket. The bytes are deleted in any case.
const REMOVAL_WAIT: Duration = Duration::from_secs(2);

/// Why a file cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The local disk failed.
    #[error(transparent)]
    Disk(#[from] std::io::Error),
    /// The file does not exist.
    #[error("the file does not exist in storage")]
    Missing,
    /// The bucket does not answer, or refuses the request.
    #[error("{0}")]
    Bucket(String),
    /// The bucket cannot be used at the start.
    #[error(
        "cannot keep files in {place}: {cause}. Check files_bucket, files_prefix, files_endpoint, AWS_REGION and \
         the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, which must allow to list, get, put and delete"
    )]
    Unusable {
        /// The name of the bucket.
        place: String,
        cause: Box<Error>,
    },
    /// The shared folder cannot be used at the start.
    #[error("cannot keep files in the shared folder {folder}: {cause}")]
    Shared { folder: PathBuf, cause: String },
    /// The agent has no room for these bytes.
    #[error("the agent's files have reached their quota of {0} bytes")]
    Quota(i64),
    /// The hub's identity cannot be read from the database.
    #[error(transparent)]
    App(#[from] tandem_app::Error),
}

/// Names and modification times.
type Listing = BoxStream<'static, Result<(String, SystemTime), Error>>;
/// The bytes of a file, in chunks.
pub type ByteStream = BoxStream<'static, std::io::Result<Bytes>>;

#[derive(Debug)]
pub struct Files {
    /// Folder for uploads.
    root: PathBuf,
    /// Folder for all files, unless they are in a bucket: the same, or one that all nodes share.
    kept: PathBuf,
    shared: bool,
    bucket: Option<Arc<Bucket>>,
    /// Permits for uploads in memory.
    pub in_memory: Arc<Semaphore>,
    /// Bytes of uploads in progress.
    pub in_flight: InFlight,
    /// Files whose rows are gone.
    pub(crate) removals: Arc<Removals>,
    /// Whether an upload has met a full disk since the last one that was stored.
    full: Arc<AtomicBool>,
}

/// Whether the disk has no room for more.
pub(crate) fn is_full(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}

/// The path of a file. Folders are named after the random end of the id, so that files spread evenly.
fn name(id: &FileId) -> String {
    let text = id.as_str();
    let end = text.get(text.len().saturating_sub(2)..).unwrap_or("00");
    format!("{end}/{text}")
}

impl Files {
    /// Opens the files of a hub.
    pub(crate) fn of(config: &Config) -> Result<Self, Error> {
        let unusable = |cause| Error::Unusable { place: config.files_bucket.clone(), cause: Box::new(cause) };
        let bucket = match config.files_bucket.as_str() {
            "" => None,
            _ => Some(Arc::new(Bucket::of(config).map_err(unusable)?)),
        };
        let root = config.data.join("files");
        Ok(Self {
            shared: config.shared_files.is_some(),
            kept: config.shared_files.clone().unwrap_or_else(|| root.clone()),
            root,
            bucket,
            in_memory: Arc::new(Semaphore::new(IN_MEMORY_MAX)),
            in_flight: InFlight::default(),
            removals: Arc::default(),
            full: Arc::default(),
        })
    }

    /// Checks that uploads can be written. Only looks at the disk if one has failed.
    pub(crate) async fn check_room(&self) -> Result<(), Error> {
        if !self.full.load(Relaxed) {
            return Ok(());
        }
        let mut checked = probe(&self.root).await;
        if checked.is_ok() && self.is_shared() {
            checked = probe(&self.kept).await;
        }
        self.full.store(checked.as_ref().is_err_and(is_full), Relaxed);
        Ok(checked?)
    }

    /// Looks at the disk although no upload has failed.
    pub(crate) async fn look_for_room(&self) -> Result<(), Error> {
        self.full.store(true, Relaxed);
        self.check_room().await
    }

    /// Whether the files are in a folder that all nodes share.
    fn is_shared(&self) -> bool {
        self.bucket.is_none() && self.shared
    }

    /// Checks that the bucket or the shared folder can be used and belongs to the hub of this database. `is_first` says
    /// that no other node runs.
    pub(crate) async fn claim(&self, store: &Store, is_first: bool) -> Result<(), Error> {
        if self.bucket.is_none() && !self.is_shared() {
            return Ok(());
        }
        let owner = hub_secret(store, "files").await?;
        let Some(bucket) = &self.bucket else {
            return shared::claim(&self.kept, &hex(&owner), is_first).await;
        };
        bucket.claim(&hex(&owner)).await.map_err(unusable(bucket))
    }

    /// The bucket or the shared folder, if it is configured and not empty.
    pub(crate) async fn occupied(&self) -> Result<Option<String>, Error> {
        let Some(bucket) = &self.bucket else {
            let occupied = self.is_shared() && !shared::is_empty(&self.kept)?;
            return Ok(occupied.then(|| format!("the shared folder {}", self.kept.display())));
        };
        let is_empty = bucket.is_empty().await.map_err(unusable(bucket))?;
        Ok((!is_empty).then(|| bucket.to_string()))
    }

    fn upload_path(&self, id: &FileId) -> PathBuf {
        self.root.join(UPLOADS_DIR).join(id.as_str())
    }

    /// Where a file is stored, for messages.
    pub(crate) fn location(&self, id: &FileId) -> String {
        match &self.bucket {
            None => self.kept.join(name(id)).display().to_string(),
            Some(bucket) => format!("{bucket}/{}", name(id)),
        }
    }

    /// Starts an upload.
    pub async fn begin(&self, id: &FileId, counted: Option<InFlightBytes>) -> Result<Upload, Error> {
        note_full(&self.full, self.open_upload(id, counted).await)
    }

    async fn open_upload(&self, id: &FileId, counted: Option<InFlightBytes>) -> Result<Upload, Error> {
        let path = self.upload_path(id);
        make_folder(&path).await?;
        let (id, full) = (id.clone(), Arc::clone(&self.full));
        // If nobody waits for it any more, the upload is dropped on that thread once it is open, and its file with it.
        let opened = tokio::task::spawn_blocking(move || {
            let mut options = std::fs::OpenOptions::new();
            options.write(true).create_new(true);
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = BufWriter::with_capacity(CHUNK_BYTES, File::from_std(options.open(&path)?));
            Ok(Upload { id, file, path, size: 0, counted, kept: false, full })
        });
        opened.await.unwrap_or_else(|panic| Err(Error::Disk(std::io::Error::other(panic))))
    }

    /// Stores a finished upload durably.
    pub(crate) async fn store(&self, upload: Upload) -> Result<(), Error> {
        let stored = note_full(&self.full, self.store_upload(upload).await);
        if stored.is_ok() {
            self.full.store(false, Relaxed);
        }
        stored
    }

    async fn store_upload(&self, mut upload: Upload) -> Result<(), Error> {
        upload.file.flush().await?;
        let name = name(&upload.id);
        let Some(bucket) = &self.bucket else {
            if self.kept == self.root {
                return upload.persist(&self.kept.join(name)).await;
            }
            let (arriving, end) =
                (self.kept.join(UPLOADS_DIR).join(upload.id.as_str()), self.kept.join(name));
            return shared::copy(&upload.path, &arriving, &end).await;
        };
        let bucket = Arc::clone(bucket);
        // Run to completion, even if the request is dropped: a partial upload would remain in the bucket.
        let put = tokio::spawn(async move {
            let from = File::open(&upload.path).await?;
            bucket.put(&name, from, upload.size).await
        });
        put.await.unwrap_or_else(|panic| Err(Error::Disk(std::io::Error::other(panic))))
    }

    /// Reads all of a file. One that has fewer or more bytes than its row says ends with an error.
    pub async fn read_whole(&self, id: &FileId, size: u64) -> Result<ByteStream, Error> {
        let bytes = self.read(id, None).await?;
        let checked = stream::try_unfold((bytes, size), |(mut bytes, left)| async move {
            let Some(piece) = bytes.try_next().await? else {
                return if left == 0 { Ok(None) } else { Err(ErrorKind::UnexpectedEof.into()) };
            };
            match left.checked_sub(piece.len() as u64) {
                Some(left) => Ok(Some((piece, (bytes, left)))),
                None => Err(std::io::Error::new(ErrorKind::InvalidData, "the stored file is too long")),
            }
        });
        Ok(checked.boxed())
    }

    /// Reads a file or a range of it (offset and length).
    pub async fn read(&self, id: &FileId, part: Option<(u64, u64)>) -> Result<ByteStream, Error> {
        if let Some(bucket) = &self.bucket {
            return bucket.read(&name(id), part).await;
        }
        let mut file = match File::open(self.kept.join(name(id))).await {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(Error::Missing),
            opened => opened?,
        };
        if let Some((from, _)) = part {
            file.seek(SeekFrom::Start(from)).await?;
        }
        let length = part.map_or(u64::MAX, |(_, length)| length);
        let chunks = stream::try_unfold((file, length), |(mut file, left)| async move {
            let mut chunk = vec![0; CHUNK_BYTES.min(usize::try_from(left).unwrap_or(CHUNK_BYTES))];
            let count = file.read(&mut chunk).await?;
            chunk.truncate(count);
            Ok((count > 0).then(|| (Bytes::from(chunk), (file, left - count as u64))))
        });
        Ok(chunks.boxed())
    }

    /// Deletes files whose rows are gone. The sweep repeats what fails. A slow bucket continues in the background,
    /// because no answer depends on it.
    pub(crate) async fn remove(&self, ids: &[FileId]) {
        let Some(bucket) = self.bucket.as_ref().filter(|_| !ids.is_empty()) else {
            self.remove_now(ids).await;
            return;
        };
        let (bucket, names) = (Arc::clone(bucket), ids.iter().map(name).collect());
        let removal = tokio::spawn(async move { bucket.remove(names).await });
        let _ = tokio::time::timeout(REMOVAL_WAIT, removal).await;
    }

    /// Deletes files and waits for the result. Returns how many are gone.
    async fn remove_now(&self, ids: &[FileId]) -> u64 {
        if let Some(bucket) = &self.bucket {
            return bucket.remove(ids.iter().map(name).collect()).await;
        }
        let mut removed = 0;
        for id in ids {
            match fs::remove_file(self.kept.join(name(id))).await {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    tracing::warn!(%error, file = id.as_str(), "could not delete a file");
                }
                _ => removed += 1,
            }
        }
        removed
    }
}

fn note_full<T>(full: &AtomicBool, result: Result<T, Error>) -> Result<T, Error> {
    if let Err(Error::Disk(error)) = &result
        && is_full(error)
    {
        full.store(true, Relaxed);
    }
    result
}

fn unusable(bucket: &Bucket) -> impl FnOnce(Error) -> Error {
    let place = bucket.to_string();
    |cause| Error::Unusable { place, cause: Box::new(cause) }
}

/// Whether a file ended with this error because it has not the size that its row says.
pub(crate) fn is_damaged(cause: &std::io::Error) -> bool {
    matches!(cause.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData)
}

async fn make_folder(file: &Path) -> std::io::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    durable::make_folder_async(folder).await
}

/// An upload in progress. Its temporary file is deleted on drop, unless it was stored.
#[derive(Debug)]
pub struct Upload {
    id: FileId,
    file: BufWriter<File>,
    path: PathBuf,
    /// Bytes received so far.
    pub size: u64,
    /// `None` during a restore.
    counted: Option<InFlightBytes>,
    kept: bool,
    full: Arc<AtomicBool>,
}

impl Upload {
    #[must_use]
    pub fn id(&self) -> &FileId {
        &self.id
    }

    /// Adds bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Some(counted) = &mut self.counted {
            counted.add(bytes.len())?;
        }
        self.size += bytes.len() as u64;
        note_full(&self.full, self.file.write_all(bytes).await.map_err(Into::into))
    }

    /// Flushes and returns the path of the bytes.
    pub async fn written(&mut self) -> Result<&Path, Error> {
        self.file.flush().await?;
        Ok(&self.path)
    }

    /// Reads all bytes back.
    pub async fn read(&mut self) -> Result<Vec<u8>, Error> {
        Ok(fs::read(self.written().await?).await?)
    }

    /// Moves the file to its final path and flushes it to disk.
    async fn persist(mut self, end: &Path) -> Result<(), Error> {
        self.file.get_ref().sync_all().await?;
        make_folder(end).await?;
        durable::rename_async(&self.path, end).await?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if !self.kept {
            // If this fails, the sweep removes it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

//! Where the bytes of files lie, under their ids: below the data folder, or in a bucket. They are there, and safe,
//! before a row names them, and go after it is gone; what a crash leaves in between is swept later. Whatever arrives
//! comes to the data folder first, where it is counted and checked.

mod bucket;
mod sweep;

use std::io::{ErrorKind, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::body::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use tandem_app::keys::hex;
use tandem_core::FileId;
use tandem_store::Store;
use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _, BufWriter};
use tokio::sync::Semaphore;

use crate::config::Config;
use crate::hub::hub_secret;
use bucket::Bucket;
pub(crate) use sweep::{old, remove_orphans, sweep};

/// How many bytes are read or written at once: each time costs a hop to another thread.
const PIECE: usize = 256 * 1024;
/// How many uploads are held in memory at once; further ones wait.
const IN_MEMORY_MAX: usize = 2;
/// The folder of what is on its way in.
const ARRIVING: &str = "arriving";
/// How long who has deleted something waits until its bytes are gone from a bucket; they go in any case.
const REMOVAL_WAIT: Duration = Duration::from_secs(2);

/// Why bytes cannot be had or kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The machine's own disk.
    #[error(transparent)]
    Disk(#[from] std::io::Error),
    /// They are not there.
    #[error("the bytes are not there")]
    Missing,
    /// The store does not answer, or refuses.
    #[error("{0}")]
    Bucket(String),
    /// The same, before anything begins.
    #[error(
        "cannot keep files in {place}: {cause}. Check files_bucket, files_prefix, files_endpoint, AWS_REGION and \
         the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, which must allow to list, get, put and delete"
    )]
    Unusable {
        /// Which bucket.
        place: String,
        /// Why.
        cause: Box<Error>,
    },
    /// The database did not tell whose files these are.
    #[error(transparent)]
    App(#[from] tandem_app::Error),
}

/// Names in a place, and since when.
type Listed = BoxStream<'static, Result<(String, SystemTime), Error>>;
/// A file's bytes, one piece after the other.
pub(crate) type Pieces = BoxStream<'static, std::io::Result<Bytes>>;

/// The files of a hub.
#[derive(Debug)]
pub struct Files {
    /// Where they arrive; and where they stay, unless there is a bucket.
    root: PathBuf,
    bucket: Option<Arc<Bucket>>,
    /// Room for uploads that are read whole.
    pub(crate) in_memory: Arc<Semaphore>,
}

/// The name of a file in its place: spread over folders by the end of the id, which is random.
fn name(id: &FileId) -> String {
    let text = id.as_str();
    let end = text.get(text.len().saturating_sub(2)..).unwrap_or("00");
    format!("{end}/{text}")
}

impl Files {
    /// The files of a hub with these settings.
    pub(crate) fn of(config: &Config) -> Result<Self, Error> {
        let unusable = |cause| Error::Unusable { place: config.files_bucket.clone(), cause: Box::new(cause) };
        let bucket = match config.files_bucket.as_str() {
            "" => None,
            _ => Some(Arc::new(Bucket::of(config).map_err(unusable)?)),
        };
        Ok(Self {
            root: config.data.join("files"),
            bucket,
            in_memory: Arc::new(Semaphore::new(IN_MEMORY_MAX)),
        })
    }

    /// Makes sure that the bucket can be used, and by nobody but the hub with this database.
    pub(crate) async fn claim(&self, store: &Store) -> Result<(), Error> {
        let Some(bucket) = &self.bucket else { return Ok(()) };
        let owner = hub_secret(store, "files").await?;
        bucket.claim(&hex(&owner)).await.map_err(unusable(bucket))
    }

    /// The bucket, if there is one and something lies in it.
    pub(crate) async fn occupied_bucket(&self) -> Result<Option<String>, Error> {
        let Some(bucket) = &self.bucket else { return Ok(None) };
        let is_empty = bucket.is_empty().await.map_err(unusable(bucket))?;
        Ok((!is_empty).then(|| bucket.to_string()))
    }

    fn arriving(&self, id: &FileId) -> PathBuf {
        self.root.join(ARRIVING).join(id.as_str())
    }

    /// Where a file lies, for people.
    pub(crate) fn whereabouts(&self, id: &FileId) -> String {
        match &self.bucket {
            None => self.root.join(name(id)).display().to_string(),
            Some(bucket) => format!("{bucket}/{}", name(id)),
        }
    }

    /// Begins a file.
    pub(crate) async fn begin(&self, id: &FileId) -> Result<Arriving, Error> {
        let path = self.arriving(id);
        make_folder(&path).await?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        options.mode(0o600);
        let file = options.open(&path).await?;
        let file = BufWriter::with_capacity(PIECE, file);
        Ok(Arriving { id: id.clone(), file, path, size: 0, kept: false })
    }

    /// Puts a file that has arrived in its place, safely.
    pub(crate) async fn keep(&self, mut arriving: Arriving) -> Result<(), Error> {
        arriving.file.flush().await?;
        let name = name(&arriving.id);
        let Some(bucket) = &self.bucket else { return arriving.settle(&self.root.join(name)).await };
        let bucket = Arc::clone(bucket);
        // To its end even if nobody waits for it any more: half an upload would stay in the store unseen.
        let put = tokio::spawn(async move {
            let from = File::open(&arriving.path).await?;
            bucket.put(&name, from, arriving.size).await
        });
        put.await.unwrap_or_else(|panic| Err(Error::Disk(std::io::Error::other(panic))))
    }

    /// Reads a file, or a part of it: where it begins, and how long it is.
    pub(crate) async fn read(&self, id: &FileId, part: Option<(u64, u64)>) -> Result<Pieces, Error> {
        if let Some(bucket) = &self.bucket {
            return bucket.read(&name(id), part).await;
        }
        let mut file = match File::open(self.root.join(name(id))).await {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(Error::Missing),
            opened => opened?,
        };
        if let Some((from, _)) = part {
            file.seek(SeekFrom::Start(from)).await?;
        }
        let length = part.map_or(u64::MAX, |(_, length)| length);
        let pieces = stream::try_unfold((file, length), |(mut file, left)| async move {
            let mut piece = vec![0; PIECE.min(usize::try_from(left).unwrap_or(PIECE))];
            let count = file.read(&mut piece).await?;
            piece.truncate(count);
            Ok((count > 0).then(|| (Bytes::from(piece), (file, left - count as u64))))
        });
        Ok(pieces.boxed())
    }

    /// Removes files whose rows are gone. What fails is left to the sweep, and a bucket that keeps us waiting goes on
    /// alone: nobody's answer depends on it.
    pub(crate) async fn remove(&self, ids: &[FileId]) {
        let Some(bucket) = self.bucket.as_ref().filter(|_| !ids.is_empty()) else {
            self.remove_now(ids).await;
            return;
        };
        let (bucket, names) = (Arc::clone(bucket), ids.iter().map(name).collect());
        let removal = tokio::spawn(async move { bucket.remove(names).await });
        let _ = tokio::time::timeout(REMOVAL_WAIT, removal).await;
    }

    /// Removes files and waits for the end; tells how many are gone.
    async fn remove_now(&self, ids: &[FileId]) -> u64 {
        if let Some(bucket) = &self.bucket {
            return bucket.remove(ids.iter().map(name).collect()).await;
        }
        let mut gone = 0;
        for id in ids {
            match fs::remove_file(self.root.join(name(id))).await {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    tracing::warn!(%error, file = id.as_str(), "could not remove a file");
                }
                _ => gone += 1,
            }
        }
        gone
    }
}

fn unusable(bucket: &Bucket) -> impl FnOnce(Error) -> Error {
    let place = bucket.to_string();
    |cause| Error::Unusable { place, cause: Box::new(cause) }
}

async fn make_folder(file: &Path) -> std::io::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    builder.mode(0o700);
    builder.create(folder).await
}

/// A file on its way in. Unless it stays in the folder, it goes with this.
#[derive(Debug)]
pub(crate) struct Arriving {
    id: FileId,
    file: BufWriter<File>,
    path: PathBuf,
    pub(crate) size: u64,
    kept: bool,
}

impl Arriving {
    /// Adds bytes.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.size += bytes.len() as u64;
        Ok(self.file.write_all(bytes).await?)
    }

    /// Where its bytes are, all written.
    pub(crate) async fn written(&mut self) -> Result<&Path, Error> {
        self.file.flush().await?;
        Ok(&self.path)
    }

    /// All its bytes again.
    pub(crate) async fn read(&mut self) -> Result<Vec<u8>, Error> {
        Ok(fs::read(self.written().await?).await?)
    }

    /// Puts it in its place in the folder, on the disk.
    async fn settle(mut self, end: &Path) -> Result<(), Error> {
        self.file.get_ref().sync_all().await?;
        make_folder(end).await?;
        fs::rename(&self.path, end).await?;
        self.kept = true;
        if let Some(folder) = end.parent() {
            File::open(folder).await?.sync_all().await?;
        }
        Ok(())
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        if !self.kept {
            // If this fails, it is swept later.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

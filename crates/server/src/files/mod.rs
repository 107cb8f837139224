//! Where the bytes of files lie: below the data folder, under their ids. They are there, and on the disk, before
//! a row names them, and go after it is gone; what a crash leaves in between is swept at the next start.

mod sweep;

use std::io::SeekFrom;
use std::path::{Path, PathBuf};

use axum::body::{Body, Bytes};
use futures_util::stream;
use tandem_core::FileId;
use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _, BufWriter};
use tokio::sync::Semaphore;

pub(crate) use sweep::{SweepError, remove_orphans, sweep};

/// How many bytes are read or written at once: each time costs a hop to another thread.
const PIECE: usize = 256 * 1024;
/// How many uploads are held in memory at once; further ones wait.
const IN_MEMORY_MAX: usize = 2;

/// A folder of files.
#[derive(Debug)]
pub struct Files {
    pub(crate) root: PathBuf,
    /// Room for uploads that are read whole.
    pub(crate) in_memory: Semaphore,
}

impl Files {
    /// The files below a data folder.
    #[must_use]
    pub fn below(data: &Path) -> Self {
        Self { root: data.join("files"), in_memory: Semaphore::new(IN_MEMORY_MAX) }
    }

    fn arriving(&self, id: &FileId) -> PathBuf {
        self.root.join("arriving").join(id.as_str())
    }

    /// Spread over folders by the end of the id, which is random.
    pub(crate) fn place(&self, id: &FileId) -> PathBuf {
        let text = id.as_str();
        let end = text.get(text.len().saturating_sub(2)..).unwrap_or("00");
        self.root.join(end).join(text)
    }

    /// Begins a file.
    pub(crate) async fn begin(&self, id: &FileId) -> std::io::Result<Arriving> {
        let path = self.arriving(id);
        make_folder(&path).await?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        options.mode(0o600);
        let file = options.open(&path).await?;
        let file = BufWriter::with_capacity(PIECE, file);
        Ok(Arriving { file, path, end: self.place(id), size: 0, kept: false })
    }

    /// Opens a file.
    pub(crate) async fn open(&self, id: &FileId) -> std::io::Result<File> {
        File::open(self.place(id)).await
    }

    /// Removes files. One that is not there is gone already; any other failure leaves it to the next start.
    pub(crate) async fn remove(&self, ids: &[FileId]) {
        for id in ids {
            match fs::remove_file(self.place(id)).await {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    tracing::warn!(%error, file = id.as_str(), "could not remove a file");
                }
                _ => {}
            }
        }
    }
}

async fn make_folder(file: &Path) -> std::io::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    builder.mode(0o700);
    builder.create(folder).await
}

/// A file on its way in. Unless it is kept, it goes with this.
#[derive(Debug)]
pub(crate) struct Arriving {
    file: BufWriter<File>,
    path: PathBuf,
    end: PathBuf,
    pub(crate) size: u64,
    kept: bool,
}

impl Arriving {
    /// Adds bytes.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.size += bytes.len() as u64;
        self.file.write_all(bytes).await
    }

    /// Where its bytes are, all written.
    pub(crate) async fn written(&mut self) -> std::io::Result<&Path> {
        self.file.flush().await?;
        Ok(&self.path)
    }

    /// Puts it in its place, on the disk.
    pub(crate) async fn keep(mut self) -> std::io::Result<()> {
        self.file.flush().await?;
        self.file.get_ref().sync_all().await?;
        make_folder(&self.end).await?;
        fs::rename(&self.path, &self.end).await?;
        self.kept = true;
        if let Some(folder) = self.end.parent() {
            File::open(folder).await?.sync_all().await?;
        }
        Ok(())
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        if !self.kept {
            // If this fails, the next start sweeps it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A part of a file, as the body of an answer.
pub(crate) async fn body(mut file: File, from: u64, length: u64) -> std::io::Result<Body> {
    if from > 0 {
        file.seek(SeekFrom::Start(from)).await?;
    }
    let pieces = stream::try_unfold((file, length), |(mut file, left)| async move {
        if left == 0 {
            return Ok::<_, std::io::Error>(None);
        }
        let mut piece = vec![0; PIECE.min(usize::try_from(left).unwrap_or(PIECE))];
        let count = file.read(&mut piece).await?;
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        piece.truncate(count);
        Ok(Some((Bytes::from(piece), (file, left - count as u64))))
    });
    Ok(Body::from_stream(pieces))
}

//! Files that get their name when they are complete.

use std::io;
use std::path::{Path, PathBuf};

use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};

use super::file_error;
use crate::Error;
use crate::call::random_key;

/// A file that is being written: under a random name in the folder where it will be, so that nothing half-written has
/// its name. Until [`finish`](Self::finish) gives it that name, dropping it removes it.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    temporary: Temporary,
    to: PathBuf,
    overwrite: bool,
}

impl NewFile {
    /// Creates a file. One that exists under its name is an error, unless it is to be overwritten.
    pub async fn create(to: &Path, overwrite: bool) -> Result<Self, Error> {
        Self::with(to, overwrite, OpenOptions::new()).await
    }

    /// Creates a file that only its owner can read, for secrets.
    pub async fn create_private(to: &Path, overwrite: bool) -> Result<Self, Error> {
        let mut options = OpenOptions::new();
        options.mode(0o600);
        Self::with(to, overwrite, options).await
    }

    async fn with(to: &Path, overwrite: bool, mut options: OpenOptions) -> Result<Self, Error> {
        if !overwrite && fs::symlink_metadata(to).await.is_ok() {
            return Err(exists(to));
        }
        let temporary = Temporary::beside(to);
        let created = options.write(true).create_new(true).open(&temporary.0).await;
        let file = created.map_err(|cause| file_error("cannot create", &temporary.0, cause))?;
        Ok(Self { file, temporary, to: to.to_owned(), overwrite })
    }

    /// Appends bytes.
    pub async fn write(&mut self, piece: &[u8]) -> Result<(), Error> {
        self.file.write_all(piece).await.map_err(|cause| file_error("cannot write", &self.to, cause))
    }

    /// Removes what was written so far.
    pub(super) async fn restart(&mut self) -> Result<(), Error> {
        let emptied = async {
            self.file.set_len(0).await?;
            self.file.seek(io::SeekFrom::Start(0)).await
        };
        emptied.await.map(|_| ()).map_err(|cause| file_error("cannot write", &self.to, cause))
    }

    /// Brings the file to the disk and gives it its name.
    pub async fn finish(mut self) -> Result<(), Error> {
        let written = async {
            self.file.flush().await?;
            self.file.sync_all().await
        };
        written.await.map_err(|cause| file_error("cannot write", &self.to, cause))?;
        let (temporary, to) = (&self.temporary.0, &self.to);
        let named = if self.overwrite { fs::rename(temporary, to).await } else { link(temporary, to).await };
        named.map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => exists(to),
            _ => file_error("cannot write", to, cause),
        })?;
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // A name that is not yet on the disk is lost with the power. Not every system can synchronise a folder.
        if let Ok(folder) = File::open(folder).await {
            let _ = folder.sync_all().await;
        }
        Ok(())
    }
}

/// Gives a file its name, unless a file with that name has appeared.
async fn link(temporary: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(temporary, to).await {
        Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => {
            // The file system has no hard links.
            if fs::symlink_metadata(to).await.is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            fs::rename(temporary, to).await
        }
        linked => linked,
    }
}

fn exists(path: &Path) -> Error {
    let cause = io::Error::new(io::ErrorKind::AlreadyExists, "a file with this name exists");
    file_error("cannot write", path, cause)
}

/// The name under which a file is written. It is removed in the end; it is gone by then if the file was renamed.
#[derive(Debug)]
struct Temporary(PathBuf);

impl Temporary {
    fn beside(to: &Path) -> Self {
        let name = to.file_name().map_or_else(|| "download".into(), |name| name.to_string_lossy());
        // A long name with an ending may be too long for the file system.
        let name: String = name.chars().take(40).collect();
        Self(to.with_file_name(format!(".{name}.{}.part", random_key())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

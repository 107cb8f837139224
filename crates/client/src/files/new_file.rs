//! Files that get their name when they are complete.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tokio::fs::{self, File};
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};

use super::{blocking, file_error};
use crate::Error;
use tandem_disk::{Draft, PRIVATE, USUAL};

/// A file that is being written: under a random name in the folder where it will be, so that nothing half-written has
/// its name. Until [`finish`](Self::finish) gives it that name, dropping it removes it.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    draft: Draft,
    to: PathBuf,
    overwrite: bool,
}

impl NewFile {
    /// Creates a file. One that exists under its name is an error, unless it is to be overwritten.
    pub async fn create(to: &Path, overwrite: bool) -> Result<Self, Error> {
        Self::with_mode(to, overwrite, USUAL).await
    }

    /// Creates a file that only its owner can read, for secrets.
    pub async fn create_private(to: &Path, overwrite: bool) -> Result<Self, Error> {
        Self::with_mode(to, overwrite, PRIVATE).await
    }

    async fn with_mode(to: &Path, overwrite: bool, mode: u32) -> Result<Self, Error> {
        if !overwrite && fs::symlink_metadata(to).await.is_ok() {
            return Err(exists(to));
        }
        let target = to.to_owned();
        let created = blocking(move || {
            let draft = Draft::of(&target, mode_of_new(&target, mode)?)?;
            Ok((draft.file().try_clone()?, draft))
        });
        let (file, draft) = created.await.map_err(|cause| file_error("cannot create", to, cause))?;
        Ok(Self { file: File::from_std(file), draft, to: to.to_owned(), overwrite })
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
    pub async fn finish(self) -> Result<(), Error> {
        let Self { mut file, draft, to, overwrite } = self;
        let named = async {
            file.flush().await?;
            file.sync_all().await?;
            blocking(move || if overwrite { draft.publish() } else { draft.publish_new() }).await
        };
        named.await.map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => exists(&to),
            _ => file_error("cannot write", &to, cause),
        })
    }
}

/// The permissions of a new version of this file: never more than the old version had. A link is replaced and not followed.
/// A device or a pipe cannot have a new version.
fn mode_of_new(to: &Path, mode: u32) -> io::Result<u32> {
    let found = match std::fs::symlink_metadata(to) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(mode),
        found => found?,
    };
    match found.file_type() {
        kind if kind.is_symlink() => Ok(mode),
        kind if kind.is_file() => Ok(mode & found.permissions().mode()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

fn exists(path: &Path) -> Error {
    let cause = io::Error::new(io::ErrorKind::AlreadyExists, "a file with this name exists");
    file_error("cannot write", path, cause)
}

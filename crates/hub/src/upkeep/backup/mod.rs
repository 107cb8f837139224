//! Backup and restore: all rows and all stored files of a hub in one archive, for both databases.
//!
//! The archive is a plain tar file, so standard tools can read it. Its last members are the manifest, which lists all
//! others with their sizes and hashes, and the hash of the manifest. An archive that was cut off has neither. This
//! code blocks: it is for the command line, not for the threads of a hub.

mod archive;
mod bytes;
mod manifest;
mod restore;
mod row;
mod write;

use std::path::PathBuf;

pub use restore::restore;
pub use write::backup;

/// Why a backup or a restore failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder cannot be used.
    #[error("{path}: {cause}")]
    Disk { path: PathBuf, cause: std::io::Error },
    /// The database cannot be used.
    #[error("cannot use the database: {0}")]
    Store(#[from] tandem_store::Error),
    /// A stored file cannot be read or written.
    #[error("{place}: {cause}")]
    File { place: String, cause: crate::files::Error },
    /// The data folder is locked, or the setting names no database.
    #[error(transparent)]
    Start(#[from] crate::start::Error),
    /// The backup or restore was refused; nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// The archive is damaged or incomplete.
    #[error("{path} is damaged or cut off: {why}; nothing was restored")]
    Damaged { path: PathBuf, why: String },
    /// The restore started and failed.
    #[error(
        "the restore failed: {0}. The target is unusable: empty the database, the data folder and the bucket, if there \
         is one, before trying again"
    )]
    HalfDone(Box<Error>),
}

impl Error {
    fn disk(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Disk { path, cause }
    }
}

/// Progress, reported from time to time.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    pub what: &'a str,
    /// Units done.
    pub done: u64,
    /// Units in total.
    pub total: u64,
}

/// The callback for progress.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress<'_>);

/// The content of an archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rows of all tables.
    pub rows: u64,
    pub files: u64,
    /// Size of the archive in bytes.
    pub bytes: u64,
    /// Files that were deleted while the backup ran.
    pub deleted_files: u64,
}

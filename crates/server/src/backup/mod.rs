//! A hub as one file, and back: every row and the bytes of every file, whatever the database.
//!
//! The archive is a plain tar, so that it can be looked into with tools that everybody has. Its last members are
//! the manifest, which names all others with their sizes and hashes, and the manifest's own hash: an archive that
//! was cut off has neither. All of this blocks; it is for the command line, not for a hub's threads.

mod archive;
mod bytes;
mod manifest;
mod restore;
mod row;
mod write;

use std::path::PathBuf;

pub use restore::restore;
pub use write::backup;

/// Why a backup or a restore did not come about.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder cannot be used.
    #[error("{path}: {cause}")]
    Disk {
        /// Which one.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// The database cannot be used.
    #[error("cannot use the database: {0}")]
    Store(#[from] tandem_store::Error),
    /// The bytes of a file cannot be read or kept.
    #[error("{place}: {cause}")]
    File {
        /// Where they lie.
        place: String,
        /// Why.
        cause: crate::files::Error,
    },
    /// The place is not free, or names no database.
    #[error(transparent)]
    Start(#[from] crate::start::Error),
    /// It is refused; nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// The archive is not what was written.
    #[error("{path} is damaged or cut off: {why}; nothing was restored")]
    Damaged {
        /// Which archive.
        path: PathBuf,
        /// What does not fit.
        why: String,
    },
    /// A restore began and failed.
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

/// How far it is, told now and then.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// What is being done.
    pub what: &'a str,
    /// How much of it is done.
    pub done: u64,
    /// How much there is in all.
    pub total: u64,
}

/// Who is told.
pub type Told<'a> = &'a mut dyn FnMut(Progress<'_>);

/// What an archive holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rows of all tables.
    pub rows: u64,
    /// Files.
    pub files: u64,
    /// Bytes of the archive.
    pub bytes: u64,
    /// Files that went while the backup was made.
    pub gone: u64,
}

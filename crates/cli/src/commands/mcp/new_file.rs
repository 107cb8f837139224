//! Files that the bridge writes: in the folder whose handle was checked, and under their name only when they are complete.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use tandem_disk::{Draft, USUAL};

/// A file that may be written.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) folder: OwnedFd,
    pub(super) name: OsString,
    /// The path from the working folder, for results.
    pub(super) path: PathBuf,
    pub(super) overwrite: bool,
}

/// A file that is being written. It is removed when it is dropped, unless it has got its name.
#[derive(Debug)]
pub(super) struct Unfinished {
    draft: Draft,
    path: PathBuf,
    overwrite: bool,
}

impl Target {
    /// Begins to write it.
    pub(super) fn begin(self) -> io::Result<Unfinished> {
        let draft = Draft::in_folder(self.folder, Path::new(&self.name), USUAL)?;
        Ok(Unfinished { draft, path: self.path, overwrite: self.overwrite })
    }
}

impl Unfinished {
    /// A second handle for the content.
    pub(super) fn file(&self) -> io::Result<File> {
        self.draft.file().try_clone()
    }

    /// Brings the content to the disk and gives the file its name. Returns the path from the working folder.
    pub(super) fn finish(self) -> io::Result<PathBuf> {
        self.draft.file().sync_all()?;
        if self.overwrite {
            self.draft.publish()?
        } else {
            self.draft.publish_new()?
        }
        Ok(self.path)
    }
}

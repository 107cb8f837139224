//! Files that the bridge writes: under a temporary name first, in the folder whose handle was checked, so that nobody sees
//! half of a file.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, Mode, OFlags, linkat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

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
    target: Target,
    temporary: OsString,
    file: File,
}

impl Target {
    /// Creates the temporary file.
    pub(super) fn begin(self) -> io::Result<Unfinished> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|_| io::Error::other("no randomness"))?;
        let temporary = OsString::from(format!(".tandem-{:016x}.part", u64::from_be_bytes(random)));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.folder, &temporary, flags, Mode::from_raw_mode(0o666))?;
        Ok(Unfinished { target: self, temporary, file: file.into() })
    }
}

impl Unfinished {
    /// A second handle for the content.
    pub(super) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Brings the content to the disk and gives the file its name. Returns the path from the working folder.
    pub(super) fn finish(self) -> io::Result<PathBuf> {
        self.file.sync_all()?;
        let Target { folder, name, path, overwrite } = &self.target;
        if *overwrite {
            renameat(folder, &self.temporary, folder, name)?;
        } else {
            self.name_once()?;
        }
        // A name that is not yet on the disk is lost with the power. Not every system can synchronise a folder.
        let _ = rustix::fs::fsync(folder);
        Ok(path.clone())
    }

    /// Gives the file its name, unless a file with that name has appeared.
    fn name_once(&self) -> io::Result<()> {
        let Target { folder, name, .. } = &self.target;
        match linkat(folder, &self.temporary, folder, name, AtFlags::empty()) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => Err(io::ErrorKind::AlreadyExists.into()),
            // The file system has no hard links.
            Err(_) => match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(_) => Ok(renameat(folder, &self.temporary, folder, name)?),
            },
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After a rename it is gone.
        let _ = unlinkat(&self.target.folder, &self.temporary, AtFlags::empty());
    }
}

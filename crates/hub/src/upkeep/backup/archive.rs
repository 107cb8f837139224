//! Writing the archive file. Members are hashed while they are written. The file gets its name only when it is
//! complete and flushed to disk.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use tandem_app::keys::{Hashing, hex};
use tandem_core::Timestamp;

use super::Error;
use super::manifest::Member;

/// Buffer size for copying.
pub(super) const CHUNK_BYTES: usize = 256 * 1024;

/// An unfinished archive. It is deleted on drop, unless [`ArchiveWriter::keep`] was called.
pub(super) struct ArchiveWriter {
    tar: tar::Builder<File>,
    path: PathBuf,
    part: PathBuf,
    seconds: u64,
    kept: bool,
}

impl ArchiveWriter {
    /// Starts an archive under a temporary name next to its final path, readable by its owner only.
    pub(super) fn begin(path: &Path, now: Timestamp) -> Result<Self, Error> {
        refuse_existing(path)?;
        let mut name = path.as_os_str().to_owned();
        name.push(".part");
        let part = PathBuf::from(name);
        remove_abandoned(&part)?;
        // Always a new file: an existing one, or the target of a link, may be somebody else's.
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let file = options.open(&part).map_err(Error::disk(&part))?;
        lock(&file, &part)?;
        // Another backup may have taken the file for abandoned before it was locked.
        let (found, own) = (part.symlink_metadata(), file.metadata().map_err(Error::disk(&part))?);
        if !found.is_ok_and(|found| (found.dev(), found.ino()) == (own.dev(), own.ino())) {
            return Err(another_backup(&part));
        }
        let seconds = u64::try_from(now.0 / 1_000).unwrap_or(0);
        Ok(Self { tar: tar::Builder::new(file), path: path.to_owned(), part, seconds, kept: false })
    }

    /// The temporary path.
    pub(super) fn part(&self) -> &Path {
        &self.part
    }

    /// Adds a member; `write` writes its content.
    pub(super) fn member(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut HashingWriter<'_>) -> Result<(), Error>,
    ) -> Result<Member, Error> {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o600);
        header.set_mtime(self.seconds);
        header.set_entry_type(tar::EntryType::Regular);
        let entry = self.tar.append_writer(&mut header, name).map_err(Error::disk(&self.part))?;
        let mut hashed = HashingWriter { entry, hash: Hashing::default(), size: 0 };
        write(&mut hashed)?;
        let HashingWriter { entry, hash, size } = hashed;
        entry.finish().map_err(Error::disk(&self.part))?;
        Ok(Member { name: name.to_owned(), size, sha256: hex(&hash.finish()) })
    }

    /// Finishes the archive and renames it to its final path. Returns its size.
    pub(super) fn keep(mut self) -> Result<u64, Error> {
        self.tar.finish().map_err(Error::disk(&self.part))?;
        let file = self.tar.get_ref();
        let size = file.sync_all().and_then(|()| file.metadata()).map_err(Error::disk(&self.part))?.len();
        refuse_existing(&self.path)?;
        tandem_disk::rename(&self.part, &self.path).map_err(Error::disk(&self.path))?;
        self.kept = true;
        Ok(size)
    }
}

impl Drop for ArchiveWriter {
    fn drop(&mut self) {
        if !self.kept {
            // If this fails, the next backup to the same path overwrites the file.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

/// Removes what a killed backup left.
fn remove_abandoned(part: &Path) -> Result<(), Error> {
    match part.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::disk(part)(error)),
        Ok(found) if !found.is_file() => {
            let why = format!("{} is there and is not a file; remove it", part.display());
            return Err(Error::Refused(why));
        }
        Ok(_) => {}
    }
    let file = OpenOptions::new().write(true).open(part).map_err(Error::disk(part))?;
    lock(&file, part)?;
    std::fs::remove_file(part).map_err(Error::disk(part))
}

fn lock(file: &File, part: &Path) -> Result<(), Error> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(another_backup(part)),
        Err(TryLockError::Error(cause)) => Err(Error::disk(part)(cause)),
    }
}

fn another_backup(part: &Path) -> Error {
    Error::Refused(format!("another backup is writing {}", part.display()))
}

fn refuse_existing(path: &Path) -> Result<(), Error> {
    if path.symlink_metadata().is_ok() {
        return Err(Error::Refused(format!(
            "{} is there already; a backup never writes over a file: choose another name",
            path.display()
        )));
    }
    Ok(())
}

/// Flushes the names in a folder to disk.
pub(super) fn sync_folder(folder: &Path) -> Result<(), Error> {
    tandem_disk::sync_folder(folder).map_err(Error::disk(folder))
}

/// Hashes and counts what is written to a member.
pub(super) struct HashingWriter<'a> {
    entry: tar::EntryWriter<'a>,
    hash: Hashing,
    size: u64,
}

impl Write for HashingWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.entry.write(bytes)?;
        self.hash.add(bytes.get(..count).unwrap_or_default());
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.entry.flush()
    }
}

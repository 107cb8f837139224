//! Files that contain secrets: written as a whole or not at all, readable only by their owner.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use tandem_disk::{never_wait, open_regular, read_open, replace};

use crate::exit::{Failure, Outcome};

/// A profile is a few hundred bytes; a longer file is something else.
const BYTES_MAX: u64 = 64 * 1024;

/// Reads a file that only its owner can read; `None` if it does not exist.
///
/// `replace` says how to replace the secret, if others may have read it.
pub(crate) fn read_secret(path: &Path, replace: &str) -> Outcome<Option<String>> {
    let failed = |cause: std::io::Error| Failure::refused(format!("cannot read {}: {cause}", path.display()));
    let file = match open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    refuse_exposed(path, &file, replace)?;
    let bytes = read_open(&file, BYTES_MAX).map_err(failed)?;
    String::from_utf8(bytes).map(Some).map_err(|cause| failed(std::io::Error::other(cause)))
}

/// Replaces a file: the new content is written beside it, synchronised and renamed.
pub(crate) fn write_secret(path: &Path, text: &str) -> Outcome {
    let failed =
        |cause: std::io::Error| Failure::refused(format!("cannot write {}: {cause}", path.display()));
    let Some(folder) = path.parent() else { return Err(Failure::refused("the file has no folder")) };
    create_private(folder).map_err(failed)?;
    replace(path, text.as_bytes()).map_err(failed)
}

/// Locks a file that exists for this purpose; `None` if another process has it.
pub(crate) fn try_lock(path: &Path) -> Outcome<Option<File>> {
    let failed =
        |cause: std::io::Error| Failure::refused(format!("cannot write {}: {cause}", path.display()));
    if let Some(folder) = path.parent() {
        create_private(folder).map_err(failed)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    never_wait(&mut options);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(cause)) => Err(failed(cause)),
    }
}

/// Creates a folder, and its parents, for this user only.
pub(crate) fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Checks the open file and not the path, which could name another file by now.
fn refuse_exposed(path: &Path, file: &File, replace: &str) -> Outcome {
    let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata()?) & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    Err(Failure::refused(format!(
        "{} contains a secret, but others can read it (mode {mode:o})",
        path.display()
    ))
    .next(format!("Close it with `chmod 600 {}`; if others may have read it, {replace}.", path.display())))
}

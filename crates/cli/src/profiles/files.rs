//! Files that contain secrets: written as a whole or not at all, readable only by their owner.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;

use crate::exit::{Failure, Outcome};

/// A profile is a few hundred bytes; a longer file is something else.
const BYTES_MAX: u64 = 64 * 1024;

/// Reads a file that only its owner can read; `None` if it does not exist.
///
/// `replace` says how to replace the secret, if others may have read it.
pub(crate) fn read_secret(path: &Path, replace: &str) -> Outcome<Option<String>> {
    let failed = |cause: std::io::Error| Failure::refused(format!("cannot read {}: {cause}", path.display()));
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    refuse_exposed(path, &file, replace)?;
    let mut text = String::new();
    file.take(BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
    Ok(Some(text))
}

/// Replaces a file: the new content is written beside it, synchronised and renamed.
pub(crate) fn write_secret(path: &Path, text: &str) -> Outcome {
    let failed =
        |cause: std::io::Error| Failure::refused(format!("cannot write {}: {cause}", path.display()));
    let Some(folder) = path.parent() else { return Err(Failure::refused("the file has no folder")) };
    create_private(folder).map_err(failed)?;
    // A name that nobody can prepare, and never through a link.
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|cause| failed(std::io::Error::other(cause)))?;
    let beside = path.with_extension(format!("new-{:016x}", u64::from_ne_bytes(random)));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(&beside)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&beside, path))
        .and_then(|()| sync_folder(folder));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&beside);
    }
    written.map_err(failed)
}

/// Makes a rename survive a power failure: without it an older key could come back.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> std::io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Other systems cannot open a folder.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> std::io::Result<()> {
    Ok(())
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
    #[cfg(unix)]
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
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Checks the open file and not the path, which could name another file by now.
#[cfg(unix)]
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

/// Other systems have no permission bits to check.
#[cfg(not(unix))]
fn refuse_exposed(_: &Path, _: &File, _: &str) -> Outcome {
    Ok(())
}

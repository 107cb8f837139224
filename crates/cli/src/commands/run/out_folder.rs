//! The files that a worker leaves in `out/`. A process of its own may still be there and change the folder, and the
//! worker may be in a sandbox that the runner is not in: a link must never lead to another file of this machine. So each
//! file is opened relative to the opened folder, without following links, and only then looked at.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, Mode, OFlags, open, openat};
use tandem_core::files::FILE_BYTES_MAX;

/// The name of the folder in that of the run.
pub(super) const OUT: &str = "out";
/// Files that are sent back.
const FILES_MAX: usize = 20;
/// Files that are looked at.
const ENTRIES_MAX: usize = 10_000;

/// The files to send, by name, and the names of what is not sent: too many, too large, or no regular files.
pub(super) fn list(folder: &Path) -> (Vec<PathBuf>, Vec<String>) {
    let Ok(out) = open_out(folder) else { return (Vec::new(), Vec::new()) };
    let Ok(entries) = Dir::read_from(&out) else { return (Vec::new(), Vec::new()) };
    let is_entry = |name: &[u8]| !matches!(name, b"." | b"..");
    let names = entries.flatten().map(|entry| entry.file_name().to_bytes().to_vec());
    let mut names: Vec<Vec<u8>> = names.filter(|name| is_entry(name)).take(ENTRIES_MAX).collect();
    names.sort();
    let (mut files, mut left_out) = (Vec::new(), Vec::new());
    for name in names {
        match String::from_utf8(name) {
            Ok(name) if files.len() < FILES_MAX && open_in(&out, &name).is_ok() => {
                files.push(folder.join(OUT).join(name));
            }
            Ok(name) => left_out.push(name),
            Err(name) => left_out.push(String::from_utf8_lossy(name.as_bytes()).into_owned()),
        }
    }
    (files, left_out)
}

/// Opens a file that [`list`] has named.
pub(super) fn open_listed(file: &Path) -> io::Result<File> {
    let name = file.file_name().and_then(|name| name.to_str());
    let folder = file.parent().and_then(Path::parent);
    match (name, folder) {
        (Some(name), Some(folder)) => open_in(&open_out(folder)?, name),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Opens the folder, unless the worker has put something else in its place.
fn open_out(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = open(folder, flags, Mode::empty())?;
    Ok(openat(&folder, OUT, flags, Mode::empty())?)
}

/// Opens a regular file. Without blocking: a pipe would wait for somebody who writes.
fn open_in(out: &OwnedFd, name: &str) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(out, name, flags, Mode::empty())?);
    let about = file.metadata()?;
    if !about.is_file() || about.len() > FILE_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is too large or no regular file"));
    }
    Ok(file)
}

//! The file of the pins.
//!
//! Every change happens under a lock on a second file beside it: the change reads the file again, applies itself, and
//! replaces the file by a rename. So two processes never lose each other's pins, and a reader never sees half a file. A
//! file that cannot be read is an error: an empty set of pins would trust every key again.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use super::pinned::Known;
use crate::Error;
use tandem_disk::replace;

/// A pin is about a kilobyte; a longer file is something else.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(super) fn failed(what: &'static str, path: &Path) -> impl Fn(io::Error) -> Error {
    move |cause| Error::File { what: format!("{what} {}", path.display()), cause }
}

pub(super) fn read(path: &Path) -> Result<Known, Error> {
    let cannot = failed("cannot read", path);
    let damaged = |why: String| Error::Pins { place: path.display().to_string(), why };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Known::default()),
        Err(error) => return Err(cannot(error)),
    };
    if let Some(mode) = loose_mode(&file).map_err(&cannot)? {
        return Err(damaged(format!("others may access it (mode {mode:o}); run `chmod 600` on it")));
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(&cannot)?;
    serde_json::from_slice(&bytes).map_err(|cause| damaged(cause.to_string()))
}

/// What changes when the file is replaced.
pub(super) type Version = (u64, i64, i64, u64);

/// The version of the file; `None` if there is none.
pub(super) fn version(path: &Path) -> Option<Version> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec(), found.len()))
}

pub(super) fn write(path: &Path, known: &Known) -> Result<(), Error> {
    let cannot = failed("cannot write", path);
    let json = serde_json::to_vec_pretty(known).map_err(|cause| cannot(cause.into()))?;
    // A longer one could not be read again. A hub can present names that grow when they are folded.
    if json.len() as u64 >= FILE_BYTES_MAX {
        return Err(Error::TooManyPins);
    }
    replace(path, &json).map_err(cannot)
}

/// Holds the lock until the file is dropped. It is a file of its own, because a rename replaces the other one.
pub(super) fn lock(path: &Path) -> io::Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(name)?;
    file.lock()?;
    Ok(file)
}

/// The mode of a file that others may read or write.
fn loose_mode(file: &File) -> io::Result<Option<u32>> {
    let mode = file.metadata()?.mode() & 0o777;
    Ok((mode & 0o077 != 0).then_some(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_read_again_is_not_written() {
        let path = std::env::temp_dir().join(format!("tandem-long-pins-{}", std::process::id()));
        let task = |number: u64| (format!("task_{number}").parse().unwrap(), None);
        let mut known = Known { tasks: vec![task(0)], ..Known::default() };
        write(&path, &known).unwrap();
        known.tasks = (0..FILE_BYTES_MAX / 40).map(task).collect();
        assert!(matches!(write(&path, &known), Err(Error::TooManyPins)));
        assert_eq!(read(&path).unwrap().tasks.len(), 1);
        std::fs::remove_file(path).unwrap();
    }
}

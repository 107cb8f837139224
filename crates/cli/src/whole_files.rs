//! Files that are read and replaced as a whole. A new version is written beside the file and renamed over it, so that a
//! reader sees the old or the new one. It knows nothing of what is in them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// In the name of a draft, after the name of its file.
const MARK: &str = ".tandem-new-";
/// Random digits at the end of the name of a draft.
const DIGITS: usize = 16;

/// A new version of a file, under a name of its own until it is complete. It is removed if it is dropped before.
#[derive(Debug)]
pub(crate) struct Draft {
    file: File,
    path: PathBuf,
    target: PathBuf,
    is_done: bool,
}

impl Draft {
    /// Creates a draft that only this user can read. Drafts of the same file that a killed process has left are removed.
    pub(crate) fn of(target: &Path) -> io::Result<Self> {
        remove_abandoned(target);
        loop {
            // A name that nobody can prepare, and never through a link.
            let mut random = [0; 8];
            getrandom::fill(&mut random).map_err(io::Error::other)?;
            let mut name = target.as_os_str().to_owned();
            name.push(format!("{MARK}{:0DIGITS$x}", u64::from_ne_bytes(random)));
            let path = PathBuf::from(name);
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = options.open(&path)?;
            let draft = Self { file, path, target: target.to_owned(), is_done: false };
            // The lock ends with the process: a draft without one is abandoned. Some file systems have no locks; there
            // nothing is taken for abandoned.
            let _ = draft.file.lock();
            // Another process may have seen the draft before it was locked.
            if draft.path.exists() {
                return Ok(draft);
            }
        }
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.file.sync_all()
    }

    /// Puts the draft in the place of the file.
    pub(crate) fn publish(mut self) -> io::Result<()> {
        fs::rename(&self.path, &self.target)?;
        self.is_done = true;
        self.target.parent().map_or(Ok(()), sync_folder)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_done {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes drafts of a file that killed processes have left. What cannot be removed stays, and that is no error.
pub(crate) fn remove_abandoned(target: &Path) {
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else { return };
    let Some(name) = name.to_str() else { return };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_draft = entry.file_name().to_str().is_some_and(|other| {
            let digits = other.strip_prefix(name).and_then(|rest| rest.strip_prefix(MARK));
            digits.is_some_and(|digits| {
                digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
        });
        if is_draft
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && let Ok(draft) = open_regular(&entry.path())
            && draft.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Opens a regular file for reading. Anything else is refused: opening a pipe waits for its writer, and a device may act.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let check = |found: fs::Metadata| match found.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file")),
    };
    check(fs::metadata(path)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    never_wait(&mut options);
    let file = options.open(path)?;
    // Something else may have taken its place in between.
    check(file.metadata()?)?;
    Ok(file)
}

/// Makes opening a pipe fail instead of waiting for its other end.
pub(crate) fn never_wait(options: &mut OpenOptions) {
    use rustix::fs::OFlags;
    // The bits fit: they are a C int.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags);
}

/// Reads a regular file that has at most so many bytes.
pub(crate) fn read_regular(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_open(&open_regular(path)?, bytes_max)
}

/// Reads the rest of an open file that has at most so many bytes.
pub(crate) fn read_open(file: &File, bytes_max: u64) -> io::Result<Vec<u8>> {
    // One byte more shows the end without another buffer.
    let expected = file.metadata()?.len().min(bytes_max) + 1;
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or_default());
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let what = format!("it has more than {bytes_max} bytes");
        return Err(io::Error::new(ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

/// Makes a rename survive a power failure: without it an older version could come back.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

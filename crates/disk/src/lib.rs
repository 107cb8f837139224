//! Files that are read and replaced as a whole. A new version is written beside the file and renamed over it, so that a
//! reader sees the old or the new one. It knows nothing of what is in them.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// In the name of a draft, after the name of its file.
const MARK: &str = ".tandem-new-";
/// Random digits at the end of the name of a draft.
const DIGITS: usize = 16;
/// Bytes of a file's name in the name of its draft. File systems refuse names of more than 255 bytes.
const NAME_BYTES_MAX: usize = 200;
const PRIVATE: u32 = 0o600;

/// A new version of a file, under a name of its own until it is complete. It is removed if it is dropped before.
#[derive(Debug)]
pub struct Draft {
    file: File,
    path: PathBuf,
    target: PathBuf,
}

impl Draft {
    /// Creates a draft that only this user can read. Drafts of the same file that a killed process has left are removed.
    pub fn of(target: &Path) -> io::Result<Self> {
        Self::with_mode(target, PRIVATE)
    }

    /// The same with other permission bits, less those of the umask.
    pub(crate) fn with_mode(target: &Path, mode: u32) -> io::Result<Self> {
        remove_abandoned(target);
        loop {
            // A name that nobody can prepare, and never through a link.
            let mut random = [0; 8];
            getrandom::fill(&mut random).map_err(io::Error::other)?;
            let mut name = name_in_draft(target);
            name.push(format!("{MARK}{:0DIGITS$x}", u64::from_ne_bytes(random)));
            let path = target.with_file_name(name);
            let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
            let draft = Self { file, path, target: target.to_owned() };
            // The lock ends with the process: a draft without one is abandoned. Some file systems have no locks; there
            // nothing is taken for abandoned.
            let _ = draft.file.lock();
            // Another process may have seen the draft before it was locked.
            if draft.path.exists() {
                return Ok(draft);
            }
        }
    }

    /// The open file of the draft.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Appends bytes and brings them to the disk.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.file.sync_all()
    }

    /// Puts the draft in the place of the file.
    pub fn publish(self) -> io::Result<()> {
        fs::rename(&self.path, &self.target)?;
        sync_folder(folder_of(&self.target))
    }

    /// Gives the draft the name of the file, unless there is a file with that name.
    pub(crate) fn publish_new(self) -> io::Result<()> {
        match fs::hard_link(&self.path, &self.target) {
            Ok(()) => {}
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => return Err(cause),
            Err(_) if fs::symlink_metadata(&self.target).is_ok() => {
                return Err(ErrorKind::AlreadyExists.into());
            }
            // The file system has no hard links.
            Err(_) => fs::rename(&self.path, &self.target)?,
        }
        sync_folder(folder_of(&self.target))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After a rename it is gone.
        let _ = fs::remove_file(&self.path);
    }
}

/// Replaces a file by one that only this user can read. When this returns, it survives a power failure.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::of(path)?;
    draft.write(bytes)?;
    draft.publish()
}

/// Removes drafts of a file that killed processes have left. What cannot be removed stays, and that is no error.
pub fn remove_abandoned(target: &Path) {
    let name = name_in_draft(target);
    let Some(name) = name.to_str() else { return };
    for entry in fs::read_dir(folder_of(target)).into_iter().flatten().flatten() {
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

fn name_in_draft(target: &Path) -> OsString {
    let name = target.file_name().unwrap_or_default();
    if name.len() <= NAME_BYTES_MAX {
        return name.to_owned();
    }
    let name = name.to_string_lossy();
    name[..name.floor_char_boundary(NAME_BYTES_MAX)].into()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens a regular file for reading. Anything else is refused: opening a pipe waits for its writer, and a device may act.
pub fn open_regular(path: &Path) -> io::Result<File> {
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
pub fn never_wait(options: &mut OpenOptions) {
    use rustix::fs::OFlags;
    // The bits fit: they are a C int.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    options.custom_flags(flags);
}

/// Reads a regular file that has at most so many bytes.
pub fn read_regular(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_open(&open_regular(path)?, bytes_max)
}

/// Reads the rest of an open file that has at most so many bytes.
pub fn read_open(file: &File, bytes_max: u64) -> io::Result<Vec<u8>> {
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
    use ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // A folder in which this user may write and not read, or a file system that cannot do it.
        Err(cause) if matches!(cause.kind(), InvalidInput | PermissionDenied | Unsupported) => Ok(()),
        synced => synced,
    }
}

//! Files that are read and replaced as a whole. A new version is written beside the file and renamed over it, so that a
//! reader, also one after a power failure, sees the old or the new one. It knows nothing of what is in them.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

/// In the name of a draft, after the name of its file.
const MARK: &str = ".tandem-new-";
/// Random digits at the end of the name of a draft.
const DIGITS: usize = 16;
/// Bytes of a file's name in the name of its draft. File systems refuse names of more than 255 bytes.
const NAME_BYTES_MAX: usize = 200;
/// Only the owner can read the file.
pub const PRIVATE: u32 = 0o600;
/// Everybody can, as far as the umask allows.
pub const USUAL: u32 = 0o666;

/// A new version of a file, under a name of its own until it is complete. It is removed if it is dropped before.
#[derive(Debug)]
pub struct Draft {
    file: File,
    /// The folder to which the paths belong, if it was opened.
    folder: Option<OwnedFd>,
    path: PathBuf,
    target: PathBuf,
}

impl Draft {
    /// Creates a draft with these permission bits, less those of the umask. Drafts of the same file that a killed process has
    /// left are removed.
    pub fn of(target: &Path, mode: u32) -> io::Result<Self> {
        remove_abandoned(target);
        Self::create(None, target, mode)
    }

    /// The same in a folder that was opened, whatever its path leads to by now. What killed processes have left stays.
    pub fn in_folder(folder: OwnedFd, name: &Path, mode: u32) -> io::Result<Self> {
        Self::create(Some(folder), name, mode)
    }

    fn create(folder: Option<OwnedFd>, target: &Path, mode: u32) -> io::Result<Self> {
        loop {
            // A name that nobody can prepare, and never through a link.
            let mut random = [0; 8];
            getrandom::fill(&mut random).map_err(io::Error::other)?;
            let mut name = name_in_draft(target);
            name.push(format!("{MARK}{:0DIGITS$x}", u64::from_ne_bytes(random)));
            let path = target.with_file_name(name);
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = openat(at(folder.as_ref()), &path, flags, Mode::from_raw_mode(mode))?;
            let file = File::from(file);
            // The lock ends with the process: a draft without one is abandoned. Some file systems have no locks; there
            // nothing is taken for abandoned.
            let _ = file.lock();
            // Another process may have seen the draft before it was locked, and removed it.
            if statat(at(folder.as_ref()), &path, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                return Ok(Self { file, folder, path, target: target.to_owned() });
            }
        }
    }

    fn at(&self) -> BorrowedFd<'_> {
        at(self.folder.as_ref())
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
        renameat(self.at(), &self.path, self.at(), &self.target)?;
        self.sync()
    }

    /// Gives the draft the name of the file, unless there is a file with that name.
    pub fn publish_new(self) -> io::Result<()> {
        match linkat(self.at(), &self.path, self.at(), &self.target, AtFlags::empty()) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(ErrorKind::AlreadyExists.into()),
            Err(_) if statat(self.at(), &self.target, AtFlags::SYMLINK_NOFOLLOW).is_ok() => {
                return Err(ErrorKind::AlreadyExists.into());
            }
            // The file system has no hard links.
            Err(_) => renameat(self.at(), &self.path, self.at(), &self.target)?,
        }
        self.sync()
    }

    fn sync(&self) -> io::Result<()> {
        match &self.folder {
            Some(folder) => tolerated(rustix::fs::fsync(folder).map_err(Into::into)),
            None => sync_folder(folder_of(&self.target)),
        }
    }
}

/// What a path belongs to: an open folder, or else the working folder.
fn at(folder: Option<&OwnedFd>) -> BorrowedFd<'_> {
    folder.map_or(CWD, |folder| folder.as_fd())
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After a rename it is gone.
        let _ = unlinkat(self.at(), &self.path, AtFlags::empty());
    }
}

/// Replaces a file by one that only this user can read. When this returns, it survives a power failure.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::of(path, PRIVATE)?;
    draft.write(bytes)?;
    draft.publish()
}

/// Writes a file with these permission bits, unless there is one with its name.
pub fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let mut draft = Draft::of(path, mode)?;
    draft.write(bytes)?;
    draft.publish_new()
}

/// Gives a file that is on the disk its name, in the place of any other, and brings the name to the disk.
pub fn rename(part: &Path, path: &Path) -> io::Result<()> {
    fs::rename(part, path)?;
    sync_folder(folder_of(path))
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
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    tolerated(File::open(folder).and_then(|folder| folder.sync_all()))
}

fn tolerated(synced: io::Result<()>) -> io::Result<()> {
    use ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match synced {
        // A folder in which this user may write and not read, or a file system that cannot do it.
        Err(cause) if matches!(cause.kind(), InvalidInput | PermissionDenied | Unsupported) => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("tandem-disk-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_draft_has_the_name_only_when_it_is_published() {
        let folder = folder("published");
        let file = folder.join("a");
        fs::write(&file, "before").unwrap();
        let mut draft = Draft::of(&file, PRIVATE).unwrap();
        draft.write(b"after").unwrap();
        assert_eq!((fs::read(&file).unwrap(), names(&folder).len()), (b"before".to_vec(), 2));
        draft.publish().unwrap();
        assert_eq!((fs::read(&file).unwrap(), names(&folder)), (b"after".to_vec(), vec!["a".to_owned()]));
        drop(Draft::of(&file, PRIVATE).unwrap());
        assert_eq!(names(&folder), ["a"], "a draft that is dropped is gone");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_new_file_takes_no_name_that_is_there() {
        let folder = folder("new");
        let (file, link) = (folder.join("a"), folder.join("link"));
        write_new(&file, b"one", PRIVATE).unwrap();
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        for taken in [&file, &link] {
            assert_eq!(write_new(taken, b"two", PRIVATE).unwrap_err().kind(), ErrorKind::AlreadyExists);
            // Somebody may take the name while the file is written.
            let late = Draft::of(taken, PRIVATE).unwrap();
            assert_eq!(late.publish_new().unwrap_err().kind(), ErrorKind::AlreadyExists);
        }
        assert_eq!((fs::read(&file).unwrap(), names(&folder).len()), (b"one".to_vec(), 2));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_draft_stays_in_the_folder_that_was_opened() {
        let folder = folder("opened");
        let (first, moved) = (folder.join("first"), folder.join("moved"));
        fs::create_dir(&first).unwrap();
        let handle = OwnedFd::from(File::open(&first).unwrap());
        let mut draft = Draft::in_folder(handle, Path::new("a"), USUAL).unwrap();
        fs::rename(&first, &moved).unwrap();
        fs::create_dir(&first).unwrap();
        draft.write(b"text").unwrap();
        draft.publish_new().unwrap();
        assert_eq!((names(&first), names(&moved)), (vec![], vec!["a".to_owned()]));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_a_killed_process_has_left_is_removed_and_what_is_being_written_stays() {
        let folder = folder("abandoned");
        let file = folder.join("a");
        fs::write(folder.join("a.tandem-new-00000000000000ff"), "half").unwrap();
        fs::write(folder.join("a.tandem-new-x"), "somebody else's").unwrap();
        let living = Draft::of(&file, PRIVATE).unwrap();
        replace(&file, b"text").unwrap();
        assert_eq!(
            names(&folder).len(),
            3,
            "the file, the draft that is being written, and what is not ours"
        );
        living.publish().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"");
        fs::remove_dir_all(folder).unwrap();
    }
}

//! Files of other programs: read as they are, replaced as a whole, with their mode and owner, and one backup.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::exit::{Failure, Outcome};

/// More than any of these files has.
const BYTES_MAX: u64 = 64 * 1024 * 1024;
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A file as it was read.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// The file itself; a link is followed to it.
    pub(super) path: PathBuf,
    /// None if the file does not exist.
    pub(super) text: Option<String>,
    has_mark: bool,
}

/// What a write created.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) folders: Vec<PathBuf>,
    pub(super) backup: bool,
}

impl Source {
    /// The text; empty if the file does not exist.
    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    pub(super) fn read(path: &Path) -> Outcome<Self> {
        let failed =
            |cause: std::io::Error| Failure::refused(format!("cannot read {}: {cause}", path.display()));
        let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        let real = if is_link { path.canonicalize().map_err(failed)? } else { path.to_owned() };
        let mut bytes = Vec::new();
        match File::open(&real) {
            Ok(file) if !file.metadata().map_err(failed)?.is_file() => {
                return Err(Failure::refused(format!("{} is no file", path.display())));
            }
            Ok(file) => file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { path: real, text: None, has_mark: false });
            }
            Err(error) => return Err(failed(error)),
        };
        if bytes.len() as u64 > BYTES_MAX {
            return Err(Failure::refused(format!("{} is too large for a configuration", path.display())));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::refused(format!("{} is not valid UTF-8", path.display())))?;
        let (has_mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (true, rest.to_owned()),
            None => (false, text),
        };
        Ok(Self { path: real, text: Some(text), has_mark })
    }

    /// Whether the file is still as it was read.
    fn is_current(&self) -> bool {
        Self::read(&self.path).is_ok_and(|now| now.text == self.text && now.has_mark == self.has_mark)
    }

    /// Replaces the file. `None` if someone has changed it since it was read.
    pub(super) fn write(&self, text: &str, with_backup: bool) -> Outcome<Option<Written>> {
        let failed = |cause: std::io::Error| {
            Failure::refused(format!("cannot write {}: {cause}", self.path.display()))
        };
        let Some(folder) = self.path.parent() else { return Err(Failure::refused("the file has no folder")) };
        let mut written = Written { folders: missing_folders(folder), backup: false };
        fs::create_dir_all(folder).map_err(failed)?;
        let beside = beside(&self.path, &format!("tandem-new-{}", std::process::id()));
        let done = self.write_beside(&beside, text).and_then(|()| {
            if !self.is_current() {
                return Ok(false);
            }
            if with_backup {
                written.backup = self.back_up()?;
            }
            fs::rename(&beside, &self.path)?;
            sync_folder(folder)?;
            Ok(true)
        });
        if !matches!(done, Ok(true)) {
            // The first error is the one to report.
            let _ = fs::remove_file(&beside);
            remove_empty(&written.folders);
        }
        Ok(done.map_err(failed)?.then_some(written))
    }

    fn write_beside(&self, beside: &Path, text: &str) -> std::io::Result<()> {
        let mut file = create(beside)?;
        if self.text.is_some() {
            copy_owner(&self.path, &file)?;
        }
        if self.has_mark {
            file.write_all(BYTE_ORDER_MARK.to_string().as_bytes())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    /// Keeps the first version. Returns whether there was none yet.
    fn back_up(&self) -> std::io::Result<bool> {
        let Some(text) = &self.text else { return Ok(false) };
        let backup = backup_of(&self.path);
        let before = Self { path: self.path.clone(), text: Some(text.clone()), has_mark: self.has_mark };
        match before.write_beside(&backup, text) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes the backup if it says nothing that the file does not say.
    pub(super) fn drop_backup(path: &Path) {
        let backup = backup_of(path);
        if let (Ok(now), Ok(before)) = (fs::read(path), fs::read(&backup))
            && now == before
        {
            let _ = fs::remove_file(backup);
        }
    }

    /// Removes a file that setup created. `false` if someone has changed it since it was read.
    pub(super) fn delete(&self) -> Outcome<bool> {
        if !self.is_current() {
            return Ok(false);
        }
        fs::remove_file(&self.path)
            .map_err(|cause| Failure::refused(format!("cannot remove {}: {cause}", self.path.display())))?;
        Ok(true)
    }
}

/// The backup of a file.
pub(super) fn backup_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tandem-bak");
    name.into()
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{suffix}"));
    name.into()
}

/// The folders that do not exist yet, the outermost first.
fn missing_folders(folder: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> =
        folder.ancestors().take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Removes folders that have become empty. Others stay, and that is no error.
pub(super) fn remove_empty(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
}

/// Creates a file that only this user can read until it has the mode of another one.
fn create(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Gives a new file the mode and the owner of the one that it replaces.
#[cfg(unix)]
fn copy_owner(from: &Path, to: &File) -> std::io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let (before, now) = (fs::metadata(from)?, to.metadata()?);
    if (before.uid(), before.gid()) != (now.uid(), now.gid()) {
        std::os::unix::fs::fchown(to, Some(before.uid()), Some(before.gid()))?;
    }
    to.set_permissions(before.permissions())
}

#[cfg(not(unix))]
fn copy_owner(from: &Path, to: &File) -> std::io::Result<()> {
    to.set_permissions(fs::metadata(from)?.permissions())
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> std::io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Other systems cannot open a folder.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> std::io::Result<()> {
    Ok(())
}

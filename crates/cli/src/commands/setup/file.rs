//! Files of other programs: read as they are, replaced as a whole, with their mode and owner, and one backup.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tandem_disk::{Draft, PRIVATE, open_regular, read_open, remove_abandoned};

use crate::exit::{Failure, Outcome};

/// More than any of these files has.
const BYTES_MAX: u64 = 64 * 1024 * 1024;
const BYTE_ORDER_MARK: &str = "\u{feff}";
/// The permission bits of everybody but the owner.
const OTHERS: u32 = 0o077;
const OWNER_WRITES: u32 = 0o200;

/// A file as it was read.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// The file itself; a link is followed to it.
    pub(super) path: PathBuf,
    /// None if the file does not exist.
    pub(super) text: Option<String>,
    /// The permission bits; none if the file does not exist, or the system has none.
    pub(super) mode: Option<u32>,
    has_mark: bool,
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
        let file = match open_regular(&real) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { path: real, text: None, mode: None, has_mark: false });
            }
            Err(error) => return Err(failed(error)),
        };
        let mode = mode_of(&file.metadata().map_err(failed)?);
        let text = String::from_utf8(read_open(&file, BYTES_MAX).map_err(failed)?)
            .map_err(|_| Failure::refused(format!("{} is not valid UTF-8", path.display())))?;
        let (has_mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (true, rest.to_owned()),
            None => (false, text),
        };
        Ok(Self { path: real, text: Some(text), mode, has_mark })
    }

    /// Whether the file is still as it was read.
    fn is_current(&self) -> bool {
        Self::read(&self.path).is_ok_and(|now| {
            (now.text, now.mode, now.has_mark) == (self.text.clone(), self.mode, self.has_mark)
        })
    }

    /// The mode in which only the owner can read the file; none if that is so.
    pub(super) fn closed_mode(&self) -> Option<u32> {
        self.mode.filter(|mode| mode & OTHERS != 0).map(closed)
    }

    /// Refuses a file that its owner has made read-only: a rename would replace it nevertheless.
    pub(super) fn refuse_read_only(&self) -> Outcome {
        match self.mode {
            Some(mode) if mode & OWNER_WRITES == 0 => {
                let what = format!("{} is read-only (mode {mode:o})", self.path.display());
                Err(Failure::refused(what).next("The file was left alone. Make it writable first."))
            }
            _ => Ok(()),
        }
    }

    /// Replaces the file and gives it a mode, if one is named. False if someone has changed it since it was read.
    pub(super) fn write(&self, text: &str, mode: Option<u32>, with_backup: bool) -> Outcome<bool> {
        self.refuse_read_only()?;
        let failed = |cause: std::io::Error| {
            Failure::refused(format!("cannot write {}: {cause}", self.path.display()))
        };
        let Some(folder) = self.path.parent() else { return Err(Failure::refused("the file has no folder")) };
        let missing = self.missing_folders();
        let written = fs::create_dir_all(folder).and_then(|()| {
            let draft = self.draft(&self.path, text, mode)?;
            if !self.is_current() {
                return Ok(false);
            }
            if with_backup && self.lacks_backup() {
                self.draft(&backup_of(&self.path), self.text(), None)?.publish()?;
            }
            draft.publish()?;
            Ok(true)
        });
        if !matches!(written, Ok(true)) {
            remove_empty(&missing);
        }
        written.map_err(failed)
    }

    /// A complete draft with the owner of the file, and its mode or the named one.
    fn draft(&self, target: &Path, text: &str, mode: Option<u32>) -> std::io::Result<Draft> {
        let mut draft = Draft::of(target, PRIVATE)?;
        if self.text.is_some() {
            copy_owner(&self.path, draft.file(), mode)?;
        }
        let mark = if self.has_mark { BYTE_ORDER_MARK } else { "" };
        draft.write(format!("{mark}{text}").as_bytes())?;
        Ok(draft)
    }

    /// The folders that a write creates, the outermost first.
    pub(super) fn missing_folders(&self) -> Vec<PathBuf> {
        let folders = self.path.ancestors().skip(1);
        let mut missing: Vec<PathBuf> =
            folders.take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
        missing.reverse();
        missing
    }

    /// Whether there is something to keep, and no backup yet.
    pub(super) fn lacks_backup(&self) -> bool {
        self.text.is_some() && fs::symlink_metadata(backup_of(&self.path)).is_err()
    }

    /// Removes the backup if it says nothing that the file does not say.
    pub(super) fn drop_backup(path: &Path) {
        let backup = backup_of(path);
        if let (Ok(now), Ok(before)) = (Self::read(path), Self::read(&backup))
            && (&now.text, now.has_mark) == (&before.text, before.has_mark)
        {
            let _ = fs::remove_file(backup);
        }
    }

    /// Removes what a killed run has left beside the file.
    pub(super) fn clean_up(&self) {
        remove_abandoned(&self.path);
        remove_abandoned(&backup_of(&self.path));
    }

    /// Removes a file that setup created. `false` if someone has changed it since it was read.
    pub(super) fn delete(&self) -> Outcome<bool> {
        self.refuse_read_only()?;
        if !self.is_current() {
            return Ok(false);
        }
        fs::remove_file(&self.path)
            .map_err(|cause| Failure::refused(format!("cannot remove {}: {cause}", self.path.display())))?;
        Ok(true)
    }
}

/// A mode without the bits of everybody but the owner.
pub(super) fn closed(mode: u32) -> u32 {
    mode & !OTHERS
}

pub(super) fn backup_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tandem-bak");
    name.into()
}

/// Removes folders that have become empty. Others stay, and that is no error.
pub(super) fn remove_empty(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
}

fn mode_of(found: &fs::Metadata) -> Option<u32> {
    Some(std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o7777)
}

/// Gives a new file the owner of the one that it replaces, and its mode or another one.
fn copy_owner(from: &Path, to: &fs::File, mode: Option<u32>) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let (before, now) = (fs::metadata(from)?, to.metadata()?);
    if (before.uid(), before.gid()) != (now.uid(), now.gid()) {
        std::os::unix::fs::fchown(to, Some(before.uid()), Some(before.gid()))?;
    }
    to.set_permissions(mode.map_or_else(|| before.permissions(), fs::Permissions::from_mode))
}

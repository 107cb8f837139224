//! The folder that file tools may use. A model works on text of other owners, so a path that it names is checked as if a
//! stranger had named it.
//!
//! Every part of a path is opened relative to the handle of the folder before it, and links are never followed. So what was
//! checked is what is used, also if somebody exchanges a folder for a link in between.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;
use tandem_hub::Error;
use tandem_server::mcp::shared::invalid;

use super::new_file::Target;
use crate::commands::autoloaded_files::is_autoloaded;
use crate::exit::{Failure, Outcome};

/// A folder, with all links resolved when it was opened.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    handle: OwnedFd,
    /// Why file tools may not use it.
    refused: Option<&'static str>,
}

impl Folder {
    /// The given folder, or the current one. `private` are folders with secrets of this program.
    pub(super) fn open(given: Option<&Path>, private: &[PathBuf]) -> Outcome<Self> {
        let given = given.unwrap_or(Path::new("."));
        let cannot =
            |cause: io::Error| Failure::usage(format!("cannot use the folder {}: {cause}", given.display()));
        let path = given.canonicalize().map_err(cannot)?;
        if !path.is_dir() {
            return Err(Failure::usage(format!("{} is not a folder", path.display())));
        }
        let handle = File::open(&path).map_err(cannot)?.into();
        let refused = why_refused(&path, private);
        Ok(Self { path, handle, refused })
    }

    /// An existing file below the folder, open for reading, with its path from the folder.
    pub(super) fn existing(&self, given: &str) -> Result<(File, PathBuf), Error> {
        let path = self.below(given)?;
        let (parent, name) = self.parent_of(&path)?;
        // Opening a named pipe must not wait for its other end.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = openat(&parent, &name, flags, Mode::empty());
        let file = File::from(opened.map_err(|cause| refused(&parent, &name, cause))?);
        match file.metadata() {
            Ok(found) if found.is_file() => Ok((file, path)),
            Ok(_) => Err(invalid("path", "must name a file")),
            Err(cause) => Err(invalid("path", &format!("cannot be used: {cause}"))),
        }
    }

    /// A file below the folder that may be written. Its own folder must exist.
    pub(super) fn target(&self, given: &str, overwrite: bool) -> Result<Target, Error> {
        let path = self.below(given)?;
        let (parent, name) = self.parent_of(&path)?;
        if is_autoloaded(&name.to_string_lossy()) {
            return Err(invalid(
                "path",
                "names a file that AI tools or build tools read or run because of its name; choose another name",
            ));
        }
        match statat(&parent, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            Err(cause) => return Err(refused(&parent, &name, cause)),
            Ok(found) if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile => {
                return Err(invalid("path", "names something that is not a file"));
            }
            Ok(_) if !overwrite => {
                return Err(invalid("path", "names a file that exists; choose another, or set overwrite"));
            }
            Ok(_) => {}
        }
        Ok(Target { folder: parent, name, path, overwrite })
    }

    /// The path from the folder. Refuses what cannot be below it, and hidden files: they contain secrets and settings of
    /// programs, which a peer must neither get nor replace.
    fn below(&self, given: &str) -> Result<PathBuf, Error> {
        if let Some(why) = self.refused {
            return Err(invalid("path", why));
        }
        if given.is_empty() || given.contains('\0') {
            return Err(invalid("path", "must name a file"));
        }
        let mut path = PathBuf::from(given);
        if path.is_absolute() && !path.starts_with(&self.path) {
            // It may name the folder by a link. Whatever it says, only the rest below the folder is used.
            let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
            if let (Some(parent), Some(name)) = (parent, path.file_name()) {
                path = parent.join(name);
            }
        }
        if path.is_absolute() {
            path = path.strip_prefix(&self.path).map_err(|_| outside())?.to_owned();
        }
        let mut below = PathBuf::new();
        for part in path.components() {
            match part {
                Component::Normal(name) if name.to_string_lossy().starts_with('.') => {
                    return Err(invalid("path", "must not contain a hidden file or folder"));
                }
                Component::Normal(name) => below.push(name),
                Component::CurDir => {}
                _ => return Err(outside()),
            }
        }
        Ok(below)
    }

    /// The handle of the folder that a path is in, and its last name.
    fn parent_of(&self, below: &Path) -> Result<(OwnedFd, OsString), Error> {
        let Some(name) = below.file_name() else { return Err(invalid("path", "must name a file")) };
        let unusable = |cause: io::Error| invalid("path", &format!("cannot be used: {cause}"));
        let mut folder = self.handle.try_clone().map_err(unusable)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for part in below.parent().into_iter().flat_map(Path::components) {
            let opened = openat(&folder, part.as_os_str(), flags, Mode::empty());
            folder = opened.map_err(|cause| refused(&folder, part.as_os_str(), cause))?;
        }
        Ok((folder, name.to_owned()))
    }
}

/// Why file tools may not use a folder: it would be all of a person's files, or those with keys.
fn why_refused(folder: &Path, private: &[PathBuf]) -> Option<&'static str> {
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    if folder.parent().is_none() || home.is_some_and(|home| home.starts_with(folder)) {
        return Some(
            "cannot be used: the working folder of this bridge is the home folder or contains it. Your owner \
             can start the AI tool in a project folder, or add `--folder DIR` to the entry of `tandem mcp`",
        );
    }
    let is_hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
    let is_open = |secret: &PathBuf| {
        let secret = secret.canonicalize().unwrap_or_else(|_| secret.clone());
        folder.starts_with(&secret)
            || secret.strip_prefix(folder).is_ok_and(|below| !below.components().any(is_hidden))
    };
    private.iter().any(is_open).then_some(
        "cannot be used: the keys of tandem are below the working folder of this bridge. Your owner can add \
         another `--folder DIR` to the entry of `tandem mcp`",
    )
}

fn outside() -> Error {
    invalid("path", "must be below the working folder")
}

fn refused(folder: &OwnedFd, name: &OsStr, cause: Errno) -> Error {
    let is_link = || {
        let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
    };
    match cause {
        Errno::NOENT => invalid("path", "does not exist; only the file itself may be new"),
        _ if is_link() => invalid("path", "must not contain a link; name the place that it leads to"),
        Errno::NOTDIR => invalid("path", "names a file where a folder must be"),
        _ => invalid("path", &format!("cannot be used: {}", io::Error::from(cause))),
    }
}

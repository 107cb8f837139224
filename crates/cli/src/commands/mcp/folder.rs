//! The folder that file tools may use. A model works on text of other owners, so a path that it names is checked as if a
//! stranger had named it.

use std::io;
use std::path::{Component, Path, PathBuf};

use tandem_hub::Error;
use tandem_server::mcp::shared::invalid;

use crate::exit::{Failure, Outcome};

/// A folder, with all links resolved.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// The given folder, or the current one.
    pub(super) fn open(given: Option<&Path>) -> Outcome<Self> {
        let given = given.unwrap_or(Path::new("."));
        let cannot =
            |cause: io::Error| Failure::usage(format!("cannot use the folder {}: {cause}", given.display()));
        let folder = given.canonicalize().map_err(cannot)?;
        if !folder.is_dir() {
            return Err(Failure::usage(format!("{} is not a folder", folder.display())));
        }
        Ok(Self(folder))
    }

    /// An existing file below the folder.
    pub(super) fn existing(&self, given: &str) -> Result<PathBuf, Error> {
        let path = self.inside(given)?.canonicalize().map_err(|cause| refused(&cause))?;
        self.check(&path)?;
        if !path.is_file() {
            return Err(invalid("path", "must name a file"));
        }
        Ok(path)
    }

    /// A file below the folder that may be written. Its own folder must exist.
    pub(super) fn target(&self, given: &str, overwrite: bool) -> Result<PathBuf, Error> {
        let path = self.inside(given)?;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(invalid("path", "must name a file"));
        };
        let parent = parent.canonicalize().map_err(|cause| refused(&cause))?;
        self.check(&parent)?;
        let path = parent.join(name);
        match path.symlink_metadata() {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(path),
            Err(cause) => Err(refused(&cause)),
            Ok(found) if !found.is_file() => Err(invalid("path", "names something that is not a file")),
            Ok(_) if !overwrite => {
                Err(invalid("path", "names a file that exists; choose another, or set overwrite"))
            }
            Ok(_) => Ok(path),
        }
    }

    /// The path from the folder, for results.
    pub(super) fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.0).unwrap_or(path).display().to_string()
    }

    /// Refuses what cannot be below the folder, and hidden files: they contain secrets and settings of programs, which a
    /// peer must neither get nor replace.
    fn inside(&self, given: &str) -> Result<PathBuf, Error> {
        if given.is_empty() || given.contains('\0') {
            return Err(invalid("path", "must name a file"));
        }
        if Path::new(given).components().any(|part| part == Component::ParentDir) {
            return Err(outside());
        }
        let mut path = self.0.join(given);
        // An absolute path may name the folder by a link.
        if let (true, Some(parent), Some(name)) =
            (Path::new(given).is_absolute(), path.parent(), path.file_name())
            && let Ok(parent) = parent.canonicalize()
        {
            path = parent.join(name);
        }
        let Ok(below) = path.strip_prefix(&self.0) else { return Err(outside()) };
        for part in below.components() {
            match part {
                Component::Normal(name) if name.to_string_lossy().starts_with('.') => {
                    return Err(invalid("path", "must not contain a hidden file or folder"));
                }
                Component::Normal(_) | Component::CurDir => {}
                _ => return Err(outside()),
            }
        }
        Ok(path)
    }

    /// Checks a path without links.
    fn check(&self, path: &Path) -> Result<(), Error> {
        let Ok(below) = path.strip_prefix(&self.0) else { return Err(outside()) };
        let is_hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
        if below.components().any(is_hidden) {
            return Err(invalid("path", "must not lead to a hidden file or folder"));
        }
        Ok(())
    }
}

fn outside() -> Error {
    invalid("path", "must be below the working folder")
}

fn refused(cause: &io::Error) -> Error {
    match cause.kind() {
        io::ErrorKind::NotFound => invalid("path", "does not exist; only the file itself may be new"),
        _ => invalid("path", &format!("cannot be used: {cause}")),
    }
}

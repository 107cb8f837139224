//! Files that get their name when they are complete. After a power failure a name leads to the old file or to the new one.

use std::fs::File;
use std::io;
use std::path::Path;

/// Gives a file that is on the disk its name, in the place of any other, and brings the name to the disk.
pub(crate) fn rename(part: &Path, path: &Path) -> io::Result<()> {
    std::fs::rename(part, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    sync_folder(folder.unwrap_or(Path::new(".")))
}

/// Flushes the names in a folder to disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// [`rename`] on a thread for blocking work.
pub(crate) async fn rename_async(part: &Path, path: &Path) -> io::Result<()> {
    let (part, path) = (part.to_owned(), path.to_owned());
    tokio::task::spawn_blocking(move || rename(&part, &path)).await.map_err(io::Error::other)?
}

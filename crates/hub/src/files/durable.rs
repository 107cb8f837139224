//! Files that get their name when they are complete. After a power failure a name leads to the old file or to the new one.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
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

/// Makes a private folder, on a thread for blocking work. A file in a folder whose name is lost is lost as well.
pub(crate) async fn make_folder_async(folder: &Path) -> io::Result<()> {
    let folder = folder.to_owned();
    let make = move || {
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        // Also if it exists: another upload may just have made it.
        folder.parent().map_or(Ok(()), sync_folder)
    };
    tokio::task::spawn_blocking(make).await.map_err(io::Error::other)?
}

/// [`rename`] on a thread for blocking work.
pub(crate) async fn rename_async(part: &Path, path: &Path) -> io::Result<()> {
    let (part, path) = (part.to_owned(), path.to_owned());
    tokio::task::spawn_blocking(move || rename(&part, &path)).await.map_err(io::Error::other)?
}

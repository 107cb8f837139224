//! What brings names to the disk, on threads for blocking work. After a power failure a name leads to the old file or to the
//! new one.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use tandem_disk::{rename, sync_folder};

/// Makes a private folder. A file in a folder whose name is lost is lost as well.
pub(crate) async fn make_folder_async(folder: &Path) -> io::Result<()> {
    let folder = folder.to_owned();
    let make = move || {
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        // Also if it exists: another upload may just have made it.
        folder.parent().map_or(Ok(()), sync_folder)
    };
    tokio::task::spawn_blocking(make).await.map_err(io::Error::other)?
}

/// Gives a file that is on the disk its name, in the place of any other.
pub(crate) async fn rename_async(part: &Path, path: &Path) -> io::Result<()> {
    let (part, path) = (part.to_owned(), path.to_owned());
    tokio::task::spawn_blocking(move || rename(&part, &path)).await.map_err(io::Error::other)?
}

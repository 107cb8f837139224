//! Files in a folder that all nodes mount.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use tokio::fs::{self, File};

use super::{Error, make_folder};
use crate::files::durable;

/// The file that says to which hub the folder belongs.
const OWNER: &str = "hub-id";

/// How often a node looks for the mark that the first one makes, and the pause between looks.
const MARK_LOOKS: usize = 20;
const MARK_PAUSE: Duration = Duration::from_millis(200);

/// Checks that the folder is mounted and belongs to the hub with this id. The first node of a hub marks a new folder.
pub(super) async fn claim(folder: &Path, owner: &str, is_first: bool) -> Result<(), Error> {
    let wrong = |cause: String| Error::Shared { folder: folder.to_owned(), cause };
    if !folder.is_dir() {
        return Err(wrong(
            "there is no such folder; create or mount it, so that all nodes see the same files".into(),
        ));
    }
    if is_first {
        mark(folder, owner).map_err(|error| wrong(error.to_string()))?;
    }
    // The first node may have started at the same moment.
    for _ in 0..MARK_LOOKS {
        match std::fs::read_to_string(folder.join(OWNER)) {
            Ok(found) if found.trim() == owner => {
                return check_writable(folder).map_err(|error| wrong(error.to_string()));
            }
            Ok(found) if found.ends_with('\n') => {
                return Err(wrong("there lie the files of another hub".into()));
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(wrong(error.to_string())),
        }
        tokio::time::sleep(MARK_PAUSE).await;
    }
    Err(wrong(format!(
        "the other nodes of this hub have marked theirs with a file {OWNER}, and this one has none; mount the same \
         folder on all nodes"
    )))
}

/// Marks the folder, unless it is marked.
fn mark(folder: &Path, owner: &str) -> std::io::Result<()> {
    let marked = OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(OWNER));
    match marked {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        marked => {
            let mut file = marked?;
            file.write_all(format!("{owner}\n").as_bytes()).and_then(|()| file.sync_all())
        }
    }
}

/// Fails where this process may read and not write.
fn check_writable(folder: &Path) -> std::io::Result<()> {
    let probe = folder.join(format!("probe-{}", tandem_app::keys::random_hex::<6>()));
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&probe)?;
    std::fs::remove_file(probe)
}

/// Whether the folder has no entries, apart from what file systems put there themselves.
pub(super) fn is_empty(folder: &Path) -> std::io::Result<bool> {
    for entry in std::fs::read_dir(folder)? {
        if entry?.file_name() != "lost+found" {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Copies an upload into the folder durably. It gets its final name when it is whole.
pub(super) async fn copy(from: &Path, arriving: &Path, end: &Path) -> Result<(), Error> {
    make_folder(arriving).await?;
    make_folder(end).await?;
    let copied = async {
        fs::copy(from, arriving).await?;
        File::open(arriving).await?.sync_all().await?;
        durable::rename_async(arriving, end).await
    }
    .await;
    if copied.is_err() {
        // If this fails, the sweep removes it.
        let _ = fs::remove_file(arriving).await;
    }
    Ok(copied?)
}

//! Whether a disk has room for files.

use std::path::Path;

use tokio::fs;

use super::{CHUNK_BYTES, UPLOADS_DIR, make_folder};

/// The file that is written to learn whether there is room.
const PROBE_NAME: &str = "room";

/// Writes a file below this folder and removes it, to learn whether there is room.
pub(super) async fn probe(root: &Path) -> std::io::Result<()> {
    let path = root.join(UPLOADS_DIR).join(PROBE_NAME);
    let written = async {
        make_folder(&path).await?;
        fs::write(&path, vec![0; CHUNK_BYTES]).await
    }
    .await;
    // If this fails, the sweep removes it.
    let _ = fs::remove_file(&path).await;
    written
}

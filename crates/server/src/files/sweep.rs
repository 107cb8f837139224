//! Removing what a crash left: bytes without a row. A row without bytes there is none, because they come first.

use std::path::Path;
use std::time::SystemTime;

use tandem_app::files::known;
use tandem_core::FileId;
use tandem_store::Store;
use tokio::fs;

use super::Files;
use crate::housekeeping::Pace;
use crate::hub::Hub;

/// How many files are looked up at once.
const BATCH: usize = 200;

/// Why not all files could be looked at.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SweepError {
    #[error(transparent)]
    Disk(#[from] std::io::Error),
    #[error(transparent)]
    App(#[from] tandem_app::Error),
}

/// Goes through all files once; those that came after the start are left alone.
pub(crate) async fn sweep(hub: Hub, started: SystemTime, mut pace: Pace) {
    match remove_orphans(&hub.files, &hub.store, started, &mut pace).await {
        Ok(0) => {}
        Ok(removed) => tracing::info!(removed, "removed files that belonged to nobody"),
        Err(error) => tracing::warn!(%error, "could not look for files that belong to nobody"),
    }
}

/// Removes files from before `until` that no row names; tells how many.
pub(crate) async fn remove_orphans(
    files: &Files,
    store: &Store,
    until: SystemTime,
    pace: &mut Pace,
) -> Result<u64, SweepError> {
    let mut removed = 0;
    let Ok(mut folders) = fs::read_dir(&files.root).await else { return Ok(0) };
    while let Some(folder) = folders.next_entry().await? {
        let arriving = folder.file_name() == "arriving";
        let mut entries = fs::read_dir(folder.path()).await?;
        let mut batch = Vec::new();
        while let Some(entry) = entries.next_entry().await? {
            if !is_older(&entry.path(), until).await {
                continue;
            }
            match entry.file_name().to_str().and_then(|name| name.parse::<FileId>().ok()) {
                Some(id) if !arriving => batch.push(id),
                _ => removed += u64::from(fs::remove_file(entry.path()).await.is_ok()),
            }
            if batch.len() == BATCH {
                removed += remove_unknown(files, store, std::mem::take(&mut batch)).await?;
                if !pace.pause().await {
                    return Ok(removed);
                }
            }
        }
        removed += remove_unknown(files, store, batch).await?;
    }
    Ok(removed)
}

async fn is_older(path: &Path, until: SystemTime) -> bool {
    let modified = fs::metadata(path).await.and_then(|metadata| metadata.modified());
    modified.is_ok_and(|modified| modified < until)
}

async fn remove_unknown(files: &Files, store: &Store, batch: Vec<FileId>) -> Result<u64, SweepError> {
    if batch.is_empty() {
        return Ok(0);
    }
    let asked = batch.clone();
    let named = store.read(move |tx| known(tx, &asked)).await?;
    let unknown: Vec<FileId> = batch.into_iter().filter(|id| !named.contains(id)).collect();
    files.remove(&unknown).await;
    Ok(unknown.len() as u64)
}

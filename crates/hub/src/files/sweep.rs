//! Removes orphaned files: bytes without a row, left by a crash or an unreachable bucket. The reverse does not occur,
//! because bytes are stored first.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tandem_app::files::existing;
use tandem_core::ids::{self, Prefixed as _};
use tandem_core::{FileId, Timestamp};
use tandem_store::Store;
use tokio::fs;

use super::{Error, Files, Listing, UPLOADS_DIR, name};
use crate::db::Db;
use crate::upkeep::housekeeping::Pacing;

/// Files per database query.
const BATCH: usize = 200;

/// Interval of the sweep, so that a failed deletion does not wait for a restart.
const SWEEP_EVERY: Duration = Duration::from_secs(86_400);
/// Bytes without a row may belong to an upload in progress; after an hour they do not.
const ORPHAN_AGE: Duration = Duration::from_secs(3_600);

/// Files older than this without a row are orphaned, even if other hubs use the same place.
pub(crate) fn orphan_cutoff(now: Timestamp) -> SystemTime {
    let since_1970 = Duration::from_millis(u64::try_from(now.0).unwrap_or(0));
    SystemTime::UNIX_EPOCH + since_1970.saturating_sub(ORPHAN_AGE)
}

/// Sweeps all files, at the start and then regularly. Only this process uses its data folder, so there all bytes from
/// before the start are old.
pub(crate) async fn sweep(files: Arc<Files>, db: Db, started: SystemTime, mut pacing: Pacing) {
    let begun = Instant::now();
    let mut tick = tokio::time::interval(SWEEP_EVERY);
    while pacing.tick(&mut tick).await {
        let in_folder = files.bucket.is_none() && !files.is_shared();
        let until =
            if in_folder { folder_cutoff(started, begun.elapsed()) } else { orphan_cutoff(db.time()) };
        match remove_orphans(&files, db.store(), until, &mut pacing).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "removed orphaned files"),
            Err(error) => tracing::warn!(%error, "could not check for orphaned files"),
        }
    }
}

/// Before when bytes in a data folder are old, for a hub that has run for so long.
fn folder_cutoff(started: SystemTime, running_for: Duration) -> SystemTime {
    started + running_for.saturating_sub(ORPHAN_AGE)
}

/// Removes files older than `until` that have no row. Returns their number.
pub(crate) async fn remove_orphans(
    files: &Files,
    store: &Store,
    until: SystemTime,
    pacing: &mut Pacing,
) -> Result<u64, Error> {
    let mut removed = 0;
    let shared = files.is_shared().then_some(&files.kept);
    for root in [Some(&files.root), shared].into_iter().flatten() {
        for (name, since) in entries(root, UPLOADS_DIR).await? {
            if since < until {
                removed += u64::from(fs::remove_file(root.join(name)).await.is_ok());
            }
        }
    }
    let mut kept = match &files.bucket {
        Some(bucket) => bucket.list(),
        None => in_folders(&files.kept).await?,
    };
    let mut batch = Vec::new();
    while let Some((found, since)) = kept.try_next().await? {
        batch.extend(id_of(&found).filter(|_| since < until));
        if batch.len() == BATCH {
            removed += remove_unknown(files, store, std::mem::take(&mut batch)).await?;
            if !pacing.pause().await {
                return Ok(removed);
            }
        }
    }
    Ok(removed + remove_unknown(files, store, batch).await?)
}

/// The id in an object name; `None` for objects that are not ours.
fn id_of(found: &str) -> Option<FileId> {
    let (_, last) = found.rsplit_once('/')?;
    let id = last.parse().ok().filter(|_| last.starts_with(ids::File::PREFIX))?;
    (name(&id) == found).then_some(id)
}

/// Lists all files below this folder.
async fn in_folders(root: &Path) -> Result<Listing, Error> {
    let folders: Vec<String> = match fs::read_dir(root).await {
        Ok(mut found) => {
            let mut names = Vec::new();
            while let Some(folder) = found.next_entry().await? {
                names.extend(folder.file_name().into_string().ok().filter(|name| name != UPLOADS_DIR));
            }
            names
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let root = root.to_owned();
    let entries = stream::iter(folders).then(move |folder| {
        let root = root.clone();
        async move { entries(&root, &folder).await }
    });
    Ok(entries.map_ok(|found| stream::iter(found).map(Ok)).try_flatten().boxed())
}

/// Lists one folder: names and modification times.
async fn entries(root: &Path, folder: &str) -> Result<Vec<(String, SystemTime)>, Error> {
    let mut found = match fs::read_dir(root.join(folder)).await {
        Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => {
            return Ok(Vec::new());
        }
        opened => opened?,
    };
    let mut entries = Vec::new();
    while let Some(entry) = found.next_entry().await? {
        // Skip an entry that was removed meanwhile.
        if let (Ok(name), Ok(about)) = (entry.file_name().into_string(), entry.metadata().await) {
            entries.push((format!("{folder}/{name}"), about.modified()?));
        }
    }
    Ok(entries)
}

async fn remove_unknown(files: &Files, store: &Store, batch: Vec<FileId>) -> Result<u64, Error> {
    if batch.is_empty() {
        return Ok(0);
    }
    let asked = batch.clone();
    let named = store.read(move |tx| existing(tx, &asked)).await?;
    let unknown: Vec<FileId> = batch.into_iter().filter(|id| !named.contains(id)).collect();
    if unknown.is_empty() { Ok(0) } else { Ok(files.remove_now(&unknown).await) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_folder_is_swept_again_by_the_age_of_its_files() {
        let started = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        assert_eq!(folder_cutoff(started, Duration::from_secs(1)), started);
        let next_day = folder_cutoff(started, SWEEP_EVERY);
        assert_eq!(next_day, started + Duration::from_secs(82_800), "all but the last hour");
    }
}

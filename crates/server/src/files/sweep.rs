//! Removing what a crash or a store that was away left: bytes without a row. A row without bytes there is none,
//! because they come first.

use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, SystemTime};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tandem_app::files::known;
use tandem_core::ids::{self, Prefixed as _};
use tandem_core::{FileId, Timestamp};
use tandem_store::Store;
use tokio::fs;

use super::{ARRIVING, Error, Files, Listed, name};
use crate::housekeeping::Pace;
use crate::hub::Hub;

/// How many files are looked up at once.
const BATCH: usize = 200;

/// How often a bucket is looked through: what could not be removed from it should not wait for the next start.
const SWEEP_EVERY: Duration = Duration::from_secs(86_400);
/// Bytes without a row may be a file that is just arriving; after an hour they are not.
const ORPHAN_AGE_MS: i64 = 3_600_000;

/// Before when bytes without a row belong to nobody, whoever else uses the same place.
pub(crate) fn old(now: Timestamp) -> SystemTime {
    let since_1970 = u64::try_from(now.plus_ms(-ORPHAN_AGE_MS).0).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_millis(since_1970)
}

/// Goes through all files: a folder once, which nobody else uses, so that what is older than the start is old; a
/// bucket again and again, by its own clock.
pub(crate) async fn sweep(hub: Hub, started: SystemTime, mut pace: Pace) {
    let mut tick = tokio::time::interval(SWEEP_EVERY);
    while pace.tick(&mut tick).await {
        let in_folder = hub.files.bucket.is_none();
        let until = if in_folder { started } else { old(hub.clock.now()) };
        match remove_orphans(&hub.files, &hub.store, until, &mut pace).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "removed files that belonged to nobody"),
            Err(error) => tracing::warn!(%error, "could not look for files that belong to nobody"),
        }
        if in_folder {
            return;
        }
    }
}

/// Removes files from before `until` that no row names; tells how many.
pub(crate) async fn remove_orphans(
    files: &Files,
    store: &Store,
    until: SystemTime,
    pace: &mut Pace,
) -> Result<u64, Error> {
    let mut removed = 0;
    for (name, since) in entries(&files.root, ARRIVING).await? {
        if since < until {
            removed += u64::from(fs::remove_file(files.root.join(name)).await.is_ok());
        }
    }
    let mut kept = match &files.bucket {
        Some(bucket) => bucket.list(),
        None => in_folders(&files.root).await?,
    };
    let mut batch = Vec::new();
    while let Some((found, since)) = kept.try_next().await? {
        batch.extend(id_of(&found).filter(|_| since < until));
        if batch.len() == BATCH {
            removed += remove_unknown(files, store, std::mem::take(&mut batch)).await?;
            if !pace.pause().await {
                return Ok(removed);
            }
        }
    }
    Ok(removed + remove_unknown(files, store, batch).await?)
}

/// The file that has this name. Other things that may lie in a bucket are none of ours.
fn id_of(found: &str) -> Option<FileId> {
    let (_, last) = found.rsplit_once('/')?;
    let id = last.parse().ok().filter(|_| last.starts_with(ids::File::PREFIX))?;
    (name(&id) == found).then_some(id)
}

/// Everything that stays in the folders below this one.
async fn in_folders(root: &Path) -> Result<Listed, Error> {
    let folders: Vec<String> = match fs::read_dir(root).await {
        Ok(mut found) => {
            let mut names = Vec::new();
            while let Some(folder) = found.next_entry().await? {
                names.extend(folder.file_name().into_string().ok().filter(|name| name != ARRIVING));
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

/// What lies in one folder, and since when.
async fn entries(root: &Path, folder: &str) -> Result<Vec<(String, SystemTime)>, Error> {
    let mut found = match fs::read_dir(root.join(folder)).await {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    let mut entries = Vec::new();
    while let Some(entry) = found.next_entry().await? {
        // One that goes meanwhile needs no look.
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
    let named = store.read(move |tx| known(tx, &asked)).await?;
    let unknown: Vec<FileId> = batch.into_iter().filter(|id| !named.contains(id)).collect();
    if unknown.is_empty() { Ok(0) } else { Ok(files.remove_now(&unknown).await) }
}

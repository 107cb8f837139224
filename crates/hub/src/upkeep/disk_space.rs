//! Whether the disks of the database and of the files have room, looked at for `/ready`: on a full disk small writes may
//! pass while everything else fails.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use crate::Error;
use crate::db::Db;
use crate::files::Files;
use crate::ops::files::storage_error;

/// How long a look holds that found room.
const LOOKED_FOR: Duration = Duration::from_secs(5);
/// How long a write counts that found no space, although others succeed.
const FULL_FOR: Duration = Duration::from_secs(5);

/// The last look that found room.
#[derive(Debug, Default)]
pub(crate) struct DiskSpace(Mutex<Option<Instant>>);

impl DiskSpace {
    /// Writes a file in each place and removes it, unless that was done a moment ago.
    pub(crate) async fn check(&self, db: &Db, files: &Files) -> Result<(), Error> {
        if db.store().stats().was_full_within(FULL_FOR) {
            return Err(Error::storage_full());
        }
        let mut looked = self.0.lock().await;
        if looked.is_some_and(|at| at.elapsed() < LOOKED_FOR) {
            return Ok(());
        }
        *looked = None;
        let of = db.clone();
        let found = tokio::task::spawn_blocking(move || of.store().check_room()).await;
        found.unwrap_or_else(|panic| Err(tandem_store::Error::Panicked(panic.to_string())))?;
        files.look_for_room().await.map_err(storage_error)?;
        *looked = Some(Instant::now());
        Ok(())
    }
}

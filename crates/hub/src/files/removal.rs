//! The bytes of deleted files: their rows are gone, and they wait to be removed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tandem_core::FileId;
use tokio::sync::Notify;

use super::Files;
use crate::upkeep::housekeeping::Pacing;

/// Files that are removed together.
const BATCH: usize = 200;
/// Work in batches waits while so many files do. A single request adds one file at most, and does not wait.
const WAITING_MAX: usize = 10_000;

/// Files to remove. Nothing is dropped: what a transaction removed is here until its bytes are gone or the process ends,
/// and the next sweep finds what is left then.
#[derive(Debug, Default)]
pub(crate) struct Removals {
    waiting: Mutex<VecDeque<FileId>>,
    added: Notify,
    removed: Notify,
}

impl Removals {
    fn waiting(&self) -> MutexGuard<'_, VecDeque<FileId>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the files of a commit. Never waits.
    pub(crate) fn add(&self, files: Vec<FileId>) {
        self.waiting().extend(files);
        self.added.notify_one();
    }

    /// Waits until there is room for the files of another batch.
    pub(crate) async fn wait_for_space(&self) {
        loop {
            let removed = self.removed.notified();
            if self.waiting().len() < WAITING_MAX {
                return;
            }
            removed.await;
        }
    }

    fn take(&self) -> Vec<FileId> {
        let mut waiting = self.waiting();
        let count = waiting.len().min(BATCH);
        let taken = waiting.drain(..count).collect();
        drop(waiting);
        self.removed.notify_waiters();
        taken
    }
}

/// Removes the bytes of deleted files, until the hub stops and none waits.
pub(crate) async fn remove_deleted(files: Arc<Files>, mut pacing: Pacing) {
    loop {
        loop {
            let taken = files.removals.take();
            if taken.is_empty() {
                break;
            }
            files.remove(&taken).await;
        }
        tokio::select! {
            () = files.removals.added.notified() => {}
            () = pacing.stopped() => break,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_is_dropped_and_batches_wait() {
        let removals = Removals::default();
        for number in 0..WAITING_MAX {
            removals.add(vec![format!("file_{number}").parse().unwrap()]);
        }
        let mut room = Box::pin(removals.wait_for_space());
        assert!(futures_util::poll!(&mut room).is_pending());
        let mut taken = removals.take();
        room.await;
        while !removals.waiting().is_empty() {
            taken.extend(removals.take());
        }
        assert_eq!(taken.len(), WAITING_MAX);
        assert_eq!(taken.last().map(FileId::as_str), Some("file_9999"));
    }
}

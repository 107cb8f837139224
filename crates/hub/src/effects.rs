//! Executes the effects of a commit: wake-ups, ended keys, changed webhooks, deleted files.
//!
//! This runs on the store's thread before the caller gets its answer, and also if the caller has disconnected.
//! Nothing here may wait; slow work is given to a worker.

use std::sync::Arc;

use tandem_core::{FileId, Timestamp};
use tandem_store::Effect;
use tokio::sync::mpsc;

use crate::bus::Bus;
use crate::history::History;
use crate::keys::KeyCache;
use crate::webhooks::Receivers;

/// Queue of files to delete. If it is full, the sweep for orphaned files removes the rest.
const REMOVED_FILES_MAX: usize = 10_000;

/// The parts of a hub that react to a commit.
#[derive(Debug, Clone)]
pub(crate) struct CommitEffects {
    pub(crate) keys: Arc<KeyCache>,
    pub(crate) bus: Arc<Bus>,
    pub(crate) receivers: Arc<Receivers>,
    pub(crate) history: Arc<History>,
    removed_files: mpsc::Sender<Vec<FileId>>,
}

impl CommitEffects {
    /// Creates the executor and the queue of files to delete.
    pub(crate) fn new(started_at: Timestamp) -> (Self, mpsc::Receiver<Vec<FileId>>) {
        let (removed_files, queue) = mpsc::channel(REMOVED_FILES_MAX);
        let effects = Self {
            keys: Arc::default(),
            bus: Arc::new(Bus::local()),
            receivers: Arc::default(),
            history: Arc::new(History::new(started_at)),
            removed_files,
        };
        (effects, queue)
    }

    pub(crate) fn execute(&self, effects: Vec<Effect>) {
        let mut notices = Vec::with_capacity(effects.len());
        for effect in effects {
            match effect {
                Effect::EventAppended(notice) => notices.push(notice),
                Effect::KeyEnded(agent) => {
                    self.keys.end(&agent);
                    self.bus.end(&agent, crate::bus::EndReason::KeyEnded);
                }
                Effect::WebhookChanged(agent) => self.receivers.changed(&agent),
                Effect::WebhookDue(agent) => self.receivers.wake_due(&agent),
                Effect::FilesRemoved(files) => {
                    if self.removed_files.try_send(files).is_err() {
                        tracing::warn!("too many files to remove at once; the sweep will remove the rest");
                    }
                }
            }
        }
        if !notices.is_empty() {
            self.history.count_events(&notices);
            self.receivers.notify(&notices);
            self.bus.wake(notices);
        }
    }
}

//! Executes the effects of a commit: wake-ups, ended keys, changed webhooks, deleted files. What other nodes have to know
//! goes to the bus.
//!
//! This runs on the store's thread before the caller gets its answer, and also if the caller has disconnected.
//! Nothing here may wait; slow work is given to a worker.

use std::sync::Arc;

use tandem_core::{FileId, Timestamp};
use tandem_store::Effect;
use tokio::sync::mpsc;

use crate::bus::{Bus, Control, Inbox};
use crate::cluster::Topology;
use crate::history::History;
use crate::keys::KeyCache;

/// Queue of files to delete. If it is full, the sweep for orphaned files removes the rest.
const REMOVED_FILES_MAX: usize = 10_000;

/// The parts of a hub that react to a commit.
#[derive(Debug, Clone)]
pub(crate) struct CommitEffects {
    pub(crate) inbox: Inbox,
    pub(crate) history: Arc<History>,
    removed_files: mpsc::Sender<Vec<FileId>>,
}

impl CommitEffects {
    /// Creates the executor and the queue of files to delete.
    pub(crate) fn new(topology: Arc<Topology>, started_at: Timestamp) -> (Self, mpsc::Receiver<Vec<FileId>>) {
        let (removed_files, queue) = mpsc::channel(REMOVED_FILES_MAX);
        let inbox = Inbox {
            bus: Arc::new(Bus::new(&topology)),
            keys: Arc::new(KeyCache::new(topology)),
            receivers: Arc::default(),
        };
        let history = Arc::new(History::new(started_at));
        (Self { inbox, history, removed_files }, queue)
    }

    pub(crate) fn execute(&self, effects: Vec<Effect>) {
        let inbox = &self.inbox;
        let mut notices = Vec::with_capacity(effects.len());
        let mut control = Vec::new();
        for effect in effects {
            match effect {
                Effect::EventAppended(notice) => notices.push(notice),
                Effect::KeyEnded(agent) => {
                    inbox.end_key(&agent);
                    control.push(Control::KeyEnded(agent));
                }
                Effect::SignedOut(agent) => {
                    inbox.bus.signed_out(&agent);
                    control.push(Control::SignedOut(agent));
                }
                Effect::WebhookChanged(agent) => {
                    inbox.receivers.changed(&agent);
                    control.push(Control::WebhookChanged(agent));
                }
                Effect::WebhookDue(agent) => {
                    inbox.receivers.wake_due(&agent);
                    control.push(Control::WebhookDue(agent));
                }
                Effect::FilesRemoved(files) => {
                    if self.removed_files.try_send(files).is_err() {
                        tracing::warn!("too many files to remove at once; the sweep will remove the rest");
                    }
                }
            }
        }
        if !notices.is_empty() {
            self.history.count_events(&notices);
            inbox.receivers.notify(&notices);
        }
        if !(notices.is_empty() && control.is_empty()) {
            inbox.bus.publish(notices, control);
        }
    }
}

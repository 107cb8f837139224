//! Executes the effects of a commit: wake-ups, ended keys, changed webhooks, deleted files. What other nodes have to know
//! goes to the bus.
//!
//! This runs on the store's thread before the caller gets its answer, and also if the caller has disconnected.
//! Nothing here may wait; slow work is given to a worker.

use std::sync::Arc;

use tandem_store::Effect;

use crate::callers::keys::KeyCache;
use crate::cluster::Topology;
use crate::delivery::bus::{Bus, Control, Inbox};
use crate::files::Removals;
use crate::upkeep::plot_counts::PlotCounts;

/// The parts of a hub that react to a commit.
#[derive(Debug, Clone)]
pub(crate) struct CommitEffects {
    pub(crate) inbox: Inbox,
    pub(crate) plot_counts: Arc<PlotCounts>,
    removals: Arc<Removals>,
}

impl CommitEffects {
    /// Creates the executor. The bytes of deleted files go to `removals`.
    pub(crate) fn new(topology: Arc<Topology>, removals: Arc<Removals>) -> Self {
        let inbox = Inbox {
            bus: Arc::new(Bus::new(&topology)),
            keys: Arc::new(KeyCache::new(topology)),
            receivers: Arc::default(),
            remotes: Arc::default(),
        };
        Self { inbox, plot_counts: Arc::default(), removals }
    }

    pub(crate) fn execute(&self, effects: Vec<Effect>) {
        let inbox = &self.inbox;
        let mut notices = Vec::with_capacity(effects.len());
        let (mut control, mut removed) = (Vec::new(), Vec::new());
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
                // Other nodes look into the database by themselves.
                Effect::PushWanted => inbox.receivers.want_pushes(),
                Effect::FilesRemoved(mut files) => removed.append(&mut files),
            }
        }
        if !removed.is_empty() {
            self.removals.add(removed);
        }
        if !notices.is_empty() {
            self.plot_counts.count_events(&notices);
            inbox.receivers.notify(&notices);
            inbox.remotes.notify(&notices);
        }
        if !(notices.is_empty() && control.is_empty()) {
            inbox.bus.publish(notices, control);
        }
    }
}

//! What other nodes say, executed on this one.

use std::sync::Arc;

use tandem_core::AgentId;

use super::{Bus, Control, EndReason};
use crate::callers::keys::KeyCache;
use crate::delivery::webhooks::Receivers;
use crate::remotes::Queue;

/// The parts of a hub that other nodes' commits concern.
#[derive(Debug, Clone)]
pub(crate) struct Inbox {
    pub(crate) keys: Arc<KeyCache>,
    pub(crate) bus: Arc<Bus>,
    pub(crate) receivers: Arc<Receivers>,
    pub(crate) remotes: Arc<Queue>,
}

impl Inbox {
    /// Ends an agent's key on this node, with everything that was opened with it.
    pub(crate) fn end_key(&self, agent: &AgentId) {
        self.keys.end(agent);
        self.bus.end(agent, EndReason::KeyEnded);
    }

    pub(super) fn receive(&self, control: Control) {
        match control {
            Control::KeyEnded(agent) => self.end_key(&agent),
            Control::SignedOut(agent) => self.bus.signed_out(&agent),
            Control::WebhookChanged(agent) => self.receivers.changed(&agent),
            Control::WebhookDue(agent) => self.receivers.wake_due(&agent),
            Control::Observing => {
                if let Some(link) = self.bus.link() {
                    link.observed_elsewhere();
                }
            }
            Control::Events(notices) => {
                self.bus
                    .local()
                    .show(notices.into_iter().filter_map(super::wire::Notice::into_event).collect());
            }
            // These concern the connection itself.
            Control::Lost | Control::Leaving(_) => {}
        }
    }
}

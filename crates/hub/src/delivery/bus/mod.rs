//! Wake-ups: after a commit, the bus wakes everything that listens for an agent with new events, on this node and on the
//! others.
//!
//! A wake-up carries no data: the listener reads the log. A lost wake-up costs time, never an event. Its cost does not
//! depend on the number of connected agents.

mod channel;
mod inbox;
mod interest;
mod link;
mod local;
mod nats;
mod poll;
mod presence_changes;
mod wire;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tandem_core::AgentId;
use tandem_core::agents::Reach;
use tandem_store::EventNotice;
use tokio::sync::broadcast;

use crate::cluster::Topology;
use crate::config::BusKind;
pub use channel::{EndReason, STREAMS_MAX, StreamLimit, Transport};
pub(crate) use inbox::Inbox;
use link::Link;
pub use link::{LinkFigures, LinkState};
pub use local::{Listener, LocalBus};
pub(crate) use nats::run as run_nats;
pub(crate) use poll::poll;
use presence_changes::PresenceChanges;
pub(crate) use wire::Control;

/// In how many steps the listeners of a node that stops are ended.
const HAND_OVER_STEPS: usize = 100;

/// How wake-ups travel.
#[derive(Debug)]
pub enum Bus {
    /// Within this process, which is alone.
    Local(Arc<LocalBus>),
    /// Within this process; what other nodes commit is found by looking at the database every second.
    Polling(Arc<LocalBus>),
    /// Within this process, and between nodes by NATS.
    Nats(Arc<LocalBus>, Arc<Link>),
}

impl Bus {
    pub(crate) fn new(topology: &Arc<Topology>) -> Self {
        match topology.bus() {
            BusKind::Alone => Self::Local(LocalBus::new(None, true)),
            BusKind::Polling => Self::Polling(LocalBus::new(None, false)),
            BusKind::Nats(_) => {
                let link = Arc::new(Link::new(Arc::clone(topology)));
                Self::Nats(LocalBus::new(Some(Arc::clone(&link)), false), link)
            }
        }
    }

    fn local(&self) -> &Arc<LocalBus> {
        match self {
            Self::Local(local) | Self::Polling(local) | Self::Nats(local, _) => local,
        }
    }

    fn link(&self) -> Option<&Arc<Link>> {
        match self {
            Self::Local(_) | Self::Polling(_) => None,
            Self::Nats(_, link) => Some(link),
        }
    }

    /// Wakes the listeners of the agents of these events, here and on other nodes, and tells other nodes what else
    /// they have to do. All of it comes from one group of commits. Runs on the store's thread, so it never waits.
    pub(crate) fn publish(&self, notices: Vec<EventNotice>, control: Vec<Control>) {
        let local = self.local();
        let agents: HashSet<&AgentId> = notices.iter().map(|notice| &notice.agent).collect();
        local.wake(agents.iter().copied());
        if let Some(link) = self.link() {
            link.send(agents.into_iter().cloned().collect(), &notices, control);
        }
        local.show(notices);
    }

    /// Wakes the listeners of this node, because another node or the database said so.
    pub(crate) fn wake_here<'a>(&self, agents: impl IntoIterator<Item = &'a AgentId>) {
        self.local().wake(agents);
    }

    /// The agents that somebody listens for on this node.
    pub(crate) fn listening(&self) -> Vec<AgentId> {
        self.local().listening()
    }

    /// The agents about whom other nodes have to be told something; `None` for a node that is alone.
    pub(crate) fn presence_changes(&self) -> Option<&PresenceChanges> {
        self.local().presence_changes.as_ref()
    }

    /// Listens for an agent, within the limits of sockets and streams.
    pub fn listen(
        &self,
        agent: &AgentId,
        transport: Transport,
        streams_max: usize,
    ) -> Result<Listener, StreamLimit> {
        self.local().listen(agent, transport, streams_max)
    }

    /// Ends every listener of an agent on this node.
    pub fn end(&self, agent: &AgentId, end: EndReason) {
        self.local().end(agent, end);
    }

    /// Has the pages of an agent that are open on this node look whether they are still signed in.
    pub(crate) fn signed_out(&self, agent: &AgentId) {
        self.local().signed_out(agent);
    }

    /// Ends all listeners and observers, and each new one at once, because the hub stops. With a time to do it in, the
    /// listeners end one after the other, so that their clients do not all reconnect at the same moment.
    pub async fn stop(&self, within: Duration) {
        let local = self.local();
        if !within.is_zero() {
            local.stop_new();
            let mut agents = local.listening();
            let step = agents.len().div_ceil(HAND_OVER_STEPS).max(1);
            let pause = within / u32::try_from(HAND_OVER_STEPS).unwrap_or(1);
            while !agents.is_empty() {
                for agent in agents.drain(..step.min(agents.len())) {
                    local.end(&agent, EndReason::Stopping);
                }
                if !agents.is_empty() {
                    tokio::time::sleep(pause).await;
                }
            }
        }
        local.stop();
    }

    /// Observes all events of the hub, for the operator. A slow observer loses events and is notified of it.
    #[must_use]
    pub fn observe(&self) -> broadcast::Receiver<EventNotice> {
        let observed = self.local().observe();
        if let Some(link) = self.link() {
            link.observed();
        }
        observed
    }

    /// How the agent is connected best to this node, if it is.
    #[must_use]
    pub fn reach(&self, agent: &AgentId) -> Option<Reach> {
        self.local().reach(agent)
    }

    /// The agents with an open socket, stream or long poll on this node.
    #[must_use]
    pub fn connected(&self) -> HashSet<AgentId> {
        self.local().connected()
    }

    /// Number of open sockets and streams on this node.
    #[must_use]
    pub fn open(&self) -> (usize, usize) {
        self.local().open()
    }

    /// Number of calls on this node that wait for an agent.
    #[must_use]
    pub fn waits(&self) -> usize {
        self.local().waits()
    }

    /// The state of the connection to NATS; `None` for a node that uses none.
    #[must_use]
    pub fn link_state(&self) -> Option<LinkState> {
        self.link().map(|link| link.state())
    }

    /// Counters of the connection to NATS; `None` for a node that uses none.
    #[must_use]
    pub fn link_figures(&self) -> Option<&LinkFigures> {
        self.link().map(|link| link.figures())
    }
}

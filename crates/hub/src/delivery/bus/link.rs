//! The near side of the connection to NATS: queues that the rest of the process can fill without waiting.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tandem_core::AgentId;
use tandem_store::EventNotice;
use tokio::sync::{Notify, mpsc};

use super::wire::{Control, Notice};
use crate::cluster::Topology;

/// Groups of commits whose wake-ups wait to be sent. What does not fit is lost, and other nodes are told so.
const QUEUE_MAX: usize = 8_192;
/// How long a node shows its events to others after one of them has said that somebody observes there.
const OBSERVED_FOR: Duration = Duration::from_secs(5);

/// Changes of listeners that are kept one by one while NATS is away.
const CHANGED_MAX: usize = 10_000;

/// The agents whose listeners have come or gone.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Changed {
    Some(HashSet<AgentId>),
    /// Too many to keep: any may have changed.
    Any,
}

impl Default for Changed {
    fn default() -> Self {
        Self::Some(HashSet::new())
    }
}

impl Changed {
    fn add(&mut self, agent: &AgentId) {
        match self {
            Self::Some(agents) if agents.len() < CHANGED_MAX => drop(agents.insert(agent.clone())),
            Self::Some(_) => *self = Self::Any,
            Self::Any => {}
        }
    }
}

/// What waits to be sent.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// Wake-ups of one group of commits.
    Wake(Vec<AgentId>),
    /// Something for all nodes.
    Control(Control),
}

/// Counters of the connection to NATS.
#[derive(Debug, Default)]
pub struct LinkFigures {
    pub sent: AtomicU64,
    pub received: AtomicU64,
    /// Messages that were not sent, because the queue was full or NATS was away.
    pub lost: AtomicU64,
    /// How often the connection was made.
    pub connects: AtomicU64,
    /// Agents whose wake-ups this node has asked for.
    pub subscriptions: AtomicU64,
    /// Time of the last exchange with NATS, in microseconds.
    pub round_trip_us: AtomicU64,
}

/// Whether this node hears of other nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkState {
    /// It hears of everything that other nodes commit.
    Hearing,
    /// It is connected, but another node that runs is not heard.
    NotAllHeard,
    /// NATS is away.
    Away,
}

/// The near side of the connection.
#[derive(Debug)]
pub struct Link {
    topology: Arc<Topology>,
    queue: mpsc::Sender<Outgoing>,
    waiting: Mutex<Option<mpsc::Receiver<Outgoing>>>,
    overflowed: AtomicBool,
    connected: AtomicBool,
    changed: Mutex<Changed>,
    pub(super) has_changed: Notify,
    pub(super) has_observer: Notify,
    observed_at: Mutex<Option<Instant>>,
    figures: LinkFigures,
}

impl Link {
    pub(super) fn new(topology: Arc<Topology>) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE_MAX);
        Self {
            topology,
            queue,
            waiting: Mutex::new(Some(waiting)),
            overflowed: AtomicBool::new(false),
            connected: AtomicBool::new(false),
            changed: Mutex::default(),
            has_changed: Notify::new(),
            has_observer: Notify::new(),
            observed_at: Mutex::default(),
            figures: LinkFigures::default(),
        }
    }

    pub(super) fn figures(&self) -> &LinkFigures {
        &self.figures
    }

    pub(super) fn state(&self) -> LinkState {
        match (self.connected.load(Relaxed), self.topology.hears()) {
            (false, _) => LinkState::Away,
            (true, false) => LinkState::NotAllHeard,
            (true, true) => LinkState::Hearing,
        }
    }

    /// The number of the connection, if there is one.
    pub(super) fn connection(&self) -> Option<u64> {
        self.is_connected().then(|| self.figures.connects.load(Relaxed))
    }

    pub(super) fn is_connected(&self) -> bool {
        self.connected.load(Relaxed)
    }

    pub(super) fn set_connected(&self, connected: bool) {
        if connected {
            self.figures.connects.fetch_add(1, Relaxed);
        }
        self.connected.store(connected, Relaxed);
    }

    /// The far end of the queue, for the one task that sends.
    pub(super) fn take_queue(&self) -> Option<mpsc::Receiver<Outgoing>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Queues what one group of commits has caused. Never waits.
    pub(super) fn send(&self, agents: Vec<AgentId>, notices: &[EventNotice], control: Vec<Control>) {
        if !agents.is_empty() {
            self.put(Outgoing::Wake(agents));
        }
        for control in control {
            self.put(Outgoing::Control(control));
        }
        if !notices.is_empty() && self.is_observed_elsewhere() {
            let notices = notices.iter().map(Notice::from).collect();
            self.put(Outgoing::Control(Control::Events(notices)));
        }
    }

    fn put(&self, outgoing: Outgoing) {
        // While NATS is away, other nodes notice that they do not hear of this one, and look at the database.
        if !self.is_connected() || self.queue.try_send(outgoing).is_err() {
            self.lost(1);
        }
    }

    /// Counts messages that were not sent. Other nodes are told once that is possible.
    pub(super) fn lost(&self, count: u64) {
        self.figures.lost.fetch_add(count, Relaxed);
        self.overflowed.store(true, Relaxed);
    }

    /// Whether messages were lost since the last call.
    pub(super) fn take_overflowed(&self) -> bool {
        self.overflowed.swap(false, Relaxed)
    }

    /// Somebody began to listen for an agent on this node, or nobody does any more.
    pub(super) fn interest_changed(&self, agent: &AgentId) {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).add(agent);
        self.has_changed.notify_one();
    }

    pub(super) fn take_changed(&self) -> Changed {
        std::mem::take(&mut *self.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Somebody began to observe on this node.
    pub(super) fn observed(&self) {
        self.has_observer.notify_one();
    }

    /// Somebody observes on another node.
    pub(super) fn observed_elsewhere(&self) {
        *self.observed_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn is_observed_elsewhere(&self) -> bool {
        let at = *self.observed_at.lock().unwrap_or_else(PoisonError::into_inner);
        at.is_some_and(|at| at.elapsed() < OBSERVED_FOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_listeners_are_bounded() {
        let mut changed = Changed::default();
        for number in 0..=CHANGED_MAX {
            changed.add(&format!("agent_{number}").parse().unwrap());
        }
        assert_eq!(changed, Changed::Any);
        changed.add(&"agent_x".parse().unwrap());
        assert_eq!(changed, Changed::Any);
    }
}

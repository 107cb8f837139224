//! The listeners of this process: who waits for an agent's events here, and how each is woken or ended.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tandem_core::AgentId;
use tandem_core::agents::Reach;
use tandem_store::EventNotice;
use tokio::sync::{broadcast, watch};

use super::channel::{Channel, EndReason, Signal, StreamLimit, Transport, end_channel, wake_channel};
use super::link::Link;
use super::presence_changes::PresenceChanges;

/// Events that an observer may lag behind before it loses some.
const OBSERVED_MAX: usize = 1_024;

#[derive(Debug, Default)]
struct Channels {
    by_agent: HashMap<AgentId, Channel>,
    sockets: usize,
    streams: usize,
    waits: usize,
    stopping: bool,
    /// `None` when the hub stops, which ends all observers.
    observers: Option<broadcast::Sender<EventNotice>>,
}

/// The listeners of this process.
#[derive(Debug)]
pub struct LocalBus {
    channels: Mutex<Channels>,
    /// The way to other nodes, which has to know for whom somebody listens here.
    link: Option<Arc<Link>>,
    /// Agents whose connections have changed, for the other nodes.
    pub(crate) presence_changes: Option<PresenceChanges>,
}

impl LocalBus {
    /// `is_alone` says that no other nodes have to know of anything.
    pub(super) fn new(link: Option<Arc<Link>>, is_alone: bool) -> Arc<Self> {
        let observers = Some(broadcast::Sender::new(OBSERVED_MAX));
        let presence_changes = (!is_alone).then(PresenceChanges::default);
        Arc::new(Self {
            channels: Mutex::new(Channels { observers, ..Channels::default() }),
            link,
            presence_changes,
        })
    }

    fn presence_changed(&self, agent: &AgentId) {
        if let Some(changes) = &self.presence_changes {
            changes.add(agent);
        }
    }

    fn channels(&self) -> MutexGuard<'_, Channels> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the listeners of these agents.
    pub(super) fn wake<'a>(&self, agents: impl IntoIterator<Item = &'a AgentId>) {
        let mut channels = self.channels();
        for agent in agents {
            if let Some(channel) = channels.by_agent.get_mut(agent) {
                wake_channel(channel);
            }
        }
    }

    /// Wakes all listeners, because wake-ups may have been lost.
    pub(super) fn wake_all(&self) {
        self.channels().by_agent.values_mut().for_each(wake_channel);
    }

    /// Shows events to the observers of this process.
    pub(super) fn show(&self, notices: Vec<EventNotice>) {
        let observers = self.channels().observers.clone();
        let Some(observers) = observers.filter(|observers| observers.receiver_count() > 0) else { return };
        for notice in notices {
            // The last observer may have left meanwhile.
            let _ = observers.send(notice);
        }
    }

    /// Whether somebody observes here.
    pub(super) fn is_observed(&self) -> bool {
        self.channels().observers.as_ref().is_some_and(|observers| observers.receiver_count() > 0)
    }

    /// Whether somebody listens here for an agent.
    pub(super) fn is_listening(&self, agent: &AgentId) -> bool {
        self.channels().by_agent.contains_key(agent)
    }

    /// How many agents somebody listens for here.
    pub(super) fn listening_count(&self) -> usize {
        self.channels().by_agent.len()
    }

    /// The agents that somebody listens for here.
    pub(super) fn listening(&self) -> Vec<AgentId> {
        self.channels().by_agent.keys().cloned().collect()
    }

    /// Listens for an agent, within the limits of sockets and streams.
    pub(super) fn listen(
        self: &Arc<Self>,
        agent: &AgentId,
        transport: Transport,
        streams_max: usize,
    ) -> Result<Listener, StreamLimit> {
        let mut channels = self.channels();
        let is_limited = transport == Transport::Socket || transport.is_stream();
        if is_limited && channels.sockets + channels.streams >= streams_max {
            return Err(StreamLimit::Hub);
        }
        let stopping = channels.stopping;
        let is_new = !channels.by_agent.contains_key(agent);
        let channel = channels.by_agent.entry(agent.clone()).or_default();
        if channel.is_full_for(transport) {
            return Err(StreamLimit::Agent);
        }
        *channel.count_mut(transport) += 1;
        let signal = channel.signal.subscribe();
        let Signal { ended, sign_outs, .. } = *signal.borrow();
        let ended_before = ended.map_or(0, |ended| ended.0);
        channels.sockets += usize::from(transport == Transport::Socket);
        channels.streams += usize::from(transport.is_stream());
        channels.waits += usize::from(transport == Transport::Wait);
        drop(channels);
        if is_new && let Some(link) = &self.link {
            link.interest_changed(agent);
        }
        if transport.is_seen() {
            self.presence_changed(agent);
        }
        Ok(Listener {
            local: Arc::clone(self),
            agent: agent.clone(),
            transport,
            signal,
            ended_before,
            sign_outs,
            stopping,
        })
    }

    pub(super) fn end(&self, agent: &AgentId, end: EndReason) {
        if let Some(channel) = self.channels().by_agent.get_mut(agent) {
            end_channel(channel, end);
        }
    }

    pub(super) fn signed_out(&self, agent: &AgentId) {
        if let Some(channel) = self.channels().by_agent.get_mut(agent) {
            channel.signal.send_modify(|signal| signal.sign_outs += 1);
        }
    }

    /// Ends each new listener at once, because the hub stops.
    pub(super) fn stop_new(&self) {
        self.channels().stopping = true;
    }

    /// Ends all listeners and observers, and each new one at once, because the hub stops.
    pub(super) fn stop(&self) {
        let mut channels = self.channels();
        channels.stopping = true;
        channels.observers = None;
        for channel in channels.by_agent.values_mut() {
            end_channel(channel, EndReason::Stopping);
        }
    }

    /// Observes all events of the hub, for the operator. A slow observer loses events and is notified of it.
    pub(super) fn observe(&self) -> broadcast::Receiver<EventNotice> {
        let channels = self.channels();
        // A receiver without a sender ends at once.
        channels.observers.as_ref().map_or_else(|| broadcast::channel(1).1, broadcast::Sender::subscribe)
    }

    /// How the agent is connected best, if it is.
    pub(super) fn reach(&self, agent: &AgentId) -> Option<Reach> {
        let channels = self.channels();
        let channel = channels.by_agent.get(agent)?;
        match (channel.sockets, channel.streams, channel.polls) {
            (1.., _, _) => Some(Reach::Socket),
            (0, 1.., _) => Some(Reach::Stream),
            (0, 0, 1..) => Some(Reach::Polling),
            (0, 0, 0) => None,
        }
    }

    /// The agents with an open socket, stream or long poll.
    pub(super) fn connected(&self) -> HashSet<AgentId> {
        let channels = self.channels();
        let open = channels.by_agent.iter().filter(|(_, at)| at.sockets + at.streams + at.polls > 0);
        open.map(|(agent, _)| agent.clone()).collect()
    }

    /// Number of open sockets and streams.
    pub(super) fn open(&self) -> (usize, usize) {
        let channels = self.channels();
        (channels.sockets, channels.streams)
    }

    /// Number of calls that wait for an agent.
    pub(super) fn waits(&self) -> usize {
        self.channels().waits
    }
}

/// Waits for wake-ups of an agent. Dropping it stops listening.
#[derive(Debug)]
pub struct Listener {
    local: Arc<LocalBus>,
    agent: AgentId,
    transport: Transport,
    signal: watch::Receiver<Signal>,
    ended_before: u64,
    /// How many sign-outs there were when it was last found to be signed in.
    sign_outs: u64,
    stopping: bool,
}

impl Listener {
    /// Marks all wake-ups so far as seen. Call it before reading the log.
    pub fn mark_seen(&mut self) {
        self.signal.mark_unchanged();
        self.signal.borrow_and_update();
    }

    /// Waits for a wake-up that is not marked as seen.
    pub async fn woken(&mut self) {
        // The channel exists as long as it has a listener, so this cannot fail.
        let _ = self.signal.changed().await;
    }

    /// The reason to stop, if there is one.
    #[must_use]
    pub fn ended(&self) -> Option<EndReason> {
        if self.stopping {
            return Some(EndReason::Stopping);
        }
        let signal = self.signal.borrow();
        if self.transport == Transport::Bell {
            return signal.ended.map(|ended| ended.1).filter(|end| *end == EndReason::Stopping);
        }
        let ended = signal.ended.filter(|ended| ended.0 > self.ended_before).map(|ended| ended.1);
        let is_signed_out = self.transport == Transport::Page && signal.sign_outs > self.sign_outs;
        ended.or(is_signed_out.then_some(EndReason::SignedOut))
    }

    /// Goes on after the sign-outs so far. Call it before looking whether the page is still signed in.
    pub fn ignore_sign_outs(&mut self) {
        self.sign_outs = self.signal.borrow().sign_outs;
    }

    /// The time of the last wake-up.
    #[must_use]
    pub fn woken_at(&self) -> Instant {
        self.signal.borrow().at
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut channels = self.local.channels();
        channels.sockets -= usize::from(self.transport == Transport::Socket);
        channels.streams -= usize::from(self.transport.is_stream());
        channels.waits -= usize::from(self.transport == Transport::Wait);
        let Some(channel) = channels.by_agent.get_mut(&self.agent) else { return };
        *channel.count_mut(self.transport) -= 1;
        let is_unused = channel.is_unused();
        if is_unused {
            channels.by_agent.remove(&self.agent);
        }
        drop(channels);
        if is_unused && let Some(link) = &self.local.link {
            link.interest_changed(&self.agent);
        }
        if self.transport.is_seen() {
            self.local.presence_changed(&self.agent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, EndReason, LocalBus, Reach, StreamLimit, Transport};

    #[test]
    fn calls_that_wait_have_a_bound_and_show_nobody() {
        let bus = LocalBus::new(None, true);
        let ada = "agent_ada".parse().unwrap();
        let waits: Vec<_> = (0..256).map(|_| bus.listen(&ada, Transport::Wait, 0).unwrap()).collect();
        assert_eq!(bus.listen(&ada, Transport::Wait, 0).unwrap_err(), StreamLimit::Agent);
        let bell = bus.listen(&ada, Transport::Bell, 0).unwrap();
        assert_eq!((bus.reach(&ada), bus.connected().len(), bus.open()), (None, 0, (0, 0)));
        bus.end(&ada, EndReason::KeyEnded);
        assert_eq!((waits[0].ended(), bell.ended()), (Some(EndReason::KeyEnded), None));
        bus.stop();
        assert_eq!(bell.ended(), Some(EndReason::Stopping));
        drop((waits, bell));
        assert!(bus.listening().is_empty());
    }

    #[test]
    fn a_stream_of_a_task_takes_the_place_of_a_stream() {
        let bus: Arc<LocalBus> = LocalBus::new(None, true);
        let ada = "agent_ada".parse().unwrap();
        let first = bus.listen(&ada, Transport::Stream, 20).unwrap();
        let more: Vec<_> = (0..15).map(|_| bus.listen(&ada, Transport::TaskStream, 20).unwrap()).collect();
        for transport in [Transport::Socket, Transport::Stream, Transport::TaskStream] {
            assert_eq!(bus.listen(&ada, transport, 20).unwrap_err(), StreamLimit::Agent);
        }
        assert_eq!((bus.reach(&ada), bus.open()), (Some(Reach::Stream), (0, 16)));
        drop(first);
        assert_eq!((bus.reach(&ada), bus.open()), (None, (0, 15)));
        let bob = "agent_bob".parse().unwrap();
        assert_eq!(bus.listen(&bob, Transport::TaskStream, 15).unwrap_err(), StreamLimit::Hub);
        drop(more);
        assert_eq!(bus.open(), (0, 0));
    }
}

//! Wake-ups: after a commit, the bus wakes everything that listens for an agent with new events.
//!
//! A wake-up carries no data: the listener reads the log. A lost wake-up costs time, never an event. Its cost does
//! not depend on the number of connected agents.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tandem_core::AgentId;
use tandem_core::agents::Reach;
use tandem_store::EventNotice;
use tokio::sync::{broadcast, watch};

/// Sockets and streams per agent.
pub const STREAMS_MAX: usize = 16;
/// Events that an observer may lag behind before it loses some.
const OBSERVED_MAX: usize = 1_024;

/// How wake-ups travel. A cluster will need a second variant that uses a message broker.
#[derive(Debug)]
pub enum Bus {
    /// Within this process.
    Local(Arc<LocalBus>),
}

/// Why a listener has to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The key it was opened with is no longer valid.
    KeyEnded,
    /// The hub stops.
    Stopping,
}

/// How a listener is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// WebSocket.
    Socket,
    /// Server-sent events.
    Stream,
    /// Long poll.
    Poll,
    /// A page of the dashboard. Somebody looks at it, which does not mean that the agent is there.
    Page,
}

/// Which limit of sockets and streams is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamLimit {
    /// The limit of the agent.
    Agent,
    /// The limit of the hub.
    Hub,
}

/// The latest signal to the listeners of an agent.
#[derive(Debug, Clone, Copy)]
struct Signal {
    wakeups: u64,
    at: Instant,
    ended: Option<(u64, EndReason)>,
}

#[derive(Debug)]
struct Channel {
    signal: watch::Sender<Signal>,
    sockets: usize,
    streams: usize,
    polls: usize,
    pages: usize,
}

impl Channel {
    fn count_mut(&mut self, transport: Transport) -> &mut usize {
        match transport {
            Transport::Socket => &mut self.sockets,
            Transport::Stream => &mut self.streams,
            Transport::Poll => &mut self.polls,
            Transport::Page => &mut self.pages,
        }
    }

    /// Whether the agent may open no more of these.
    fn is_full_for(&self, transport: Transport) -> bool {
        match transport {
            Transport::Socket | Transport::Stream => self.sockets + self.streams >= STREAMS_MAX,
            Transport::Page => self.pages >= STREAMS_MAX,
            Transport::Poll => false,
        }
    }

    fn is_unused(&self) -> bool {
        self.sockets + self.streams + self.polls + self.pages == 0
    }
}

#[derive(Debug, Default)]
struct Channels {
    by_agent: HashMap<AgentId, Channel>,
    sockets: usize,
    streams: usize,
    stopping: bool,
    /// `None` when the hub stops, which ends all observers.
    observers: Option<broadcast::Sender<EventNotice>>,
}

/// The listeners of this process.
#[derive(Debug)]
pub struct LocalBus {
    channels: Mutex<Channels>,
}

impl Bus {
    /// Creates a bus within this process.
    #[must_use]
    pub fn local() -> Self {
        let observers = Some(broadcast::Sender::new(OBSERVED_MAX));
        Self::Local(Arc::new(LocalBus {
            channels: Mutex::new(Channels { observers, ..Channels::default() }),
        }))
    }

    fn local_bus(&self) -> &Arc<LocalBus> {
        let Self::Local(local) = self;
        local
    }

    /// Wakes the listeners of these agents. Runs on the store's thread, so it never waits.
    pub fn wake(&self, notices: Vec<EventNotice>) {
        let local = self.local_bus();
        let mut channels = local.channels();
        for notice in &notices {
            if let Some(channel) = channels.by_agent.get_mut(&notice.agent) {
                channel.signal.send_modify(|signal| {
                    signal.wakeups += 1;
                    signal.at = Instant::now();
                });
            }
        }
        let observers = channels.observers.clone().filter(|observers| observers.receiver_count() > 0);
        drop(channels);
        if let Some(observers) = observers {
            for notice in notices {
                // The last observer may have left meanwhile.
                let _ = observers.send(notice);
            }
        }
    }

    /// Listens for an agent, within the limits of sockets and streams.
    pub fn listen(
        &self,
        agent: &AgentId,
        transport: Transport,
        streams_max: usize,
    ) -> Result<Listener, StreamLimit> {
        let local = self.local_bus();
        let mut channels = local.channels();
        if transport != Transport::Poll && channels.sockets + channels.streams >= streams_max {
            return Err(StreamLimit::Hub);
        }
        let stopping = channels.stopping;
        let channel = channels.by_agent.entry(agent.clone()).or_insert_with(|| Channel {
            signal: watch::Sender::new(Signal { wakeups: 0, at: Instant::now(), ended: None }),
            sockets: 0,
            streams: 0,
            polls: 0,
            pages: 0,
        });
        if channel.is_full_for(transport) {
            return Err(StreamLimit::Agent);
        }
        *channel.count_mut(transport) += 1;
        let signal = channel.signal.subscribe();
        let ended_before = signal.borrow().ended.map_or(0, |ended| ended.0);
        match transport {
            Transport::Socket => channels.sockets += 1,
            Transport::Stream | Transport::Page => channels.streams += 1,
            Transport::Poll => {}
        }
        Ok(Listener {
            local: Arc::clone(local),
            agent: agent.clone(),
            transport,
            signal,
            ended_before,
            stopping,
        })
    }

    /// Ends every listener of an agent.
    pub fn end(&self, agent: &AgentId, end: EndReason) {
        if let Some(channel) = self.local_bus().channels().by_agent.get_mut(agent) {
            end_channel(channel, end);
        }
    }

    /// Ends all listeners and observers, and each new one at once, because the hub stops.
    pub fn stop(&self) {
        let mut channels = self.local_bus().channels();
        channels.stopping = true;
        channels.observers = None;
        for channel in channels.by_agent.values_mut() {
            end_channel(channel, EndReason::Stopping);
        }
    }

    /// Observes all events of the hub, for the operator. A slow observer loses events and is notified of it.
    #[must_use]
    pub fn observe(&self) -> broadcast::Receiver<EventNotice> {
        let channels = self.local_bus().channels();
        // A receiver without a sender ends at once.
        channels.observers.as_ref().map_or_else(|| broadcast::channel(1).1, broadcast::Sender::subscribe)
    }

    /// How the agent is connected best, if it is.
    #[must_use]
    pub fn reach(&self, agent: &AgentId) -> Option<Reach> {
        let channels = self.local_bus().channels();
        let channel = channels.by_agent.get(agent)?;
        match (channel.sockets, channel.streams, channel.polls) {
            (1.., _, _) => Some(Reach::Socket),
            (0, 1.., _) => Some(Reach::Stream),
            (0, 0, 1..) => Some(Reach::Polling),
            (0, 0, 0) => None,
        }
    }

    /// The agents with an open socket, stream or long poll.
    #[must_use]
    pub fn connected(&self) -> HashSet<AgentId> {
        let channels = self.local_bus().channels();
        let open = channels.by_agent.iter().filter(|(_, at)| at.sockets + at.streams + at.polls > 0);
        open.map(|(agent, _)| agent.clone()).collect()
    }

    /// Number of open sockets and streams.
    #[must_use]
    pub fn open(&self) -> (usize, usize) {
        let channels = self.local_bus().channels();
        (channels.sockets, channels.streams)
    }
}

fn end_channel(channel: &mut Channel, end: EndReason) {
    channel
        .signal
        .send_modify(|signal| signal.ended = Some((signal.ended.map_or(0, |ended| ended.0) + 1, end)));
}

impl LocalBus {
    fn channels(&self) -> MutexGuard<'_, Channels> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.signal.borrow().ended.filter(|ended| ended.0 > self.ended_before).map(|ended| ended.1)
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
        match self.transport {
            Transport::Socket => channels.sockets -= 1,
            Transport::Stream | Transport::Page => channels.streams -= 1,
            Transport::Poll => {}
        }
        if let Some(channel) = channels.by_agent.get_mut(&self.agent) {
            *channel.count_mut(self.transport) -= 1;
            if channel.is_unused() {
                channels.by_agent.remove(&self.agent);
            }
        }
    }
}

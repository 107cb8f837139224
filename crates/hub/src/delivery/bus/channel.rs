//! The listeners of one agent: how many there are of each kind, and the signal that wakes or ends them.

use std::time::Instant;

use tokio::sync::watch;

/// Sockets and streams per agent.
pub const STREAMS_MAX: usize = 16;
/// Calls of A2A per agent that wait for an answer.
const WAITS_MAX: usize = 256;

/// Why a listener has to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The key it was opened with is no longer valid.
    KeyEnded,
    /// Somebody was signed out of the agent's pages, perhaps in another browser. Only pages see this, and they may go on.
    SignedOut,
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
    /// A stream of one task, for a client of A2A. It takes the place of a stream, and shows nobody that the agent is there.
    TaskStream,
    /// A call of A2A that waits for an answer.
    Wait,
    /// Another agent waits for what this one does. Its own connections, keys and limits have nothing to do with it.
    Bell,
}

impl Transport {
    /// Whether it is one of those that the settings limit for the whole hub.
    pub(super) fn is_stream(self) -> bool {
        matches!(self, Self::Stream | Self::Page | Self::TaskStream)
    }

    /// Whether others can see by it that the agent is there.
    pub(super) fn is_seen(self) -> bool {
        matches!(self, Self::Socket | Self::Stream | Self::Poll | Self::Page)
    }
}

/// Which limit of sockets and streams is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamLimit {
    Agent,
    Hub,
}

/// The latest signal to the listeners of an agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signal {
    pub(super) wakeups: u64,
    pub(super) at: Instant,
    pub(super) ended: Option<(u64, EndReason)>,
    pub(super) sign_outs: u64,
}

/// The listeners of one agent.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) signal: watch::Sender<Signal>,
    pub(super) sockets: usize,
    pub(super) streams: usize,
    pub(super) polls: usize,
    pub(super) pages: usize,
    pub(super) task_streams: usize,
    pub(super) waits: usize,
    pub(super) bells: usize,
}

impl Default for Channel {
    fn default() -> Self {
        let signal = Signal { wakeups: 0, at: Instant::now(), ended: None, sign_outs: 0 };
        Self {
            signal: watch::Sender::new(signal),
            sockets: 0,
            streams: 0,
            polls: 0,
            pages: 0,
            task_streams: 0,
            waits: 0,
            bells: 0,
        }
    }
}

impl Channel {
    pub(super) fn count_mut(&mut self, transport: Transport) -> &mut usize {
        match transport {
            Transport::Socket => &mut self.sockets,
            Transport::Stream => &mut self.streams,
            Transport::Poll => &mut self.polls,
            Transport::Page => &mut self.pages,
            Transport::TaskStream => &mut self.task_streams,
            Transport::Wait => &mut self.waits,
            Transport::Bell => &mut self.bells,
        }
    }

    /// Whether the agent may open no more of these.
    pub(super) fn is_full_for(&self, transport: Transport) -> bool {
        match transport {
            Transport::Socket | Transport::Stream | Transport::TaskStream => {
                self.sockets + self.streams + self.task_streams >= STREAMS_MAX
            }
            Transport::Page => self.pages >= STREAMS_MAX,
            Transport::Wait => self.waits >= WAITS_MAX,
            Transport::Poll | Transport::Bell => false,
        }
    }

    pub(super) fn is_unused(&self) -> bool {
        let shown = self.sockets + self.streams + self.polls + self.pages;
        shown + self.task_streams + self.waits + self.bells == 0
    }
}

pub(super) fn wake_channel(channel: &mut Channel) {
    channel.signal.send_modify(|signal| {
        signal.wakeups += 1;
        signal.at = Instant::now();
    });
}

pub(super) fn end_channel(channel: &mut Channel, end: EndReason) {
    channel
        .signal
        .send_modify(|signal| signal.ended = Some((signal.ended.map_or(0, |ended| ended.0) + 1, end)));
}

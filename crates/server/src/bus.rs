//! Wake-ups: after a commit, everybody who listens for an agent with news is woken.
//!
//! A wake-up carries no news, only that there is some; the listener reads the log. So a lost wake-up costs
//! time and never an event. The cost of a wake-up does not depend on how many agents are connected.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tandem_core::AgentId;
use tandem_core::agents::Reach;
use tandem_store::Told;
use tokio::sync::{broadcast, watch};

/// How many sockets and streams an agent may have open.
pub const STREAMS_MAX: usize = 16;
/// How many events an observer may be behind before it loses some.
const OBSERVED_MAX: usize = 1_024;

/// How wake-ups travel. Another form, for several processes, goes through a message broker.
#[derive(Debug)]
pub enum Bus {
    /// Within this process.
    Local(Arc<LocalBus>),
}

/// Why a listener has to stop listening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The key it was opened with is no longer valid.
    KeyRotated,
    /// The hub stops.
    Stopping,
}

/// How somebody listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By a WebSocket.
    Socket,
    /// By server-sent events.
    Stream,
    /// By a request that waits.
    Poll,
}

/// Why nobody more can listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// The agent has as many sockets and streams as it may have.
    Agent,
    /// The hub has.
    Hub,
}

/// What a bell says.
#[derive(Debug, Clone, Copy)]
struct Ring {
    news: u64,
    at: Instant,
    ended: Option<(u64, End)>,
}

#[derive(Debug)]
struct Bell {
    ring: watch::Sender<Ring>,
    sockets: usize,
    streams: usize,
    polls: usize,
}

impl Bell {
    fn of(&mut self, way: Way) -> &mut usize {
        match way {
            Way::Socket => &mut self.sockets,
            Way::Stream => &mut self.streams,
            Way::Poll => &mut self.polls,
        }
    }
}

#[derive(Debug, Default)]
struct Bells {
    by_agent: HashMap<AgentId, Bell>,
    sockets: usize,
    streams: usize,
    stopping: bool,
}

/// Bells in this process's memory.
#[derive(Debug)]
pub struct LocalBus {
    bells: Mutex<Bells>,
    observers: broadcast::Sender<Told>,
}

impl Bus {
    /// A bus within this process.
    #[must_use]
    pub fn local() -> Self {
        let (observers, _) = broadcast::channel(OBSERVED_MAX);
        Self::Local(Arc::new(LocalBus { bells: Mutex::default(), observers }))
    }

    fn here(&self) -> &Arc<LocalBus> {
        let Self::Local(local) = self;
        local
    }

    /// Wakes whoever listens for these agents. Called on the store's thread, so it never waits.
    pub fn wake(&self, told: Vec<Told>) {
        let local = self.here();
        let mut bells = local.bells();
        for news in &told {
            if let Some(bell) = bells.by_agent.get_mut(&news.agent) {
                bell.ring.send_modify(|ring| {
                    ring.news += 1;
                    ring.at = Instant::now();
                });
            }
        }
        drop(bells);
        if local.observers.receiver_count() > 0 {
            for news in told {
                // Nobody may be left to hear it by now.
                let _ = local.observers.send(news);
            }
        }
    }

    /// Listens for an agent, within the bounds on sockets and streams.
    pub fn listen(&self, agent: &AgentId, way: Way, streams_max: usize) -> Result<Listener, Full> {
        let local = self.here();
        let mut bells = local.bells();
        if way != Way::Poll && bells.sockets + bells.streams >= streams_max {
            return Err(Full::Hub);
        }
        let stopping = bells.stopping;
        let bell = bells.by_agent.entry(agent.clone()).or_insert_with(|| Bell {
            ring: watch::Sender::new(Ring { news: 0, at: Instant::now(), ended: None }),
            sockets: 0,
            streams: 0,
            polls: 0,
        });
        if way != Way::Poll && bell.sockets + bell.streams >= STREAMS_MAX {
            return Err(Full::Agent);
        }
        *bell.of(way) += 1;
        let heard = bell.ring.subscribe();
        let ended_before = heard.borrow().ended.map_or(0, |ended| ended.0);
        match way {
            Way::Socket => bells.sockets += 1,
            Way::Stream => bells.streams += 1,
            Way::Poll => {}
        }
        Ok(Listener { local: Arc::clone(local), agent: agent.clone(), way, heard, ended_before, stopping })
    }

    /// Ends every listener of an agent.
    pub fn end(&self, agent: &AgentId, end: End) {
        if let Some(bell) = self.here().bells().by_agent.get_mut(agent) {
            finish(bell, end);
        }
    }

    /// Ends every listener, and every new one at once: the hub stops.
    pub fn stop(&self) {
        let mut bells = self.here().bells();
        bells.stopping = true;
        for bell in bells.by_agent.values_mut() {
            finish(bell, End::Stopping);
        }
    }

    /// Hears of every event of the hub, for the operator. Who falls behind loses some, and is told so.
    #[must_use]
    pub fn observe(&self) -> broadcast::Receiver<Told> {
        self.here().observers.subscribe()
    }

    /// The best open way to an agent, if one is open.
    #[must_use]
    pub fn open_way(&self, agent: &AgentId) -> Option<Reach> {
        let bells = self.here().bells();
        let bell = bells.by_agent.get(agent)?;
        match (bell.sockets, bell.streams, bell.polls) {
            (1.., _, _) => Some(Reach::Socket),
            (0, 1.., _) => Some(Reach::Stream),
            (0, 0, 1..) => Some(Reach::Polling),
            (0, 0, 0) => None,
        }
    }

    /// How many sockets and streams are open.
    #[must_use]
    pub fn open(&self) -> (usize, usize) {
        let bells = self.here().bells();
        (bells.sockets, bells.streams)
    }
}

fn finish(bell: &mut Bell, end: End) {
    bell.ring.send_modify(|ring| ring.ended = Some((ring.ended.map_or(0, |ended| ended.0) + 1, end)));
}

impl LocalBus {
    fn bells(&self) -> MutexGuard<'_, Bells> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hears when an agent has news. Dropping it stops listening.
#[derive(Debug)]
pub struct Listener {
    local: Arc<LocalBus>,
    agent: AgentId,
    way: Way,
    heard: watch::Receiver<Ring>,
    ended_before: u64,
    stopping: bool,
}

impl Listener {
    /// Takes note of everything rung so far: what is read from now on includes it.
    pub fn catch_up(&mut self) {
        self.heard.mark_unchanged();
        self.heard.borrow_and_update();
    }

    /// Waits for a ring since the last time that was taken note of.
    pub async fn rung(&mut self) {
        // The bell stays as long as somebody listens, so this cannot fail.
        let _ = self.heard.changed().await;
    }

    /// Why to stop, if one has to.
    #[must_use]
    pub fn ended(&self) -> Option<End> {
        if self.stopping {
            return Some(End::Stopping);
        }
        self.heard.borrow().ended.filter(|ended| ended.0 > self.ended_before).map(|ended| ended.1)
    }

    /// When the bell last rang for news.
    #[must_use]
    pub fn rung_at(&self) -> Instant {
        self.heard.borrow().at
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut bells = self.local.bells();
        match self.way {
            Way::Socket => bells.sockets -= 1,
            Way::Stream => bells.streams -= 1,
            Way::Poll => {}
        }
        if let Some(bell) = bells.by_agent.get_mut(&self.agent) {
            *bell.of(self.way) -= 1;
            if bell.sockets + bell.streams + bell.polls == 0 {
                bells.by_agent.remove(&self.agent);
            }
        }
    }
}

//! The sessions of clients up to 2025-11-25: whose they are, what they can do, and when they end.

mod models;
mod streams;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::service::Peer;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use tandem_core::{AgentId, Timestamp};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::mcp::workers::Workers;
pub(crate) use models::Sampler;
pub(crate) use streams::{OpenStream, Served};

/// How many sessions an agent may have.
pub const SESSIONS_MAX: usize = 32;

/// Of how many agents it is remembered what they were told.
const TOLD_MAX: usize = 100_000;

/// A session's id.
pub(crate) type SessionId = Arc<str>;

/// The work behind a session. It ends when nobody needs it any more: the session has ended, and every answer under way
/// has been read, also that to the call which ended it.
#[derive(Debug)]
pub(crate) struct Alive {
    workers: Arc<Workers>,
    id: SessionId,
}

impl Drop for Alive {
    fn drop(&mut self) {
        let (workers, id) = (Arc::clone(&self.workers), Arc::clone(&self.id));
        // Without a runtime the whole hub is going, and this with it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Err(error) = workers.close_session(&id).await {
                tracing::warn!(%error, "an MCP session did not close cleanly");
            }
        });
    }
}

#[derive(Debug)]
struct Session {
    agent: AgentId,
    /// Which one it is: those made later have larger numbers.
    number: u64,
    used_at: Timestamp,
    /// Streams are opened one after the other.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Whether one is being opened now.
    opening: bool,
    /// Ends when nobody reads its newest stream any more, or should.
    read: CancellationToken,
    /// Ends when nobody reads any stream of it: a newer one takes over from an older.
    served: CancellationToken,
    /// Tells whoever serves it that there is a newer stream.
    renewed: Arc<Notify>,
    /// Up to where it was told of its agent's log by a tool that waits.
    told: Option<i64>,
    /// Ends with it.
    over: CancellationToken,
    peer: Option<Peer<RoleServer>>,
    samples: bool,
    /// Since when its model is being asked.
    asked_at: Option<Timestamp>,
    /// Whether its model was asked in vain, and it has not been heard of since.
    mute: bool,
    subscribed: bool,
    alive: Arc<Alive>,
}

impl Session {
    fn is_read(&self) -> bool {
        !self.read.is_cancelled()
    }

    fn is_quiet(&self) -> bool {
        !self.is_read() && Arc::strong_count(&self.alive) == 1
    }
}

#[derive(Debug, Default)]
struct Known {
    sessions: HashMap<SessionId, Session>,
    of_agent: HashMap<AgentId, Vec<SessionId>>,
    made: u64,
}

impl Known {
    fn of<'a>(&'a self, agent: &AgentId) -> impl Iterator<Item = (&'a SessionId, &'a Session)> + use<'a> {
        let ids = self.of_agent.get(agent).into_iter().flatten();
        ids.filter_map(|id| self.sessions.get_key_value(id))
    }

    fn remove(&mut self, id: &str) {
        let Some(session) = self.sessions.remove(id) else { return };
        for token in [session.read, session.served, session.over] {
            token.cancel();
        }
        if let Some(ids) = self.of_agent.get_mut(&session.agent) {
            ids.retain(|one| **one != *id);
            if ids.is_empty() {
                self.of_agent.remove(&session.agent);
            }
        }
    }
}

/// All sessions of this process.
#[derive(Debug)]
pub struct Sessions {
    pub(crate) workers: Arc<Workers>,
    known: Mutex<Known>,
    /// Up to where each agent was told by a tool that waits, outside of sessions.
    told: Mutex<HashMap<AgentId, i64>>,
}

impl Default for Sessions {
    fn default() -> Self {
        let workers = Arc::new(Workers::new());
        Self { workers, known: Mutex::default(), told: Mutex::default() }
    }
}

/// Why a session cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There is none.
    Unknown,
    /// It is another agent's.
    Foreign,
}

impl Sessions {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that an agent uses a session, if it is the agent's. What is given back keeps it at work.
    pub(crate) fn enter(&self, id: &str, agent: &AgentId, now: Timestamp) -> Result<Arc<Alive>, Refused> {
        match self.known().sessions.get_mut(id) {
            None => Err(Refused::Unknown),
            Some(session) if session.agent != *agent => Err(Refused::Foreign),
            Some(session) => {
                session.used_at = now;
                session.mute = false;
                Ok(Arc::clone(&session.alive))
            }
        }
    }

    /// A new session. One that is not in use makes room for it; false if all of the agent's are.
    pub(crate) fn begin(&self, id: &str, agent: &AgentId, now: Timestamp) -> bool {
        let id: SessionId = id.into();
        // Dropped at the end if there is no room, and the session with it.
        let alive = Arc::new(Alive { workers: Arc::clone(&self.workers), id: Arc::clone(&id) });
        let mut known = self.known();
        if known.of(agent).count() >= SESSIONS_MAX {
            let quiet = known.of(agent).filter(|(_, session)| session.is_quiet());
            let oldest = quiet.min_by_key(|(_, session)| session.used_at).map(|(id, _)| Arc::clone(id));
            let Some(oldest) = oldest else { return false };
            known.remove(&oldest);
        }
        known.made += 1;
        let session = Session {
            agent: agent.clone(),
            number: known.made,
            used_at: now,
            turn: Arc::default(),
            opening: false,
            read: ended(),
            served: ended(),
            renewed: Arc::default(),
            told: None,
            over: CancellationToken::new(),
            peer: None,
            samples: false,
            asked_at: None,
            mute: false,
            subscribed: false,
            alive,
        };
        known.of_agent.entry(agent.clone()).or_default().push(Arc::clone(&id));
        known.sessions.insert(id, session);
        true
    }

    /// The client is ready: how to reach it, and whether it answers prompts.
    pub(crate) fn ready(&self, id: &str, peer: Peer<RoleServer>, samples: bool) {
        if let Some(session) = self.known().sessions.get_mut(id) {
            session.peer = Some(peer);
            session.samples = samples;
        }
    }

    /// Whether a session wants to be told of its inbox.
    pub(crate) fn subscribe(&self, id: &str, subscribed: bool) {
        if let Some(session) = self.known().sessions.get_mut(id) {
            session.subscribed = subscribed;
        }
    }

    /// Whom to tell that a session's inbox has changed.
    pub(crate) fn subscriber(&self, id: &str) -> Option<Peer<RoleServer>> {
        let known = self.known();
        known.sessions.get(id).filter(|session| session.subscribed)?.peer.clone()
    }

    /// Up to where somebody was told of its log: a session, or the agent where there are none.
    pub(crate) fn told(&self, agent: &AgentId, session: Option<&str>) -> Option<i64> {
        match session {
            Some(id) => self.known().sessions.get(id)?.told,
            None => self.told.lock().unwrap_or_else(PoisonError::into_inner).get(agent).copied(),
        }
    }

    /// Somebody was told of its log up to here. Forgetting it costs one repetition.
    pub(crate) fn note_told(&self, agent: &AgentId, session: Option<&str>, cursor: i64) {
        if let Some(id) = session {
            if let Some(session) = self.known().sessions.get_mut(id) {
                session.told = session.told.max(Some(cursor));
            }
            return;
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= TOLD_MAX {
            told.clear();
        }
        let known = told.entry(agent.clone()).or_default();
        *known = cursor.max(*known);
    }

    /// A session ends.
    pub(crate) fn end(&self, id: &str) {
        self.known().remove(id);
    }

    /// All sessions of an agent end: its key has.
    pub fn end_all(&self, agent: &AgentId) {
        let mut known = self.known();
        let ids: Vec<SessionId> = known.of(agent).map(|(id, _)| Arc::clone(id)).collect();
        for id in ids {
            known.remove(&id);
        }
    }

    /// Sessions end that nobody reads and that have not been used for so long.
    pub(crate) fn end_idle(&self, now: Timestamp, idle_ms: i64) {
        let mut known = self.known();
        let idle = |session: &Session| session.is_quiet() && now.ms_since(session.used_at) >= idle_ms;
        let all = known.sessions.iter();
        let ids: Vec<SessionId> =
            all.filter(|(_, session)| idle(session)).map(|(id, _)| Arc::clone(id)).collect();
        for id in ids {
            known.remove(&id);
        }
    }

    /// How many have work going on, also such as have ended but are still being answered.
    pub async fn at_work(&self) -> usize {
        self.workers.count().await
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.known().sessions.len()
    }
}

/// A token that has ended already.
fn ended() -> CancellationToken {
    let ended = CancellationToken::new();
    ended.cancel();
    ended
}

//! The sessions of clients up to 2025-11-25: whose they are, what they can do, and when they end.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::service::Peer;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use tandem_core::{AgentId, Timestamp};
use tokio_util::sync::CancellationToken;

/// How many sessions an agent may have.
pub const SESSIONS_MAX: usize = 32;
/// How long answers are kept for a client that lost its connection while they came.
const ANSWERS_KEPT: std::time::Duration = std::time::Duration::from_secs(10);

/// A session's id.
pub(crate) type SessionId = Arc<str>;

#[derive(Debug)]
struct Session {
    agent: AgentId,
    /// Which one it is: those made later have larger numbers.
    number: u64,
    used_at: Timestamp,
    streams: usize,
    /// Ends when nobody reads its stream any more.
    read: CancellationToken,
    peer: Option<Peer<RoleServer>>,
    samples: bool,
    subscribed: bool,
}

#[derive(Debug, Default)]
struct Known {
    sessions: HashMap<SessionId, Session>,
    made: u64,
}

/// All sessions of this process.
#[derive(Debug)]
pub struct Sessions {
    pub(crate) manager: Arc<LocalSessionManager>,
    known: Mutex<Known>,
    sampling: Arc<Mutex<HashSet<AgentId>>>,
}

impl Default for Sessions {
    fn default() -> Self {
        let mut config = SessionConfig::default();
        // The hub collects idle sessions itself: one whose stream is open is in use, however quiet it is.
        config.keep_alive = None;
        config.completed_cache_ttl = ANSWERS_KEPT;
        let mut manager = LocalSessionManager::default();
        manager.session_config = config;
        Self { manager: Arc::new(manager), known: Mutex::default(), sampling: Arc::default() }
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

    /// Notes that an agent uses a session, if it is the agent's.
    pub(crate) fn enter(&self, id: &str, agent: &AgentId, now: Timestamp) -> Result<(), Refused> {
        match self.known().sessions.get_mut(id) {
            None => Err(Refused::Unknown),
            Some(session) if session.agent != *agent => Err(Refused::Foreign),
            Some(session) => {
                session.used_at = now;
                Ok(())
            }
        }
    }

    /// A new session. One that is not in use makes room for it; false if all of the agent's are.
    pub(crate) fn begin(&self, id: &str, agent: &AgentId, now: Timestamp) -> bool {
        let mut known = self.known();
        let of_agent: Vec<(&SessionId, &Session)> =
            known.sessions.iter().filter(|(_, session)| session.agent == *agent).collect();
        if of_agent.len() >= SESSIONS_MAX {
            let quiet = of_agent.into_iter().filter(|(_, session)| session.streams == 0);
            let Some(oldest) = quiet.min_by_key(|(_, session)| session.used_at).map(|(id, _)| Arc::clone(id))
            else {
                self.close(vec![id.into()]);
                return false;
            };
            known.sessions.remove(&oldest);
            self.close(vec![oldest]);
        }
        known.made += 1;
        let session = Session {
            agent: agent.clone(),
            number: known.made,
            used_at: now,
            streams: 0,
            read: CancellationToken::new(),
            peer: None,
            samples: false,
            subscribed: false,
        };
        known.sessions.insert(id.into(), session);
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

    /// A stream is opened. The first of a session gets what ends with its last.
    pub(crate) fn open(self: &Arc<Self>, id: &str) -> (OpenStream, Option<CancellationToken>) {
        let mut first = None;
        if let Some(session) = self.known().sessions.get_mut(id) {
            session.streams += 1;
            if session.streams == 1 {
                session.read = CancellationToken::new();
                first = Some(session.read.clone());
            }
        }
        (OpenStream { sessions: Arc::clone(self), id: id.into() }, first)
    }

    /// Whom to tell that a session's inbox has changed.
    pub(crate) fn subscriber(&self, id: &str) -> Option<Peer<RoleServer>> {
        let known = self.known();
        known.sessions.get(id).filter(|session| session.subscribed)?.peer.clone()
    }

    /// Whom to prompt, if this session is the one to prompt: the newest of its agent's that can be.
    pub(crate) fn sampler(&self, id: &str, agent: &AgentId) -> Option<Peer<RoleServer>> {
        let known = self.known();
        let able = known.sessions.iter().filter(|(_, session)| {
            session.agent == *agent && session.samples && session.streams > 0 && session.peer.is_some()
        });
        let (newest, session) = able.max_by_key(|(_, session)| session.number)?;
        (newest.as_ref() == id).then(|| session.peer.clone())?
    }

    /// The right to prompt an agent's model, for one at a time.
    pub(crate) fn lock_sampling(&self, agent: &AgentId) -> Option<Sampling> {
        let taken = self.sampling.lock().unwrap_or_else(PoisonError::into_inner).insert(agent.clone());
        taken.then(|| Sampling { all: Arc::clone(&self.sampling), agent: agent.clone() })
    }

    /// A session ends.
    pub(crate) fn end(&self, id: &str) {
        if let Some((id, session)) = self.known().sessions.remove_entry(id) {
            session.read.cancel();
            self.close(vec![id]);
        }
    }

    /// All sessions of an agent end: its key has.
    pub fn end_all(&self, agent: &AgentId) {
        self.end_those(|session| session.agent == *agent);
    }

    /// Sessions end that nobody reads and that have not been used for so long.
    pub(crate) fn end_idle(&self, now: Timestamp, idle_ms: i64) {
        self.end_those(|session| session.streams == 0 && now.ms_since(session.used_at) >= idle_ms);
    }

    fn end_those(&self, ends: impl Fn(&Session) -> bool) {
        let ended: Vec<(SessionId, Session)> =
            self.known().sessions.extract_if(|_, session| ends(session)).collect();
        for (_, session) in &ended {
            session.read.cancel();
        }
        self.close(ended.into_iter().map(|(id, _)| id).collect());
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.known().sessions.len()
    }

    /// Ends the work behind sessions; who called does not wait for it.
    fn close(&self, ids: Vec<SessionId>) {
        if ids.is_empty() {
            return;
        }
        let manager = Arc::clone(&self.manager);
        tokio::spawn(async move {
            for id in ids {
                if let Err(error) = manager.close_session(&id).await {
                    tracing::warn!(%error, "an MCP session did not close cleanly");
                }
            }
        });
    }
}

/// A stream that somebody reads; dropping it says that nobody does any more.
#[derive(Debug)]
pub(crate) struct OpenStream {
    sessions: Arc<Sessions>,
    id: SessionId,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.known().sessions.get_mut(&self.id) {
            session.streams = session.streams.saturating_sub(1);
            if session.streams == 0 {
                session.read.cancel();
            }
        }
    }
}

/// The right to prompt an agent's model; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Sampling {
    all: Arc<Mutex<HashSet<AgentId>>>,
    agent: AgentId,
}

impl Drop for Sampling {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.agent);
    }
}

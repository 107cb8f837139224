//! MCP sessions of clients up to 2025-11-25: their owners, capabilities and end.

mod models;
mod streams;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use rmcp::RoleServer;
use rmcp::service::Peer;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use tandem_core::{AgentId, Timestamp};
use tandem_hub::{Caller, Held};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::mcp::workers::Workers;
pub(crate) use models::Sampler;
pub(crate) use streams::{OpenStream, StreamToken};

/// Sessions per agent.
pub const SESSIONS_MAX: usize = 32;

/// Agents whose reported cursor is stored outside of sessions.
const REPORTED_MAX: usize = 100_000;

pub(crate) type SessionId = Arc<str>;

/// A reference to the SDK's session. The SDK's session is closed when the last reference is dropped: after the
/// session has ended and all responses in it are read.
#[derive(Debug)]
pub(crate) struct SessionHandle {
    workers: Arc<Workers>,
    id: SessionId,
}

impl Drop for SessionHandle {
    fn drop(&mut self) {
        let (workers, id) = (Arc::clone(&self.workers), Arc::clone(&self.id));
        // Without a runtime the whole process is stopping.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(
            async move {
                if let Err(error) = workers.close_session(&id).await {
                    tracing::warn!(%error, "an MCP session did not close cleanly");
                }
            }
            .boxed(),
        );
    }
}

#[derive(Debug)]
struct Session {
    /// The agent and key that opened it.
    caller: Caller,
    _held: Held,
    /// Sequence number; newer sessions have larger numbers.
    number: u64,
    used_at: Timestamp,
    /// Allows opening only one stream at a time.
    open_lock: Arc<tokio::sync::Mutex<()>>,
    /// Whether a stream is being opened.
    opening: bool,
    /// Cancelled when the newest stream is no longer read or should end.
    read: CancellationToken,
    /// Cancelled when no stream is read any more. A newer stream replaces an older one.
    served: CancellationToken,
    /// Signals the worker of this session that there is a newer stream.
    renewed: Arc<Notify>,
    /// The log cursor up to which `wait_for_updates` has reported events.
    reported: Option<i64>,
    /// Cancelled when the session ends.
    ended: CancellationToken,
    peer: Option<Peer<RoleServer>>,
    samples: bool,
    /// When its model was asked, while there is no answer.
    asked_at: Option<Timestamp>,
    /// Whether its model did not answer the last request, and the client has sent nothing since.
    unresponsive: bool,
    subscribed: bool,
    handle: Arc<SessionHandle>,
}

impl Session {
    fn is_read(&self) -> bool {
        !self.read.is_cancelled()
    }

    fn is_idle(&self) -> bool {
        !self.is_read() && Arc::strong_count(&self.handle) == 1
    }
}

#[derive(Debug, Default)]
struct SessionTable {
    sessions: HashMap<SessionId, Session>,
    of_agent: HashMap<AgentId, Vec<SessionId>>,
    made: u64,
}

impl SessionTable {
    fn of<'a>(&'a self, agent: &AgentId) -> impl Iterator<Item = (&'a SessionId, &'a Session)> + use<'a> {
        let ids = self.of_agent.get(agent).into_iter().flatten();
        ids.filter_map(|id| self.sessions.get_key_value(id))
    }

    fn remove(&mut self, id: &str) {
        let Some(session) = self.sessions.remove(id) else { return };
        for token in [session.read, session.served, session.ended] {
            token.cancel();
        }
        if let Some(ids) = self.of_agent.get_mut(&session.caller.agent) {
            ids.retain(|one| **one != *id);
            if ids.is_empty() {
                self.of_agent.remove(&session.caller.agent);
            }
        }
    }
}

/// All sessions of this process.
#[derive(Debug)]
pub struct Sessions {
    pub(crate) workers: Arc<Workers>,
    table: Mutex<SessionTable>,
    /// Reported cursors of agents without sessions.
    reported: Mutex<HashMap<AgentId, i64>>,
}

impl Default for Sessions {
    fn default() -> Self {
        let workers = Arc::new(Workers::new());
        Self { workers, table: Mutex::default(), reported: Mutex::default() }
    }
}

/// Why a session cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionError {
    /// The session does not exist.
    Unknown,
    /// The session belongs to another agent.
    Foreign,
}

impl Sessions {
    fn table(&self) -> MutexGuard<'_, SessionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the use of a session by its agent. The returned reference keeps it open.
    pub(crate) fn enter(
        &self,
        id: &str,
        agent: &AgentId,
        now: Timestamp,
    ) -> Result<Arc<SessionHandle>, SessionError> {
        match self.table().sessions.get_mut(id) {
            None => Err(SessionError::Unknown),
            Some(session) if session.caller.agent != *agent => Err(SessionError::Foreign),
            Some(session) => {
                session.used_at = now;
                session.unresponsive = false;
                Ok(Arc::clone(&session.handle))
            }
        }
    }

    /// Adds a session. An idle session of the agent is removed if the limit is reached; returns false if none is
    /// idle.
    pub(crate) fn begin(&self, id: &str, caller: &Caller, held: Held, now: Timestamp) -> bool {
        let agent = &caller.agent;
        let id: SessionId = id.into();
        // If there is no room, dropping this closes the session.
        let handle = Arc::new(SessionHandle { workers: Arc::clone(&self.workers), id: Arc::clone(&id) });
        let mut table = self.table();
        if table.of(agent).count() >= SESSIONS_MAX {
            let quiet = table.of(agent).filter(|(_, session)| session.is_idle());
            let oldest = quiet.min_by_key(|(_, session)| session.used_at).map(|(id, _)| Arc::clone(id));
            let Some(oldest) = oldest else { return false };
            table.remove(&oldest);
        }
        table.made += 1;
        let session = Session {
            caller: caller.clone(),
            _held: held,
            number: table.made,
            used_at: now,
            open_lock: Arc::default(),
            opening: false,
            read: ended(),
            served: ended(),
            renewed: Arc::default(),
            reported: None,
            ended: CancellationToken::new(),
            peer: None,
            samples: false,
            asked_at: None,
            unresponsive: false,
            subscribed: false,
            handle,
        };
        table.of_agent.entry(agent.clone()).or_default().push(Arc::clone(&id));
        table.sessions.insert(id, session);
        true
    }

    /// Records that the client is ready, and whether it supports sampling.
    pub(crate) fn ready(&self, id: &str, peer: Peer<RoleServer>, samples: bool) {
        if let Some(session) = self.table().sessions.get_mut(id) {
            session.peer = Some(peer);
            session.samples = samples;
        }
    }

    /// Subscribes a session to its inbox, or unsubscribes it.
    pub(crate) fn subscribe(&self, id: &str, subscribed: bool) {
        if let Some(session) = self.table().sessions.get_mut(id) {
            session.subscribed = subscribed;
        }
    }

    /// The client to notify when the inbox has changed.
    pub(crate) fn subscriber(&self, id: &str) -> Option<Peer<RoleServer>> {
        let table = self.table();
        table.sessions.get(id).filter(|session| session.subscribed)?.peer.clone()
    }

    /// The reported cursor of a session, or of an agent without sessions.
    pub(crate) fn reported(&self, agent: &AgentId, session: Option<&str>) -> Option<i64> {
        match session {
            Some(id) => self.table().sessions.get(id)?.reported,
            None => self.reported.lock().unwrap_or_else(PoisonError::into_inner).get(agent).copied(),
        }
    }

    /// Records the reported cursor. Losing it causes one repeated report.
    pub(crate) fn set_reported(&self, agent: &AgentId, session: Option<&str>, cursor: i64) {
        if let Some(id) = session {
            if let Some(session) = self.table().sessions.get_mut(id) {
                session.reported = session.reported.max(Some(cursor));
            }
            return;
        }
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.len() >= REPORTED_MAX {
            reported.clear();
        }
        let last = reported.entry(agent.clone()).or_default();
        *last = cursor.max(*last);
    }

    pub(crate) fn end(&self, id: &str) {
        self.table().remove(id);
    }

    /// Ends all sessions of an agent, because its key has ended.
    pub fn end_all(&self, agent: &AgentId) {
        let mut table = self.table();
        let ids: Vec<SessionId> = table.of(agent).map(|(id, _)| Arc::clone(id)).collect();
        for id in ids {
            table.remove(&id);
        }
    }

    /// Ends the sessions that have been idle for this long.
    pub fn end_idle(&self, now: Timestamp, idle_ms: i64) {
        let mut table = self.table();
        let idle = |session: &Session| session.is_idle() && now.ms_since(session.used_at) >= idle_ms;
        let all = table.sessions.iter();
        let ids: Vec<SessionId> =
            all.filter(|(_, session)| idle(session)).map(|(id, _)| Arc::clone(id)).collect();
        for id in ids {
            table.remove(&id);
        }
    }

    /// Number of sessions in the SDK, including ended ones with unread responses.
    pub async fn worker_count(&self) -> usize {
        self.workers.count().await
    }

    #[must_use]
    pub fn count(&self) -> usize {
        self.table().sessions.len()
    }
}

fn ended() -> CancellationToken {
    let ended = CancellationToken::new();
    ended.cancel();
    ended
}

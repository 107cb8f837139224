//! MCP sessions of clients up to 2025-11-25: their owners, capabilities and end.

mod models;
mod stream;
mod streams;

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use rmcp::RoleServer;
use rmcp::service::Peer;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use tandem_core::{AgentId, Timestamp};
use tandem_hub::{Caller, Held};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::mcp::workers::Workers;
use models::Model;
pub(crate) use models::Sampler;
use stream::StreamState;
pub(crate) use streams::OpenStream;

/// Sessions per agent.
pub const SESSIONS_MAX: usize = 32;

/// Agents whose reported cursor is stored outside of sessions.
const REPORTED_MAX: usize = 100_000;

pub(crate) type SessionId = Arc<str>;

/// A session. Responses that are read, streams and the tasks that serve them hold references to it. The SDK's session is
/// closed when the last one is dropped: after the session has ended and all responses in it are read.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    /// The agent and key that opened it.
    pub(crate) caller: Caller,
    /// Newer sessions have larger numbers.
    number: u64,
    stream: watch::Sender<StreamState>,
    /// The number of the next stream.
    streams: AtomicU64,
    workers: Arc<Workers>,
    runtime: Handle,
    _held: Held,
}

impl Drop for Session {
    fn drop(&mut self) {
        let (workers, id) = (Arc::clone(&self.workers), Arc::clone(&self.id));
        // A key ends on a thread of the store, which has no runtime.
        self.runtime.spawn(
            async move {
                if let Err(error) = workers.close_session(&id).await {
                    tracing::warn!(%error, "an MCP session did not close cleanly");
                }
            }
            .boxed(),
        );
    }
}

/// A session that has not ended, and what is known of its client.
#[derive(Debug)]
struct Entry {
    session: Arc<Session>,
    used_at: Timestamp,
    /// The client, once it is ready.
    client: Option<Client>,
    model: Model,
    /// The log cursor up to which `wait_for_updates` has reported events.
    reported: Option<i64>,
    /// Whether the client is notified of changes of the inbox.
    is_subscribed: bool,
}

#[derive(Debug)]
struct Client {
    peer: Peer<RoleServer>,
    samples: bool,
}

impl Entry {
    /// Whether nobody reads from it or asks it anything.
    fn is_idle(&self) -> bool {
        Arc::strong_count(&self.session) == 1
    }
}

#[derive(Debug, Default)]
struct SessionTable {
    sessions: HashMap<SessionId, Entry>,
    of_agent: HashMap<AgentId, Vec<SessionId>>,
    made: u64,
}

impl SessionTable {
    fn of<'a>(&'a self, agent: &AgentId) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let ids = self.of_agent.get(agent).into_iter().flatten();
        ids.filter_map(|id| self.sessions.get(id))
    }

    fn remove(&mut self, id: &str) {
        let Some(Entry { session, .. }) = self.sessions.remove(id) else { return };
        session.stream.send_replace(StreamState::Ended);
        let agent = &session.caller.agent;
        if let Some(ids) = self.of_agent.get_mut(agent) {
            ids.retain(|one| **one != *id);
            if ids.is_empty() {
                self.of_agent.remove(agent);
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

    /// Changes what is known of a session, if it has not ended.
    fn change(&self, id: &str, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.table().sessions.get_mut(id) {
            change(entry);
        }
    }

    /// Records the use of a session by its agent.
    pub(crate) fn enter(
        &self,
        id: &str,
        agent: &AgentId,
        now: Timestamp,
    ) -> Result<Arc<Session>, SessionError> {
        let mut table = self.table();
        let entry = table.sessions.get_mut(id).ok_or(SessionError::Unknown)?;
        if entry.session.caller.agent != *agent {
            return Err(SessionError::Foreign);
        }
        entry.used_at = now;
        entry.model.client_spoke();
        Ok(Arc::clone(&entry.session))
    }

    /// Adds a session of the SDK. An idle session of the agent is removed if the limit is reached; returns false if none
    /// is idle.
    pub(crate) fn begin(&self, id: &str, caller: &Caller, held: Held, now: Timestamp) -> bool {
        let agent = &caller.agent;
        let id: SessionId = id.into();
        let mut table = self.table();
        table.made += 1;
        // If there is no room, dropping this closes the session.
        let session = Arc::new(Session {
            id: Arc::clone(&id),
            caller: caller.clone(),
            number: table.made,
            stream: watch::Sender::new(StreamState::Silent),
            streams: AtomicU64::new(1),
            workers: Arc::clone(&self.workers),
            runtime: Handle::current(),
            _held: held,
        });
        if table.of(agent).count() >= SESSIONS_MAX {
            let idle = table.of(agent).filter(|entry| entry.is_idle());
            let oldest = idle.min_by_key(|entry| entry.used_at).map(|entry| Arc::clone(&entry.session.id));
            let Some(oldest) = oldest else { return false };
            table.remove(&oldest);
        }
        let model = Model::Free;
        let entry =
            Entry { session, used_at: now, client: None, model, reported: None, is_subscribed: false };
        table.of_agent.entry(agent.clone()).or_default().push(Arc::clone(&id));
        table.sessions.insert(id, entry);
        true
    }

    /// Records that the client is ready, and whether it supports sampling.
    pub(crate) fn ready(&self, id: &str, peer: Peer<RoleServer>, samples: bool) {
        self.change(id, |entry| entry.client = Some(Client { peer, samples }));
    }

    /// Subscribes a session to its inbox, or unsubscribes it.
    pub(crate) fn subscribe(&self, id: &str, is_subscribed: bool) {
        self.change(id, |entry| entry.is_subscribed = is_subscribed);
    }

    /// The client to notify when the inbox has changed.
    pub(crate) fn subscriber(&self, id: &str) -> Option<Peer<RoleServer>> {
        let table = self.table();
        let entry = table.sessions.get(id).filter(|entry| entry.is_subscribed)?;
        Some(entry.client.as_ref()?.peer.clone())
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
            self.change(id, |entry| entry.reported = entry.reported.max(Some(cursor)));
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
        for id in table.of_agent.get(agent).cloned().unwrap_or_default() {
            table.remove(&id);
        }
    }

    /// Ends the sessions that have been idle for this long.
    pub fn end_idle(&self, now: Timestamp, idle_ms: i64) {
        let mut table = self.table();
        let is_over = |entry: &&Entry| entry.is_idle() && now.ms_since(entry.used_at) >= idle_ms;
        let over: Vec<SessionId> =
            table.sessions.values().filter(is_over).map(|entry| Arc::clone(&entry.session.id)).collect();
        for id in over {
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

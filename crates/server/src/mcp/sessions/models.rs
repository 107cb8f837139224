//! Which session's model may be sampled, and when.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::Peer;
use tandem_core::{AgentId, Timestamp};
use tandem_hub::Caller;
use tokio_util::sync::CancellationToken;

use super::{SessionId, SessionTable, Sessions};

/// After this time without an answer a model counts as slow.
const SLOW_MS: i64 = 30_000;

impl Sessions {
    /// The session to sample, if it is this one: the newest session of the agent that supports sampling. A session
    /// with a slow model is skipped.
    pub(crate) fn sampler(&self, id: &str, agent: &AgentId, now: Timestamp) -> Option<Sampler> {
        let table = self.table();
        let able = table.of(agent).filter(|(_, session)| {
            let in_time = session.asked_at.is_none_or(|at| now.ms_since(at) < SLOW_MS);
            session.samples && session.is_read() && session.peer.is_some() && in_time && !session.unresponsive
        });
        let (newest, session) = able.max_by_key(|(_, session)| session.number)?;
        let peer = session.peer.clone().filter(|_| newest.as_ref() == id)?;
        Some(Sampler {
            session: Arc::clone(newest),
            caller: session.caller.clone(),
            peer,
            ended: session.ended.clone(),
        })
    }

    /// Whether a model of the agent is being sampled.
    pub fn is_sampling(&self, agent: &AgentId) -> bool {
        self.table().of(agent).any(|(_, session)| session.asked_at.is_some())
    }

    /// Whether the session's model must not be sampled now.
    pub(crate) fn is_busy(&self, agent: &AgentId, id: &str, now: Timestamp) -> bool {
        self.table().is_busy(agent, id, now)
    }

    /// Reserves the right to sample, for one session of the agent at a time. Sessions that are not read or are slow
    /// do not count.
    pub(crate) fn lock_sampling(
        self: &Arc<Self>,
        agent: &AgentId,
        id: &str,
        now: Timestamp,
    ) -> Option<Sampling> {
        let mut table = self.table();
        let is_busy = table.is_busy(agent, id, now);
        let session = table.sessions.get_mut(id).filter(|_| !is_busy)?;
        session.asked_at = Some(now);
        Some(Sampling { sessions: Arc::clone(self), id: id.into() })
    }

    /// Records that the session's model did not answer.
    pub(crate) fn set_unresponsive(&self, id: &str) {
        if let Some(session) = self.table().sessions.get_mut(id) {
            session.unresponsive = true;
        }
    }
}

impl SessionTable {
    fn is_busy(&self, agent: &AgentId, id: &str, now: Timestamp) -> bool {
        self.of(agent).any(|(other, session)| {
            let waits = session.is_read() && session.asked_at.is_some_and(|at| now.ms_since(at) < SLOW_MS);
            waits || (other.as_ref() == id && session.asked_at.is_some())
        })
    }
}

/// A session whose model can be sampled.
#[derive(Debug)]
pub(crate) struct Sampler {
    pub(crate) session: SessionId,
    pub(crate) caller: Caller,
    pub(crate) peer: Peer<RoleServer>,
    /// Cancelled when the session ends.
    pub(crate) ended: CancellationToken,
}

/// The right to sample; released on drop.
#[derive(Debug)]
pub(crate) struct Sampling {
    sessions: Arc<Sessions>,
    id: SessionId,
}

impl Drop for Sampling {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.table().sessions.get_mut(&self.id) {
            session.asked_at = None;
        }
    }
}

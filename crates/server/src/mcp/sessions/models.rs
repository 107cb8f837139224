//! Whose model may be asked, and when.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::Peer;
use tandem_core::{AgentId, Timestamp};
use tokio_util::sync::CancellationToken;

use super::{Known, SessionId, Sessions};

/// After so long without an answer, a model is taken for slow.
const SLOW_MS: i64 = 30_000;

impl Sessions {
    /// Whom to prompt, if this session is the one to prompt: the newest of its agent's that can be. One that leaves its
    /// model's answer open for long makes room for another.
    pub(crate) fn sampler(&self, id: &str, agent: &AgentId, now: Timestamp) -> Option<Sampler> {
        let known = self.known();
        let able = known.of(agent).filter(|(_, session)| {
            let in_time = session.asked_at.is_none_or(|at| now.ms_since(at) < SLOW_MS);
            session.samples && session.is_read() && session.peer.is_some() && in_time && !session.mute
        });
        let (newest, session) = able.max_by_key(|(_, session)| session.number)?;
        let peer = session.peer.clone().filter(|_| newest.as_ref() == id)?;
        Some(Sampler { session: Arc::clone(newest), peer, over: session.over.clone() })
    }

    /// Whether an agent's model is being asked.
    pub fn is_sampling(&self, agent: &AgentId) -> bool {
        self.known().of(agent).any(|(_, session)| session.asked_at.is_some())
    }

    /// Whether a session's model must not be prompted now.
    pub(crate) fn is_busy(&self, agent: &AgentId, id: &str, now: Timestamp) -> bool {
        self.known().is_busy(agent, id, now)
    }

    /// The right to prompt an agent's model, for one at a time; of those that nobody reads or that take long, beside
    /// the others.
    pub(crate) fn lock_sampling(
        self: &Arc<Self>,
        agent: &AgentId,
        id: &str,
        now: Timestamp,
    ) -> Option<Sampling> {
        let mut known = self.known();
        let is_busy = known.is_busy(agent, id, now);
        let session = known.sessions.get_mut(id).filter(|_| !is_busy)?;
        session.asked_at = Some(now);
        Some(Sampling { sessions: Arc::clone(self), id: id.into() })
    }

    /// A session's model was asked in vain.
    pub(crate) fn mute(&self, id: &str) {
        if let Some(session) = self.known().sessions.get_mut(id) {
            session.mute = true;
        }
    }
}

impl Known {
    fn is_busy(&self, agent: &AgentId, id: &str, now: Timestamp) -> bool {
        self.of(agent).any(|(other, session)| {
            let waits = session.is_read() && session.asked_at.is_some_and(|at| now.ms_since(at) < SLOW_MS);
            waits || (other.as_ref() == id && session.asked_at.is_some())
        })
    }
}

/// A session whose model can be asked.
#[derive(Debug)]
pub(crate) struct Sampler {
    pub(crate) session: SessionId,
    pub(crate) peer: Peer<RoleServer>,
    /// Ends with the session.
    pub(crate) over: CancellationToken,
}

/// The right to prompt a model; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Sampling {
    sessions: Arc<Sessions>,
    id: SessionId,
}

impl Drop for Sampling {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.known().sessions.get_mut(&self.id) {
            session.asked_at = None;
        }
    }
}

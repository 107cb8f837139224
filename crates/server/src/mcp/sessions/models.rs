//! Which session's model may be sampled, and when.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::Peer;
use tandem_core::{AgentId, Timestamp};

use super::{Entry, Session, SessionTable, Sessions};

/// After this time without an answer a model counts as slow.
const SLOW_MS: i64 = 30_000;

/// The model of a session's client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Model {
    /// It can be asked.
    Free,
    /// It was asked at this time, and there is no answer.
    Asked(Timestamp),
    /// It did not answer the last request, and the client has sent nothing since.
    Unresponsive,
}

impl Model {
    pub(super) fn client_spoke(&mut self) {
        if *self == Self::Unresponsive {
            *self = Self::Free;
        }
    }

    /// Whether it can be expected to answer. It may be answering at the moment.
    fn is_responsive(self, now: Timestamp) -> bool {
        match self {
            Self::Free => true,
            Self::Asked(at) => now.ms_since(at) < SLOW_MS,
            Self::Unresponsive => false,
        }
    }

    fn is_asked(self) -> bool {
        matches!(self, Self::Asked(_))
    }
}

impl Entry {
    fn is_read(&self) -> bool {
        self.session.stream.borrow().stream().is_some()
    }

    /// The client, if its model can be sampled.
    fn sampled(&self, now: Timestamp) -> Option<&Peer<RoleServer>> {
        let client = self.client.as_ref().filter(|client| client.samples && self.is_read())?;
        self.model.is_responsive(now).then_some(&client.peer)
    }
}

impl Sessions {
    /// The session to sample, if it is this one: the newest session of the agent that supports sampling. A session
    /// with a slow model is skipped.
    pub(crate) fn sampler(&self, session: &Session, now: Timestamp) -> Option<Sampler> {
        let table = self.table();
        let able = table.of(&session.caller.agent).filter_map(|entry| Some((entry, entry.sampled(now)?)));
        let (newest, peer) = able.max_by_key(|(entry, _)| entry.session.number)?;
        let is_this = newest.session.number == session.number;
        is_this.then(|| Sampler { session: Arc::clone(&newest.session), peer: peer.clone() })
    }

    /// Whether a model of the agent is being sampled.
    pub fn is_sampling(&self, agent: &AgentId) -> bool {
        self.table().of(agent).any(|entry| entry.model.is_asked())
    }

    /// Whether the session's model must not be sampled now.
    pub(crate) fn is_busy(&self, session: &Session, now: Timestamp) -> bool {
        self.table().is_busy(session, now)
    }

    /// Reserves the right to sample, for one session of the agent at a time. Sessions that are not read or are slow
    /// do not count.
    pub(crate) fn lock_sampling(
        self: &Arc<Self>,
        session: &Arc<Session>,
        now: Timestamp,
    ) -> Option<Sampling> {
        let mut table = self.table();
        let is_busy = table.is_busy(session, now);
        let entry = table.sessions.get_mut(&session.id).filter(|_| !is_busy)?;
        entry.model = Model::Asked(now);
        Some(Sampling { sessions: Arc::clone(self), session: Arc::clone(session), after: Model::Free })
    }
}

impl SessionTable {
    fn is_busy(&self, session: &Session, now: Timestamp) -> bool {
        self.of(&session.caller.agent).any(|entry| {
            let answers = entry.model.is_asked() && entry.model.is_responsive(now);
            let is_this = entry.session.number == session.number;
            (answers && entry.is_read()) || (is_this && entry.model.is_asked())
        })
    }
}

/// A session whose model can be sampled.
#[derive(Debug)]
pub(crate) struct Sampler {
    pub(crate) session: Arc<Session>,
    pub(crate) peer: Peer<RoleServer>,
}

/// The right to sample; released on drop.
#[derive(Debug)]
pub(crate) struct Sampling {
    sessions: Arc<Sessions>,
    session: Arc<Session>,
    after: Model,
}

impl Sampling {
    /// Records that the model did not answer.
    pub(crate) fn unanswered(mut self) {
        self.after = Model::Unresponsive;
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        self.sessions.change(&self.session.id, |entry| entry.model = self.after);
    }
}

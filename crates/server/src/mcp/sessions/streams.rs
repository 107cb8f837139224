//! The streams on which the hub speaks first: one for each session, whichever is the newest.

use std::sync::Arc;

use tokio::sync::{Notify, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use super::{SessionId, Sessions};

impl Sessions {
    /// Waits for one's turn to open a stream; nothing if the session has ended.
    pub(crate) async fn opening(self: &Arc<Self>, id: &str) -> Option<Opening> {
        let turn = Arc::clone(&self.known().sessions.get(id)?.turn);
        let turn = turn.lock_owned().await;
        let mut known = self.known();
        let session = known.sessions.get_mut(id)?;
        session.opening = true;
        let is_served = !session.served.is_cancelled();
        Some(Opening { sessions: Arc::clone(self), id: id.into(), is_served, _turn: turn })
    }

    /// A stream is opened; nothing if its session has ended meanwhile. It takes the place of an older one: whoever
    /// opens it has lost that, also where the hub cannot know it yet. What serves the older one goes on with it.
    pub(crate) fn open(self: &Arc<Self>, id: &str) -> Option<OpenStream> {
        let mut known = self.known();
        let session = known.sessions.get_mut(id)?;
        let read = CancellationToken::new();
        std::mem::replace(&mut session.read, read.clone()).cancel();
        let to_serve = if session.served.is_cancelled() {
            session.served = CancellationToken::new();
            session.renewed = Arc::default();
            Some(Served { ended: session.served.clone(), renewed: Arc::clone(&session.renewed) })
        } else {
            session.renewed.notify_one();
            None
        };
        Some(OpenStream { sessions: Arc::clone(self), id: id.into(), read, to_serve })
    }
}

/// A stream that is being opened. Meanwhile an older one may end, and what serves it goes on.
#[derive(Debug)]
pub(crate) struct Opening {
    sessions: Arc<Sessions>,
    id: SessionId,
    /// Whether an older one is served.
    pub(crate) is_served: bool,
    _turn: OwnedMutexGuard<()>,
}

impl Drop for Opening {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.known().sessions.get_mut(&self.id) {
            session.opening = false;
            if !session.is_read() {
                session.served.cancel();
            }
        }
    }
}

/// A stream that somebody reads; dropping it says that nobody does any more.
#[derive(Debug)]
pub(crate) struct OpenStream {
    sessions: Arc<Sessions>,
    id: SessionId,
    /// Ends when the stream should.
    pub(crate) read: CancellationToken,
    /// How to serve its session, if nobody does.
    pub(crate) to_serve: Option<Served>,
}

/// What whoever serves a session's streams needs to know.
#[derive(Debug)]
pub(crate) struct Served {
    /// Nobody reads them any more.
    pub(crate) ended: CancellationToken,
    /// A newer one has taken over.
    pub(crate) renewed: Arc<Notify>,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let known = self.sessions.known();
        // If a newer one took over, this one has ended already.
        if !self.read.is_cancelled()
            && let Some(session) = known.sessions.get(&self.id).filter(|session| !session.opening)
        {
            session.served.cancel();
        }
        self.read.cancel();
    }
}

//! Server streams: each session has one, the newest.

use std::sync::Arc;

use tokio::sync::{Notify, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use super::{SessionId, Sessions};

impl Sessions {
    /// Waits until a stream may be opened; `None` if the session has ended.
    pub(crate) async fn opening(self: &Arc<Self>, id: &str) -> Option<Opening> {
        let open_lock = Arc::clone(&self.table().sessions.get(id)?.open_lock);
        let open_lock = open_lock.lock_owned().await;
        let mut table = self.table();
        let session = table.sessions.get_mut(id)?;
        session.opening = true;
        let is_served = !session.served.is_cancelled();
        Some(Opening { sessions: Arc::clone(self), id: id.into(), is_served, _open_lock: open_lock })
    }

    /// Opens a stream; `None` if the session has ended. It replaces an older stream, which its client has lost even
    /// if the hub does not know it yet. The worker of the older stream continues with the new one.
    pub(crate) fn open(self: &Arc<Self>, id: &str) -> Option<OpenStream> {
        let mut table = self.table();
        let session = table.sessions.get_mut(id)?;
        let read = CancellationToken::new();
        std::mem::replace(&mut session.read, read.clone()).cancel();
        let to_serve = if session.served.is_cancelled() {
            session.served = CancellationToken::new();
            session.renewed = Arc::default();
            Some(StreamToken { ended: session.served.clone(), renewed: Arc::clone(&session.renewed) })
        } else {
            session.renewed.notify_one();
            None
        };
        Some(OpenStream { sessions: Arc::clone(self), id: id.into(), read, to_serve })
    }
}

/// A stream that is being opened. The older stream may end meanwhile; its worker continues.
#[derive(Debug)]
pub(crate) struct Opening {
    sessions: Arc<Sessions>,
    id: SessionId,
    /// Whether a worker serves the older stream.
    pub(crate) is_served: bool,
    _open_lock: OwnedMutexGuard<()>,
}

impl Drop for Opening {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.table().sessions.get_mut(&self.id) {
            session.opening = false;
            if !session.is_read() {
                session.served.cancel();
            }
        }
    }
}

/// A stream that is being read. Dropping it records that nobody reads it.
#[derive(Debug)]
pub(crate) struct OpenStream {
    sessions: Arc<Sessions>,
    id: SessionId,
    /// Cancelled when the stream should end.
    pub(crate) read: CancellationToken,
    /// Set if a worker must be started for this session.
    pub(crate) to_serve: Option<StreamToken>,
}

/// What the worker of a session's streams needs.
#[derive(Debug)]
pub(crate) struct StreamToken {
    /// Cancelled when no stream is read any more.
    pub(crate) ended: CancellationToken,
    /// Signals a newer stream.
    pub(crate) renewed: Arc<Notify>,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let table = self.sessions.table();
        // If a newer stream replaced it, this one has already ended.
        if !self.read.is_cancelled()
            && let Some(session) = table.sessions.get(&self.id).filter(|session| !session.opening)
        {
            session.served.cancel();
        }
        self.read.cancel();
    }
}

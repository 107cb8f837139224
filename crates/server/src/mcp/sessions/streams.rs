//! Opening, reading and ending the server stream of a session.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::Session;
use super::stream::StreamState;

impl Session {
    /// Waits until a stream may be opened; `None` if the session has ended.
    pub(crate) async fn begin_stream(self: &Arc<Self>) -> Option<OpeningStream> {
        let mut changes = self.stream.subscribe();
        loop {
            let begun = self.stream.send_if_modified(|state| match state.begin() {
                Some(opening) => {
                    *state = opening;
                    true
                }
                None => false,
            });
            if begun {
                return Some(OpeningStream { session: Arc::clone(self) });
            }
            if self.has_ended() {
                return None;
            }
            changes.changed().await.ok()?;
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        *self.stream.borrow() == StreamState::Ended
    }

    /// Waits until the session ends.
    pub(crate) async fn ended(&self) {
        // It has the sender itself.
        let _ = self.stream.subscribe().wait_for(|state| *state == StreamState::Ended).await;
    }

    /// Waits until another stream than this one is read. `None` if this task need not serve streams any more.
    pub(crate) async fn next_stream(&self, server: u64, stream: u64) -> Option<u64> {
        let is_other = |state: &StreamState| {
            state.server() != Some(server) || state.stream().is_some_and(|read| read != stream)
        };
        let mut changes = self.stream.subscribe();
        let state = *changes.wait_for(is_other).await.ok()?;
        state.stream().filter(|_| state.server() == Some(server))
    }
}

/// A stream that is being opened. If it is dropped before it is open, everything is as it was.
#[derive(Debug)]
pub(crate) struct OpeningStream {
    session: Arc<Session>,
}

impl OpeningStream {
    /// Whether a task serves the older stream, and will serve this one.
    pub(crate) fn is_served(&self) -> bool {
        self.session.stream.borrow().server().is_some()
    }

    /// The stream is open. `None` if the session has ended.
    pub(crate) fn opened(self) -> Option<OpenStream> {
        let session = Arc::clone(&self.session);
        let number = session.streams.fetch_add(1, Relaxed);
        session.stream.send_modify(|state| *state = state.open(number));
        let server = session.stream.borrow().server()?;
        Some(OpenStream { session, number, server })
    }
}

impl Drop for OpeningStream {
    fn drop(&mut self) {
        self.session.stream.send_modify(|state| *state = state.give_up());
    }
}

/// A stream that is read. Dropping it records that nobody reads it.
#[derive(Debug)]
pub(crate) struct OpenStream {
    session: Arc<Session>,
    number: u64,
    /// The task that serves it.
    server: u64,
}

impl OpenStream {
    /// The number of a task that is to serve this stream and those that replace it, if there is none.
    pub(crate) fn to_serve(&self) -> Option<u64> {
        (self.server == self.number).then_some(self.number)
    }

    /// Waits until it should end: another has replaced it, or the session has ended.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> + Send + 'static {
        let (mut changes, number) = (self.session.stream.subscribe(), self.number);
        async move {
            let _ = changes.wait_for(|state| state.stream() != Some(number)).await;
        }
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.session.stream.send_modify(|state| *state = state.close(self.number));
    }
}

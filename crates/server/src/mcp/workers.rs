//! The SDK's sessions, except that nothing is said twice: it keeps the last messages of a session's stream and sends
//! them again to whoever opens the stream anew, also prompts that were answered and texts that were deleted since.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::{Stream, StreamExt as _};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};

/// How many messages of each session's stream have been passed on.
type Passed = HashMap<SessionId, Arc<AtomicUsize>>;

/// Sessions in this process's memory.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    local: LocalSessionManager,
    passed: Mutex<Passed>,
}

type Messages = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;
type Error = <LocalSessionManager as SessionManager>::Error;

impl Workers {
    pub(crate) fn new() -> Self {
        let mut workers = Self::default();
        // The hub ends idle sessions itself: one whose stream is open is in use, however quiet it is.
        workers.local.session_config.keep_alive = None;
        workers
    }

    pub(crate) async fn count(&self) -> usize {
        self.local.sessions.read().await.len()
    }

    fn passed(&self) -> MutexGuard<'_, Passed> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stream on which the server speaks first, from where the one before it ended: that is closed, or the SDK
    /// would go on talking to it and leave the new one silent.
    async fn go_on(&self, id: &SessionId) -> Result<Messages, Error> {
        let handle = self.local.sessions.read().await.get(id).cloned();
        let handle = handle.ok_or_else(|| Error::SessionNotFound(Arc::clone(id)))?;
        handle.close_standalone_sse_stream(None).await?;
        let passed = Arc::clone(self.passed().entry(Arc::clone(id)).or_default());
        let stream = self.local.resume(id, passed.load(Relaxed).to_string()).await?;
        Ok(Box::pin(stream.inspect(move |message| {
            let number = message.event_id.as_deref().and_then(|id| id.parse::<usize>().ok());
            if let Some(number) = number {
                passed.fetch_max(number + 1, Relaxed);
            }
        })))
    }
}

impl SessionManager for Workers {
    type Error = Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Error> {
        self.local.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Error> {
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Error> {
        self.passed().remove(id);
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        self.local.create_stream(id, message).await
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Error> {
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        self.go_on(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        // The answer to one request has that request's number behind a slash.
        if last_event_id.contains('/') {
            Ok(self.local.resume(id, last_event_id).await?.left_stream())
        } else {
            Ok(self.go_on(id).await?.right_stream())
        }
    }
}

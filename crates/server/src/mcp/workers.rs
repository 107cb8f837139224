//! The SDK's sessions, with three differences. Nothing is said twice: it keeps the last messages of a session's stream
//! and sends them again to whoever opens the stream anew, also prompts that were answered and texts that were deleted
//! since. An answer whose reader has hung up is kept for when it comes back: the SDK has forgotten it by then. And a
//! request whose id another one has that is not answered yet is refused: the SDK would never answer the other.

use std::collections::{HashMap, HashSet, VecDeque};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll};

use futures_util::{Stream, StreamExt as _, stream};
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};

/// How many unread answers of a session are kept.
const UNREAD_MAX: usize = 4;
const UNREAD_BYTES_MAX: usize = 256 * 1024;

/// How many messages of each session's stream have been passed on.
type Passed = HashMap<SessionId, Arc<AtomicUsize>>;

/// Sessions in this process's memory.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    local: LocalSessionManager,
    passed: Mutex<Passed>,
    unread: Arc<Unread>,
    underway: Arc<Underway>,
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

    fn answer(&self, id: &SessionId, answer: Messages, unanswered: Option<Arc<Unanswered>>) -> Answer {
        let (unread, session) = (Arc::clone(&self.unread), Arc::clone(id));
        Answer { unread, session, request: None, answer: Some(answer), unanswered }
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

/// Requests by their numbers, and what is left of their answers.
type Answers = VecDeque<(String, Vec<ServerSseMessage>)>;

/// Answers whose readers have hung up: of each session the last few, unless they are large.
#[derive(Debug, Default)]
struct Unread(Mutex<HashMap<SessionId, Answers>>);

impl Unread {
    fn all(&self) -> MutexGuard<'_, HashMap<SessionId, Answers>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, session: &SessionId) {
        self.all().insert(Arc::clone(session), Answers::new());
    }

    fn keep(&self, session: &SessionId, request: String, answer: Vec<ServerSseMessage>) {
        let bytes = |message: &ServerSseMessage| {
            let json = message.message.as_ref().map(|message| serde_json::to_vec(&**message));
            json.map_or(0, |json| json.map_or(UNREAD_BYTES_MAX, |json| json.len()))
        };
        // If somebody reads on, this is only a part of it.
        let is_whole = answer.last().is_some_and(is_final);
        if !is_whole || answer.iter().map(bytes).sum::<usize>() > UNREAD_BYTES_MAX {
            return;
        }
        let mut all = self.all();
        // It may have ended meanwhile.
        let Some(of_session) = all.get_mut(session) else { return };
        of_session.push_back((request, answer));
        if of_session.len() > UNREAD_MAX {
            of_session.pop_front();
        }
    }

    fn take(&self, session: &SessionId, request: &str) -> Option<Vec<ServerSseMessage>> {
        let mut all = self.all();
        let of_session = all.get_mut(session)?;
        let at = of_session.iter().position(|(of, _)| of == request)?;
        of_session.remove(at).map(|(_, answer)| answer)
    }

    fn forget(&self, session: &SessionId) {
        self.all().remove(session);
    }
}

/// Whether a message is the last of an answer.
fn is_final(message: &ServerSseMessage) -> bool {
    let message = message.message.as_deref();
    message.is_some_and(|message| {
        matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
    })
}

/// The requests of each session that have not been answered.
#[derive(Debug, Default)]
struct Underway(Mutex<Requests>);

#[derive(Debug, Default)]
struct Requests {
    ids: HashSet<(SessionId, RequestId)>,
    /// The same by the numbers under which the SDK sends their answers.
    numbers: HashMap<(SessionId, String), Weak<Unanswered>>,
}

impl Underway {
    fn all(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an id for a request; nothing if another one has it.
    fn begin(self: &Arc<Self>, session: &SessionId, id: &RequestId) -> Option<Arc<Unanswered>> {
        let request = (Arc::clone(session), id.clone());
        let is_free = self.all().ids.insert(request.clone());
        let number = OnceLock::new();
        is_free.then(|| Arc::new(Unanswered { underway: Arc::clone(self), request, number }))
    }

    /// The unanswered request with this number.
    fn with_number(&self, session: &SessionId, number: &str) -> Option<Arc<Unanswered>> {
        self.all().numbers.get(&(Arc::clone(session), number.to_owned()))?.upgrade()
    }
}

/// A request that has not been answered; when nobody holds it any more, its id is free.
#[derive(Debug)]
struct Unanswered {
    underway: Arc<Underway>,
    request: (SessionId, RequestId),
    number: OnceLock<String>,
}

impl Unanswered {
    /// Notes the number under which its answer can be asked for again.
    fn numbered(self: &Arc<Self>, number: &str) {
        let number = self.number.get_or_init(|| number.to_owned()).clone();
        let session = Arc::clone(&self.request.0);
        self.underway.all().numbers.insert((session, number), Arc::downgrade(self));
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        let mut all = self.underway.all();
        all.ids.remove(&self.request);
        if let Some(number) = self.number.take() {
            all.numbers.remove(&(Arc::clone(&self.request.0), number));
        }
    }
}

/// The answer to a request, as it is read. If its reader hangs up, the rest is kept.
struct Answer {
    unread: Arc<Unread>,
    session: SessionId,
    /// The number by which it can be asked for again; known from its first event on.
    request: Option<String>,
    answer: Option<Messages>,
    /// Holds the request's id until the last message of the answer.
    unanswered: Option<Arc<Unanswered>>,
}

impl Stream for Answer {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let Some(answer) = &mut self.answer else { return Poll::Ready(None) };
        let next = std::task::ready!(answer.as_mut().poll_next(context));
        let Some(message) = &next else {
            self.answer = None;
            self.unanswered = None;
            return Poll::Ready(None);
        };
        if self.request.is_none() {
            let id = message.event_id.as_deref().and_then(|id| id.split_once('/'));
            self.request = id.map(|(_, request)| request.to_owned());
            if let (Some(unanswered), Some(number)) = (&self.unanswered, &self.request) {
                unanswered.numbered(number);
            }
        }
        // Not at the end of the stream: the client may not wait for that before it takes the id again.
        if is_final(message) {
            self.unanswered = None;
        }
        Poll::Ready(next)
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        let Some(rest) = self.answer.take() else { return };
        let (unread, session) = (Arc::clone(&self.unread), Arc::clone(&self.session));
        let (request, unanswered) = (self.request.take(), self.unanswered.take());
        // Without a runtime the whole hub is going, and this with it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            // It ends with the call, or when somebody reads on.
            let answer = rest.collect().await;
            if let Some(request) = request {
                unread.keep(&session, request, answer);
            }
            drop(unanswered);
        });
    }
}

fn id_taken(id: &RequestId) -> Messages {
    let error = ErrorData::invalid_request(
        "another request of this session has this id and is not answered yet",
        None,
    );
    let refusal = ServerJsonRpcMessage::error(error, Some(id.clone()));
    Box::pin(stream::iter([ServerSseMessage::from_message(refusal)]))
}

impl SessionManager for Workers {
    type Error = Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Error> {
        let (id, transport) = self.local.create_session().await?;
        self.unread.begin(&id);
        Ok((id, transport))
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
        self.unread.forget(id);
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        let mut unanswered = None;
        if let ClientJsonRpcMessage::Request(request) = &message {
            unanswered = self.underway.begin(id, &request.id);
            if unanswered.is_none() {
                return Ok(self.answer(id, id_taken(&request.id), None));
            }
        }
        let answer = self.local.create_stream(id, message).await?;
        Ok(self.answer(id, Box::pin(answer), unanswered))
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
        let Some((_, request)) = last_event_id.split_once('/') else {
            return Ok(self.go_on(id).await?.left_stream());
        };
        let request = request.to_owned();
        let unanswered = self.underway.with_number(id, &request);
        let answer: Messages = match self.unread.take(id, &request) {
            Some(kept) => Box::pin(stream::iter(kept)),
            None => Box::pin(self.local.resume(id, last_event_id).await?),
        };
        let mut answer = self.answer(id, answer, unanswered);
        answer.request = Some(request);
        Ok(answer.right_stream())
    }
}

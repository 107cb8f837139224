//! The SDK's session manager with three changes. (1) It sends nothing twice: the SDK replays the last messages of a
//! stream when it is reopened, including answered prompts and deleted texts. (2) It keeps a response whose client has
//! disconnected; the SDK forgets it. (3) It refuses a request whose id belongs to an open request; the SDK would
//! never answer the older one.

use std::collections::{HashMap, HashSet, VecDeque};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::{Stream, StreamExt as _, stream};
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};

use crate::mcp::message::keep_essentials;

/// Unread responses per session, and their size in total.
const UNREAD_MAX: usize = 4;
const UNREAD_BYTES_MAX: usize = 256 * 1024;
/// Messages that the SDK keeps of each stream.
const STREAM_MESSAGES_MAX: usize = 8;

/// Messages of each session's stream that were passed on.
type Passed = HashMap<SessionId, Arc<AtomicUsize>>;

/// The sessions in memory.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    local: LocalSessionManager,
    passed: Mutex<Passed>,
    unread: Arc<UnreadAnswers>,
    open_requests: Arc<OpenRequests>,
}

type Messages = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;
type Error = <LocalSessionManager as SessionManager>::Error;

impl Workers {
    pub(crate) fn new() -> Self {
        let mut workers = Self::default();
        // The hub ends idle sessions itself: a session with an open stream is in use, even without traffic.
        workers.local.session_config.keep_alive = None;
        // By default the SDK keeps every response for at least a minute. Those that are not read are kept here.
        workers.local.session_config.completed_cache_ttl = Duration::ZERO;
        workers.local.session_config.channel_capacity = STREAM_MESSAGES_MAX;
        workers
    }

    pub(crate) async fn count(&self) -> usize {
        self.local.sessions.read().await.len()
    }

    fn passed(&self) -> MutexGuard<'_, Passed> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(
        &self,
        id: &SessionId,
        answer: Messages,
        open_request: Option<Arc<OpenRequest>>,
    ) -> AnswerStream {
        let (unread, session) = (Arc::clone(&self.unread), Arc::clone(id));
        AnswerStream { unread, session, request: None, answer: Some(answer), open_request }
    }

    /// Reopens the server stream where the previous one ended, and closes that one; otherwise the SDK would keep
    /// sending to it.
    async fn resume_stream(&self, id: &SessionId) -> Result<Messages, Error> {
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

/// Request numbers with the rest of their responses, and the size of each.
type Answers = VecDeque<(String, Vec<ServerSseMessage>, usize)>;

/// Responses whose clients have disconnected: the last few of each session, unless they are large.
#[derive(Debug, Default)]
struct UnreadAnswers(Mutex<HashMap<SessionId, Answers>>);

impl UnreadAnswers {
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
        // If another client reads on, this is only a part.
        let is_whole = answer.last().is_some_and(is_final);
        let size = answer.iter().map(bytes).sum::<usize>();
        if !is_whole || size > UNREAD_BYTES_MAX {
            return;
        }
        let mut all = self.all();
        // The session may have ended meanwhile.
        let Some(of_session) = all.get_mut(session) else { return };
        of_session.push_back((request, answer, size));
        let mut total = of_session.iter().map(|(_, _, size)| size).sum::<usize>();
        while of_session.len() > UNREAD_MAX || total > UNREAD_BYTES_MAX {
            let Some((_, _, size)) = of_session.pop_front() else { break };
            total -= size;
        }
    }

    fn take(&self, session: &SessionId, request: &str) -> Option<Vec<ServerSseMessage>> {
        let mut all = self.all();
        let of_session = all.get_mut(session)?;
        let at = of_session.iter().position(|(of, ..)| of == request)?;
        of_session.remove(at).map(|(_, answer, _)| answer)
    }

    fn forget(&self, session: &SessionId) {
        self.all().remove(session);
    }
}

/// Whether a message is the last of a response.
fn is_final(message: &ServerSseMessage) -> bool {
    let message = message.message.as_deref();
    message.is_some_and(|message| {
        matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
    })
}

#[derive(Debug, Default)]
struct OpenRequests(Mutex<Requests>);

#[derive(Debug, Default)]
struct Requests {
    ids: HashSet<(SessionId, RequestId)>,
    /// The same, by the numbers under which the SDK sends their responses.
    numbers: HashMap<(SessionId, String), Weak<OpenRequest>>,
}

impl OpenRequests {
    fn all(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves the id of a request; `None` if it is in use.
    fn begin(self: &Arc<Self>, session: &SessionId, id: &RequestId) -> Option<Arc<OpenRequest>> {
        let request = (Arc::clone(session), id.clone());
        let is_free = self.all().ids.insert(request.clone());
        let number = OnceLock::new();
        is_free.then(|| Arc::new(OpenRequest { open_requests: Arc::clone(self), request, number }))
    }

    fn with_number(&self, session: &SessionId, number: &str) -> Option<Arc<OpenRequest>> {
        self.all().numbers.get(&(Arc::clone(session), number.to_owned()))?.upgrade()
    }
}

/// A request without a response. Its id is released on drop.
#[derive(Debug)]
struct OpenRequest {
    open_requests: Arc<OpenRequests>,
    request: (SessionId, RequestId),
    number: OnceLock<String>,
}

impl OpenRequest {
    /// Records the number under which the response can be requested again.
    fn numbered(self: &Arc<Self>, number: &str) {
        let number = self.number.get_or_init(|| number.to_owned()).clone();
        let session = Arc::clone(&self.request.0);
        self.open_requests.all().numbers.insert((session, number), Arc::downgrade(self));
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut all = self.open_requests.all();
        all.ids.remove(&self.request);
        if let Some(number) = self.number.take() {
            all.numbers.remove(&(Arc::clone(&self.request.0), number));
        }
    }
}

/// The response to a request. If its client disconnects, the rest is kept.
struct AnswerStream {
    unread: Arc<UnreadAnswers>,
    session: SessionId,
    /// The number of the request; known after the first event.
    request: Option<String>,
    answer: Option<Messages>,
    /// Reserves the request id until the last message of the response.
    open_request: Option<Arc<OpenRequest>>,
}

impl Stream for AnswerStream {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let Some(answer) = &mut self.answer else { return Poll::Ready(None) };
        let next = std::task::ready!(answer.as_mut().poll_next(context));
        let Some(message) = &next else {
            self.answer = None;
            self.open_request = None;
            return Poll::Ready(None);
        };
        if self.request.is_none() {
            let id = message.event_id.as_deref().and_then(|id| id.split_once('/'));
            self.request = id.map(|(_, request)| request.to_owned());
            if let (Some(open_request), Some(number)) = (&self.open_request, &self.request) {
                open_request.numbered(number);
            }
        }
        // Release the id now: the client may reuse it before the stream ends.
        if is_final(message) {
            self.open_request = None;
        }
        Poll::Ready(next)
    }
}

impl Drop for AnswerStream {
    fn drop(&mut self) {
        let Some(rest) = self.answer.take() else { return };
        let (unread, session) = (Arc::clone(&self.unread), Arc::clone(&self.session));
        let (request, open_request) = (self.request.take(), self.open_request.take());
        // Without a runtime the whole process is stopping.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(
            async move {
                // Ends with the call, or when another client reads on.
                let answer = rest.collect().await;
                if let Some(request) = request {
                    unread.keep(&session, request, answer);
                }
                drop(open_request);
            }
            .boxed(),
        );
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
        mut message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Error> {
        if let ClientJsonRpcMessage::Request(request) = &mut message
            && let ClientRequest::InitializeRequest(initialize) = &mut request.request
        {
            keep_essentials(&mut initialize.params);
        }
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
        let mut open_request = None;
        if let ClientJsonRpcMessage::Request(request) = &message {
            open_request = self.open_requests.begin(id, &request.id);
            if open_request.is_none() {
                return Ok(self.answer(id, id_taken(&request.id), None));
            }
        }
        let answer = self.local.create_stream(id, message).await?;
        Ok(self.answer(id, Box::pin(answer), open_request))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Error> {
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        self.resume_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        // The event id of a response ends with a slash and the request number.
        let Some((_, request)) = last_event_id.split_once('/') else {
            return Ok(self.resume_stream(id).await?.left_stream());
        };
        let request = request.to_owned();
        let open_request = self.open_requests.with_number(id, &request);
        let answer: Messages = match self.unread.take(id, &request) {
            Some(kept) => Box::pin(stream::iter(kept)),
            None => Box::pin(self.local.resume(id, last_event_id).await?),
        };
        let mut answer = self.answer(id, answer, open_request);
        answer.request = Some(request);
        Ok(answer.right_stream())
    }
}

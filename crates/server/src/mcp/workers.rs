//! The SDK's session manager with three changes. (1) It sends nothing twice: the SDK replays the last messages of a
//! stream when it is reopened, including answered prompts and deleted texts. (2) It keeps a response whose client has
//! disconnected; the SDK forgets it. (3) It refuses a request whose id belongs to an open request; the SDK would
//! never answer the older one.

use std::collections::{HashMap, HashSet, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll, ready};
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

type Messages = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;
type Error = <LocalSessionManager as SessionManager>::Error;

/// The sessions in memory.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    local: LocalSessionManager,
    traffic: Mutex<HashMap<SessionId, Arc<Traffic>>>,
}

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

    fn all(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Traffic>>> {
        self.traffic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn traffic(&self, id: &SessionId) -> Result<Arc<Traffic>, Error> {
        self.all().get(id).cloned().ok_or_else(|| Error::SessionNotFound(Arc::clone(id)))
    }

    /// Reopens the server stream where the previous one ended, and closes that one; otherwise the SDK would keep
    /// sending to it.
    async fn resume_stream(&self, id: &SessionId) -> Result<Messages, Error> {
        let traffic = self.traffic(id)?;
        let handle = self.local.sessions.read().await.get(id).cloned();
        let handle = handle.ok_or_else(|| Error::SessionNotFound(Arc::clone(id)))?;
        handle.close_standalone_sse_stream(None).await?;
        let passed = traffic.state().passed;
        let stream = self.local.resume(id, passed.to_string()).await?;
        Ok(Box::pin(stream.inspect(move |message| {
            let number = message.event_id.as_deref().and_then(|id| id.parse::<usize>().ok());
            if let Some(number) = number {
                let mut state = traffic.state();
                state.passed = state.passed.max(number + 1);
            }
        })))
    }
}

/// What goes in and out of a session, as far as the SDK does not know it.
#[derive(Debug, Default)]
struct Traffic(Mutex<TrafficState>);

#[derive(Debug, Default)]
struct TrafficState {
    /// Messages of the server stream that were passed on.
    passed: usize,
    /// Ids of requests without a response, and the numbers under which the SDK sends the responses.
    open: HashSet<RequestId>,
    numbers: HashMap<String, Weak<OpenRequest>>,
    /// Responses whose clients have disconnected: the last few, unless they are large.
    unread: VecDeque<UnreadAnswer>,
}

/// The rest of a response, and its size.
#[derive(Debug)]
struct UnreadAnswer {
    number: String,
    messages: Vec<ServerSseMessage>,
    bytes: usize,
}

impl Traffic {
    fn state(&self) -> MutexGuard<'_, TrafficState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves the id of a request; `None` if it is in use.
    fn open(self: &Arc<Self>, id: &RequestId) -> Option<Arc<OpenRequest>> {
        let is_free = self.state().open.insert(id.clone());
        let (traffic, id) = (Arc::clone(self), id.clone());
        is_free.then(|| Arc::new(OpenRequest { traffic, id, number: OnceLock::new() }))
    }

    fn keep(&self, number: String, messages: Vec<ServerSseMessage>) {
        let size = |message: &ServerSseMessage| {
            let json = message.message.as_ref().map(|message| serde_json::to_vec(&**message));
            json.map_or(0, |json| json.map_or(UNREAD_BYTES_MAX, |json| json.len()))
        };
        // If another client reads on, this is only a part.
        let is_whole = messages.last().is_some_and(is_final);
        let bytes = messages.iter().map(size).sum::<usize>();
        if !is_whole || bytes > UNREAD_BYTES_MAX {
            return;
        }
        let unread = &mut self.state().unread;
        unread.push_back(UnreadAnswer { number, messages, bytes });
        let mut total = unread.iter().map(|answer| answer.bytes).sum::<usize>();
        while unread.len() > UNREAD_MAX || total > UNREAD_BYTES_MAX {
            let Some(oldest) = unread.pop_front() else { break };
            total -= oldest.bytes;
        }
    }

    fn take(&self, number: &str) -> Option<Vec<ServerSseMessage>> {
        let unread = &mut self.state().unread;
        let at = unread.iter().position(|answer| answer.number == number)?;
        unread.remove(at).map(|answer| answer.messages)
    }
}

/// Whether a message is the last of a response.
fn is_final(message: &ServerSseMessage) -> bool {
    let message = message.message.as_deref();
    message.is_some_and(|message| {
        matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
    })
}

/// A request without a response. Its id is released on drop.
#[derive(Debug)]
struct OpenRequest {
    traffic: Arc<Traffic>,
    id: RequestId,
    number: OnceLock<String>,
}

impl OpenRequest {
    /// Records the number under which the response can be requested again.
    fn numbered(self: &Arc<Self>, number: &str) {
        let number = self.number.get_or_init(|| number.to_owned()).clone();
        self.traffic.state().numbers.insert(number, Arc::downgrade(self));
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut state = self.traffic.state();
        state.open.remove(&self.id);
        if let Some(number) = self.number.take() {
            state.numbers.remove(&number);
        }
    }
}

/// The response to a request. If its client disconnects, the rest is kept.
struct AnswerStream {
    traffic: Arc<Traffic>,
    /// The number of the request; known after the first event.
    number: Option<String>,
    answer: Option<Messages>,
    /// Reserves the request id until the last message of the response.
    open: Option<Arc<OpenRequest>>,
}

impl Stream for AnswerStream {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let Some(answer) = &mut self.answer else { return Poll::Ready(None) };
        let next = ready!(answer.as_mut().poll_next(context));
        let Some(message) = &next else {
            (self.answer, self.open) = (None, None);
            return Poll::Ready(None);
        };
        if self.number.is_none() {
            let id = message.event_id.as_deref().and_then(|id| id.split_once('/'));
            self.number = id.map(|(_, number)| number.to_owned());
            if let (Some(open), Some(number)) = (&self.open, &self.number) {
                open.numbered(number);
            }
        }
        // Release the id now: the client may reuse it before the stream ends.
        if is_final(message) {
            self.open = None;
        }
        Poll::Ready(next)
    }
}

impl Drop for AnswerStream {
    fn drop(&mut self) {
        let Some(rest) = self.answer.take() else { return };
        let (traffic, number, open) = (Arc::clone(&self.traffic), self.number.take(), self.open.take());
        // Without a runtime the whole process is stopping.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(
            async move {
                // Ends with the call, or when another client reads on.
                let answer = rest.collect().await;
                if let Some(number) = number {
                    traffic.keep(number, answer);
                }
                drop(open);
            }
            .boxed(),
        );
    }
}

fn id_taken(id: &RequestId) -> Messages {
    let why = "another request of this session has this id and is not answered yet";
    let refusal = ServerJsonRpcMessage::error(ErrorData::invalid_request(why, None), Some(id.clone()));
    Box::pin(stream::iter([ServerSseMessage::from_message(refusal)]))
}

impl SessionManager for Workers {
    type Error = Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Error> {
        let (id, transport) = self.local.create_session().await?;
        self.all().insert(Arc::clone(&id), Arc::default());
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
        Ok(self.all().contains_key(id))
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Error> {
        self.all().remove(id);
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        let traffic = self.traffic(id)?;
        let mut open = None;
        if let ClientJsonRpcMessage::Request(request) = &message {
            open = traffic.open(&request.id);
            if open.is_none() {
                let answer = Some(id_taken(&request.id));
                return Ok(AnswerStream { traffic, number: None, answer, open });
            }
        }
        let answer: Messages = Box::pin(self.local.create_stream(id, message).await?);
        Ok(AnswerStream { traffic, number: None, answer: Some(answer), open })
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
        let Some((_, number)) = last_event_id.split_once('/') else {
            return Ok(self.resume_stream(id).await?.left_stream());
        };
        let (traffic, number) = (self.traffic(id)?, number.to_owned());
        let open = traffic.state().numbers.get(&number).and_then(Weak::upgrade);
        let answer: Messages = match traffic.take(&number) {
            Some(kept) => Box::pin(stream::iter(kept)),
            None => Box::pin(self.local.resume(id, last_event_id).await?),
        };
        Ok(AnswerStream { traffic, number: Some(number), answer: Some(answer), open }.right_stream())
    }
}

//! Standard input and output as an MCP transport: one JSON-RPC message per line.
//!
//! The SDK's own transport ignores lines that are not JSON, and starts a task for every request, however many there are.
//! Here such a line gets an error, and the number of unanswered requests is limited, so that a client that never reads
//! costs no memory. The end of such a client is noticed although nothing more is read from it.

use std::collections::HashMap;
use std::io::{self, BufRead as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetMeta as _, JsonRpcMessage,
    RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Size limit of a message. Files are named by their paths, so that no message is large.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Requests without an answer.
const OPEN_MAX: usize = 32;
/// Messages that wait, in each direction.
const QUEUED_MAX: usize = 4;
/// How long the last messages of a client that has left may take.
const LAST_MAX: Duration = Duration::from_millis(500);

/// The transport.
#[derive(Debug)]
pub(super) struct Stdio {
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    output: Output,
}

/// Where messages go, and which requests have no answer yet.
#[derive(Debug, Clone)]
struct Output {
    lines: mpsc::Sender<Written>,
    open: Arc<Mutex<HashMap<RequestId, Phase>>>,
    closing: CancellationToken,
}

/// What has become of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// Its answer waits until the client reads.
    Answering,
}

/// A line for standard output, and who waits until it is written.
type Written = (Vec<u8>, oneshot::Sender<io::Result<()>>);

/// A line of standard input; `None` if it is too long.
type Line = Option<Vec<u8>>;

impl Stdio {
    /// Starts to read. The end of standard input cancels `closing`.
    pub(super) fn start(closing: CancellationToken) -> Self {
        let (sender, messages) = mpsc::channel(QUEUED_MAX);
        let (lines, to_write) = mpsc::channel(QUEUED_MAX);
        // Threads of their own: reading and writing may block for as long as the client likes.
        std::thread::spawn(move || write_lines(to_write));
        let (read, input) = mpsc::channel(QUEUED_MAX);
        std::thread::spawn(move || read_lines(&read));
        let (left, hung_up) = oneshot::channel();
        std::thread::spawn(move || left.send(wait_for_hang_up()));
        let output = Output { lines, open: Arc::default(), closing: closing.clone() };
        let reader = Reader { sender, output: output.clone(), has_begun: false };
        tokio::spawn(
            async move {
                tokio::select! {
                    () = closing.cancelled() => {}
                    () = reader.run(input) => closing.cancel(),
                    // A client that does not read its answers may keep the reader from the end of the input.
                    () = gone(hung_up) => closing.cancel(),
                }
            }
            .boxed(),
        );
        Self { messages, output }
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let output = self.output.clone();
        async move { output.send(&message).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        Ok(())
    }
}

impl Output {
    async fn send(&self, message: &ServerJsonRpcMessage) -> io::Result<()> {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let Some(id) = id else { return self.write(message).await };
        // A cancelled request gets no answer. Its place is free, so an answer that waits would be one too many.
        match self.open().get_mut(id) {
            Some(phase) => *phase = Phase::Answering,
            None => return Ok(()),
        }
        let written = self.write(message).await;
        self.open().remove(id);
        written
    }

    async fn refuse(&self, error: ErrorData, id: Option<RequestId>) {
        let message = ServerJsonRpcMessage::error(error, None);
        // The id of a refused request was never open, so that it must not be closed.
        let Ok(mut message) = serde_json::to_value(&message) else { return };
        message["id"] = id.map_or(Value::Null, RequestId::into_json_value);
        // A client that has left is noted.
        let _ = self.write(&message).await;
    }

    /// Writes a line and waits until it is written. It is made when its turn comes, because it may be large.
    async fn write(&self, message: &impl serde::Serialize) -> io::Result<()> {
        let written = async {
            let turn = self.lines.reserve().await.map_err(|_| io::ErrorKind::BrokenPipe)?;
            let mut line = serde_json::to_vec(message)?;
            line.push(b'\n');
            let (done, wait) = oneshot::channel();
            turn.send((line, done));
            wait.await.map_err(|_| io::ErrorKind::BrokenPipe)?
        };
        let written = written.await;
        if written.is_err() {
            // Nobody reads any more.
            self.closing.cancel();
        }
        written
    }

    fn open(&self) -> MutexGuard<'_, HashMap<RequestId, Phase>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request; false if there are too many, or if the id is in use.
    fn open_request(&self, id: &RequestId) -> bool {
        let mut open = self.open();
        if open.len() >= OPEN_MAX || open.contains_key(id) {
            return false;
        }
        open.insert(id.clone(), Phase::Running);
        true
    }

    /// Gives the place of a cancelled request back, unless its answer waits to be written.
    fn cancel_request(&self, id: &RequestId) {
        let mut open = self.open();
        if open.get(id) == Some(&Phase::Running) {
            open.remove(id);
        }
    }
}

/// Reads standard input.
struct Reader {
    sender: mpsc::Sender<ClientJsonRpcMessage>,
    output: Output,
    /// Whether the SDK knows which revision the client speaks. Before that it takes requests only.
    has_begun: bool,
}

impl Reader {
    /// Passes lines on until the input ends.
    async fn run(mut self, mut input: mpsc::Receiver<Line>) {
        while let Some(line) = input.recv().await {
            let Some(line) = line else {
                let why = format!("a message has at most {LINE_BYTES_MAX} bytes");
                self.output.refuse(ErrorData::invalid_request(why, None), None).await;
                continue;
            };
            if !self.take(line.trim_ascii()).await {
                return;
            }
        }
    }

    /// Passes a line on; false if nobody takes messages any more.
    async fn take(&mut self, line: &[u8]) -> bool {
        if line.is_empty() {
            return true;
        }
        let Ok(json) = serde_json::from_slice::<Value>(line) else {
            self.output.refuse(ErrorData::parse_error("this line is not JSON", None), None).await;
            return true;
        };
        let id = json.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
        let is_request = json.get("method").is_some() && json.get("id").is_some();
        let message = match serde_json::from_value::<ClientJsonRpcMessage>(json) {
            Ok(message) => message,
            Err(_) => {
                let error = ErrorData::invalid_request("this is not an MCP message", None);
                self.output.refuse(error, id.filter(|_| is_request)).await;
                return true;
            }
        };
        match &message {
            JsonRpcMessage::Request(request) => {
                if !self.output.open_request(&request.id) {
                    let why = format!("more than {OPEN_MAX} requests, or one with an id in use");
                    self.output.refuse(ErrorData::invalid_request(why, None), Some(request.id.clone())).await;
                    return true;
                }
                self.has_begun |= matches!(request.request, ClientRequest::InitializeRequest(_))
                    || (request.request.get_meta().protocol_version().is_some()
                        && !matches!(request.request, ClientRequest::DiscoverRequest(_)));
            }
            _ if !self.has_begun => return true,
            JsonRpcMessage::Notification(note) => {
                // The SDK does not answer a cancelled request.
                if let ClientNotification::CancelledNotification(cancelled) = &note.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.output.cancel_request(id);
                }
            }
            _ => {}
        }
        self.sender.send(message).await.is_ok()
    }
}

/// Waits until the client has closed standard input, whether or not everything was read. False if this system or this
/// kind of input does not say.
fn wait_for_hang_up() -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;
    let input = io::stdin();
    loop {
        let mut polled = [PollFd::new(&input, PollFlags::empty())];
        match poll(&mut polled, None) {
            Ok(_) => return polled[0].revents().contains(PollFlags::HUP),
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Ends when the client has left and had time for its last messages.
async fn gone(hung_up: oneshot::Receiver<bool>) {
    if hung_up.await != Ok(true) {
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(LAST_MAX).await;
}

/// Reads standard input until it ends.
fn read_lines(lines: &mpsc::Sender<Line>) {
    let mut input = io::stdin().lock();
    let (mut line, mut is_too_long) = (Vec::new(), false);
    while let Ok(bytes) = input.fill_buf() {
        if bytes.is_empty() {
            return;
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(bytes.len(), |end| end + 1);
        is_too_long |= line.len() + taken > LINE_BYTES_MAX;
        if is_too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(&bytes[..taken]);
        }
        input.consume(taken);
        if end.is_some() {
            let read = std::mem::take(&mut line);
            let read = if std::mem::take(&mut is_too_long) { None } else { Some(read) };
            if lines.blocking_send(read).is_err() {
                return;
            }
        }
    }
}

/// Writes lines to standard output.
fn write_lines(mut lines: mpsc::Receiver<Written>) {
    let mut output = io::stdout().lock();
    while let Some((line, done)) = lines.blocking_recv() {
        let written = output.write_all(&line).and_then(|()| output.flush());
        // Whoever waited may be gone.
        let _ = done.send(written);
    }
}

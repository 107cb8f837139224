//! The TCP stream of a client, with two bounds: a client that does not read its response loses the connection after a
//! time, and a request head that arrives in pieces takes its memory from the budget. A head for which there is no room
//! is refused here, because the HTTP library would only close the connection.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tandem_hub::budget::Exhausted;
use tandem_hub::{Address, Budget, Error, Held, Holder};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use crate::http::admission::HEADER_BYTES_MAX;
use crate::http::{error, refusal};

/// What an idle connection costs: its task and a small buffer.
pub const IDLE_BYTES: usize = 12 * 1024;
/// What is read at once. The library's buffer has 8 KB and grows when a read fills it, and it would stay large while the
/// connection is idle.
const READ_BYTES_MAX: usize = 8 * 1024 - 1;
/// The largest buffer of a connection. It holds the largest head that is accepted, and more.
pub const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// A head up to this size fits into the buffer of an idle connection.
const SMALL_HEAD_BYTES: usize = 8 * 1024;
/// A head of this size is too large, whatever it says. It is less than the buffer, which the library refuses to fill.
const HEAD_BYTES_MAX: usize = BUFFER_BYTES_MAX - 1024;
/// What is read at most of a refused request, so that its client sees the response.
const DISCARDED_BYTES_MAX: usize = 1024 * 1024;
/// How long it is read.
const LINGER: Duration = Duration::from_secs(1);

/// Counts the bytes of the request head that is being read.
#[derive(Debug)]
pub struct HeadMeter {
    head: Mutex<Head>,
    budget: Budget,
    address: Address,
    /// The memory of the idle connection.
    _idle: Held,
}

#[derive(Debug)]
struct Head {
    bytes: usize,
    end: HeadEnd,
    /// The memory of a large head.
    held: Option<Held>,
}

/// How much of the empty line that ends a head has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeadEnd {
    /// Nothing but line ends so far, which a client may send before a request.
    Before,
    Line,
    LineEnd,
    LineEndAndReturn,
    /// The head is complete; what follows is not part of it.
    Over,
}

impl HeadEnd {
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Over, _) => Self::Over,
            (Self::Before, b'\r' | b'\n') => Self::Before,
            (Self::LineEnd | Self::LineEndAndReturn, b'\n') => Self::Over,
            (Self::LineEnd, b'\r') => Self::LineEndAndReturn,
            (_, b'\n') => Self::LineEnd,
            _ => Self::Line,
        }
    }
}

impl HeadMeter {
    /// Takes the memory of an idle connection, and starts with its first head. `holder` pays for the connection,
    /// `address` for a large head.
    pub fn new(budget: &Budget, holder: Holder, address: Address) -> Result<Arc<Self>, Exhausted> {
        Ok(Arc::new(Self {
            head: Mutex::new(Head { bytes: 0, end: HeadEnd::Before, held: None }),
            _idle: budget.hold(holder, IDLE_BYTES)?,
            budget: budget.clone(),
            address,
        }))
    }

    fn head(&self) -> MutexGuard<'_, Head> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The request is being handled; what is read is not a head.
    pub fn end_head(&self) {
        self.head().end = HeadEnd::Over;
    }

    /// The request has its response; what is read from now on is the next head.
    pub fn begin_head(&self) {
        *self.head() = Head { bytes: 0, end: HeadEnd::Before, held: None };
    }

    /// Whether the head needed a large buffer, which the library keeps.
    pub fn was_large(&self) -> bool {
        self.head().held.is_some()
    }

    /// Counts the bytes of a head, which may be too large, or not fit into the budget.
    fn count(&self, read: &[u8]) -> Result<(), Error> {
        let mut head = self.head();
        let before = head.bytes;
        for byte in read {
            if head.end == HeadEnd::Over {
                break;
            }
            head.end = head.end.after(*byte);
            head.bytes += 1;
        }
        if head.bytes > HEAD_BYTES_MAX {
            return Err(error::headers_too_large(HEADER_BYTES_MAX));
        }
        if before <= SMALL_HEAD_BYTES && head.bytes > SMALL_HEAD_BYTES {
            head.held = Some(self.budget.hold(&self.address, BUFFER_BYTES_MAX)?);
        }
        Ok(())
    }
}

#[derive(Debug)]
pub struct ClientIo {
    stream: TcpStream,
    meter: Arc<HeadMeter>,
    /// Time in which the client must accept a byte of its response.
    write_timeout: Duration,
    /// Runs while a write is blocked.
    blocked: Option<Pin<Box<Sleep>>>,
    /// Set when the request was refused.
    refused: Option<Discarding>,
}

/// Reads the rest of a refused request.
#[derive(Debug)]
struct Discarding {
    until: Pin<Box<Sleep>>,
    bytes: usize,
}

impl ClientIo {
    pub fn new(stream: TcpStream, meter: Arc<HeadMeter>, write_timeout: Duration) -> Self {
        Self { stream, meter, write_timeout, blocked: None, refused: None }
    }

    /// Refuses the request whose head is being read. No response is under way, so the client reads this as the response
    /// to what it has sent.
    fn refuse(&mut self, context: &mut Context<'_>, error: &Error) {
        let _ = self.stream.try_write(refusal::response(error).as_bytes());
        let _ = Pin::new(&mut self.stream).poll_shutdown(context);
        self.refused = Some(Discarding { until: Box::pin(sleep(LINGER)), bytes: 0 });
    }

    /// Reads the rest of a refused request, then fails. Closing a connection with unread bytes resets it, and the client
    /// might not see the response.
    fn poll_discard(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        let over = || Poll::Ready(io::Error::new(io::ErrorKind::OutOfMemory, "the request was refused"));
        let Some(discarding) = &mut self.refused else { return over() };
        loop {
            if discarding.until.as_mut().poll(context).is_ready() || discarding.bytes > DISCARDED_BYTES_MAX {
                return over();
            }
            let mut bytes = [0; 4096];
            let mut buffer = ReadBuf::new(&mut bytes);
            match ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => discarding.bytes += buffer.filled().len(),
                _ => return over(),
            }
        }
    }

    /// Polls a write operation. While it is blocked, the timeout runs.
    fn poll_with_timeout<T>(
        &mut self,
        context: &mut Context<'_>,
        act: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(done) = act(Pin::new(&mut self.stream), context) {
            self.blocked = None;
            return Poll::Ready(done);
        }
        let timeout = self.write_timeout;
        let blocked = self.blocked.get_or_insert_with(|| Box::pin(sleep(timeout)));
        ready!(blocked.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
    }
}

impl AsyncRead for ClientIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.refused.is_none() {
            let mut bytes = [MaybeUninit::uninit(); READ_BYTES_MAX];
            let mut read = ReadBuf::uninit(&mut bytes[..READ_BYTES_MAX.min(buffer.remaining())]);
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut read))?;
            match self.meter.count(read.filled()) {
                Ok(()) => {
                    buffer.put_slice(read.filled());
                    return Poll::Ready(Ok(()));
                }
                Err(error) => self.refuse(context, &error),
            }
        }
        self.poll_discard(context).map(Err)
    }
}

impl AsyncWrite for ClientIo {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_with_timeout(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_with_timeout(context, |stream, context| stream.poll_write_vectored(context, parts))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_with_timeout(context, |stream, context| stream.poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_with_timeout(context, |stream, context| stream.poll_shutdown(context))
    }
}

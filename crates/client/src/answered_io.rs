//! A byte stream that can still be read when it can no longer be written.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection::Stream;

/// A hub that refuses a request early answers and closes while the body is still being sent. The failed write would end
/// the connection before the answer is read. So a write that fails waits instead: the answer, the end of the stream or
/// the error is read next.
pub(crate) struct AnsweredIo {
    stream: Box<dyn Stream>,
    is_broken: bool,
}

impl AnsweredIo {
    pub(crate) fn new(stream: Box<dyn Stream>) -> Self {
        Self { stream, is_broken: false }
    }

    /// Runs a write. Once one has failed, all of them wait for ever; the reading side ends the connection.
    fn write<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut Box<dyn Stream>>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if self.is_broken {
            return Poll::Pending;
        }
        match write(Pin::new(&mut self.stream), context) {
            Poll::Ready(Err(cause))
                if matches!(cause.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) =>
            {
                self.is_broken = true;
                Poll::Pending
            }
            polled => polled,
        }
    }
}

impl AsyncRead for AnsweredIo {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for AnsweredIo {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().write(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().write(context, |stream, context| stream.poll_write_vectored(context, parts))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().write(context, |stream, context| stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.is_broken {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut this.stream).poll_shutdown(context)
    }
}

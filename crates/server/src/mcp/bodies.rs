//! Response bodies that keep a session alive while they are read.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio_util::sync::DropGuard;

use crate::mcp::sessions::{OpenStream, Session};

/// The body of a server stream. It ends when the stream should.
pub(crate) struct StreamBody {
    body: Body,
    ended: BoxFuture<'static, ()>,
    _open: OpenStream,
}

impl StreamBody {
    pub(crate) fn new(body: Body, open: OpenStream) -> Self {
        Self { body, ended: open.ended().boxed(), _open: open }
    }
}

impl HttpBody for StreamBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.ended.poll_unpin(context).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(context)
    }
}

/// The body of a response within a session. It keeps the session alive until it is read.
pub(crate) struct AnswerBody {
    body: Body,
    _session: Arc<Session>,
    /// Signals the call when the client stops reading.
    _read: Option<DropGuard>,
}

impl AnswerBody {
    pub(crate) fn new(body: Body, session: Arc<Session>, read: Option<DropGuard>) -> Self {
        Self { body, _session: session, _read: read }
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

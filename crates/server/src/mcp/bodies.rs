//! Bodies that hold on to something while they are read.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio_util::sync::{DropGuard, WaitForCancellationFutureOwned};

use crate::mcp::sessions::{Alive, OpenStream};

/// The stream on which the hub speaks first: read until it should end.
pub(crate) struct Read {
    body: Body,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
    _open: OpenStream,
}

impl Read {
    pub(crate) fn new(body: Body, open: OpenStream) -> Self {
        Self { body, ended: Box::pin(open.read.clone().cancelled_owned()), _open: open }
    }
}

impl HttpBody for Read {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.ended.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(context)
    }
}

/// An answer within a session, which lives at least until it has been read.
pub(crate) struct Answered {
    body: Body,
    _alive: Arc<Alive>,
    /// Tells the call that nobody reads its answer any more.
    _read: Option<DropGuard>,
}

impl Answered {
    pub(crate) fn new(body: Body, alive: Arc<Alive>, read: Option<DropGuard>) -> Self {
        Self { body, _alive: alive, _read: read }
    }
}

impl HttpBody for Answered {
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

//! A streamed body whose chunks take their memory from the budget until they are written. If there is no room for one,
//! because the client does not read, the stream ends with an error, and the connection with it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tandem_hub::Held;

/// The body of a response of unknown length.
#[derive(Debug)]
pub(crate) struct CountedBody {
    body: Body,
    /// Holds nothing by itself; says for whom chunks are held.
    held: Held,
}

impl CountedBody {
    pub(crate) fn new(body: Body, held: Held) -> Self {
        Self { body, held }
    }
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let Some(Ok(frame)) = frame else { return Poll::Ready(frame) };
        Poll::Ready(Some(match frame.into_data() {
            Ok(data) => match self.held.again(data.len()) {
                Ok(held) => Ok(Frame::data(held.tie(data))),
                Err(exhausted) => Err(axum::Error::new(std::io::Error::other(format!("{exhausted:?}")))),
            },
            Err(frame) => Ok(frame),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

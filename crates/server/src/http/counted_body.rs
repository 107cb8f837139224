//! The memory of responses until they are written. A body that is whole keeps what its request holds. Each chunk of a
//! streamed body takes its own; if there is no room for one, because the client does not read, the stream ends with an
//! error, and the connection with it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response};
use http_body_util::BodyExt as _;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tandem_hub::{Error, Held};

use crate::http::ApiError;

/// What a request in progress costs beside its head and its body.
pub(crate) const REQUEST_BYTES: usize = 8 * 1024;

/// Keeps the memory of a response body until the client has read it. What was written cannot be refused any more: its
/// response counts without a check, and the next requests of the client are refused instead.
pub(crate) async fn hold_body(response: Response, mut held: Held, is_read: bool) -> Response {
    let Some(bytes) = response.body().size_hint().exact().and_then(|size| usize::try_from(size).ok()) else {
        // The body of a stream is not in memory, but each of its chunks is until it was written.
        held.shrink_to(0);
        return response.map(|body| Body::new(CountedBody::new(body, held)));
    };
    if bytes <= REQUEST_BYTES {
        return response;
    }
    held.shrink_to(bytes);
    if let Err(exhausted) = held.grow_to(bytes) {
        if is_read {
            return ApiError(exhausted.into()).into_response();
        }
        held.overdraw_to(bytes);
    }
    let (parts, body) = response.into_parts();
    match body.collect().await {
        Ok(collected) => Response::from_parts(parts, Body::from(held.tie(collected.to_bytes()))),
        Err(_) => ApiError(Error::internal()).into_response(),
    }
}

/// The body of a response of unknown length.
#[derive(Debug)]
struct CountedBody {
    body: Body,
    /// Holds nothing by itself; says for whom chunks are held.
    held: Held,
}

impl CountedBody {
    fn new(body: Body, held: Held) -> Self {
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

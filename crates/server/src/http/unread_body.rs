//! Reads and discards what a handler left unread of a request body. Otherwise the connection would be reset, and the
//! client might never see the response.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt as _;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

/// Bytes that are discarded at most.
const BYTES_MAX: u64 = 80 * 1024 * 1024;
/// Time limit for discarding.
const TIME_MAX: Duration = Duration::from_secs(5);

/// A body that remains accessible after it was passed to a handler.
#[derive(Debug, Clone)]
struct SharedBody(Arc<Mutex<Body>>);

impl SharedBody {
    fn with<T>(&self, act: impl FnOnce(&mut Body) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl HttpBody for SharedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.with(|body| Pin::new(body).poll_frame(context))
    }

    fn is_end_stream(&self) -> bool {
        self.with(|body| body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.with(|body| body.size_hint())
    }
}

/// Tracks the body of a request.
#[derive(Debug)]
pub(crate) struct UnreadBody {
    body: Option<SharedBody>,
    wants_permission: bool,
}

impl UnreadBody {
    /// Starts tracking.
    pub(crate) fn watch(request: Request) -> (Request, Self) {
        if request.body().is_end_stream() {
            return (request, Self { body: None, wants_permission: false });
        }
        let wants_permission = expects_permission(request.headers());
        let (parts, body) = request.into_parts();
        let shared = SharedBody(Arc::new(Mutex::new(body)));
        let request = Request::from_parts(parts, Body::new(shared.clone()));
        (request, Self { body: Some(shared), wants_permission })
    }

    /// Discards the rest, within limits. Returns false if the connection must be closed after the response.
    pub(crate) async fn discard(self) -> bool {
        let Some(mut body) = self.body.filter(|body| !body.is_end_stream()) else { return true };
        // A client that waits for `100 Continue` has sent nothing; do not wait for a body that is announced as too
        // large.
        if self.wants_permission || body.size_hint().lower() > BYTES_MAX {
            return false;
        }
        let read = async {
            let mut bytes = 0;
            while let Some(frame) = body.frame().await {
                let Ok(frame) = frame else { return false };
                bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                if bytes > BYTES_MAX {
                    return false;
                }
            }
            true
        };
        tokio::time::timeout(TIME_MAX, read).await.unwrap_or(false)
    }
}

fn expects_permission(headers: &HeaderMap) -> bool {
    headers.get(header::EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

//! What a handler leaves unread of a request. If it stayed unread, the connection would be closed under the
//! client's hands, which may then never see the answer.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt as _;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

/// The most that is read only to be thrown away.
const BYTES_MAX: u64 = 80 * 1024 * 1024;
/// How long that may take.
const TIME_MAX: Duration = Duration::from_secs(5);

/// A body that stays within reach after it has been handed to a handler.
#[derive(Debug, Clone)]
struct Shared(Arc<Mutex<Body>>);

impl Shared {
    fn with<T>(&self, look: impl FnOnce(&mut Body) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl HttpBody for Shared {
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

/// Keeps an eye on a request's body.
#[derive(Debug)]
pub(crate) struct Leftover {
    body: Option<Shared>,
    wants_permission: bool,
}

impl Leftover {
    /// Begins watching.
    pub(crate) fn watch(request: Request) -> (Request, Self) {
        if request.body().is_end_stream() {
            return (request, Self { body: None, wants_permission: false });
        }
        let wants_permission = expects_permission(request.headers());
        let (parts, body) = request.into_parts();
        let shared = Shared(Arc::new(Mutex::new(body)));
        let request = Request::from_parts(parts, Body::new(shared.clone()));
        (request, Self { body: Some(shared), wants_permission })
    }

    /// Reads what is left, within bounds; false when the connection has to be closed after the answer.
    pub(crate) async fn discard(self) -> bool {
        let Some(mut body) = self.body.filter(|body| !body.is_end_stream()) else { return true };
        // Somebody who waits for permission to send has sent nothing; somebody who announces too much is
        // not waited for.
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

//! Futures that run to completion although their client disconnects.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

/// A future that is not stopped by being dropped: if it is dropped before it has finished, it continues as a task of its
/// own. In the usual case, nobody disconnects and nothing is spawned.
pub struct RunToCompletion<T: Send + 'static> {
    future: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    tracker: TaskTracker,
}

impl<T: Send + 'static> RunToCompletion<T> {
    /// Wraps a future. If it outlives its client, `tracker` knows it.
    pub fn new(tracker: &TaskTracker, future: impl Future<Output = T> + Send + 'static) -> Self {
        Self { future: Some(Box::pin(future)), tracker: tracker.clone() }
    }
}

impl<T: Send + 'static> fmt::Debug for RunToCompletion<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunToCompletion").finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Future for RunToCompletion<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // Taken out while it is polled: if it panics, it must not be polled again.
        let Some(mut future) = self.future.take() else { return Poll::Pending };
        let polled = future.as_mut().poll(context);
        if polled.is_pending() {
            self.future = Some(future);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for RunToCompletion<T> {
    fn drop(&mut self) {
        let Some(future) = self.future.take() else { return };
        // Without a runtime the process is ending, and this with it.
        if let Ok(runtime) = Handle::try_current() {
            self.tracker.spawn_on(async move { drop(future.await) }, &runtime);
        }
    }
}

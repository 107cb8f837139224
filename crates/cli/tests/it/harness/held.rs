//! Holding up the store, so that what is sent meanwhile runs together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tandem_store::Tx;

use super::{Harness, eventually, eventually_ok};

/// The writers, or the only reader, of the first node, held up until this is dropped.
pub struct Held {
    release: Arc<AtomicBool>,
    hub: tandem_hub::Hub,
    /// The figure that counts the jobs behind it.
    waiting: &'static str,
}

impl Held {
    pub async fn writer(hub: &Harness) -> Self {
        let (held, begun) = (Self::new(hub, "waiting_writes"), Arc::default());
        let (store, hold) = (held.hub.clone(), held.job(&begun));
        tokio::spawn(async move { store.db.store().write(hold).await });
        eventually(async || begun.load(Ordering::SeqCst).then_some(())).await;
        held
    }

    pub async fn reader(hub: &Harness) -> Self {
        let (held, begun) = (Self::new(hub, "waiting_reads"), Arc::default());
        let (store, hold) = (held.hub.clone(), held.job(&begun));
        tokio::spawn(async move { store.db.store().read(hold).await });
        eventually(async || begun.load(Ordering::SeqCst).then_some(())).await;
        held
    }

    fn new(hub: &Harness, waiting: &'static str) -> Self {
        Self { release: Arc::default(), hub: hub.hub.clone(), waiting }
    }

    /// A job that says that it has begun, and ends with this.
    fn job(
        &self,
        begun: &Arc<AtomicBool>,
    ) -> impl Fn(&mut Tx<'_>) -> Result<(), tandem_app::Error> + Send + use<> {
        let (begun, release) = (Arc::clone(begun), Arc::clone(&self.release));
        move |_| {
            begun.store(true, Ordering::SeqCst);
            while !release.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            Ok(())
        }
    }

    /// Waits until so many jobs wait behind it.
    pub async fn wait_for(&self, jobs: usize) {
        let waiting = || {
            let figures = self.hub.db.store().stats().figures();
            figures.iter().find(|(name, _)| *name == self.waiting).unwrap().1 as usize
        };
        let state =
            || if waiting() < jobs { Err(format!("{} of {jobs} jobs wait", waiting())) } else { Ok(()) };
        eventually_ok(async || state()).await;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.release.store(true, Ordering::SeqCst);
    }
}

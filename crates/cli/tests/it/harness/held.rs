//! Holding up the store, so that what is sent meanwhile runs together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tandem_store::Tx;

use super::{Harness, eventually, eventually_ok};

/// The writers, or the only reader, of every node, held up until this is dropped.
pub struct Held {
    release: Arc<AtomicBool>,
    hubs: Vec<tandem_hub::Hub>,
    /// The figure that counts the jobs behind them.
    waiting: &'static str,
}

impl Held {
    pub async fn writer(hub: &Harness) -> Self {
        let held = Self::new(hub, "waiting_writes");
        for hub in held.hubs.clone() {
            let (begun, hold) = held.job();
            tokio::spawn(async move { hub.db.store().write(hold).await });
            eventually(async || begun.load(Ordering::SeqCst).then_some(())).await;
        }
        held
    }

    pub async fn reader(hub: &Harness) -> Self {
        let held = Self::new(hub, "waiting_reads");
        for hub in held.hubs.clone() {
            let (begun, hold) = held.job();
            tokio::spawn(async move { hub.db.store().read(hold).await });
            eventually(async || begun.load(Ordering::SeqCst).then_some(())).await;
        }
        held
    }

    fn new(hub: &Harness, waiting: &'static str) -> Self {
        let hubs = hub.nodes.iter().map(|node| node.hub.clone()).collect();
        Self { release: Arc::default(), hubs, waiting }
    }

    /// A job that ends with this, and whether it has begun.
    fn job(&self) -> (Arc<AtomicBool>, impl Fn(&mut Tx<'_>) -> Result<(), tandem_app::Error> + Send + use<>) {
        let (begun, release) = (Arc::new(AtomicBool::new(false)), Arc::clone(&self.release));
        let say = Arc::clone(&begun);
        let job = move |_: &mut Tx<'_>| {
            say.store(true, Ordering::SeqCst);
            while !release.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            Ok(())
        };
        (begun, job)
    }

    /// Waits until so many jobs wait behind them.
    pub async fn wait_for(&self, jobs: usize) {
        let of_one = |hub: &tandem_hub::Hub| {
            let figures = hub.db.store().stats().figures();
            figures.iter().find(|(name, _)| *name == self.waiting).unwrap().1 as usize
        };
        let waiting = || self.hubs.iter().map(of_one).sum::<usize>();
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

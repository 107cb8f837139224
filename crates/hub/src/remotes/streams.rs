//! Streams about tasks of remotes. They are bells: what they say is not read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tandem_app::remotes;
use tandem_core::TaskId;
use tandem_core::remotes::{Remote, STREAM_SECONDS};
use tokio::time::{MissedTickBehavior, interval};

use super::call::Peer;
use super::fetch::StreamEnd;
use crate::Hub;

/// The shortest time between two rings.
const RING_EVERY: Duration = Duration::from_secs(1);
/// A stream ends itself before its time is over in the database.
const EARLIER: Duration = Duration::from_secs(10);

/// A stream to open.
#[derive(Debug)]
pub(super) struct StreamJob {
    pub(super) remote: Arc<Remote>,
    pub(super) task: TaskId,
    /// What the other side calls the task.
    pub(super) foreign: String,
}

/// Listens until the stream ends or its time is over.
pub(super) async fn listen(hub: Hub, job: StreamJob) {
    let life = Duration::from_secs(STREAM_SECONDS.unsigned_abs()).saturating_sub(EARLIER);
    let peer = Peer { hub: &hub, remote: &job.remote, end_by: Instant::now() + life };
    let heard = AtomicBool::new(false);
    let listening = peer.subscribe(&job.foreign, || heard.store(true, Ordering::Relaxed));
    let mut listening = std::pin::pin!(listening);
    let mut ring = interval(RING_EVERY);
    ring.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let end = loop {
        tokio::select! {
            end = &mut listening => break end,
            _ = ring.tick() => {
                if heard.swap(false, Ordering::Relaxed) {
                    tell(&hub, &job.task).await;
                }
            }
        }
    };
    let (task, has_failed) = (job.task.clone(), end == StreamEnd::None);
    let closed = hub.db.write(move |tx, now| remotes::close_stream(tx, &task, has_failed, now)).await;
    if let Err(error) = closed {
        tracing::warn!(%error, task = job.task.as_str(), "could not note the end of a stream of a remote agent");
    }
    hub.remotes.queue.wake(std::slice::from_ref(&job.remote.agent));
}

/// Something may have happened.
async fn tell(hub: &Hub, task: &TaskId) {
    let id = task.clone();
    match hub.db.write(move |tx, now| remotes::ring(tx, &id, now)).await {
        // What is due in a moment is found by the work list.
        Ok(_) => {}
        Err(error) => {
            tracing::warn!(%error, task = task.as_str(), "could not note a change at a remote agent")
        }
    }
}

//! The outbound side of A2A: hands tasks to agents elsewhere and carries out what they answer. A remote gets a turn: one claim,
//! a few requests at the same time, one record each. It knows the rules of tasks only by the use cases.

mod call;
pub(crate) mod card;
mod fetch;
mod find;
mod observed;
pub(crate) mod origin;
mod outgoing;
mod perform;
pub(crate) mod queue;
mod streams;
mod turn;
mod verify;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tandem_core::AgentId;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::Hub;
use crate::upkeep::housekeeping::Pacing;
pub(crate) use queue::Queue;
use streams::StreamJob;

/// Streams that this node has open.
const STREAMS_MAX: usize = 256;
/// Cards that one owner can have read at a time.
const READINGS_OF_ONE_MAX: usize = 4;
/// Time for answers that are on their way when the hub stops.
const STOP_PAUSE: Duration = Duration::from_secs(3);

/// The remotes that this node serves.
#[derive(Debug)]
pub struct Remotes {
    pub(crate) queue: Arc<Queue>,
    readings: Mutex<HashMap<AgentId, usize>>,
}

impl Remotes {
    pub(crate) fn new(queue: Arc<Queue>) -> Self {
        Self { queue, readings: Mutex::default() }
    }

    /// Lets an owner read a card, unless it reads too many.
    pub(crate) fn begin_reading(&self, owner: &AgentId) -> Option<Reading<'_>> {
        let mut readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner);
        let count = readings.entry(owner.clone()).or_default();
        if *count >= READINGS_OF_ONE_MAX {
            return None;
        }
        *count += 1;
        Some(Reading { remotes: self, owner: owner.clone() })
    }
}

/// A card is being read for its owner.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    remotes: &'a Remotes,
    owner: AgentId,
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let mut readings = self.remotes.readings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = readings.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                readings.remove(&self.owner);
            }
        }
    }
}

/// Serves remotes until the hub stops.
pub(crate) async fn serve(hub: Hub, mut pacing: Pacing) {
    let mut turns = JoinSet::new();
    // Dropping it ends its streams: their ends are found in the database.
    let mut streams = JoinSet::new();
    let (opened, jobs) = mpsc::channel(STREAMS_MAX);
    tokio::select! {
        () = pacing.stopped() => {}
        // None of them ends by itself.
        _ = async {
            tokio::join!(find::find(&hub), run_turns(&hub, &mut turns, &opened), run_streams(&hub, &mut streams, jobs))
        } => {}
    }
    // Remotes that answer at once get the chance to do so. Of the others nobody knows what they did: they are asked again.
    let _ = timeout(STOP_PAUSE, async { while turns.join_next().await.is_some() {} }).await;
}

async fn run_turns(hub: &Hub, turns: &mut JoinSet<()>, opened: &mpsc::Sender<StreamJob>) {
    let queue = &hub.remotes.queue;
    loop {
        tokio::select! {
            () = queue.rung() => {}
            Some(_) = turns.join_next() => {}
        }
        while let Some(turn) = queue.next_turn() {
            turns.spawn(turn::serve(Arc::clone(hub), turn, opened.clone()));
        }
    }
}

async fn run_streams(hub: &Hub, streams: &mut JoinSet<()>, mut jobs: mpsc::Receiver<StreamJob>) {
    loop {
        tokio::select! {
            Some(job) = jobs.recv(), if streams.len() < STREAMS_MAX => {
                streams.spawn(streams::listen(Arc::clone(hub), job));
            }
            Some(_) = streams.join_next() => {}
            else => std::future::pending().await,
        }
    }
}

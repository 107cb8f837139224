//! The waiting room of PostgreSQL: jobs whose rows another transaction keeps locked wait here, with a connection of
//! their own, so that nobody else waits for them. Such a lock is held by a node that hangs in the middle of a
//! transaction, or by somebody at the database's own prompt.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Instant;

use crate::Error;
use crate::conn::Conn;
use crate::group::{self, Floor, Locked, RETRY_FOR};
use crate::job::Job;
use crate::stats::Stats;
use crate::store::CommitHook;

/// How many jobs wait at most.
const WAITING_MAX: usize = 256;

type Waiting = (Instant, Job);

/// The door of the waiting room.
#[derive(Debug, Clone)]
pub(crate) struct Room(SyncSender<Waiting>);

impl Room {
    pub(crate) fn new() -> (Self, Receiver<Waiting>) {
        let (door, waiting) = sync_channel(WAITING_MAX);
        (Self(door), waiting)
    }

    /// Lets a job wait. If there is no place, it is refused; nothing of it was saved.
    pub(crate) fn take(&self, job: Job) {
        match self.0.try_send((Instant::now() + RETRY_FOR, job)) {
            Ok(()) => {}
            Err(TrySendError::Full((_, job)) | TrySendError::Disconnected((_, job))) => {
                job.finish(Err(Error::Busy));
            }
        }
    }
}

/// Tries the jobs that wait in turn, each until its time is over. Ends when every door is closed.
pub(crate) fn serve(
    mut conn: Conn,
    arriving: &Receiver<Waiting>,
    floor: &Floor,
    stats: &Stats,
    commit_hook: &CommitHook,
) {
    let mut waiting: VecDeque<Waiting> = VecDeque::new();
    loop {
        if waiting.is_empty() {
            match arriving.recv() {
                Ok(job) => waiting.push_back(job),
                Err(_) => return,
            }
        }
        waiting.extend(arriving.try_iter().take(WAITING_MAX.saturating_sub(waiting.len())));
        let Some((deadline, mut job)) = waiting.pop_front() else { continue };
        if Instant::now() > deadline {
            job.finish(Err(Error::Busy));
            continue;
        }
        // One that waits alone may wait for its rows; otherwise it is the next one's turn soon.
        conn.set_impatient(!waiting.is_empty());
        match group::run_alone(&mut conn, &mut job, Locked::Tried, floor, stats, commit_hook) {
            Err(Error::Locked) => waiting.push_back((deadline, job)),
            committed => job.finish(committed),
        }
    }
}

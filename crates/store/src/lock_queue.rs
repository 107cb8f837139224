//! The jobs whose rows another transaction keeps locked. They wait with a connection of their own, so that nobody else waits
//! for them. Such a lock is held by a node that hangs in the middle of a transaction, or by somebody at the database's own
//! prompt.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Instant;

use crate::Error;
use crate::after_error::{Next, RETRY_FOR};
use crate::conn::Conn;
use crate::executor::{Batch, Executor, Shared};
use crate::job::Job;
use crate::plan::Plan;

/// How many jobs wait at most.
const WAITING_MAX: usize = 256;

type QueuedJob = (Instant, Job);

/// The way into the queue.
#[derive(Debug, Clone)]
pub(crate) struct LockQueue(SyncSender<QueuedJob>);

impl LockQueue {
    pub(crate) fn new() -> (Self, Receiver<QueuedJob>) {
        let (queue, waiting) = sync_channel(WAITING_MAX);
        (Self(queue), waiting)
    }

    /// Lets a job wait. If there is no place, it is refused; nothing of it was saved.
    pub(crate) fn push(&self, job: Job) {
        match self.0.try_send((Instant::now() + RETRY_FOR, job)) {
            Ok(()) => {}
            Err(TrySendError::Full((_, job)) | TrySendError::Disconnected((_, job))) => {
                job.finish(Err(Error::Busy));
            }
        }
    }
}

/// Tries the jobs that wait in turn, each until its time is over. Ends when nobody can add one any more.
pub(crate) fn serve(mut conn: Conn, arriving: &Receiver<QueuedJob>, shared: &Shared) {
    let mut plan = Plan::new();
    let mut waiting: VecDeque<QueuedJob> = VecDeque::new();
    loop {
        if waiting.is_empty() {
            match arriving.recv() {
                Ok(job) => waiting.push_back(job),
                Err(_) => return,
            }
        }
        waiting.extend(arriving.try_iter().take(WAITING_MAX.saturating_sub(waiting.len())));
        let Some((deadline, job)) = waiting.pop_front() else { continue };
        if Instant::now() > deadline {
            job.finish(Err(Error::Busy));
            continue;
        }
        // One that waits alone may wait for its rows; otherwise it is the next one's turn soon.
        conn.set_impatient(!waiting.is_empty());
        let mut executor = Executor { conn: &mut conn, plan: &mut plan, shared };
        let mut batch = Batch::waiting(job);
        match executor.run(&mut batch, &mut |_| {}) {
            (_, Next::WaitForRow) => waiting.extend(batch.into_jobs().map(|job| (deadline, job))),
            (outcome, next) => executor.answer_alone(batch, outcome, &next),
        }
    }
}

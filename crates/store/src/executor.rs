//! Runs jobs: together where that works out, each by itself where not.
//!
//! A group on PostgreSQL runs in rounds (`rounds.rs`). Everything else runs on the connection, one job after the other with
//! one commit. A job that is refused before it wrote anything disturbs nobody; one that fails after writing, or panics, or
//! loses a race, takes back all, and each runs again alone. So a failure takes back its own job only, and the usual case pays
//! for no savepoint. What follows an error is decided in `after_error.rs`.

use std::sync::Arc;

use crate::after_error::{Kind, Next, Tries};
use crate::conn::{Conn, Mode};
use crate::job::Job;
use crate::lock::{LockedRow, LockedRows};
use crate::lock_queue::LockQueue;
use crate::plan::{Plan, Run};
use crate::process_lock::ProcessLock;
use crate::rounds::{Moment, Rounds};
use crate::stats::Stats;
use crate::store::CommitHook;
use crate::{Effect, Error, Tx};

/// What the threads of a store share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) writers: Arc<ProcessLock>,
    pub(crate) locked_rows: Arc<LockedRows>,
    pub(crate) stats: Arc<Stats>,
    pub(crate) commit_hook: CommitHook,
    /// Where jobs wait whose rows others keep locked, on PostgreSQL.
    pub(crate) lock_queue: Option<LockQueue>,
}

/// Runs jobs on one connection.
pub(crate) struct Executor<'a> {
    pub(crate) conn: &'a mut Conn,
    pub(crate) plan: &'a mut Plan,
    pub(crate) shared: &'a Shared,
}

/// Jobs that are attempted together.
pub(crate) struct Batch {
    jobs: Vec<Job>,
    kind: Kind,
    tries: Tries,
    /// Whether rows that stayed locked lately are tried, instead of being left alone.
    tries_locked: bool,
}

impl Batch {
    fn new(jobs: Vec<Job>, kind: Kind) -> Self {
        Self { jobs, kind, tries: Tries::new(), tries_locked: false }
    }

    fn on_connection(jobs: Vec<Job>) -> Self {
        let kind = if jobs.len() == 1 { Kind::Alone } else { Kind::Together };
        Self::new(jobs, kind)
    }

    /// A job that waits for a locked row.
    pub(crate) fn waiting(job: Job) -> Self {
        Self { tries_locked: true, ..Self::new(vec![job], Kind::Alone) }
    }

    pub(crate) fn into_jobs(self) -> impl DoubleEndedIterator<Item = Job> {
        self.jobs.into_iter()
    }

    /// Each job by itself, the first one last.
    fn apart(self) -> impl Iterator<Item = Self> {
        let kind = if self.kind.writes() { Kind::Alone } else { Kind::Read };
        self.into_jobs().rev().map(move |job| Self::new(vec![job], kind))
    }
}

/// How an attempt went.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) result: Result<(), Error>,
    /// Whether the transaction had begun.
    pub(crate) begun: bool,
    /// How the jobs ran, by their numbers.
    pub(crate) runs: Vec<Run>,
    /// What is to be done because it was committed, or may have been.
    pub(crate) effects: Vec<Effect>,
}

impl Outcome {
    pub(crate) fn new(run: Run, jobs: usize) -> Self {
        Self { result: Ok(()), begun: false, runs: vec![run; jobs], effects: Vec::new() }
    }

    /// Notes how the attempt ended.
    pub(crate) fn end(&mut self, result: Result<(), Error>) {
        match &result {
            Ok(()) => {}
            // Nobody knows whether it was committed.
            Err(Error::Unknown(_)) => self.effects.retain(Effect::is_safe_if_undone),
            Err(_) => self.effects.clear(),
        }
        self.result = result;
    }
}

impl Executor<'_> {
    /// Runs jobs that write, and answers them. `hand_over` is called when the first group has read everything and again when
    /// it has ended, so that the next writer may begin.
    pub(crate) fn write(&mut self, jobs: Vec<Job>, hand_over: &mut dyn FnMut(Moment)) {
        self.conn.set_impatient(false);
        let first = match self.conn {
            Conn::Sqlite(_) => Batch::on_connection(jobs),
            Conn::Postgres(_) => Batch::new(jobs, Kind::Rounds),
        };
        self.run_all(vec![first], hand_over);
    }

    /// Runs jobs that only read, and answers them.
    pub(crate) fn read(&mut self, jobs: Vec<Job>) {
        // A page is alone in its group.
        let in_rounds = matches!(self.conn, Conn::Postgres(_)) && !jobs.iter().any(Job::is_page);
        let batch = Batch::new(jobs, Kind::Reads);
        let first = if in_rounds { vec![batch] } else { batch.apart().collect() };
        self.run_all(first, &mut |_| {});
    }

    fn run_all(&mut self, mut waiting: Vec<Batch>, hand_over: &mut dyn FnMut(Moment)) {
        while let Some(mut batch) = waiting.pop() {
            if batch.jobs.is_empty() {
                continue;
            }
            let (outcome, next) = self.run(&mut batch, hand_over);
            match (next, batch.kind) {
                (Next::Apart, kind) => {
                    if kind.writes() {
                        self.shared.stats.group_rerun();
                    }
                    waiting.extend(batch.apart());
                }
                (Next::WaitForRow, _) => {
                    // The others do not wait as long again.
                    self.conn.set_impatient(true);
                    batch.into_jobs().for_each(|job| self.wait_for_row(job));
                }
                (_, Kind::Rounds | Kind::Reads) => self.answer_group(batch, outcome, &mut waiting),
                (next, _) => self.answer_alone(batch, outcome, &next),
            }
        }
    }

    /// Attempts a batch until it is known what comes of it. What is left is to answer its jobs, to run them apart, or to let
    /// them wait.
    pub(crate) fn run(&mut self, batch: &mut Batch, hand_over: &mut dyn FnMut(Moment)) -> (Outcome, Next) {
        loop {
            let shared = self.shared;
            let writers = &shared.writers;
            let outcome = match batch.kind {
                Kind::Reads | Kind::Read => self.attempt(batch, hand_over),
                Kind::Alone if batch.tries.keeps_losing() => {
                    writers.exclusive(|| self.attempt(batch, hand_over))
                }
                _ => writers.shared(|| self.attempt(batch, hand_over)),
            };
            hand_over(Moment::Ended);
            let Err(error) = &outcome.result else { return (outcome, Next::Answer) };
            let next = batch.tries.after(error, batch.kind, outcome.begun);
            self.count(error, &next, batch);
            match next {
                Next::Again(pause) => self.conn.pause(pause),
                Next::LeaveOutLocked => {}
                next => return (outcome, next),
            }
        }
    }

    fn count(&self, error: &Error, next: &Next, batch: &Batch) {
        let stats = &self.shared.stats;
        if batch.kind.writes() {
            stats.write_failed(error);
        }
        match (error, next) {
            (Error::LostRace | Error::Taken(_), Next::Again(_)) => stats.lost_race(),
            (Error::Locked, _) => stats.met_lock(),
            (Error::Failed(_), Next::Apart) => {
                tracing::warn!(%error, jobs = batch.jobs.len(), "a group of jobs failed; each runs alone");
            }
            _ => {}
        }
    }

    fn attempt(&mut self, batch: &mut Batch, hand_over: &mut dyn FnMut(Moment)) -> Outcome {
        let locks_left_out = batch.tries.leaves_out_locked();
        match (batch.kind, &mut *self.conn) {
            (Kind::Rounds | Kind::Reads, Conn::Postgres(conn)) => {
                let mut rounds = Rounds { conn, plan: self.plan, shared: self.shared };
                match batch.kind {
                    Kind::Reads => rounds.read(&mut batch.jobs),
                    _ => rounds.write(&mut batch.jobs, locks_left_out, hand_over),
                }
            }
            _ => self.on_connection(batch),
        }
    }

    /// One transaction in which each statement goes to the database at once.
    fn on_connection(&mut self, batch: &mut Batch) -> Outcome {
        let mut outcome = Outcome::new(Run::Done, batch.jobs.len());
        let mode = if batch.kind.writes() { Mode::Write } else { Mode::Read };
        if let Err(error) = self.conn.begin(mode) {
            outcome.end(Err(error));
            return outcome;
        }
        outcome.begun = true;
        let avoided = if batch.tries_locked { Vec::new() } else { self.shared.locked_rows.all() };
        let (mut dirty, mut keys_ended) = (false, false);
        for job in &mut batch.jobs {
            let mut tx = Tx::on_connection(self.conn, keys_ended, avoided.clone());
            let succeeded = job.run(&mut tx);
            let (failure, wrote, rows) = (tx.failure().cloned(), tx.is_dirty(), tx.take_locked());
            let mut registered = tx.into_effects();
            self.note_locks(rows, failure.as_ref(), batch.tries_locked);
            dirty |= wrote;
            match self.end_job(job, batch.kind, succeeded, wrote, failure) {
                Ended::Kept => {}
                Ended::With(result) => {
                    outcome.end(result);
                    return outcome;
                }
            }
            if succeeded {
                keys_ended |= registered.iter().any(|effect| matches!(effect, Effect::KeyEnded(_)));
                outcome.effects.append(&mut registered);
            }
        }
        if batch.kind.writes() {
            let committed = self.conn.commit();
            if committed.is_err() {
                // If that fails too, the next transaction meets the same failure and reports it.
                let _ = self.conn.rollback();
            }
            self.shared.stats.write_ended(&committed, dirty);
            outcome.end(committed);
        }
        outcome
    }

    /// Remembers the row at which a job failed, or that the rows are free which it has tried.
    fn note_locks(&self, mut rows: Vec<LockedRow>, failure: Option<&Error>, tried: bool) {
        match failure {
            Some(Error::Locked) => {
                rows.pop().into_iter().for_each(|row| self.shared.locked_rows.remember(row))
            }
            _ if tried => self.shared.locked_rows.forget(&rows),
            _ => {}
        }
    }

    /// Decides whether the transaction goes on after a job.
    fn end_job(
        &mut self,
        job: &mut Job,
        kind: Kind,
        succeeded: bool,
        wrote: bool,
        failure: Option<Error>,
    ) -> Ended {
        if kind == Kind::Read {
            let gone = failure.filter(|error| matches!(error, Error::Unreachable(_)));
            return gone.map_or(Ended::Kept, |error| Ended::With(Err(error)));
        }
        if let Some(error) = &failure {
            self.shared.stats.write_failed(error);
        }
        let refused_late = !succeeded && wrote && failure.is_none();
        if failure.is_none() && (succeeded || (kind == Kind::Together && !wrote)) {
            return Ended::Kept;
        }
        let rolled_back = self.conn.rollback();
        if kind == Kind::Together {
            let late = || Error::failed("a job was refused after it had written".into());
            return Ended::With(Err(failure.unwrap_or_else(late)));
        }
        if refused_late {
            job.refused_late();
        }
        Ended::With(match failure {
            Some(error @ (Error::LostRace | Error::Locked | Error::Taken(_) | Error::Unreachable(_))) => {
                Err(error)
            }
            // A success that the database contradicts must not be claimed.
            Some(error) if succeeded => Err(error),
            // The job says by itself what was wrong.
            _ => rolled_back,
        })
    }

    /// Lets a job wait apart from all others, until its row is free.
    fn wait_for_row(&self, job: Job) {
        match &self.shared.lock_queue {
            Some(queue) => queue.push(job),
            None => job.finish(Err(Error::Busy)),
        }
    }

    /// Answers the jobs that ran on the connection.
    pub(crate) fn answer_alone(&mut self, batch: Batch, outcome: Outcome, next: &Next) {
        let Batch { jobs, kind, .. } = batch;
        let result = if *next == Next::Busy { Err(Error::Busy) } else { outcome.result };
        if kind.writes() {
            (self.shared.commit_hook)(outcome.effects);
            if result.is_ok() {
                self.shared.stats.committed(jobs.len());
            }
        }
        for job in jobs {
            job.finish(result.clone());
        }
        if !kind.writes() {
            self.end_reading();
        }
    }

    /// Answers the jobs of a group that are done. The others wait for another attempt.
    fn answer_group(&mut self, batch: Batch, outcome: Outcome, waiting: &mut Vec<Batch>) {
        let Batch { jobs, kind, tries, .. } = batch;
        let Outcome { result, runs, effects, .. } = outcome;
        if kind.writes() {
            (self.shared.commit_hook)(effects);
        }
        let (mut deferred, mut direct, mut finished) = (Vec::new(), Vec::new(), 0);
        for (job, run) in jobs.into_iter().zip(runs) {
            match run {
                Run::Done => {
                    finished += 1;
                    job.finish(result.clone());
                }
                Run::Direct => direct.push(job),
                // What keeps a group from running would keep each of its jobs, after waiting as long again.
                Run::Missing | Run::Deferred | Run::Locked if result.is_err() => job.finish(result.clone()),
                Run::Missing => direct.push(job),
                Run::Locked => self.wait_for_row(job),
                Run::Deferred => deferred.push(job),
            }
        }
        if !kind.writes() {
            self.end_reading();
            waiting.extend(Batch::new(direct, kind).apart());
            return;
        }
        if finished > 0 {
            self.shared.stats.committed(finished);
        }
        waiting.push(Batch::on_connection(direct));
        waiting.push(Batch { tries, ..Batch::new(deferred, kind) });
    }

    /// Ends a transaction that has only read. Its jobs are answered already.
    fn end_reading(&mut self) {
        self.conn.end_reading_later();
    }
}

/// What becomes of a transaction after one of its jobs.
enum Ended {
    /// It goes on.
    Kept,
    /// It is over.
    With(Result<(), Error>),
}

//! Running a group of jobs on PostgreSQL, where every statement is a message: rounds of running and reading, then all writes
//! at once with the commit.

use std::time::{Duration, Instant};

use crate::conn::Mode;
use crate::executor::{Outcome, Shared};
use crate::job::{Job, SLOW};
use crate::plan::{Plan, Run};
use crate::postgres::PostgresConn;
use crate::statement::Locks;
use crate::stats::Asked;
use crate::{Effect, Error, Tx};

/// How often the jobs of a group run before those that still miss something run on the connection.
const ROUNDS_MAX: usize = 12;

/// How far a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// It has read everything and is about to write.
    HasRead,
    Ended,
}

pub(crate) struct Rounds<'a> {
    pub(crate) conn: &'a mut PostgresConn,
    pub(crate) plan: &'a mut Plan,
    pub(crate) shared: &'a Shared,
}

impl Rounds<'_> {
    /// One transaction of jobs that write. It waits for locked rows, or leaves out the jobs that need them.
    pub(crate) fn write(
        &mut self,
        jobs: &mut [Job],
        leave_out_locked: bool,
        hand_over: &mut dyn FnMut(Moment),
    ) -> Outcome {
        let mut outcome = Outcome::new(Run::Missing, jobs.len());
        let locks = if leave_out_locked { Locks::Skip } else { Locks::Wait };
        self.conn.impatient = leave_out_locked;
        let written = self.begin(Mode::Write, &mut outcome).and_then(|()| {
            self.run(locks, jobs, &mut outcome)?;
            hand_over(Moment::HasRead);
            self.finish()
        });
        for row in self.plan.take_found_locked() {
            self.shared.locked_rows.remember(row);
        }
        if written.is_err() {
            // If the rollback fails too, the next transaction meets the same failure and reports it.
            let _ = self.conn.rollback();
        }
        outcome.end(written);
        outcome
    }

    /// The same of jobs that only read, on one picture of the database. The transaction stays open until they are answered.
    pub(crate) fn read(&mut self, jobs: &mut [Job]) -> Outcome {
        let mut outcome = Outcome::new(Run::Missing, jobs.len());
        let read = self.begin(Mode::Read, &mut outcome);
        let read = read.and_then(|()| self.run(Locks::None, jobs, &mut outcome));
        if read.is_err() {
            let _ = self.conn.rollback();
        }
        outcome.end(read);
        outcome
    }

    fn begin(&mut self, mode: Mode, outcome: &mut Outcome) -> Result<(), Error> {
        self.conn.begin(mode)?;
        outcome.begun = true;
        Ok(())
    }

    /// Writes what the jobs have noted, and commits.
    fn finish(&mut self) -> Result<(), Error> {
        let batches = self.plan.take_batches();
        if batches.is_empty() {
            return self.conn.rollback();
        }
        let shared = self.shared;
        let stats = &shared.stats;
        let started = Instant::now();
        let finished = self.conn.finish(batches);
        let (statements, committing) = *finished.as_ref().unwrap_or(&(0, Duration::ZERO));
        stats.asked(Asked::Writes, statements, started.elapsed().saturating_sub(committing));
        stats.waited_for_commit(committing);
        let finished = finished.map(drop);
        stats.write_ended(&finished, true);
        finished
    }

    /// Runs jobs until none of them misses anything.
    fn run(&mut self, locks: Locks, jobs: &mut [Job], outcome: &mut Outcome) -> Result<(), Error> {
        let avoided = if locks == Locks::None { Vec::new() } else { self.shared.locked_rows.all() };
        self.plan.begin(locks, avoided);
        for _ in 0..ROUNDS_MAX {
            self.run_each(jobs, outcome);
            if !outcome.runs.contains(&Run::Missing) {
                return Ok(());
            }
            let started = Instant::now();
            let fetched = self.conn.fetch(self.plan);
            let took = started.elapsed();
            if let Some(job) = jobs.first().filter(|_| took > SLOW) {
                job.warn_slow(took, jobs.len());
            }
            self.shared.stats.asked(Asked::Reads, fetched?, took);
        }
        Ok(())
    }

    /// Runs each job on what has been read so far.
    fn run_each(&mut self, jobs: &mut [Job], outcome: &mut Outcome) {
        self.plan.begin_round();
        outcome.effects.clear();
        let mut keys_ended = false;
        let started = Instant::now();
        for (number, (job, run)) in jobs.iter_mut().zip(&mut outcome.runs).enumerate() {
            if matches!(run, Run::Direct | Run::Locked) {
                continue;
            }
            self.plan.begin_job(number);
            let mut tx = Tx::planned(self.plan, keys_ended);
            let succeeded = job.run(&mut tx);
            let dirty = tx.is_dirty();
            let mut registered = tx.into_effects();
            *run = self.plan.end_job(succeeded);
            if *run == Run::Done && !succeeded && dirty {
                job.refused_late();
            }
            if *run == Run::Done && succeeded {
                keys_ended |= registered.iter().any(|effect| matches!(effect, Effect::KeyEnded(_)));
                outcome.effects.append(&mut registered);
            }
        }
        self.shared.stats.ran(jobs.len(), started.elapsed());
    }
}

//! Running a group of jobs in one transaction on PostgreSQL: rounds of reading and running, then all writes at once.

use std::time::{Duration, Instant};

use crate::conn::Mode;
use crate::group::{Floor, jitter, safe_if_undone};
use crate::job::{Job, SLOW};
use crate::plan::{Plan, Run};
use crate::postgres::PostgresConn;
use crate::room::Room;
use crate::statement::Locks;
use crate::stats::{Asked, Stats};
use crate::store::CommitHook;
use crate::{Effect, Error, Tx};

/// How often the jobs of a group run before those that still miss something run on the connection.
const ROUNDS_MAX: usize = 12;
/// How often a group that lost a race is run again as a group.
const RACES_MAX: u32 = 3;

/// What is needed to run groups.
pub(crate) struct Runner<'a> {
    pub(crate) conn: &'a mut PostgresConn,
    pub(crate) plan: &'a mut Plan,
    pub(crate) floor: &'a Floor,
    pub(crate) stats: &'a Stats,
    pub(crate) commit_hook: &'a CommitHook,
    pub(crate) room: Option<&'a Room>,
}

/// How far a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// It has read everything and is about to write.
    HasRead,
    Ended,
}

/// How the jobs of a group ran, by their numbers, and what was registered for after the commit.
struct Ran {
    runs: Vec<Run>,
    effects: Vec<Effect>,
}

type Jobs = Vec<Job>;

impl Runner<'_> {
    /// Runs jobs that write and answers them. Those that cannot run in a group are returned. `hand_over` is called when
    /// the first group has read everything and again when it has ended, so that the next writer may begin.
    pub(crate) fn write(&mut self, mut jobs: Jobs, mut hand_over: impl FnMut(Moment)) -> Jobs {
        let mut on_connection = Vec::new();
        let (mut lost, mut reconnected) = (0, false);
        let mut careful = false;
        while !jobs.is_empty() {
            let floor = self.floor;
            let mut ran = Ran { runs: vec![Run::Missing; jobs.len()], effects: Vec::new() };
            let outcome = floor.shared(|| self.run_group(&mut jobs, &mut ran, careful, &mut hand_over));
            hand_over(Moment::Ended);
            for row in self.plan.take_found_locked() {
                floor.locked_rows.remember(row);
            }
            if let Err(error) = &outcome {
                self.stats.write_failed(error);
            }
            match outcome {
                Err(Error::LostRace) if lost < RACES_MAX => {
                    lost += 1;
                    self.stats.lost_race();
                    let pause = Duration::from_millis(2 << lost);
                    self.conn.pause(pause.mul_f64(jitter()));
                }
                // The next attempt leaves out the jobs whose rows are locked.
                Err(Error::Locked) if !careful => {
                    careful = true;
                    self.stats.met_lock();
                }
                // The connection had died while idle; the next attempt opens a new one.
                Err(Error::Unreachable(_)) if !reconnected => reconnected = true,
                // One of the jobs is at fault, or keeps losing. Each runs alone.
                Err(
                    error @ (Error::LostRace
                    | Error::Locked
                    | Error::Taken(_)
                    | Error::Failed(_)
                    | Error::Panicked(_)),
                ) => {
                    if let Error::Failed(_) = error {
                        tracing::warn!(%error, "a group of jobs failed; each runs alone");
                    }
                    self.stats.group_rerun();
                    on_connection.append(&mut jobs);
                }
                outcome => jobs = self.settle(jobs, ran, outcome, &mut on_connection),
            }
        }
        on_connection
    }

    /// Answers the jobs that are done. Returns those that wait for the next group.
    fn settle(&mut self, jobs: Jobs, ran: Ran, outcome: Result<(), Error>, on_connection: &mut Jobs) -> Jobs {
        match &outcome {
            Ok(()) => (self.commit_hook)(ran.effects),
            Err(Error::Unknown(_)) => (self.commit_hook)(safe_if_undone(ran.effects)),
            Err(_) => {}
        }
        let mut waiting = Vec::new();
        let mut finished = 0;
        for (job, run) in jobs.into_iter().zip(ran.runs) {
            match run {
                Run::Done => {
                    finished += 1;
                    job.finish(outcome.clone());
                }
                // What keeps a group from running would keep each of its jobs, after waiting as long again.
                Run::Missing | Run::Deferred | Run::Locked if outcome.is_err() => job.finish(outcome.clone()),
                Run::Direct | Run::Missing => on_connection.push(job),
                Run::Locked => match self.room {
                    Some(room) => room.take(job),
                    None => on_connection.push(job),
                },
                Run::Deferred => waiting.push(job),
            }
        }
        if finished > 0 {
            self.stats.committed(finished);
        }
        waiting
    }

    /// One transaction.
    fn run_group(
        &mut self,
        jobs: &mut Jobs,
        ran: &mut Ran,
        careful: bool,
        hand_over: &mut impl FnMut(Moment),
    ) -> Result<(), Error> {
        self.conn.impatient = careful;
        self.conn.begin(Mode::Write)?;
        let locks = if careful { Locks::Skip } else { Locks::Wait };
        let outcome = self.run_rounds(locks, jobs, ran).and_then(|()| {
            hand_over(Moment::HasRead);
            let batches = self.plan.take_batches();
            if batches.is_empty() {
                return self.conn.rollback();
            }
            let started = Instant::now();
            let finished = self.conn.finish(batches);
            let (statements, committing) = *finished.as_ref().unwrap_or(&(0, Duration::ZERO));
            self.stats.asked(Asked::Writes, statements, started.elapsed().saturating_sub(committing));
            self.stats.waited_for_commit(committing);
            let finished = finished.map(drop);
            self.stats.write_ended(&finished, true);
            finished
        });
        if outcome.is_err() {
            // If the rollback fails too, the next transaction meets the same failure and reports it.
            let _ = self.conn.rollback();
        }
        outcome
    }

    /// Runs jobs until none of them misses anything.
    fn run_rounds(&mut self, locks: Locks, jobs: &mut Jobs, ran: &mut Ran) -> Result<(), Error> {
        let avoided = if locks == Locks::None { Vec::new() } else { self.floor.locked_rows.all() };
        self.plan.begin(locks, avoided);
        for _ in 0..ROUNDS_MAX {
            self.plan.begin_round();
            ran.effects.clear();
            let mut keys_ended = false;
            let started = Instant::now();
            for (number, (job, run)) in jobs.iter_mut().zip(&mut ran.runs).enumerate() {
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
                    ran.effects.append(&mut registered);
                }
            }
            self.stats.ran(jobs.len(), started.elapsed());
            if !ran.runs.contains(&Run::Missing) {
                return Ok(());
            }
            let started = Instant::now();
            let fetched = self.conn.fetch(self.plan);
            let took = started.elapsed();
            if let Some(job) = jobs.first().filter(|_| took > SLOW) {
                job.warn_slow(took, jobs.len());
            }
            self.stats.asked(Asked::Reads, fetched?, took);
        }
        Ok(())
    }

    /// Runs jobs that only read, on one picture of the database, and answers them. Those that cannot run in a group are
    /// returned.
    pub(crate) fn read(&mut self, mut jobs: Jobs) -> Jobs {
        let mut ran = Ran { runs: vec![Run::Missing; jobs.len()], effects: Vec::new() };
        let mut outcome = self.read_group(&mut jobs, &mut ran);
        // The connection may have died while idle; the next attempt opens a new one.
        if let Err(Error::Unreachable(_)) = outcome {
            outcome = self.read_group(&mut jobs, &mut ran);
        }
        if let Err(error @ Error::Failed(_)) = &outcome {
            tracing::warn!(%error, "a group of reads failed; each runs alone");
        }
        let mut on_connection = Vec::new();
        for (job, run) in jobs.into_iter().zip(ran.runs) {
            match (&outcome, run) {
                // One query of the group is at fault: each job runs alone.
                (Err(Error::Failed(_)), _)
                | (Ok(()), Run::Missing | Run::Deferred | Run::Direct | Run::Locked) => {
                    on_connection.push(job);
                }
                (_, _) => job.finish(outcome.clone()),
            }
        }
        if let Err(error) = self.conn.rollback() {
            tracing::debug!(%error, "a read transaction could not be ended");
        }
        on_connection
    }

    fn read_group(&mut self, jobs: &mut Jobs, ran: &mut Ran) -> Result<(), Error> {
        self.conn.begin(Mode::Read)?;
        self.run_rounds(Locks::None, jobs, ran)
    }
}

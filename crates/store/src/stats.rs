//! What the store has done, for the metrics page.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::Error;

/// What a message to PostgreSQL was for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Asked {
    /// The reads of a round.
    Reads,
    /// The writes of a group; its commit goes with them.
    Writes,
}

fn micros(took: Duration) -> u64 {
    u64::try_from(took.as_micros()).unwrap_or(u64::MAX)
}

/// What the store has done, for the metrics page.
#[derive(Debug, Default)]
pub struct Stats {
    writes: AtomicU64,
    commits: AtomicU64,
    pub(crate) reads: AtomicU64,
    lost_races: AtomicU64,
    group_reruns: AtomicU64,
    pub(crate) turned_away: AtomicU64,
    runs: AtomicU64,
    round_trips: AtomicU64,
    statements: AtomicU64,
    reading_us: AtomicU64,
    running_us: AtomicU64,
    writing_us: AtomicU64,
    committing_us: AtomicU64,
    locked: AtomicU64,
    pub(crate) waiting_writes: Arc<AtomicUsize>,
    pub(crate) waiting_reads: Arc<AtomicUsize>,
    writes_fail: AtomicBool,
    /// When a write last found no space.
    full_at: Mutex<Option<Instant>>,
}

impl Stats {
    /// Whether the last write failed because the database is out of order.
    #[must_use]
    pub fn writes_fail(&self) -> bool {
        self.writes_fail.load(Relaxed)
    }

    /// Whether a write found no space lately. A smaller one may fit all the same.
    #[must_use]
    pub fn was_full_within(&self, time: Duration) -> bool {
        let at = *self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        at.is_some_and(|at| at.elapsed() < time)
    }

    pub(crate) fn write_failed(&self, error: &Error) {
        if let Error::Full(_) = error {
            *self.full_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
        if error.is_outage() {
            self.writes_fail.store(true, Relaxed);
        }
    }

    /// Notes how a commit went. One without changes shows nothing about the disk.
    pub(crate) fn write_ended(&self, committed: &Result<(), Error>, dirty: bool) {
        match committed {
            Err(error) => self.write_failed(error),
            Ok(()) if dirty => self.writes_fail.store(false, Relaxed),
            Ok(()) => {}
        }
    }

    pub(crate) fn committed(&self, jobs: usize) {
        self.writes.fetch_add(jobs as u64, Relaxed);
        self.commits.fetch_add(1, Relaxed);
    }
    /// Counts what a message to PostgreSQL carried, and the time until its answer.
    pub(crate) fn asked(&self, what: Asked, statements: usize, took: Duration) {
        self.round_trips.fetch_add(1, Relaxed);
        self.statements.fetch_add(statements as u64, Relaxed);
        let sum = match what {
            Asked::Reads => &self.reading_us,
            Asked::Writes => &self.writing_us,
        };
        sum.fetch_add(micros(took), Relaxed);
    }
    /// Counts the time between the answer to the last write of a group and that to its commit.
    pub(crate) fn waited_for_commit(&self, took: Duration) {
        self.committing_us.fetch_add(micros(took), Relaxed);
    }
    /// Counts a row that another transaction kept locked for too long.
    pub(crate) fn met_lock(&self) {
        self.locked.fetch_add(1, Relaxed);
    }
    /// Counts runs of jobs against the cache of a group.
    pub(crate) fn ran(&self, runs: usize, took: Duration) {
        self.runs.fetch_add(runs as u64, Relaxed);
        self.running_us.fetch_add(micros(took), Relaxed);
    }
    pub(crate) fn lost_race(&self) {
        self.lost_races.fetch_add(1, Relaxed);
    }
    pub(crate) fn group_rerun(&self) {
        self.group_reruns.fetch_add(1, Relaxed);
    }

    /// Every figure with its name, in a stable order.
    #[must_use]
    pub fn figures(&self) -> [(&'static str, u64); 16] {
        [
            ("writes", self.writes.load(Relaxed)),
            ("commits", self.commits.load(Relaxed)),
            ("reads", self.reads.load(Relaxed)),
            ("lost_races", self.lost_races.load(Relaxed)),
            ("lock_timeouts", self.locked.load(Relaxed)),
            ("group_reruns", self.group_reruns.load(Relaxed)),
            ("turned_away", self.turned_away.load(Relaxed)),
            ("runs", self.runs.load(Relaxed)),
            ("round_trips", self.round_trips.load(Relaxed)),
            ("statements", self.statements.load(Relaxed)),
            ("reading_us", self.reading_us.load(Relaxed)),
            ("running_us", self.running_us.load(Relaxed)),
            ("writing_us", self.writing_us.load(Relaxed)),
            ("committing_us", self.committing_us.load(Relaxed)),
            ("waiting_writes", self.waiting_writes.load(Relaxed) as u64),
            ("waiting_reads", self.waiting_reads.load(Relaxed) as u64),
        ]
    }
}

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
        self.described().map(|figure| (figure.name, figure.value))
    }

    /// Every figure with what it means, in a stable order.
    #[must_use]
    pub fn described(&self) -> [Figure; 16] {
        let count = |name, help, value: &AtomicU64| Figure::count(name, help, value.load(Relaxed));
        let time = |name, help, value: &AtomicU64| Figure::time_sum(name, help, value.load(Relaxed));
        let level = |name, help, value: usize| Figure::level(name, help, value as u64);
        [
            count("writes", "Jobs that write and were committed", &self.writes),
            count("commits", "Commits; waiting jobs share one", &self.commits),
            count("reads", "Jobs that read", &self.reads),
            count(
                "lost_races",
                "Groups run again because another node changed the same rows",
                &self.lost_races,
            ),
            count("lock_timeouts", "Rows that another transaction kept locked for too long", &self.locked),
            count("group_reruns", "Groups whose jobs were run singly after a refusal", &self.group_reruns),
            count("turned_away", "Jobs refused because a queue was full", &self.turned_away),
            count("runs", "Runs of jobs against what their group has fetched", &self.runs),
            count("round_trips", "Messages to PostgreSQL", &self.round_trips),
            count("statements", "Statements sent to PostgreSQL", &self.statements),
            time("reading_us", "Time that groups waited for rows from PostgreSQL", &self.reading_us),
            time("running_us", "Time that jobs of groups ran", &self.running_us),
            time("writing_us", "Time that groups waited for their writes in PostgreSQL", &self.writing_us),
            time(
                "committing_us",
                "Time that groups waited for their commit in PostgreSQL",
                &self.committing_us,
            ),
            level("waiting_writes", "Jobs that wait to write", self.waiting_writes.load(Relaxed)),
            level("waiting_reads", "Jobs that wait to read", self.waiting_reads.load(Relaxed)),
        ]
    }
}

/// A figure of the process at one moment, and what it means.
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    pub name: &'static str,
    pub help: &'static str,
    pub kind: FigureKind,
    pub value: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureKind {
    /// It only grows.
    Count,
    /// It goes up and down.
    Level,
    /// A sum of microseconds; the name ends in `_us`.
    TimeSum,
    /// The last measured microseconds; the name ends in `_us`.
    LastTime,
}

impl Figure {
    #[must_use]
    pub const fn count(name: &'static str, help: &'static str, value: u64) -> Self {
        Self { name, help, kind: FigureKind::Count, value }
    }
    #[must_use]
    pub const fn level(name: &'static str, help: &'static str, value: u64) -> Self {
        Self { name, help, kind: FigureKind::Level, value }
    }
    #[must_use]
    pub const fn time_sum(name: &'static str, help: &'static str, value: u64) -> Self {
        Self { name, help, kind: FigureKind::TimeSum, value }
    }
    #[must_use]
    pub const fn last_time(name: &'static str, help: &'static str, value: u64) -> Self {
        Self { name, help, kind: FigureKind::LastTime, value }
    }
}

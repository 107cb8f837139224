//! When a group locks what. All of its jobs get their rows of one class before any gets one of the next: whatever order
//! they ask in, two groups never hold what the other one waits for.

use rustc_hash::FxHashSet;

use super::{Query, Run};
use crate::Value;
use crate::lock::{LockClass, LockedRow};
use crate::statement::{Locks, Read};

/// The locks of a group.
#[derive(Debug)]
pub(super) struct Phases {
    pub(super) locks: Locks,
    /// How often something was fetched.
    pub(super) round: usize,
    /// The last class that every job which misses something has reached. Locks of later ones wait.
    reached_by_all: Option<LockClass>,
    /// The rows that are locked, and the last class of them.
    held: FxHashSet<LockedRow>,
    held_class: Option<LockClass>,
    /// The rows that jobs of this round have asked for.
    asked: FxHashSet<LockedRow>,
    /// Rows that others keep locked: known when the group began, and found since.
    avoided: Vec<LockedRow>,
    found_locked: Vec<LockedRow>,
}

/// How far a job has come.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The class of the lock at which it stopped, or else the last of those it has asked for. It asks for none before that.
    reached: Option<LockClass>,
    /// The last class of the locks that it has asked for and does not have, but for mailboxes: they protect themselves only.
    awaits: Option<LockClass>,
    /// The round in which the last of its locks was taken.
    locked_in: usize,
}

impl Phases {
    /// The jobs of the group leave the avoided rows alone.
    pub(super) fn begin(locks: Locks, avoided: Vec<LockedRow>) -> Self {
        Self {
            locks,
            round: 0,
            reached_by_all: None,
            held: FxHashSet::default(),
            held_class: None,
            asked: FxHashSet::default(),
            avoided,
            found_locked: Vec::new(),
        }
    }

    pub(super) fn begin_round(&mut self) {
        self.asked.clear();
        self.reached_by_all = Some(LockClass::Mailbox);
    }

    /// Notes how far a job has come that misses something.
    pub(super) fn stopped(&mut self, job: &Progress) {
        self.reached_by_all = self.reached_by_all.min(job.reached);
    }

    /// Whether what was read in a round may still be used by a job. What a lock protects may have changed before it was
    /// taken.
    pub(super) fn is_fresh(&self, job: &mut Progress, read: &Read, round: usize) -> bool {
        match read.lock().filter(|_| self.locks != Locks::None) {
            None => round >= job.locked_in,
            Some(lock) => {
                if lock.class < LockClass::Mailbox {
                    job.locked_in = job.locked_in.max(round);
                }
                true
            }
        }
    }

    /// Notes that a job asks for a query. Tells which class the query has to wait for, or where the job runs instead.
    /// `stops` says whether it can go on without the rows.
    pub(super) fn ask(
        &mut self,
        job: &mut Progress,
        read: &Read,
        params: &[Value<'static>],
        stops: bool,
    ) -> Result<Option<LockClass>, Run> {
        let Some(lock) = read.lock().filter(|_| self.locks != Locks::None) else { return Ok(job.awaits) };
        let row = read.locked_row(params);
        if row.as_ref().is_some_and(|row| self.held.contains(row)) {
            return Ok(job.awaits);
        }
        if row.as_ref().is_some_and(|row| self.avoided.contains(row)) {
            return Err(Run::Locked);
        }
        // It would wait for a row while the group holds others that come later.
        if Some(lock.class) < self.held_class {
            return Err(Run::Direct);
        }
        self.asked.extend(row);
        job.reached = if stops { Some(lock.class) } else { job.reached.max(Some(lock.class)) };
        if lock.class < LockClass::Mailbox {
            job.awaits = job.awaits.max(Some(lock.class));
        }
        Ok(Some(lock.class))
    }

    /// Whether a row is locked, or will be with what was asked for in this round.
    pub(super) fn covers(&self, row: &LockedRow) -> bool {
        self.held.contains(row) || self.asked.contains(row)
    }

    pub(super) fn may_ask(&self, query: &Query) -> bool {
        query.waits_for <= self.reached_by_all
    }

    /// Notes that a query was answered, and whether others keep its rows locked.
    pub(super) fn found(&mut self, query: &Query, locked: bool) {
        if let Some(lock) = query.read.lock().filter(|_| self.locks != Locks::None) {
            self.held_class = self.held_class.max(Some(lock.class));
            let row = query.read.locked_row(&query.params);
            if locked { self.found_locked.extend(row) } else { self.held.extend(row) }
        }
    }

    /// The rows that were found to be locked by others since it was asked last.
    pub(super) fn take_found_locked(&mut self) -> Vec<LockedRow> {
        std::mem::take(&mut self.found_locked)
    }
}

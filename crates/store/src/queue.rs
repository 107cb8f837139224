//! The jobs that wait for the threads of one side. Each owner has its own line, and the lines take turns: whoever sends
//! many jobs waits for its own, and everybody else waits for one job of each other owner at most.

use std::collections::hash_map::{Entry, RandomState};
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

use tandem_core::AgentId;

use crate::Error;
use crate::job::Job;

/// Which part of a queue the jobs of one owner may take.
const OWN_PART: usize = 8;

/// For whom a job is done. It is a hash, so that it costs nothing to pass on; its key differs in every process, so that
/// nobody can choose an id that shares the line of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The hub itself. Its workers bound how much they ask for at a time.
    Hub,
    Client(u64),
}

static HASHES: LazyLock<RandomState> = LazyLock::new(RandomState::new);

impl Owner {
    #[must_use]
    pub fn agent(id: &AgentId) -> Self {
        Self::Client(HASHES.hash_one(("agent", id.as_str())))
    }

    /// A client without a key, by what its address is counted under.
    #[must_use]
    pub fn address(key: &str) -> Self {
        Self::Client(HASHES.hash_one(("address", key)))
    }
}

/// How much a job reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// A few rows. Such jobs run together where the database is another process.
    Rows,
    /// As many rows as fill a page. It runs alone, so that others wait for one page at most.
    Page,
}

#[derive(Default)]
struct Lines {
    by_owner: HashMap<Owner, VecDeque<Job>>,
    /// The owners with waiting jobs, the next one first.
    turns: VecDeque<Owner>,
    /// Threads that wait for a job.
    idle: usize,
    closed: bool,
}

/// A bounded queue with a line for each owner.
pub(crate) struct Queue {
    lines: Mutex<Lines>,
    arrived: Condvar,
    /// Whoever holds it takes the next group.
    next: Mutex<()>,
    waiting: Arc<AtomicUsize>,
    max: usize,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

impl Queue {
    /// `waiting` is kept at the number of jobs that wait.
    pub(crate) fn new(max: usize, waiting: Arc<AtomicUsize>) -> Self {
        let (lines, arrived, next) = (Mutex::default(), Condvar::new(), Mutex::default());
        Self { lines, arrived, next, waiting, max }
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job at the end of its owner's line. One owner may use an eighth of the places, and half of what the others
    /// leave: so there is always a place for one more.
    pub(crate) fn push(&self, owner: Owner, job: Job) -> Result<(), Error> {
        let mut lines = self.lines();
        if lines.closed {
            return Err(Error::Unreachable("the store has stopped".into()));
        }
        let (waiting, own_max) = (self.waiting.load(Relaxed), (self.max / OWN_PART).max(1));
        let Lines { by_owner, turns, .. } = &mut *lines;
        let line = by_owner.entry(owner);
        let own = if let Entry::Occupied(line) = &line { line.get().len() } else { 0 };
        let left = self.max.saturating_sub(waiting - own);
        if own >= if owner == Owner::Hub { left } else { left.div_ceil(2) } {
            return Err(Error::Busy);
        }
        if own >= own_max && owner != Owner::Hub {
            return Err(Error::OwnShare);
        }
        line.or_default().push_back(job);
        if own == 0 {
            turns.push_back(owner);
        }
        self.waiting.fetch_add(1, Relaxed);
        // To notify costs a call to the system.
        let wakes = lines.idle > 0;
        drop(lines);
        if wakes {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// The same as [`Self::take`], but the hub's own jobs come first: they are few, and all clients wait for what they do.
    /// While the guard lives, nobody else gets a group in this way.
    pub(crate) fn take_next(&self, group_max: usize) -> Option<(Vec<Job>, MutexGuard<'_, ()>)> {
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = self.wait()?;
        let of_hub = lines.take_of_hub(group_max);
        Some((self.taken(lines.take(group_max, of_hub)), next))
    }

    /// Waits for a job, then takes what else is there already, one of each owner in turn. Nothing when the queue is
    /// closed.
    pub(crate) fn take(&self, group_max: usize) -> Option<Vec<Job>> {
        let mut lines = self.wait()?;
        Some(self.taken(lines.take(group_max, Vec::new())))
    }

    /// What is there already; nothing if that is nothing.
    pub(crate) fn take_ready(&self, group_max: usize) -> Option<Vec<Job>> {
        let mut lines = self.lines();
        if lines.turns.is_empty() {
            return None;
        }
        Some(self.taken(lines.take(group_max, Vec::new())))
    }

    fn wait(&self) -> Option<MutexGuard<'_, Lines>> {
        let mut lines = self.lines();
        while lines.turns.is_empty() {
            if lines.closed {
                return None;
            }
            lines.idle += 1;
            lines = self.arrived.wait(lines).unwrap_or_else(PoisonError::into_inner);
            lines.idle -= 1;
        }
        Some(lines)
    }

    fn taken(&self, group: Vec<Job>) -> Vec<Job> {
        self.waiting.fetch_sub(group.len(), Relaxed);
        group
    }

    /// Refuses new jobs. Those that wait are still done.
    pub(crate) fn close(&self) {
        self.lines().closed = true;
        self.arrived.notify_all();
    }
}

impl Lines {
    /// The hub's own jobs, up to half of a group.
    fn take_of_hub(&mut self, group_max: usize) -> Vec<Job> {
        let Entry::Occupied(mut line) = self.by_owner.entry(Owner::Hub) else { return Vec::new() };
        let count = line.get().len().min(group_max / 2);
        let group = line.get_mut().drain(..count).collect();
        if line.get().is_empty() {
            line.remove();
            self.turns.retain(|owner| *owner != Owner::Hub);
        }
        group
    }

    fn take(&mut self, group_max: usize, mut group: Vec<Job>) -> Vec<Job> {
        // The owners whose next job is a page keep their places; they get the next groups.
        let mut kept = Vec::new();
        while group.len() < group_max {
            let Some(owner) = self.turns.pop_front() else { break };
            let Entry::Occupied(mut line) = self.by_owner.entry(owner) else { continue };
            let is_page = line.get().front().is_some_and(|job| job.size == Size::Page);
            if is_page && !group.is_empty() {
                kept.push(owner);
                continue;
            }
            group.extend(line.get_mut().pop_front());
            if line.get().is_empty() {
                line.remove();
            } else {
                self.turns.push_back(owner);
            }
            if is_page {
                break;
            }
        }
        for owner in kept.into_iter().rev() {
            self.turns.push_front(owner);
        }
        group
    }
}

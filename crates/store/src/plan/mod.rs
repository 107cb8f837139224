//! Running a group of jobs against a common cache, for a database to which every statement is a message.
//!
//! A job is run on what has been read so far. If it asks for something else, that is noted and the job stops or goes on
//! without it; when every job of the group has run, what was missing is fetched at once and the jobs run again from the
//! beginning. Writes are only noted. A write changes what the cache has read, so that a later job of the group sees it; where
//! that is not possible, the later job waits for the next group. When nothing is missing any more, the writes of all jobs
//! are merged, one statement for each table and kind, and sent with the commit.

mod batch;
mod cache;
mod change;
mod phases;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::lock::{self, LockClass, LockedRow};
use crate::statement::{Form, Locks, Read, Write};
use crate::{Error, Row, Value};

use cache::{Cache, Known};
use phases::{Phases, Progress};

pub(crate) use batch::{Batch, Batches};

/// Queries without a declaration that are kept. There are fewer in the product; lists with filters have several each.
const TEXTS_MAX: usize = 4_000;

type Key = Vec<Value<'static>>;
pub(crate) type Rows = Vec<Vec<Value<'static>>>;

/// A query with its parameters, whose rows are wanted.
#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) read: Arc<Read>,
    pub(crate) params: Key,
    /// It is not asked for before the group may lock rows of this class: its own, or that of a lock that protects what it
    /// reads. Of several jobs, the one counts that may have it first; the others read it again behind their locks.
    waits_for: Option<LockClass>,
}

/// How a job has run. What comes later counts more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Run {
    /// It ran to its end; if it succeeded, its writes are noted.
    #[default]
    Done,
    /// It asked for something that has not been read yet.
    Missing,
    /// It asked for something that an earlier job of the group has changed.
    Deferred,
    /// It needs the outcome of a write, what it has written itself, or a lock out of turn: it must run on the connection.
    Direct,
    /// It needs a row that another transaction keeps locked.
    Locked,
}

/// Where a query is.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// In the cache.
    Read(usize),
    /// Among those that are missing.
    Missing(usize),
}

#[derive(Debug, Default)]
struct Current {
    number: usize,
    run: Run,
    progress: Progress,
    /// How many changes of the cache there were when it began.
    changes_before: usize,
    writes: Vec<(&'static Write, Key)>,
}

impl Current {
    /// Notes why the job stops.
    fn stop(&mut self, run: Run) -> Error {
        self.run = self.run.max(run);
        Error::Stopped
    }
}

/// The reads and writes of a group.
#[derive(Debug)]
pub(crate) struct Plan {
    texts: FxHashMap<String, Arc<Read>>,
    cache: Cache,
    phases: Phases,
    places: FxHashMap<(usize, Key), Place>,
    missing: Vec<Query>,
    batches: Batches,
    current: Current,
}

impl Plan {
    pub(crate) fn new() -> Self {
        Self {
            texts: FxHashMap::default(),
            cache: Cache::default(),
            phases: Phases::begin(Locks::None, Vec::new()),
            places: FxHashMap::default(),
            missing: Vec::new(),
            batches: Batches::default(),
            current: Current::default(),
        }
    }

    /// Forgets everything that was read. The jobs of the group leave these rows alone.
    pub(crate) fn begin(&mut self, locks: Locks, avoided: Vec<LockedRow>) {
        self.phases = Phases::begin(locks, avoided);
        self.cache = Cache::default();
        self.places.clear();
        self.missing.clear();
        self.batches = Batches::default();
        if self.texts.len() > TEXTS_MAX {
            self.texts.clear();
        }
    }

    /// Begins another run of all jobs, on what was read so far.
    pub(crate) fn begin_round(&mut self) {
        self.cache.undo_to(0);
        self.batches = Batches::default();
        self.phases.begin_round();
    }

    pub(crate) fn begin_job(&mut self, number: usize) {
        self.current = Current { number, changes_before: self.cache.changes(), ..Current::default() };
    }

    /// Ends the run of a job. Its writes are kept if it succeeded.
    pub(crate) fn end_job(&mut self, succeeded: bool) -> Run {
        let current = std::mem::take(&mut self.current);
        if current.run == Run::Missing {
            self.phases.stopped(&current.progress);
        }
        if current.run == Run::Done && succeeded {
            for (write, params) in current.writes {
                self.batches.add(write, params);
            }
        } else {
            self.cache.undo_to(current.changes_before);
        }
        current.run
    }

    /// The rows of a query, if they have been read. Nothing means that they will be read before the job runs again.
    pub(crate) fn peek(
        &mut self,
        read: &Arc<Read>,
        params: &[Value<'_>],
    ) -> Result<Option<Vec<Row<'static>>>, Error> {
        self.ask(read, params, false)
    }

    /// The rows of a query; an error if they have not been read yet.
    pub(crate) fn rows(
        &mut self,
        read: &Arc<Read>,
        params: &[Value<'_>],
    ) -> Result<Vec<Row<'static>>, Error> {
        self.ask(read, params, true)?.ok_or(Error::Stopped)
    }

    /// The rows of a query that is not declared. Only a group that writes nothing can have them.
    pub(crate) fn rows_of_text(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
    ) -> Result<Vec<Row<'static>>, Error> {
        if self.phases.locks != Locks::None {
            return Err(self.needs_connection());
        }
        let read = match self.texts.get(sql) {
            Some(read) => Arc::clone(read),
            None => {
                let read = Arc::new(Read::text(sql.to_owned()));
                self.texts.insert(sql.to_owned(), Arc::clone(&read));
                read
            }
        };
        self.rows(&read, params)
    }

    /// `stops` says whether the job can go on without the rows.
    fn ask(
        &mut self,
        read: &Arc<Read>,
        params: &[Value<'_>],
        stops: bool,
    ) -> Result<Option<Vec<Row<'static>>>, Error> {
        let key = (address(read), params.iter().cloned().map(Value::into_owned).collect::<Key>());
        let known = self.places.get(&key).copied();
        if let Some(Place::Read(place)) = known
            && let Some(round) = self.cache.round_of(place)
            && self.phases.is_fresh(&mut self.current.progress, read, round)
        {
            return self.found_before(place);
        }
        let asked = self.phases.ask(&mut self.current.progress, read, &key.1, stops);
        let waits_for = asked.map_err(|run| self.current.stop(run))?;
        self.current.run = self.current.run.max(Run::Missing);
        match known {
            Some(Place::Missing(place)) => {
                if let Some(query) = self.missing.get_mut(place) {
                    query.waits_for = query.waits_for.min(waits_for);
                }
            }
            Some(Place::Read(_)) | None => {
                let params = key.1.clone();
                self.places.insert(key, Place::Missing(self.missing.len()));
                self.missing.push(Query { read: Arc::clone(read), params, waits_for });
            }
        }
        Ok(None)
    }

    fn found_before(&mut self, place: usize) -> Result<Option<Vec<Row<'static>>>, Error> {
        let run = match self.cache.rows(place) {
            Some(Known::Rows(rows)) => return Ok(Some(rows.iter().cloned().map(Row::new).collect())),
            Some(Known::ChangedBy(job)) if job == self.current.number => Run::Direct,
            Some(Known::ChangedBy(_)) => Run::Deferred,
            Some(Known::Locked) | None => Run::Locked,
        };
        Err(self.current.stop(run))
    }

    /// Has the job run on the connection.
    pub(crate) fn needs_connection(&mut self) -> Error {
        self.current.stop(Run::Direct)
    }

    /// Notes a write. The row that it changes is locked in its phase, like those that are read.
    pub(crate) fn write(&mut self, write: &'static Write, params: &[Value<'_>]) -> Result<(), Error> {
        let params: Key = params.iter().cloned().map(Value::into_owned).collect();
        if let Form::Update | Form::Delete = write.form
            && let Some(lock) = lock::of_table(write.table)
            && let Some(row) = LockedRow::named(write.table, [], |column| write.given(&params, column))
            && !self.phases.covers(&row)
        {
            self.ask(lock, &row.key, false)?;
        }
        self.cache.apply(write, &params, self.current.number);
        self.current.writes.push((write, params));
        Ok(())
    }

    /// What has to be read before the next run. What is not allowed yet will be asked for again.
    pub(crate) fn take_missing(&mut self) -> Vec<Query> {
        self.phases.round += 1;
        let missing = std::mem::take(&mut self.missing);
        let (now, later): (Vec<_>, Vec<_>) =
            missing.into_iter().partition(|query| self.phases.may_ask(query));
        for query in later {
            self.places.remove(&(address(&query.read), query.params));
        }
        now
    }

    /// What queries do with the rows that they say they lock.
    pub(crate) fn locks(&self) -> Locks {
        self.phases.locks
    }

    /// The rows that were found to be locked by others since it was asked last.
    pub(crate) fn take_found_locked(&mut self) -> Vec<LockedRow> {
        self.phases.take_found_locked()
    }

    /// Keeps what a query has found. If there are more rows than it found, others keep them locked.
    pub(crate) fn found(&mut self, query: Query, rows: Rows, there: usize) {
        let locked = there > rows.len();
        self.phases.found(&query, locked);
        let key = (address(&query.read), query.params.clone());
        let changes = self.phases.locks != Locks::None;
        let place = self.cache.add(query, rows, locked, self.phases.round, changes);
        self.places.insert(key, Place::Read(place));
    }

    /// The writes of all jobs that have succeeded.
    pub(crate) fn take_batches(&mut self) -> Vec<Batch> {
        std::mem::take(&mut self.batches).into_vec()
    }
}

impl Query {
    /// The query that only locks the row of this one, if its table has one.
    pub(crate) fn only_lock(&self) -> Option<Self> {
        let row = self.read.locked_row(&self.params)?;
        let read = Arc::clone(lock::of_table(row.table)?);
        Some(Self { read, params: row.key, waits_for: self.waits_for })
    }
}

/// What a query is told apart by. Those without a declaration are kept as long as the cache.
fn address(read: &Arc<Read>) -> usize {
    Arc::as_ptr(read).addr()
}

#[cfg(test)]
mod tests;

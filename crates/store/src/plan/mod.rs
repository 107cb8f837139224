//! Running a group of jobs against a common cache, for a database to which every statement is a message.
//!
//! A job is run on what has been read so far. If it asks for something else, that is noted and the job is dropped; when
//! every job of the group has run, all that was missing is fetched at once and the jobs run again from the beginning.
//! Writes are only noted. A write changes what the cache has read, so that a later job of the group sees it; where that
//! is not possible, the later job waits for the next group. When nothing is missing any more, the writes of all jobs are
//! merged, one statement for each table and kind, and sent with the commit.

mod batch;
mod change;
mod merge;
mod text;
mod token;
mod writes;

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::lock::{LockClass, LockedRow, lock_query};
use crate::{Error, Row, Value};

use change::{changed_columns, given};

pub(crate) use batch::{Batch, Batches};
pub(crate) use merge::{merged_read, merged_write, single_read};
pub(crate) use text::{Action, Form, LOCK_MARK, Source, Text, Write};

/// Texts that are kept parsed. There are fewer in the product; lists with filters have several each.
const TEXTS_MAX: usize = 4_000;

/// A query with its parameters, whose rows are wanted.
#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) text: Arc<Text>,
    pub(crate) params: Vec<Value<'static>>,
    /// Nobody asks for it before the group may lock rows of this class: its own, or that of a lock that protects what it
    /// reads.
    waits_for: Option<LockClass>,
}

/// What queries do with the rows that they say they lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locks {
    /// Nothing: the group only reads.
    None,
    /// They wait for those that are locked.
    Wait,
    /// They leave out those that are locked, and it is asked which were left out.
    Skip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    /// It ran to its end; if it succeeded, its writes are noted.
    Done,
    /// It asked for something that has not been read yet.
    Missing,
    /// It asked for something that an earlier job of the group has changed.
    Deferred,
    /// It needs a row that another transaction keeps locked.
    Locked,
    /// It needs the outcome of a write, or what it has written itself: it must run on the connection.
    Direct,
}

/// What a query found, as later writes of the group have left it.
#[derive(Debug)]
struct Entry {
    text: Arc<Text>,
    rows: Vec<Vec<Value<'static>>>,
    /// Whether rows are missing here because they are locked.
    locked: bool,
    /// In which round it was read.
    round: usize,
    /// The job that has written something that this query would find, but not here.
    stale: Option<usize>,
}

/// Where a query is.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Among the entries.
    Read(usize),
    /// Among those that are missing.
    Missing(usize),
}

/// A change of the cache, to be taken back.
#[derive(Debug)]
enum Change {
    Column { entry: usize, column: usize, before: Value<'static> },
    Stale { entry: usize },
}

type Key = Vec<Value<'static>>;

/// The entries that read rows of one table by the same columns.
#[derive(Debug)]
struct KeyGroup {
    columns: Vec<String>,
    /// By the values of these columns: the entry, and the number of its source.
    by_values: FxHashMap<Key, Vec<(usize, usize)>>,
}

#[derive(Debug, Default)]
struct Current {
    number: usize,
    missing: bool,
    /// The class of the lock at which it stopped, or else the last of those it has asked for. It asks for none before that.
    reached: Option<LockClass>,
    /// The last class of the locks that it has asked for and does not have, but for mailboxes: they protect themselves only.
    awaits: Option<LockClass>,
    /// The round in which the last of its locks was taken.
    locked_in: usize,
    deferred: bool,
    locked: bool,
    direct: bool,
    /// How long the journal was when it began.
    changes_before: usize,
    writes: Vec<(Arc<Text>, Key)>,
}

/// The reads and writes of a group.
#[derive(Debug)]
pub(crate) struct Plan {
    texts: FxHashMap<String, Arc<Text>>,
    locks: Locks,
    entries: Vec<Entry>,
    places: FxHashMap<(usize, Key), Place>,
    rows: HashMap<String, Vec<KeyGroup>>,
    missing: Vec<Query>,
    /// How often something was fetched.
    round: usize,
    /// The last class that every job which misses something has reached. Locks of later ones wait.
    phase: Option<LockClass>,
    /// The rows that are locked and those that will be next, and the last class of the locked ones.
    held: FxHashSet<LockedRow>,
    asked: FxHashSet<LockedRow>,
    held_class: Option<LockClass>,
    /// Rows that others keep locked: known when the group began, and found since.
    avoided: Vec<LockedRow>,
    found_locked: Vec<LockedRow>,
    changes: Vec<Change>,
    batches: Batches,
    current: Current,
}

impl Plan {
    pub(crate) fn new() -> Self {
        Self {
            texts: FxHashMap::default(),
            locks: Locks::Wait,
            entries: Vec::new(),
            places: FxHashMap::default(),
            rows: HashMap::new(),
            missing: Vec::new(),
            round: 0,
            phase: None,
            held: FxHashSet::default(),
            asked: FxHashSet::default(),
            held_class: None,
            avoided: Vec::new(),
            found_locked: Vec::new(),
            changes: Vec::new(),
            batches: Batches::default(),
            current: Current::default(),
        }
    }

    /// Forgets everything that was read. The jobs of the group leave these rows alone.
    pub(crate) fn begin(&mut self, locks: Locks, avoided: Vec<LockedRow>) {
        self.locks = locks;
        self.avoided = avoided;
        self.round = 0;
        self.held.clear();
        self.held_class = None;
        self.places.clear();
        self.entries.clear();
        self.rows.clear();
        self.missing.clear();
        self.changes.clear();
        self.batches = Batches::default();
        if self.texts.len() > TEXTS_MAX {
            self.texts.clear();
        }
    }

    /// Begins another run of all jobs, on what was read so far.
    pub(crate) fn begin_round(&mut self) {
        self.undo_to(0);
        self.batches = Batches::default();
        self.asked.clear();
        self.phase = Some(LockClass::Mailbox);
    }

    pub(crate) fn begin_job(&mut self, number: usize) {
        self.current = Current { number, changes_before: self.changes.len(), ..Current::default() };
    }

    /// Ends the run of a job. Its writes are kept if it succeeded.
    pub(crate) fn end_job(&mut self, succeeded: bool) -> Run {
        let current = std::mem::take(&mut self.current);
        let run = match &current {
            Current { locked: true, .. } => Run::Locked,
            Current { direct: true, .. } => Run::Direct,
            Current { deferred: true, .. } => Run::Deferred,
            Current { missing: true, reached, .. } => {
                self.phase = self.phase.min(*reached);
                Run::Missing
            }
            _ => Run::Done,
        };
        if run == Run::Done && succeeded {
            for (text, params) in current.writes {
                self.batches.add(text, params);
            }
        } else {
            self.undo_to(current.changes_before);
        }
        run
    }

    fn text(&mut self, sql: &str) -> Arc<Text> {
        if let Some(text) = self.texts.get(sql) {
            return Arc::clone(text);
        }
        let text = Arc::new(Text::parse(sql));
        self.texts.insert(sql.to_owned(), Arc::clone(&text));
        text
    }

    /// The rows of a query, if they have been read. Nothing means that they will be read before the job runs again.
    pub(crate) fn peek(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Option<Vec<Row>>, Error> {
        self.ask(sql, params, false)
    }

    /// The rows of a query; an error if they have not been read yet.
    pub(crate) fn rows(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Vec<Row>, Error> {
        self.ask(sql, params, true)?.ok_or(Error::LostRace)
    }

    /// `stops` says whether the job can go on without the rows.
    fn ask(&mut self, sql: &str, params: &[Value<'_>], stops: bool) -> Result<Option<Vec<Row>>, Error> {
        let text = self.text(sql);
        if !matches!(text.action, Action::Read(_)) {
            return Err(self.needs_connection());
        }
        let key = (address(&text), params.iter().cloned().map(Value::into_owned).collect::<Key>());
        let known = self.places.get(&key).copied();
        if let Some(Place::Read(place)) = known
            && let Some(entry) = self.entries.get(place)
        {
            let is_lock = self.locks != Locks::None && text.lock().is_some();
            // What a lock protects may have changed before it was taken.
            if is_lock || entry.round >= self.current.locked_in {
                if text.lock().is_some_and(|lock| lock.class < LockClass::Mailbox) {
                    self.current.locked_in = self.current.locked_in.max(entry.round);
                }
                return self.found_before(place);
            }
        }
        let waits_for = self.reach(&text, &key.1, stops)?;
        self.current.missing = true;
        match known {
            Some(Place::Missing(place)) => {
                if let Some(query) = self.missing.get_mut(place) {
                    query.waits_for = query.waits_for.max(waits_for);
                }
            }
            Some(Place::Read(_)) | None => {
                self.places.insert(key.clone(), Place::Missing(self.missing.len()));
                self.missing.push(Query { text, params: key.1, waits_for });
            }
        }
        Ok(None)
    }

    fn found_before(&mut self, place: usize) -> Result<Option<Vec<Row>>, Error> {
        let Some(entry) = self.entries.get(place) else { return Err(Error::LostRace) };
        match entry.stale {
            _ if entry.locked => self.current.locked = true,
            None => return Ok(Some(entry.rows.iter().cloned().map(Row::new).collect())),
            Some(by) if by == self.current.number => self.current.direct = true,
            Some(_) => self.current.deferred = true,
        }
        Err(Error::LostRace)
    }

    /// Notes how far the job has come with its locks, if the query is one. Tells what the query has to wait for.
    fn reach(
        &mut self,
        text: &Text,
        params: &[Value<'static>],
        stops: bool,
    ) -> Result<Option<LockClass>, Error> {
        let Some(lock) = text.lock().filter(|_| self.locks != Locks::None) else {
            return Ok(self.current.awaits);
        };
        let row = text.locked_row(params);
        if row.as_ref().is_some_and(|row| self.held.contains(row)) {
            return Ok(self.current.awaits);
        }
        if row.as_ref().is_some_and(|row| self.avoided.contains(row)) {
            self.current.locked = true;
            return Err(Error::LostRace);
        }
        // It would wait for a row while the group holds others that come later.
        if Some(lock.class) < self.held_class {
            return Err(self.needs_connection());
        }
        self.asked.extend(row);
        let current = &mut self.current;
        current.reached = if stops { Some(lock.class) } else { current.reached.max(Some(lock.class)) };
        if lock.class < LockClass::Mailbox {
            current.awaits = current.awaits.max(Some(lock.class));
        }
        Ok(Some(lock.class))
    }

    /// Has the job run on the connection.
    pub(crate) fn needs_connection(&mut self) -> Error {
        self.current.direct = true;
        Error::LostRace
    }

    /// Notes a write. The row that it changes is locked in its phase, like those that are read.
    pub(crate) fn write(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), Error> {
        let text = self.text(sql);
        let Action::Write(write) = &text.action else { return Err(self.needs_connection()) };
        let params: Key = params.iter().cloned().map(Value::into_owned).collect();
        if let Form::Update | Form::Delete = write.form
            && let Some(lock) = lock_query(&write.table)
            && let Some(row) = LockedRow::named(&write.table, [].into_iter(), |column| {
                given(write, &params, column).cloned()
            })
            && !self.held.contains(&row)
            && !self.asked.contains(&row)
        {
            self.ask(&lock, &row.key, false)?;
        }
        self.apply(write, &params);
        self.current.writes.push((text, params));
        Ok(())
    }

    /// Changes what was read of the rows that a write concerns.
    fn apply(&mut self, write: &Write, params: &[Value<'static>]) {
        let mut concerned = Vec::new();
        for group in self.rows.get(&write.table).into_iter().flatten() {
            let given: Vec<Option<&Value<'static>>> =
                group.columns.iter().map(|column| given(write, params, column)).collect();
            if let Some(values) = given.iter().map(|value| value.cloned()).collect::<Option<Key>>() {
                concerned.extend(group.by_values.get(&values).into_iter().flatten());
                continue;
            }
            for (values, places) in &group.by_values {
                let differs =
                    |(own, given): (&Value<'_>, &Option<&Value<'_>>)| given.is_some_and(|g| g != own);
                if !values.iter().zip(&given).any(differs) {
                    concerned.extend(places);
                }
            }
        }
        for (entry, source) in concerned {
            self.apply_to(entry, source, write, params);
        }
    }

    fn apply_to(&mut self, place: usize, source: usize, write: &Write, params: &[Value<'static>]) {
        let Some(entry) = self.entries.get_mut(place).filter(|entry| entry.stale.is_none()) else { return };
        let text = Arc::clone(&entry.text);
        let Some(source) = text.sources.get(source) else { return };
        if write.form == Form::Update && !write.set.iter().any(|(column, _)| source.looks_at(column)) {
            return;
        }
        match changed_columns(source, &entry.rows, write, params) {
            Some(columns) => {
                let Some(row) = entry.rows.first_mut() else { return };
                for (column, value) in columns {
                    let Some(own) = row.get_mut(column) else { continue };
                    let before = std::mem::replace(own, value);
                    self.changes.push(Change::Column { entry: place, column, before });
                }
            }
            None => {
                entry.stale = Some(self.current.number);
                self.changes.push(Change::Stale { entry: place });
            }
        }
    }

    fn undo_to(&mut self, length: usize) {
        while self.changes.len() > length {
            match self.changes.pop() {
                Some(Change::Column { entry, column, before }) => {
                    let row = self.entries.get_mut(entry).and_then(|entry| entry.rows.first_mut());
                    if let Some(own) = row.and_then(|row| row.get_mut(column)) {
                        *own = before;
                    }
                }
                Some(Change::Stale { entry }) => {
                    if let Some(entry) = self.entries.get_mut(entry) {
                        entry.stale = None;
                    }
                }
                None => return,
            }
        }
    }

    /// What has to be read before the next run. What is not allowed yet will be asked for again.
    pub(crate) fn take_missing(&mut self) -> Vec<Query> {
        self.round += 1;
        let missing = std::mem::take(&mut self.missing);
        let (now, later): (Vec<_>, Vec<_>) =
            missing.into_iter().partition(|query| query.waits_for <= self.phase);
        for query in later {
            self.places.remove(&(address(&query.text), query.params));
        }
        now
    }

    /// The query that locks the row of another one, if their table has one.
    pub(crate) fn lock_of(&mut self, query: &Query) -> Option<Query> {
        let row = query.text.locked_row(&query.params)?;
        let text = self.text(&lock_query(&row.table)?);
        Some(Query { text, params: row.key, waits_for: query.waits_for })
    }

    /// The rows that were found to be locked by others since it was asked last.
    pub(crate) fn take_found_locked(&mut self) -> Vec<LockedRow> {
        std::mem::take(&mut self.found_locked)
    }

    /// What queries do with the rows that they say they lock.
    pub(crate) fn locks(&self) -> Locks {
        self.locks
    }

    /// Keeps what a query has found. If there are more rows than it found, others keep them locked.
    pub(crate) fn found(&mut self, query: Query, rows: Vec<Vec<Value<'static>>>, there: usize) {
        let (place, locked) = (self.entries.len(), there > rows.len());
        if self.locks != Locks::None {
            for (number, source) in query.text.sources.iter().enumerate() {
                self.register(place, number, source, &query.params);
            }
            if let Some(lock) = query.text.lock() {
                self.held_class = self.held_class.max(Some(lock.class));
                let row = query.text.locked_row(&query.params);
                if locked { self.found_locked.extend(row) } else { self.held.extend(row) }
            }
        }
        self.entries.push(Entry {
            text: Arc::clone(&query.text),
            rows,
            locked,
            round: self.round,
            stale: None,
        });
        self.places.insert((address(&query.text), query.params), Place::Read(place));
    }

    fn register(&mut self, place: usize, number: usize, source: &Source, params: &[Value<'static>]) {
        if !self.rows.contains_key(&source.table) {
            self.rows.insert(source.table.clone(), Vec::new());
        }
        let Some(groups) = self.rows.get_mut(&source.table) else { return };
        let values: Key = source.keys.iter().filter_map(|(_, number)| params.get(*number).cloned()).collect();
        let is_same =
            |group: &&mut KeyGroup| group.columns.iter().eq(source.keys.iter().map(|(column, _)| column));
        if let Some(group) = groups.iter_mut().find(is_same) {
            group.by_values.entry(values).or_default().push((place, number));
            return;
        }
        let columns = source.keys.iter().map(|(column, _)| column.clone()).collect();
        let by_values = FxHashMap::from_iter([(values, vec![(place, number)])]);
        groups.push(KeyGroup { columns, by_values });
    }

    /// The writes of all jobs that have succeeded.
    pub(crate) fn take_batches(&mut self) -> Vec<Batch> {
        std::mem::take(&mut self.batches).into_vec()
    }
}

/// What a text is told apart by. Texts are kept as long as the cache.
fn address(text: &Arc<Text>) -> usize {
    Arc::as_ptr(text).addr()
}

#[cfg(test)]
mod tests;

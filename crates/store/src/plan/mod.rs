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

use rustc_hash::FxHashMap;

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
}

/// What queries do with the rows that they say they lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locks {
    /// Nothing: the group only reads.
    None,
    /// They wait for those that are locked.
    Wait,
    /// They leave out those that are locked. A query that then finds one row has found what it looked for; of any other
    /// this cannot be told.
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
    /// It needs a row that another transaction may have locked.
    Locked,
    /// It needs the outcome of a write, or what it has written itself: it must run on the connection.
    Direct,
}

/// What a query found, as later writes of the group have left it.
#[derive(Debug)]
struct Entry {
    text: Arc<Text>,
    rows: Vec<Vec<Value<'static>>>,
    /// Whether rows may be missing here because they are locked.
    doubtful: bool,
    /// The job that has written something that this query would find, but not here.
    stale: Option<usize>,
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
    reached_last: bool,
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
    /// By query: its entry, or nothing while it is to be fetched.
    places: FxHashMap<(usize, Key), Option<usize>>,
    rows: HashMap<String, Vec<KeyGroup>>,
    missing: Vec<Query>,
    /// Whether every job that misses something has come to the locks that are taken last.
    all_reached_last: bool,
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
            all_reached_last: true,
            changes: Vec::new(),
            batches: Batches::default(),
            current: Current::default(),
        }
    }

    /// Forgets everything that was read.
    pub(crate) fn begin(&mut self, locks: Locks) {
        self.locks = locks;
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
        self.all_reached_last = true;
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
            Current { missing: true, reached_last, .. } => {
                self.all_reached_last &= reached_last;
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
        let text = self.text(sql);
        let Action::Read(lock) = &text.action else {
            self.current.direct = true;
            return Err(Error::LostRace);
        };
        self.current.reached_last |= lock.as_ref().is_some_and(|lock| lock.last);
        let params: Key = params.iter().cloned().map(Value::into_owned).collect();
        let key = (address(&text), params);
        match self.places.get(&key) {
            Some(Some(place)) => {
                let Some(entry) = self.entries.get(*place) else { return Err(Error::LostRace) };
                if entry.doubtful {
                    self.current.locked = true;
                    return Err(Error::LostRace);
                }
                match entry.stale {
                    None => return Ok(Some(entry.rows.iter().cloned().map(Row::new).collect())),
                    Some(by) if by == self.current.number => self.current.direct = true,
                    Some(_) => self.current.deferred = true,
                }
                Err(Error::LostRace)
            }
            Some(None) => {
                self.current.missing = true;
                Ok(None)
            }
            None => {
                self.current.missing = true;
                self.missing.push(Query { text, params: key.1.clone() });
                self.places.insert(key, None);
                Ok(None)
            }
        }
    }

    /// The rows of a query; an error if they have not been read yet.
    pub(crate) fn rows(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Vec<Row>, Error> {
        self.peek(sql, params)?.ok_or(Error::LostRace)
    }

    /// Has the job run on the connection.
    pub(crate) fn needs_connection(&mut self) -> Error {
        self.current.direct = true;
        Error::LostRace
    }

    /// Notes a write.
    pub(crate) fn write(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), Error> {
        let text = self.text(sql);
        let Action::Write(write) = &text.action else { return Err(self.needs_connection()) };
        let params: Key = params.iter().cloned().map(Value::into_owned).collect();
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

    /// What has to be read before the next run, in the order in which rows are locked. Locks that are taken last wait
    /// until every job has come to them.
    pub(crate) fn take_missing(&mut self) -> Vec<Query> {
        let mut missing = std::mem::take(&mut self.missing);
        if !self.all_reached_last {
            let is_last = |query: &Query| matches!(&query.text.action, Action::Read(Some(lock)) if lock.last);
            let (later, now): (Vec<_>, Vec<_>) = missing.into_iter().partition(is_last);
            if now.is_empty() {
                return later;
            }
            for query in later {
                self.places.remove(&(address(&query.text), query.params));
            }
            missing = now;
        }
        missing
    }

    /// What queries do with the rows that they say they lock.
    pub(crate) fn locks(&self) -> Locks {
        self.locks
    }

    /// Keeps what a query has found.
    pub(crate) fn found(&mut self, query: Query, rows: Vec<Vec<Value<'static>>>) {
        let place = self.entries.len();
        if self.locks != Locks::None {
            for (number, source) in query.text.sources.iter().enumerate() {
                self.register(place, number, source, &query.params);
            }
        }
        let is_locking = matches!(query.text.action, Action::Read(Some(_)));
        let doubtful = self.locks == Locks::Skip && is_locking && rows.len() != 1;
        self.entries.push(Entry { text: Arc::clone(&query.text), rows, doubtful, stale: None });
        self.places.insert((address(&query.text), query.params), Some(place));
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

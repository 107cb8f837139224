//! What the queries of a group have found, as the writes of its jobs have left it.

use rustc_hash::FxHashMap;

use super::change::changed_columns;
use super::{Key, Query, Rows};
use crate::Value;
use crate::statement::{Form, Source, Write};

/// What a query found.
#[derive(Debug)]
struct Entry {
    query: Query,
    rows: Rows,
    /// Whether rows are missing here because they are locked.
    locked: bool,
    /// In which round it was read.
    round: usize,
    /// The job that has written something that this query would find, but not here.
    stale: Option<usize>,
}

/// What is known of a query's rows.
#[derive(Debug)]
pub(super) enum Known<'a> {
    Rows(&'a Rows),
    /// Others keep some of them locked.
    Locked,
    /// A job has changed them, and how cannot be told.
    ChangedBy(usize),
}

/// A change, to be taken back.
#[derive(Debug)]
enum Change {
    Column { entry: usize, column: usize, before: Value<'static> },
    Stale { entry: usize },
}

/// The entries that read rows of one table by the same columns.
#[derive(Debug)]
struct KeyGroup {
    columns: Vec<&'static str>,
    /// By the values of these columns: the entry, and the number of its source.
    by_values: FxHashMap<Key, Vec<(usize, usize)>>,
}

#[derive(Debug, Default)]
pub(super) struct Cache {
    entries: Vec<Entry>,
    by_table: FxHashMap<&'static str, Vec<KeyGroup>>,
    changes: Vec<Change>,
}

impl Cache {
    /// Keeps what a query has found. Returns its place.
    pub(super) fn add(
        &mut self,
        query: Query,
        rows: Rows,
        locked: bool,
        round: usize,
        changes: bool,
    ) -> usize {
        let place = self.entries.len();
        if changes {
            for (number, source) in query.read.sources.iter().enumerate() {
                register(&mut self.by_table, (place, number), source, &query.params);
            }
        }
        self.entries.push(Entry { query, rows, locked, round, stale: None });
        place
    }

    pub(super) fn round_of(&self, place: usize) -> Option<usize> {
        self.entries.get(place).map(|entry| entry.round)
    }

    pub(super) fn rows(&self, place: usize) -> Option<Known<'_>> {
        let entry = self.entries.get(place)?;
        Some(match entry.stale {
            _ if entry.locked => Known::Locked,
            Some(job) => Known::ChangedBy(job),
            None => Known::Rows(&entry.rows),
        })
    }

    /// Changes what was read of the rows that a write of a job concerns.
    pub(super) fn apply(&mut self, write: &Write, params: &[Value<'static>], job: usize) {
        let mut concerned = Vec::new();
        for group in self.by_table.get(write.table).into_iter().flatten() {
            let given: Vec<Option<&Value<'static>>> =
                group.columns.iter().map(|column| write.given(params, column)).collect();
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
            self.apply_to(entry, source, write, params, job);
        }
    }

    fn apply_to(
        &mut self,
        place: usize,
        source: usize,
        write: &Write,
        params: &[Value<'static>],
        job: usize,
    ) {
        let Some(entry) = self.entries.get_mut(place).filter(|entry| entry.stale.is_none()) else { return };
        let Some(source) = entry.query.read.sources.get(source) else { return };
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
                entry.stale = Some(job);
                self.changes.push(Change::Stale { entry: place });
            }
        }
    }

    /// How many changes were made so far.
    pub(super) fn changes(&self) -> usize {
        self.changes.len()
    }

    /// Takes all changes back but the first ones.
    pub(super) fn undo_to(&mut self, length: usize) {
        for change in self.changes.drain(length.min(self.changes.len())..).rev() {
            match change {
                Change::Column { entry, column, before } => {
                    let row = self.entries.get_mut(entry).and_then(|entry| entry.rows.first_mut());
                    if let Some(own) = row.and_then(|row| row.get_mut(column)) {
                        *own = before;
                    }
                }
                Change::Stale { entry } => {
                    if let Some(entry) = self.entries.get_mut(entry) {
                        entry.stale = None;
                    }
                }
            }
        }
    }
}

fn register(
    by_table: &mut FxHashMap<&'static str, Vec<KeyGroup>>,
    place: (usize, usize),
    source: &Source,
    params: &[Value<'static>],
) {
    let values: Key = source.keys.iter().filter_map(|(_, number)| params.get(*number).cloned()).collect();
    let columns: Vec<&'static str> = source.keys.iter().map(|(column, _)| *column).collect();
    let groups = by_table.entry(source.table).or_default();
    if let Some(group) = groups.iter_mut().find(|group| group.columns == columns) {
        group.by_values.entry(values).or_default().push(place);
        return;
    }
    let by_values = FxHashMap::from_iter([(values, vec![place])]);
    groups.push(KeyGroup { columns, by_values });
}

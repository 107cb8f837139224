//! The rows that transactions lock: in which order, and which of them stayed locked.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::Value;

/// In which phase of a group rows are locked. Every transaction locks the rows of one class before those of the next one,
/// so that two of them never wait for each other. The rows that most transactions want come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LockClass {
    /// Rows that few want: codes, counters, sessions, deadlines.
    Other,
    /// A task: its status, messages, files, deadlines. It names its agents, so it comes before them.
    Task,
    /// An agent: its profile, key, credits, webhook and quotas.
    Agent,
    /// A network: its members, invitations and broadcasts.
    Network,
    /// What two agents share: their connection, blocks, the number of their live tasks.
    Pair,
    /// The numbers of an agent's events, and its cursors.
    Mailbox,
}

/// The tables whose rows are locked in a phase of their own, and the keys of their rows.
const TABLES: [(&str, LockClass, &[&str]); 5] = [
    ("tasks", LockClass::Task, &["id"]),
    ("agents", LockClass::Agent, &["id"]),
    ("networks", LockClass::Network, &["id"]),
    ("pairs", LockClass::Pair, &["low_id", "high_id"]),
    ("mailboxes", LockClass::Mailbox, &["agent_id"]),
];

impl LockClass {
    pub(crate) fn of(table: &str) -> Self {
        let known = TABLES.iter().find(|(name, ..)| *name == table);
        known.map_or(Self::Other, |(_, class, _)| *class)
    }
}

/// The query that locks one row of a table, if its rows have a phase of their own.
pub(crate) fn lock_query(table: &str) -> Option<String> {
    let (table, _, key) = TABLES.iter().find(|(name, ..)| *name == table)?;
    let equal: Vec<String> = (1..).zip(*key).map(|(place, column)| format!("{column} = ?{place}")).collect();
    Some(format!("select 1 from {table} where {} /* lock {table} */", equal.join(" and ")))
}

/// A row that can be locked, by its table and the values of its key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct LockedRow {
    pub(crate) table: String,
    pub(crate) key: Vec<Value<'static>>,
}

impl LockedRow {
    /// The row of a statement that names columns with their values. In tables without a phase of their own, the values
    /// of all these columns stand for the key.
    pub(crate) fn named<'a>(
        table: &str,
        columns: impl Iterator<Item = &'a str> + Clone,
        value: impl Fn(&str) -> Option<Value<'static>>,
    ) -> Option<Self> {
        let key: Option<Vec<_>> = match TABLES.iter().find(|(name, ..)| *name == table) {
            Some((_, _, key)) => key.iter().map(|column| value(column)).collect(),
            None => columns.map(value).collect(),
        };
        key.filter(|key| !key.is_empty()).map(|key| Self { table: table.to_owned(), key })
    }
}

/// How long a row that stayed locked is believed to be locked still.
const REMEMBERED_FOR: Duration = Duration::from_secs(2);
/// How many such rows are remembered.
const REMEMBERED_MAX: usize = 256;

/// The rows that stayed locked lately. Jobs that need one of them wait apart from all others.
#[derive(Debug, Default)]
pub(crate) struct LockedRows(Mutex<VecDeque<(LockedRow, Instant)>>);

impl LockedRows {
    fn change<T>(&self, act: impl FnOnce(&mut VecDeque<(LockedRow, Instant)>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn remember(&self, row: LockedRow) {
        self.change(|rows| {
            rows.retain(|(known, _)| *known != row);
            if rows.len() >= REMEMBERED_MAX {
                rows.pop_front();
            }
            rows.push_back((row, Instant::now() + REMEMBERED_FOR));
        });
    }

    /// Notes that these rows could be locked.
    pub(crate) fn forget(&self, free: &[LockedRow]) {
        self.change(|rows| rows.retain(|(row, _)| !free.contains(row)));
    }

    pub(crate) fn all(&self) -> Vec<LockedRow> {
        self.change(|rows| {
            let now = Instant::now();
            rows.retain(|(_, until)| *until > now);
            rows.iter().map(|(row, _)| row.clone()).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str) -> LockedRow {
        LockedRow { table: "tasks".into(), key: vec![Value::from(id).into_owned()] }
    }

    #[test]
    fn rows_are_remembered_until_they_are_free_and_never_too_many() {
        let rows = LockedRows::default();
        rows.remember(row("a"));
        rows.remember(row("a"));
        rows.remember(row("b"));
        assert_eq!(rows.all(), [row("a"), row("b")]);
        rows.forget(&[row("a")]);
        assert_eq!(rows.all(), [row("b")]);
        for number in 0..REMEMBERED_MAX {
            rows.remember(row(&number.to_string()));
        }
        assert_eq!(rows.all().len(), REMEMBERED_MAX);
        assert!(!rows.all().contains(&row("b")), "the oldest one goes");
    }
}

//! The rows that transactions lock: in which order, and which of them stayed locked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::Value;
use crate::declare::read;
use crate::statement::Read;

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

/// A table whose rows are locked in a phase of their own.
struct Lockable {
    table: &'static str,
    class: LockClass,
    key: &'static [&'static str],
    /// The query that only locks a row.
    query: fn() -> &'static Arc<Read>,
}

const TABLES: [Lockable; 5] = [
    Lockable {
        table: "tasks",
        class: LockClass::Task,
        key: &["id"],
        query: || read!(1: "tasks where id = ?1", of tasks { id: 1 } uses []; lock tasks),
    },
    Lockable {
        table: "agents",
        class: LockClass::Agent,
        key: &["id"],
        query: || read!(1: "agents where id = ?1", of agents { id: 1 } uses []; lock agents),
    },
    Lockable {
        table: "networks",
        class: LockClass::Network,
        key: &["id"],
        query: || read!(1: "networks where id = ?1", of networks { id: 1 } uses []; lock networks),
    },
    Lockable {
        table: "pairs",
        class: LockClass::Pair,
        key: &["low_id", "high_id"],
        query: || {
            read!(1: "pairs where low_id = ?1 and high_id = ?2",
                of pairs { low_id: 1, high_id: 2 } uses []; lock pairs)
        },
    },
    Lockable {
        table: "mailboxes",
        class: LockClass::Mailbox,
        key: &["agent_id"],
        query: || read!(1: "mailboxes where agent_id = ?1", of mailboxes { agent_id: 1 } uses []; lock mailboxes),
    },
];

fn lockable(table: &str) -> Option<&'static Lockable> {
    TABLES.iter().find(|known| known.table == table)
}

impl LockClass {
    pub(crate) fn of(table: &str) -> Self {
        lockable(table).map_or(Self::Other, |known| known.class)
    }
}

/// The query that only locks a row of a table, by its key; if its rows have a phase of their own.
pub(crate) fn of_table(table: &str) -> Option<&'static Arc<Read>> {
    lockable(table).map(|known| (known.query)())
}

/// A row that can be locked, by its table and the values of its key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct LockedRow {
    pub(crate) table: &'static str,
    pub(crate) key: Vec<Value<'static>>,
}

impl LockedRow {
    /// The row of a statement that names columns with their values. In tables without a phase of their own, the values
    /// of all these columns stand for the key.
    pub(crate) fn named<'a, 'v: 'a>(
        table: &'static str,
        columns: impl IntoIterator<Item = &'static str>,
        value: impl Fn(&str) -> Option<&'a Value<'v>>,
    ) -> Option<Self> {
        let owned = |column: &str| value(column).map(|value| value.clone().into_owned());
        let key: Option<Vec<_>> = match lockable(table) {
            Some(known) => known.key.iter().map(|column| owned(column)).collect(),
            None => columns.into_iter().map(owned).collect(),
        };
        key.filter(|key| !key.is_empty()).map(|key| Self { table, key })
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
        LockedRow { table: "tasks", key: vec![Value::from(id).into_owned()] }
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

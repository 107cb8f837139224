//! Queries: what they read, and which rows they lock.

use std::sync::OnceLock;

use super::{Locks, unnest, with_columns};
use crate::lock::{LockClass, LockedRow};
use crate::{Value, dump};

/// A query.
#[derive(Debug)]
pub(crate) struct Read {
    /// With SQLite's parameters, without a lock.
    sql: String,
    /// The rows that it reads, one entry for each table.
    pub(crate) sources: Vec<Source>,
    lock: Option<Lock>,
    /// PostgreSQL's texts of one execution and of many, for each of [`Locks`].
    single: [OnceLock<String>; 3],
    merged: [OnceLock<String>; 3],
}

/// Which rows a query locks in a transaction that writes, where others write at the same time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lock {
    /// What the query calls the table.
    alias: &'static str,
    pub(crate) table: &'static str,
    pub(crate) class: LockClass,
}

/// Rows of a table that a query reads.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) table: &'static str,
    alias: &'static str,
    /// Columns that are compared with a parameter, which must be equal.
    pub(crate) keys: &'static [(&'static str, usize)],
    /// Columns that are shown as they are, and their places in the result.
    pub(crate) shown: Vec<(String, usize)>,
    /// Columns that are used in any other way; nothing if any column may be.
    uses: Option<&'static [&'static str]>,
    /// Whether the result may have a row although this table has none.
    pub(crate) may_be_absent: bool,
}

impl Source {
    pub(crate) fn new(
        table: &'static str,
        alias: &'static str,
        keys: &'static [(&'static str, usize)],
        uses: Option<&'static [&'static str]>,
        items: &[String],
    ) -> Self {
        let own = |item: &String| match item.split_once('.') {
            Some((of, column)) => (of == alias).then(|| column.to_owned()),
            None => Some(item.clone()),
        };
        let shown = items.iter().enumerate().filter_map(|(place, item)| Some((own(item)?, place))).collect();
        Self { table, alias, keys, shown, uses, may_be_absent: false }
    }

    /// Whether a changed column can be changed in the result as well.
    pub(crate) fn only_shows(&self, column: &str) -> bool {
        self.uses.is_some_and(|uses| !uses.contains(&column))
            && !self.keys.iter().any(|(key, _)| *key == column)
    }

    /// Whether the column matters for the result at all.
    pub(crate) fn looks_at(&self, column: &str) -> bool {
        !self.only_shows(column) || self.shown.iter().any(|(name, _)| name == column)
    }
}

impl Read {
    pub(crate) fn declare(
        items: &[String],
        from: &str,
        mut sources: Vec<Source>,
        lock: Option<&'static str>,
    ) -> Self {
        for joined in sources.iter_mut().skip(1) {
            joined.may_be_absent = true;
        }
        let lock = lock.and_then(|alias| {
            let source = sources.iter().find(|source| source.alias == alias)?;
            Some(Lock { alias, table: source.table, class: LockClass::of(source.table) })
        });
        debug_assert!(
            dump::TABLES.iter().all(|table| !from
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| word == table.name)
                || sources.iter().any(|source| source.table == table.name)),
            "a table is not declared: {from}"
        );
        Self { sources, lock, ..Self::text(format!("select {} from {from}", items.join(", "))) }
    }

    /// A query of which nothing is known. A group that only reads can take it, because nothing changes what it has found.
    pub(crate) fn text(sql: String) -> Self {
        let (single, merged) = Default::default();
        Self { sql, sources: Vec::new(), lock: None, single, merged }
    }

    pub(crate) fn sql(&self) -> &str {
        &self.sql
    }

    pub(crate) fn lock(&self) -> Option<&Lock> {
        self.lock.as_ref()
    }

    /// The row that it locks, if its parameters tell.
    pub(crate) fn locked_row(&self, params: &[Value<'_>]) -> Option<LockedRow> {
        let lock = self.lock()?;
        let source = self.sources.iter().find(|source| source.alias == lock.alias)?;
        let value = |column: &str| {
            let (_, place) = source.keys.iter().find(|(name, _)| *name == column)?;
            params.get(*place)
        };
        LockedRow::named(lock.table, source.keys.iter().map(|(column, _)| *column), value)
    }

    fn lock_clause(&self, locks: Locks) -> String {
        match (&self.lock, locks) {
            (None, _) | (_, Locks::None) => String::new(),
            (Some(lock), Locks::Wait) => format!(" for update of {}", lock.alias),
            (Some(lock), Locks::Skip) => format!(" for update of {} skip locked", lock.alias),
        }
    }

    /// The text for PostgreSQL.
    pub(crate) fn single(&self, locks: Locks) -> &str {
        let [none, wait, skip] = &self.single;
        let text = match locks {
            Locks::None => none,
            Locks::Wait => wait,
            Locks::Skip => skip,
        };
        text.get_or_init(|| self.sql.replace('?', "$") + &self.lock_clause(locks))
    }

    /// The same for many sets of parameters. The first column is the number of the set, counted from one. The sets are
    /// taken in their order, so their rows are locked in that order.
    pub(crate) fn merged(&self, types: &[&str], locks: Locks) -> &str {
        let [none, wait, skip] = &self.merged;
        let text = match locks {
            Locks::None => none,
            Locks::Wait => wait,
            Locks::Skip => skip,
        };
        text.get_or_init(|| {
            let given = unnest(types, ", n");
            let (sql, lock) = (with_columns(&self.sql), self.lock_clause(locks));
            format!("select given.n, found.* from {given} cross join lateral ({sql}{lock}) as found")
        })
    }
}

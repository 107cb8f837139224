//! Declaring statements with the tables, keys and columns that they read or write, so that jobs can run in groups.
//!
//! A statement that is not declared runs on the connection, in a transaction of its job alone.
//!
//! - `read!(Task: "tasks t where t.id = ?1", of tasks as t { id: 1 } uses []; lock t)` – a query: what it shows (a type with
//!   declared columns, a list of columns, or `1`), where from, and of each table the keys with their parameters and the
//!   columns that are used for anything but to show them; without `uses`, any column may be. `lock` names the rows that a
//!   transaction locks if it writes.
//! - `insert!(agents { ..agent: Agent, key_hash: hash })` – a new row, from a row with declared columns and from columns
//!   with their values; `on conflict (keys) ignore`, `replace` or `add` if wanted.
//! - `update!(tasks { title: title } where { id: id })` – a change of the rows with these keys, by columns or by a set of a
//!   row's declared columns; `and "condition" with value` if wanted. Parameters are counted: columns, keys, values.
//! - `add!(agents { file_bytes: change } where { id: id })` – the same, added to what is there.
//! - `delete!(files where { id: id })` – a removal, with the same kind of condition.
//! - `change!(messages [read_at] "read_at = ?2" where "task_id = ?1" { task_id: 1 }, params)` – any other update of one
//!   table; `beside` names another one at which it looks.

use std::sync::Arc;

use crate::statement::{Read, Write};
use crate::table::FromRow;
use crate::{Error, Row, Tx, Value};

macro_rules! read {
    ([$($column:ident),+] : $($rest:tt)+) => {
        $crate::declare::read!(@declare [vec![$(stringify!($column).to_owned()),+]] $($rest)+)
    };
    (1 : $($rest:tt)+) => { $crate::declare::read!(@declare [vec!["1".to_owned()]] $($rest)+) };
    ($type:ident : $($rest:tt)+) => {
        $crate::declare::read!(@declare [$crate::table::select_items::<$type>()] $($rest)+)
    };
    (@declare [$items:expr] $from:literal, of $(
        $table:ident $(as $alias:ident)? $({ $($key:ident : $place:literal),+ })? $(uses [$($used:ident),*])?
    ),+ $(; lock $lock:ident)?) => {{
        static READ: std::sync::LazyLock<std::sync::Arc<$crate::statement::Read>> = std::sync::LazyLock::new(|| {
            let items: Vec<String> = $items;
            let sources = vec![$($crate::statement::Source::new(
                stringify!($table),
                $crate::declare::read!(@last $table $($alias)?),
                const { &[$($((stringify!($key), $place - 1)),+)?] },
                $crate::declare::optional!($(const { &[$(stringify!($used)),*] })?),
                &items,
            )),+];
            let lock = $crate::declare::optional!($(stringify!($lock))?);
            std::sync::Arc::new($crate::statement::Read::declare(&items, &format!($from), sources, lock))
        });
        &*READ
    }};
    (@last $name:ident) => { stringify!($name) };
    (@last $table:ident $alias:ident) => { stringify!($alias) };
}

macro_rules! insert {
    ($table:ident { .. $row:ident : $type:ident $(, $column:ident : $value:expr)* $(,)? } $($conflict:tt)*) => {{
        const WIDTH: usize = $crate::table::width::<$type, { $crate::table::INSERT }>(&[$(stringify!($column)),*]);
        let mut params = Vec::with_capacity(WIDTH);
        <$type as $crate::table::Columns>::push_values($row, $crate::table::INSERT, &mut params);
        $(params.push($crate::Value::from($value));)*
        let write = $crate::declare::insert!(@write $table [$type] [$($column),*] $($conflict)*);
        $crate::declare::Statement { write, params }
    }};
    ($table:ident { $($column:ident : $value:expr),+ $(,)? } $($conflict:tt)*) => {
        $crate::declare::Statement {
            write: $crate::declare::insert!(@write $table [] [$($column),+] $($conflict)*),
            params: [$($crate::Value::from($value)),+],
        }
    };
    (@write $table:ident [$($type:ident)?] [$($column:ident),*] $(, on conflict ($($key:ident),+) $what:ident)?) => {{
        static WRITE: std::sync::LazyLock<$crate::statement::Write> = std::sync::LazyLock::new(|| {
            let mut columns: Vec<String> = Vec::new();
            $($crate::table::push_names::<$type>($crate::table::INSERT, &mut columns);)?
            columns.extend([$(stringify!($column).to_owned()),*]);
            let conflict = $crate::declare::optional!(
                $($crate::statement::Conflict::$what(const { &[$(stringify!($key)),+] }))?
            );
            $crate::statement::Write::insert(stringify!($table), &columns, conflict)
        });
        &*WRITE
    }};
}

macro_rules! update {
    ($table:ident { .. $row:ident : $type:ident [$set:expr] } where { $($key:ident : $is:expr),+ $(,)? }) => {{
        static WRITE: std::sync::LazyLock<$crate::statement::Write> = std::sync::LazyLock::new(|| {
            let mut columns = Vec::new();
            $crate::table::push_names::<$type>($set, &mut columns);
            $crate::statement::Write::update(stringify!($table), &columns, false, &[$(stringify!($key)),+], None)
        });
        let mut params = Vec::with_capacity($crate::table::width::<$type, { $set }>(&[$(stringify!($key)),+]));
        <$type as $crate::table::Columns>::push_values($row, $set, &mut params);
        $(params.push($crate::Value::from($is));)+
        $crate::declare::Statement { write: &*WRITE, params }
    }};
    (@by $adds:literal, $table:ident { $($column:ident : $value:expr),+ $(,)? } where { $($key:ident : $is:expr),+ $(,)? }
        $(and $condition:literal $(with $($more:expr),+)?)?) => {{
        static WRITE: std::sync::LazyLock<$crate::statement::Write> = std::sync::LazyLock::new(|| {
            let (columns, keys) = ([$(stringify!($column).to_owned()),+], [$(stringify!($key)),+]);
            let more = $crate::declare::optional!($($condition)?);
            $crate::statement::Write::update(stringify!($table), &columns, $adds, &keys, more)
        });
        $crate::declare::Statement {
            write: &*WRITE,
            params: [$($crate::Value::from($value),)+ $($crate::Value::from($is),)+ $($($($crate::Value::from($more)),+)?)?],
        }
    }};
    ($($rest:tt)+) => { $crate::declare::update!(@by false, $($rest)+) };
}

macro_rules! add {
    ($($rest:tt)+) => { $crate::declare::update!(@by true, $($rest)+) };
}

macro_rules! delete {
    ($table:ident where { $($key:ident : $is:expr),+ $(,)? } $(and $condition:literal with $($more:expr),+)?) => {{
        static WRITE: std::sync::LazyLock<$crate::statement::Write> = std::sync::LazyLock::new(|| {
            let more = $crate::declare::optional!($($condition)?);
            $crate::statement::Write::delete(stringify!($table), &[$(stringify!($key)),+], more)
        });
        $crate::declare::Statement {
            write: &*WRITE,
            params: [$($crate::Value::from($is),)+ $($($crate::Value::from($more)),+)?],
        }
    }};
}

macro_rules! change {
    ($table:ident [$($column:ident),+] $set:literal where $condition:literal { $($key:ident : $place:literal),+ }
        $(beside $other:ident)?, $params:expr) => {{
        static WRITE: std::sync::LazyLock<$crate::statement::Write> = std::sync::LazyLock::new(|| {
            let (columns, keys) = ([$(stringify!($column)),+], [$((stringify!($key), $place)),+]);
            let beside = $crate::declare::optional!($(stringify!($other))?);
            $crate::statement::Write::change(stringify!($table), $set, &columns, format!($condition), &keys, beside)
        });
        $crate::declare::Statement { write: &*WRITE, params: $params }
    }};
}

/// What may be left out.
macro_rules! optional {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

pub(crate) use {add, change, delete, insert, optional, read, update};

/// A write with its parameters, ready to run.
#[derive(Debug)]
pub(crate) struct Statement<P> {
    pub(crate) write: &'static Write,
    pub(crate) params: P,
}

impl<'v, P: AsRef<[Value<'v>]>> Statement<P> {
    /// Runs it without waiting for the outcome.
    pub(crate) fn send(&self, tx: &mut Tx<'_>) -> Result<(), Error> {
        tx.write(self.write, self.params.as_ref())
    }

    /// Runs it and tells whether it changed a row.
    pub(crate) fn execute(&self, tx: &mut Tx<'_>) -> Result<bool, Error> {
        Ok(tx.execute(self.write.sql(), self.params.as_ref())? > 0)
    }
}

impl Read {
    /// All that it finds; every query carries its own limit.
    pub(crate) fn list<T: FromRow>(
        self: &Arc<Self>,
        tx: &mut Tx<'_>,
        params: &[Value<'_>],
    ) -> Result<Vec<T>, Error> {
        let mut found = Vec::new();
        tx.each_of(self, params, &mut |row| {
            found.push(T::from_row(row)?);
            Ok(true)
        })?;
        Ok(found)
    }

    /// What it finds, if there is something.
    pub(crate) fn find<T: FromRow>(
        self: &Arc<Self>,
        tx: &mut Tx<'_>,
        params: &[Value<'_>],
    ) -> Result<Option<T>, Error> {
        let mut found = None;
        tx.each_of(self, params, &mut |row| {
            found = Some(T::from_row(row)?);
            Ok(false)
        })?;
        Ok(found)
    }

    /// What it finds and always does.
    pub(crate) fn get<T: FromRow>(
        self: &Arc<Self>,
        tx: &mut Tx<'_>,
        params: &[Value<'_>],
    ) -> Result<T, Error> {
        self.find(tx, params)?.ok_or_else(|| Error::failed("a query that must find a row found none".into()))
    }

    /// Whether it finds something.
    pub(crate) fn exists(self: &Arc<Self>, tx: &mut Tx<'_>, params: &[Value<'_>]) -> Result<bool, Error> {
        let mut exists = false;
        tx.each_of(self, params, &mut |_| {
            exists = true;
            Ok(false)
        })?;
        Ok(exists)
    }

    /// What it finds, or `None` if that is read later, together with what else the group needs. The job then goes on and
    /// says what it needs as well, and runs again when all of it is there.
    pub(crate) fn peek<T: FromRow>(
        self: &Arc<Self>,
        tx: &mut Tx<'_>,
        params: &[Value<'_>],
    ) -> Result<Option<Option<T>>, Error> {
        tx.peek(self, params)?.map(first).transpose()
    }

    /// Says that it will be asked for. On a connection that would only be a query more.
    pub(crate) fn expect(self: &Arc<Self>, tx: &mut Tx<'_>, params: &[Value<'_>]) -> Result<(), Error> {
        tx.prefetch(self, params)
    }
}

fn first<T: FromRow>(mut rows: Vec<Row<'static>>) -> Result<Option<T>, Error> {
    rows.first_mut().map(T::from_row).transpose()
}

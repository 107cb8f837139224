//! Columns by name. Each table and each projection is declared once, by [`columns!`]: a line has a field and its column.
//! The list to select, the reading of a row and the values to write are generated from these lines, so a field cannot get
//! another one's column. Rows are still read by position, in the order of the declaration. The statements that use them are
//! declared with the macros of `declare.rs`.

use crate::{Error, FromValue, Row, Tx, Value};

/// The set of the columns that a new row is given: all but those that are marked [`LATER`].
pub(crate) const INSERT: u8 = 1;
/// Marks a column that a new row has by its default: nothing or zero.
pub(crate) const LATER: u8 = 128;

/// One line of a declaration.
#[derive(Debug)]
pub(crate) enum Column {
    /// A column of the table itself. `sets` are the sets of columns that it is written with.
    Own { name: &'static str, sets: u8 },
    /// A column that is written and never read.
    Written { name: &'static str, sets: u8 },
    /// An expression that is read and never written.
    Read(&'static str),
    /// More columns of the same table, with the beginning of their names.
    Part { prefix: &'static str, columns: &'static [Column] },
    /// The row of another table that the query joins.
    Joined { alias: &'static str, columns: &'static [Column] },
}

/// What a row is read as: a type with declared columns, a single value, or a pair of values.
pub(crate) trait FromRow: Sized {
    fn from_row(row: &mut Row<'_>) -> Result<Self, Error>;
}

/// A type with declared columns; implemented by [`columns!`].
pub(crate) trait Columns: FromRow {
    /// What queries call the table.
    const ALIAS: &'static str;
    const COLUMNS: &'static [Column];

    /// Adds the values of one set of columns, in the order of their names.
    fn push_values<'v>(&'v self, set: u8, values: &mut Vec<Value<'v>>);
}

impl<T: FromValue> FromRow for T {
    fn from_row(row: &mut Row<'_>) -> Result<Self, Error> {
        row.take()
    }
}

impl<A: FromValue, B: FromValue> FromRow for (A, B) {
    fn from_row(row: &mut Row<'_>) -> Result<Self, Error> {
        Ok((row.take()?, row.take()?))
    }
}

impl<A: FromValue, B: FromValue, C: FromValue> FromRow for (A, B, C) {
    fn from_row(row: &mut Row<'_>) -> Result<Self, Error> {
        Ok((row.take()?, row.take()?, row.take()?))
    }
}

/// Declares the columns of a type: `columns! { "t", row: Type { lines } }` with the alias that queries use, a name for
/// the row in computed values, and lines of these forms:
///
/// - `title,` or `initiator: initiator_id,` – a field and its column, read and written;
/// - `title [STATE],` – the same, written also by an update of that set; or [`LATER`], not written by an insertion;
/// - `initiator_name: "i.name",` – an expression, read and never written;
/// - `terms: ..Terms,` or `initiator_side: ..Side "initiator_",` – a struct whose columns are in the same table;
/// - `peer: join Agent,` – a struct from a joined table, read and never written;
/// - `= search_title [STATE]: searchable(&row.title),` – a computed column, written and never read.
macro_rules! columns {
    ($alias:literal, $row:ident: $type:ty { $($lines:tt)* }) => {
        impl $crate::table::Columns for $type {
            const ALIAS: &'static str = $alias;
            const COLUMNS: &'static [$crate::table::Column] = $crate::table::columns!(@names [] $($lines)*);

            fn push_values<'v>(&'v self, set: u8, values: &mut Vec<$crate::Value<'v>>) {
                let $row = self;
                $crate::table::columns!(@values $row set values $($lines)*);
                // A projection may have nothing that can be written.
                let _ = ($row, set, values);
            }
        }

        impl $crate::table::FromRow for $type {
            fn from_row(row: &mut $crate::Row<'_>) -> Result<Self, $crate::Error> {
                Ok($crate::table::columns!(@read row [] $($lines)*))
            }
        }
    };

    (@names [$($done:tt)*]) => { &[$($done)*] };
    (@names [$($done:tt)*] $field:ident : .. $part:ident $($prefix:literal)? , $($rest:tt)*) => {
        $crate::table::columns!(@names [$($done)* $crate::table::Column::Part {
            prefix: concat!($($prefix)?), columns: <$part as $crate::table::Columns>::COLUMNS,
        },] $($rest)*)
    };
    (@names [$($done:tt)*] $field:ident : join $other:ident , $($rest:tt)*) => {
        $crate::table::columns!(@names [$($done)* $crate::table::Column::Joined {
            alias: <$other as $crate::table::Columns>::ALIAS,
            columns: <$other as $crate::table::Columns>::COLUMNS,
        },] $($rest)*)
    };
    (@names [$($done:tt)*] $field:ident : $expression:literal , $($rest:tt)*) => {
        $crate::table::columns!(@names [$($done)* $crate::table::Column::Read($expression),] $($rest)*)
    };
    (@names [$($done:tt)*] = $column:ident $([$sets:expr])? : $value:expr , $($rest:tt)*) => {
        $crate::table::columns!(@names [$($done)* $crate::table::Column::Written {
            name: stringify!($column), sets: 0 $(| $sets)?,
        },] $($rest)*)
    };
    (@names [$($done:tt)*] $field:ident : $column:ident $([$sets:expr])? , $($rest:tt)*) => {
        $crate::table::columns!(@names [$($done)* $crate::table::Column::Own {
            name: stringify!($column), sets: 0 $(| $sets)?,
        },] $($rest)*)
    };
    (@names [$($done:tt)*] $field:ident $([$sets:expr])? , $($rest:tt)*) => {
        $crate::table::columns!(@names [$($done)*] $field : $field $([$sets])? , $($rest)*)
    };

    (@read $row:ident [$($done:tt)*]) => { Self { $($done)* } };
    (@read $row:ident [$($done:tt)*] = $column:ident $([$sets:expr])? : $value:expr , $($rest:tt)*) => {
        $crate::table::columns!(@read $row [$($done)*] $($rest)*)
    };
    (@read $row:ident [$($done:tt)*] $field:ident : .. $part:ident $($prefix:literal)? , $($rest:tt)*) => {
        $crate::table::columns!(@read $row [$($done)* $field: $crate::table::FromRow::from_row($row)?,] $($rest)*)
    };
    (@read $row:ident [$($done:tt)*] $field:ident : join $other:ident , $($rest:tt)*) => {
        $crate::table::columns!(@read $row [$($done)* $field: $crate::table::FromRow::from_row($row)?,] $($rest)*)
    };
    (@read $row:ident [$($done:tt)*] $field:ident $(: $from:tt)? $([$sets:expr])? , $($rest:tt)*) => {
        $crate::table::columns!(@read $row [$($done)* $field: $row.take()?,] $($rest)*)
    };

    (@values $row:ident $set:ident $out:ident) => {};
    (@values $row:ident $set:ident $out:ident $field:ident : .. $part:ident $($prefix:literal)? , $($rest:tt)*) => {
        $crate::table::Columns::push_values(&$row.$field, $set, $out);
        $crate::table::columns!(@values $row $set $out $($rest)*);
    };
    (@values $row:ident $set:ident $out:ident $field:ident : join $other:ident , $($rest:tt)*) => {
        $crate::table::columns!(@values $row $set $out $($rest)*);
    };
    (@values $row:ident $set:ident $out:ident $field:ident : $expression:literal , $($rest:tt)*) => {
        $crate::table::columns!(@values $row $set $out $($rest)*);
    };
    (@values $row:ident $set:ident $out:ident = $column:ident $([$sets:expr])? : $value:expr , $($rest:tt)*) => {
        $crate::table::push_value($out, 0 $(| $sets)?, $set, || $crate::Value::from($value));
        $crate::table::columns!(@values $row $set $out $($rest)*);
    };
    (@values $row:ident $set:ident $out:ident $field:ident $(: $column:ident)? $([$sets:expr])? , $($rest:tt)*) => {
        $crate::table::push_value($out, 0 $(| $sets)?, $set, || $crate::value::ToValue::to_value(&$row.$field));
        $crate::table::columns!(@values $row $set $out $($rest)*);
    };
}

/// The text of a query; each `{}` is the list of a type's columns: `sql!("select {} from agents a", Agent)`.
macro_rules! sql {
    ($text:literal $(, $type:ty)* $(,)?) => {{
        static SQL: std::sync::LazyLock<String> =
            std::sync::LazyLock::new(|| format!($text $(, $crate::table::select_list::<$type>())*));
        SQL.as_str()
    }};
}

pub(crate) use {columns, sql};

const fn is_in(sets: u8, set: u8) -> bool {
    let sets = if sets & LATER == 0 { sets | INSERT } else { sets };
    sets & set != 0
}

/// Adds the value of a column that is in the set.
pub(crate) fn push_value<'v>(
    values: &mut Vec<Value<'v>>,
    sets: u8,
    set: u8,
    value: impl FnOnce() -> Value<'v>,
) {
    if is_in(sets, set) {
        values.push(value());
    } else {
        debug_assert!(
            set != INSERT || matches!(value(), Value::Null | Value::Int(0)),
            "a new row has it by default"
        );
    }
}

/// How many parameters a statement has, with one set of a row's columns and some more.
pub(crate) const fn width<T: Columns, const SET: u8>(more: &[&str]) -> usize {
    const fn count(columns: &[Column], set: u8) -> usize {
        let (mut sum, mut rest) = (0, columns);
        while let [first, others @ ..] = rest {
            sum += match first {
                Column::Own { sets, .. } | Column::Written { sets, .. } if is_in(*sets, set) => 1,
                Column::Part { columns, .. } => count(columns, set),
                _ => 0,
            };
            rest = others;
        }
        sum
    }
    const { count(T::COLUMNS, SET) }.saturating_add(more.len())
}

/// The list of a type's columns, for a query that calls its table by the declared alias.
pub(crate) fn select_list<T: Columns>() -> String {
    select_items::<T>().join(", ")
}

/// The same, one by one.
pub(crate) fn select_items<T: Columns>() -> Vec<String> {
    select_items_without::<T>(&[])
}

/// The same, with nothing in place of some columns.
pub(crate) fn select_items_without<T: Columns>(left_out: &[&str]) -> Vec<String> {
    fn push(list: &mut Vec<String>, alias: &str, prefix: &str, columns: &[Column], left_out: &[&str]) {
        for column in columns {
            match column {
                Column::Own { name, .. } if left_out.contains(name) => list.push("null".into()),
                Column::Own { name, .. } => list.push(format!("{alias}.{prefix}{name}")),
                Column::Written { .. } => {}
                Column::Read(expression) => list.push((*expression).into()),
                Column::Part { prefix: more, columns } => {
                    push(list, alias, &format!("{prefix}{more}"), columns, left_out);
                }
                Column::Joined { alias, columns } => push(list, alias, "", columns, &[]),
            }
        }
    }
    let mut list = Vec::new();
    push(&mut list, T::ALIAS, "", T::COLUMNS, left_out);
    list
}

/// Adds the names of one set of columns, in the order of [`Columns::push_values`].
pub(crate) fn push_names<T: Columns>(set: u8, names: &mut Vec<String>) {
    fn push(names: &mut Vec<String>, prefix: &str, columns: &[Column], set: u8) {
        for column in columns {
            match column {
                Column::Own { name, sets } | Column::Written { name, sets } if is_in(*sets, set) => {
                    names.push(format!("{prefix}{name}"));
                }
                Column::Part { prefix: more, columns } => {
                    push(names, &format!("{prefix}{more}"), columns, set)
                }
                Column::Own { .. } | Column::Written { .. } | Column::Read(_) | Column::Joined { .. } => {}
            }
        }
    }
    push(names, "", T::COLUMNS, set);
}

impl Tx<'_> {
    /// All that a query finds; every query carries its own limit.
    pub(crate) fn list<T: FromRow>(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Vec<T>, Error> {
        let mut found = Vec::new();
        self.each(sql, params, &mut |row| {
            found.push(T::from_row(row)?);
            Ok(true)
        })?;
        Ok(found)
    }

    /// What a query finds until it fills a page, and whether there is more.
    pub(crate) fn list_page<T: FromRow>(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
    ) -> Result<(Vec<T>, bool), Error> {
        let (mut page, mut found) = (self.empty_page(), Vec::new());
        self.each_of_page(sql, params, &mut |row| page.add(row, &mut found))?;
        Ok((found, self.count_page(&page)?))
    }

    /// The same of a query that finds one row for each of these keys, in their order.
    pub(crate) fn list_page_by_key<T: FromRow>(
        &mut self,
        sql: &str,
        keys: &[Value<'_>],
    ) -> Result<(Vec<T>, bool), Error> {
        let (mut page, mut found) = (self.empty_page(), Vec::with_capacity(keys.len()));
        self.each_of_page_by_key(sql, keys, &mut |row| page.add(row, &mut found))?;
        Ok((found, self.count_page(&page)?))
    }

    /// What a query finds, if there is something.
    pub(crate) fn find<T: FromRow>(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Option<T>, Error> {
        let mut found = None;
        self.each(sql, params, &mut |row| {
            found = Some(T::from_row(row)?);
            Ok(false)
        })?;
        Ok(found)
    }

    /// What a query finds that always finds something.
    pub(crate) fn get<T: FromRow>(&mut self, sql: &str, params: &[Value<'_>]) -> Result<T, Error> {
        self.find(sql, params)?.ok_or_else(|| Error::failed("a query that must find a row found none".into()))
    }
}

//! Writes: which rows they concern, and what they set there.

use std::sync::OnceLock;

use super::{unnest, with_columns};
use crate::Value;

/// A write of rows that are found by keys.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) table: &'static str,
    pub(crate) form: Form,
    /// The columns that tell which rows are concerned, and the places of their parameters. For a new row, all its columns.
    pub(crate) keys: Vec<(String, usize)>,
    /// What is set, by column.
    pub(crate) set: Vec<(String, Set)>,
    /// Whether the rows are found by the keys alone.
    pub(crate) exact: bool,
    /// Whether it looks at other tables, so that it stays behind what was written there before.
    pub(crate) looks_around: bool,
    /// What comes before the values of a new row, or before the condition.
    head: String,
    values_or_condition: String,
    /// What comes after the values of a new row.
    conflict: String,
    sql: String,
    single: OnceLock<String>,
    merged: OnceLock<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    Insert,
    /// A new row, unless there is one with these keys.
    InsertOrIgnore(&'static [&'static str]),
    /// A new row, or a change of the row with these keys.
    Upsert(&'static [&'static str]),
    Update,
    /// A removal of rows.
    Delete,
}

/// What becomes of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    /// It gets the value of a parameter.
    To(usize),
    /// A parameter is added to it.
    Add(usize),
    /// It is computed in another way.
    Computed,
}

/// What an insertion does if there is a row with the same key.
#[derive(Debug, Clone, Copy)]
#[expect(non_camel_case_types, reason = "declarations read like SQL")]
pub(crate) enum Conflict {
    /// The row stays as it is.
    ignore(&'static [&'static str]),
    /// The row is written over.
    replace(&'static [&'static str]),
    /// The other columns are added up.
    add(&'static [&'static str]),
}

/// `name = ?place` for each column, counted on from `from`.
fn equal<'a>(
    columns: impl IntoIterator<Item = &'a str>,
    from: usize,
    how: fn(&str, usize) -> String,
) -> Vec<String> {
    columns.into_iter().zip(from..).map(|(column, place)| how(column, place)).collect()
}

fn places(columns: &[String], from: usize) -> Vec<(String, usize)> {
    columns.iter().cloned().zip(from..).collect()
}

impl Write {
    fn new(
        table: &'static str,
        form: Form,
        head: String,
        values_or_condition: String,
        conflict: String,
    ) -> Self {
        let between = if matches!(form, Form::Update | Form::Delete) { " where " } else { " values (" };
        let end = if matches!(form, Form::Update | Form::Delete) { "" } else { ")" };
        let sql = format!("{head}{between}{values_or_condition}{end}{conflict}");
        let (keys, set, single, merged) = Default::default();
        let (exact, looks_around) = (true, false);
        Self {
            table,
            form,
            keys,
            set,
            exact,
            looks_around,
            head,
            values_or_condition,
            conflict,
            sql,
            single,
            merged,
        }
    }

    pub(crate) fn insert(table: &'static str, columns: &[String], conflict: Option<Conflict>) -> Self {
        let head = format!("insert into {table} ({})", columns.join(", "));
        let values: Vec<String> = (1..=columns.len()).map(|place| format!("?{place}")).collect();
        let others = |keys: &'static [&'static str]| {
            columns.iter().enumerate().filter(move |(_, column)| !keys.contains(&column.as_str()))
        };
        let (form, set, end) = match conflict {
            None => (Form::Insert, Vec::new(), String::new()),
            Some(Conflict::ignore(keys)) => {
                let end = format!(" on conflict ({}) do nothing", keys.join(", "));
                (Form::InsertOrIgnore(keys), Vec::new(), end)
            }
            Some(Conflict::replace(keys)) => {
                let to: Vec<String> =
                    others(keys).map(|(_, column)| format!("{column} = excluded.{column}")).collect();
                let end = format!(" on conflict ({}) do update set {}", keys.join(", "), to.join(", "));
                let set = others(keys).map(|(place, column)| (column.clone(), Set::To(place))).collect();
                (Form::Upsert(keys), set, end)
            }
            Some(Conflict::add(keys)) => {
                let sum = |(_, column): (usize, &String)| {
                    format!("{column} = {table}.{column} + excluded.{column}")
                };
                let to: Vec<String> = others(keys).map(sum).collect();
                let end = format!(" on conflict ({}) do update set {}", keys.join(", "), to.join(", "));
                let set = others(keys).map(|(place, column)| (column.clone(), Set::Add(place))).collect();
                (Form::Upsert(keys), set, end)
            }
        };
        Self { keys: places(columns, 0), set, ..Self::new(table, form, head, values.join(", "), end) }
    }

    /// An update whose first parameters are the values, or what is added, and whose next ones are the keys.
    pub(crate) fn update(
        table: &'static str,
        columns: &[String],
        adds: bool,
        keys: &[&str],
        more: Option<&str>,
    ) -> Self {
        let one: fn(&str, usize) -> String = if adds {
            |column, place| format!("{column} = {column} + ?{place}")
        } else {
            |column, place| format!("{column} = ?{place}")
        };
        let assigned = equal(columns.iter().map(String::as_str), 1, one);
        let head = format!("update {table} set {}", assigned.join(", "));
        let set = places(columns, 0).into_iter();
        let set = set.map(|(column, place)| (column, if adds { Set::Add(place) } else { Set::To(place) }));
        Self { set: set.collect(), ..Self::of_rows(table, Form::Update, head, keys, columns.len(), more) }
    }

    pub(crate) fn delete(table: &'static str, keys: &[&str], more: Option<&str>) -> Self {
        Self::of_rows(table, Form::Delete, format!("delete from {table}"), keys, 0, more)
    }

    fn of_rows(
        table: &'static str,
        form: Form,
        head: String,
        keys: &[&str],
        before: usize,
        more: Option<&str>,
    ) -> Self {
        let mut parts =
            equal(keys.iter().copied(), before + 1, |column, place| format!("{column} = ?{place}"));
        parts.extend(more.map(ToOwned::to_owned));
        let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        let condition = parts.join(" and ");
        Self {
            keys: places(&keys, before),
            exact: more.is_none(),
            ..Self::new(table, form, head, condition, String::new())
        }
    }

    /// An update that computes what it sets. `keys` are counted from one.
    pub(crate) fn change(
        table: &'static str,
        set: &str,
        columns: &[&str],
        condition: String,
        keys: &[(&str, usize)],
        beside: Option<&str>,
    ) -> Self {
        let set_columns = columns.iter().map(|column| ((*column).to_owned(), Set::Computed)).collect();
        let keys = keys.iter().map(|(column, place)| ((*column).to_owned(), place - 1)).collect();
        let head = format!("update {table} set {set}");
        let write = Self::new(table, Form::Update, head, condition, String::new());
        Self { keys, set: set_columns, exact: false, looks_around: beside.is_some(), ..write }
    }

    pub(crate) fn sql(&self) -> &str {
        &self.sql
    }

    /// The text for PostgreSQL.
    pub(crate) fn single(&self) -> &str {
        self.single.get_or_init(|| self.sql.replace('?', "$"))
    }

    /// The same for many rows of parameters.
    pub(crate) fn merged(&self, types: &[&str]) -> &str {
        self.merged.get_or_init(|| {
            let (head, rows) = (with_columns(&self.head), unnest(types, ""));
            let (middle, conflict) = (with_columns(&self.values_or_condition), &self.conflict);
            match self.form {
                Form::Insert | Form::InsertOrIgnore(_) | Form::Upsert(_) => {
                    format!("{head} select {middle} from {rows}{conflict}")
                }
                Form::Update => format!("{head} from {rows} where {middle}"),
                Form::Delete => format!("{head} using {rows} where {middle}"),
            }
        })
    }

    /// The value that it gives for a column of its rows.
    pub(crate) fn given<'a, 'v>(&self, params: &'a [Value<'v>], column: &str) -> Option<&'a Value<'v>> {
        self.keys.iter().find(|(name, _)| name == column).and_then(|(_, place)| params.get(*place))
    }
}

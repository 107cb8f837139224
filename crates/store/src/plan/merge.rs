//! The text of a statement that does for many parameters at once what another does for one set of them.

use super::Locks;
use super::text::{Action, Form, Lock, Text};

/// The parameters of a statement as columns of the rows they are given in. No query has a table of that name.
fn with_columns(sql: &str) -> String {
    sql.replace('?', "given.a")
}

/// `unnest` of one array for each parameter.
fn unnest(types: &[&str], more: &str) -> String {
    let arrays: Vec<String> =
        types.iter().enumerate().map(|(number, ty)| format!("${}::{ty}[]", number + 1)).collect();
    let names: Vec<String> = (1..=types.len()).map(|number| format!("a{number}")).collect();
    let ordinality = if more.is_empty() { "" } else { " with ordinality" };
    format!("unnest({}){ordinality} as given({}{more})", arrays.join(", "), names.join(", "))
}

fn lock_clause(lock: Option<&Lock>, locks: Locks) -> String {
    match (lock, locks) {
        (None, _) | (_, Locks::None) => String::new(),
        (Some(lock), Locks::Wait) => format!(" for update of {}", lock.alias),
        (Some(lock), Locks::Skip) => format!(" for update of {} skip locked", lock.alias),
    }
}

/// A query with PostgreSQL's parameters, with its lock if the transaction writes.
pub(crate) fn single_read(text: &Text, locks: Locks) -> String {
    let Action::Read(lock) = &text.action else { return text.sql.replace('?', "$") };
    text.sql.replace('?', "$") + &lock_clause(lock.as_ref(), locks)
}

/// The same query for many sets of parameters. The first column is the number of the set, counted from one. The sets
/// are taken in their order, so their rows are locked in that order.
pub(crate) fn merged_read(text: &Text, types: &[&str], locks: Locks) -> String {
    let lock = match &text.action {
        Action::Read(lock) => lock_clause(lock.as_ref(), locks),
        Action::Write(_) | Action::Other => String::new(),
    };
    format!(
        "select given.n, found.* from {} cross join lateral ({}{lock}) as found",
        unnest(types, ", n"),
        with_columns(&text.sql),
    )
}

pub(crate) fn merged_write(text: &Text, types: &[&str]) -> Option<String> {
    let Action::Write(write) = &text.action else { return None };
    let sql = with_columns(&text.sql);
    let rows = unnest(types, "");
    match write.form {
        Form::Insert | Form::InsertOrIgnore(_) | Form::Upsert(_) => {
            let (into, rest) = sql.split_once(" values (")?;
            let (values, conflict) = rest.split_once(')')?;
            Some(format!("{into} select {values} from {rows}{conflict}"))
        }
        Form::Update => {
            let place = find_where(&sql)?;
            let (set, condition) = sql.split_at(place);
            Some(format!("{set} from {rows} {condition}"))
        }
        Form::Delete => {
            let place = find_where(&sql)?;
            let (from, condition) = sql.split_at(place);
            Some(format!("{from} using {rows} {condition}"))
        }
    }
}

/// The place of the condition: the first `where` that is not in parentheses.
fn find_where(sql: &str) -> Option<usize> {
    let mut depth = 0;
    sql.char_indices().find_map(|(place, sign)| {
        match sign {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        let starts = depth == 0
            && sign.is_whitespace()
            && sql.get(place + 1..).is_some_and(|s| s.starts_with("where"));
        starts.then_some(place + 1)
    })
}

//! What a write changes in the rows that were read before it.

use crate::Value;
use crate::statement::{Form, Set, Source, Write};

/// How a write changes the only row that a query has found: columns by their places, with their new values. Nothing if
/// that cannot be told.
pub(super) fn changed_columns(
    source: &Source,
    rows: &[Vec<Value<'static>>],
    write: &Write,
    params: &[Value<'static>],
) -> Option<Vec<(usize, Value<'static>)>> {
    let only_shown = write.set.iter().all(|(column, _)| source.only_shows(column));
    if rows.is_empty() && write.form == Form::Update && only_shown {
        return Some(Vec::new());
    }
    let found_by: Vec<&str> = match &write.form {
        Form::Update => write.keys.iter().map(|(column, _)| column.as_str()).collect(),
        Form::Upsert(keys) => keys.to_vec(),
        Form::Insert | Form::InsertOrIgnore(_) | Form::Delete => return None,
    };
    let same_row = found_by.len() == source.keys.len()
        && source.keys.iter().all(|(column, _)| found_by.contains(column));
    let [row] = rows else { return None };
    if !write.exact || !same_row || !only_shown {
        return None;
    }
    let mut columns = Vec::new();
    for (column, set) in &write.set {
        for (_, place) in source.shown.iter().filter(|(shown, _)| shown == column) {
            let value = match (set, row.get(*place)?) {
                // The row of a left join may not be there.
                (_, Value::Null) if write.form == Form::Update && source.may_be_absent => return None,
                (Set::To(number), _) => params.get(*number)?.clone(),
                (Set::Add(number), Value::Int(before)) => match params.get(*number)? {
                    Value::Int(more) => Value::Int(before.saturating_add(*more)),
                    _ => return None,
                },
                (Set::Add(number), Value::Null) => params.get(*number)?.clone(),
                (Set::Add(_) | Set::Computed, _) => return None,
            };
            columns.push((*place, value));
        }
    }
    Some(columns)
}

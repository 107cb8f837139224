//! The writes of a group, merged: rows that the same statement writes go with one execution of it.
//!
//! Writes of different tables may change their order, unless one of them looks at other tables; writes of the same row never
//! do.

use rustc_hash::FxHashMap;

use crate::Value;
use crate::statement::{Form, Set, Write};

type Params = Vec<Value<'static>>;

/// One statement, and the parameters of each of its executions.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) write: &'static Write,
    pub(crate) rows: Vec<Params>,
    by_key: FxHashMap<Params, usize>,
}

impl Batch {
    /// Sorts changes by their keys, so that transactions lock rows in the same order.
    pub(crate) fn sort(&mut self) {
        if self.write.form != Form::Insert {
            self.rows.sort_by_cached_key(|params| row_key(self.write, params));
        }
    }
}

/// The batches of a group, in the order in which they are executed.
#[derive(Debug, Default)]
pub(crate) struct Batches(Vec<Batch>);

/// What became of a write that meets one of the same row in the same batch.
enum Merged {
    Yes,
    No,
}

impl Batches {
    pub(crate) fn into_vec(self) -> Vec<Batch> {
        self.0
    }

    /// Adds a write after all earlier writes of the same row.
    pub(crate) fn add(&mut self, write: &'static Write, params: Params) {
        let key = row_key(write, &params);
        for batch in self.0.iter_mut().rev() {
            let is_same = std::ptr::eq(batch.write, write);
            if write.looks_around && !is_same {
                break;
            }
            if batch.write.table != write.table {
                continue;
            }
            if is_same {
                let Some(key) = key.clone() else {
                    batch.rows.push(params);
                    return;
                };
                match batch.by_key.get(&key).and_then(|place| batch.rows.get_mut(*place)) {
                    None => {
                        batch.by_key.insert(key, batch.rows.len());
                        batch.rows.push(params);
                        return;
                    }
                    Some(before) => match merge(write, before, &params) {
                        Merged::Yes => return,
                        Merged::No => break,
                    },
                }
            }
            if batch.rows.iter().any(|row| may_be_same_row((batch.write, row), (write, &params))) {
                break;
            }
        }
        let by_key = key.map(|key| (key, 0)).into_iter().collect();
        self.0.push(Batch { write, rows: vec![params], by_key });
    }
}

/// The values by which a write finds its row; nothing for a new row.
fn row_key(write: &Write, params: &[Value<'static>]) -> Option<Params> {
    let value = |column: &str| write.given(params, column).cloned();
    match &write.form {
        Form::Insert => None,
        Form::InsertOrIgnore(keys) | Form::Upsert(keys) => keys.iter().map(|column| value(column)).collect(),
        Form::Update | Form::Delete => write.keys.iter().map(|(column, _)| value(column)).collect(),
    }
}

/// Makes one write of two that the same statement makes to the same row.
fn merge(write: &Write, before: &mut Params, after: &[Value<'static>]) -> Merged {
    match write.form {
        Form::Insert => return Merged::No,
        // The row is there by the first, or gone.
        Form::InsertOrIgnore(_) => return Merged::Yes,
        Form::Delete => return if write.exact { Merged::Yes } else { Merged::No },
        Form::Update | Form::Upsert(_) if !write.exact => return Merged::No,
        Form::Update | Form::Upsert(_) => {}
    }
    let mut merged = after.to_vec();
    for (_, set) in &write.set {
        match set {
            Set::To(_) => {}
            Set::Add(number) => match (before.get(*number), merged.get_mut(*number)) {
                (Some(Value::Int(one)), Some(Value::Int(other))) => *other = other.saturating_add(*one),
                _ => return Merged::No,
            },
            Set::Computed => return Merged::No,
        }
    }
    *before = merged;
    Merged::Yes
}

/// Whether two writes of one table may concern the same row: no column that both name differs.
fn may_be_same_row(one: (&Write, &Params), other: (&Write, &Params)) -> bool {
    let differs = |(column, number): &(String, usize)| {
        let there = other.0.keys.iter().find(|(name, _)| name == column);
        there.is_some_and(|(_, there)| one.1.get(*number) != other.1.get(*there))
    };
    !one.0.keys.iter().any(differs)
}

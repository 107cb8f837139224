//! Declared statements: what each of them reads or writes, and its texts for one execution or for many at once.
//!
//! Jobs of one group run against a common cache before anything is written. Whether a write of one job concerns what
//! another has read is decided by tables, keys and columns, and every declaration names them. The macros that declare are
//! in `declare.rs`.

mod read;
mod write;

pub(crate) use read::{Read, Source};
pub(crate) use write::{Conflict, Form, Set, Write};

/// What queries do with the rows that they say they lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locks {
    /// Nothing: the group only reads.
    None,
    /// They wait for those that are locked.
    Wait,
    /// They leave out those that are locked, and it is asked which were left out.
    Skip,
}

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

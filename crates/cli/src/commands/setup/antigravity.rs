//! Antigravity is set up with its own command, because its documentation does not agree on where its file is.

use std::path::PathBuf;

use super::detect::{Scope, on_path};
use super::plan::Wanted;
use super::record::{Item, Record};
use super::tools::ENTRY;
use super::verify;
use crate::exit::{Failure, Outcome};

fn words(wanted: &Wanted) -> Vec<String> {
    let program = wanted.program.to_string_lossy();
    let words = ["mcp", "add", ENTRY, "--", &program, "mcp", "--agent", &wanted.agent];
    words.map(ToOwned::to_owned).to_vec()
}

/// The command that adds the entry.
pub(super) fn command_line(wanted: &Wanted) -> String {
    format!("agy {}", words(wanted).join(" "))
}

/// Whether the entry has not been added yet, or for another agent or program.
pub(super) fn is_needed(record: &Record, wanted: &Wanted) -> bool {
    let program = wanted.program.to_string_lossy();
    let is_same = |item: &Item| item.agent == wanted.agent && item.block.as_deref() == Some(&*program);
    !record.find(wanted.tool, None).is_some_and(is_same)
}

/// Adds the entry. Returns the command that was run.
pub(super) async fn add(record: &mut Record, wanted: &Wanted) -> Outcome<Vec<PathBuf>> {
    let Some(program) = on_path("agy") else {
        return Err(Failure::not_found("the command `agy` of Antigravity is not on PATH")
            .next(format!("Run it where it is: `{}`", command_line(wanted))));
    };
    if !is_needed(record, wanted) {
        return Ok(Vec::new());
    }
    verify::run(&program, &words(wanted)).await?;
    let mut item = Item::new(wanted.tool, Scope::User, &wanted.agent, None);
    item.entry = true;
    item.block = Some(wanted.program.to_string_lossy().into_owned());
    record.put(item)?;
    Ok(vec![program])
}

/// Takes the entry back, if the command is still there.
pub(super) async fn remove() -> Outcome {
    match on_path("agy") {
        Some(program) => verify::run(&program, &["mcp", "remove", ENTRY].map(ToOwned::to_owned)).await,
        None => Ok(()),
    }
}

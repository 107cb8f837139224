//! What a file is without what setup has added to it: its first version if nobody else has written to it since, and otherwise
//! the file as it is now, less what was added.

use super::edit_json::{self, Refusal};
use super::file::{Source, backup_of};
use super::plan::{check, entry_of, is_own, opened_mode, refused};
use super::record::{Item, hash_of};
use super::tools::{ENTRY, Format};
use super::{allow, edit_toml, hooks};
use crate::exit::{Failure, Outcome};

/// A file without what an item added.
#[derive(Debug)]
pub(super) struct Rest {
    pub(super) text: String,
    /// The mode that the file gets, if it is another one.
    pub(super) mode: Option<u32>,
    /// Whether the entry is not the one that setup wrote, and so stays.
    pub(super) keeps_entry: bool,
}

/// The first version of a file, if nobody but setup has written to it since.
fn first_version(item: &Item, source: &Source) -> Option<String> {
    item.last.as_ref().filter(|last| **last == hash_of(source.text()))?;
    let Some(first) = &item.first else { return item.created_file.then(String::new) };
    let backup = Source::read(&backup_of(&source.path)).ok()?;
    backup.text.filter(|text| hash_of(text) == *first)
}

/// The file without what an item added. An entry that someone has replaced stays.
pub(super) fn without(item: &Item, source: &Source) -> Outcome<Rest> {
    let facts = item.tool.facts();
    let failed = |refusal: Refusal| refused(&source.path, &refusal);
    let mut text = source.text().to_owned();
    let whole = |text| Ok(Rest { text, mode: opened_mode(item, source), keeps_entry: false });
    if text.trim().is_empty() {
        return whole(text);
    }
    if let Some(first) = first_version(item, source) {
        return whole(first);
    }
    if item.policy {
        return whole(allow::remove_policy(&text, item.block.as_deref()).map_err(failed)?);
    }
    if item.hooks
        && let Some(hooks) = facts.hooks
    {
        text = hooks::remove(&text, hooks, &item.hook_commands, &item.made).map_err(failed)?;
    }
    if let Some(hooks) = facts.hooks.filter(|_| !item.allowed.is_empty()) {
        text = allow::remove(&text, hooks.dialect, &item.allowed, &item.made).map_err(failed)?;
    }
    let found = if item.entry { entry_of(&text, facts).map_err(failed)? } else { None };
    if found.is_none() && item.block.as_ref().is_some_and(|block| text.contains(block.trim())) {
        return Err(Failure::refused(format!(
            "{} has the lines that setup added, but not as a table {}.{ENTRY}",
            source.path.display(),
            facts.key
        ))
        .next("The file was left alone. Take the lines out by hand."));
    }
    let keeps_entry = found.as_ref().is_some_and(|found| !is_own(item, found));
    if found.is_some() && !keeps_entry {
        let after = match facts.format {
            Format::Json(dialect) => {
                let path = edit_json::keys(&[facts.key, ENTRY]);
                edit_json::remove(&text, dialect, &path, &item.made).map_err(failed)?
            }
            Format::Toml => {
                edit_toml::remove(&text, [facts.key, ENTRY], item.block.as_deref()).map_err(failed)?
            }
        };
        check(source, &text, &after, facts)?;
        text = after;
    }
    let is_empty = match (facts.format, item.entry) {
        (Format::Toml, true) => text.trim().is_empty(),
        _ => matches!(text.trim(), "{}" | ""),
    };
    if let Some(blank) = item.made.blank.as_ref().filter(|_| is_empty) {
        text.clone_from(blank);
    }
    // The entry of someone else may have a secret too.
    let mode = if keeps_entry { None } else { opened_mode(item, source) };
    Ok(Rest { text, mode, keeps_entry })
}

//! Works out how files would change. It writes nothing.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::detect::{Machine, Scope};
use super::edit_json::{self, Dialect, Made, Refusal};
use super::entry::{self, Found, Identity, Target};
use super::file::{Source, closed};
use super::record::{Item, Record, hash_of};
use super::tools::{ENTRY, Facts, Format, HookFile, Tool};
use super::{allow, edit_toml, hooks};
use crate::exit::{Failure, Outcome};

/// What a tool shall have.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) tool: Tool,
    pub(super) scope: Scope,
    pub(super) agent: String,
    pub(super) program: PathBuf,
    pub(super) target: Target,
    pub(super) hooks: bool,
    /// Whether the model may use the tools that read and answer without a question.
    pub(super) allow: bool,
}

impl Wanted {
    fn allows(&self, place: allow::Place) -> bool {
        self.allow && self.tool.facts().allow == Some(place)
    }
}

/// A file before and after.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) source: Source,
    pub(super) after: String,
    /// The mode that the file gets, if it is another one.
    pub(super) mode: Option<u32>,
    /// What the record says afterwards.
    pub(super) item: Item,
}

impl Change {
    pub(super) fn is_needed(&self) -> bool {
        self.source.text.as_deref() != Some(self.after.as_str()) || self.mode.is_some()
    }
}

/// The file of a server's entry, with a sentence if the tool has none.
pub(super) fn entry_file(machine: &Machine, tool: Tool, scope: Scope) -> Outcome<PathBuf> {
    machine.file(tool, scope).ok_or_else(|| {
        Failure::usage(format!("{} has no configuration for a project", tool.facts().name))
            .next("Leave out --scope, or the tool.")
    })
}

/// The changes that a tool needs, a file each.
pub(super) fn changes(machine: &Machine, record: &Record, wanted: &Wanted) -> Outcome<Vec<Change>> {
    let facts = wanted.tool.facts();
    let file = entry_file(machine, wanted.tool, wanted.scope)?;
    let rules = wanted.allows(allow::Place::Settings);
    let settings = facts.hooks.filter(|_| wanted.hooks || rules);
    let mut entry = begin(record, wanted, &file)?;
    entry.after = with_entry(&entry.source, facts, wanted, &mut entry.item)?;
    entry.item.entry = true;
    entry.item.direct = matches!(wanted.target, Target::Direct { .. });
    entry.mode = match entry.item.direct {
        true => entry.source.closed_mode(),
        false => opened_mode(&entry.item, &entry.source),
    };
    entry.item.mode = match (entry.item.direct, entry.mode) {
        (true, Some(_)) => entry.source.mode,
        (true, None) => entry.item.mode,
        (false, _) => None,
    };
    let mut changes = vec![entry];
    if let Some(hooks) = settings {
        let hook_file = machine.hook_file(hooks);
        if hook_file != file {
            let mut second = begin(record, wanted, &hook_file)?;
            second.after = second.source.text().to_owned();
            changes.push(second);
        }
        if let Some(change) = changes.last_mut() {
            if wanted.hooks {
                add_hooks(change, hooks, wanted)?;
            }
            if rules {
                let Change { source, after, item, .. } = change;
                *after = allow::add(after, hooks.dialect, &mut item.allowed, &mut item.made)
                    .map_err(|refusal| refused(&source.path, &refusal))?;
            }
        }
    }
    if let Some(allow::Place::Policy(place)) = facts.allow.filter(|_| wanted.allow) {
        changes.push(policy(record, wanted, &machine.path(place))?);
    }
    for change in changes.iter().filter(|change| change.is_needed()) {
        change.source.refuse_read_only()?;
    }
    Ok(changes)
}

fn policy(record: &Record, wanted: &Wanted, file: &Path) -> Outcome<Change> {
    let mut change = begin(record, wanted, file)?;
    let added = allow::add_policy(change.source.text());
    let (after, block) = added.map_err(|refusal| refused(&change.source.path, &refusal))?;
    (change.after, change.item.policy) = (after, true);
    change.item.block = block.or(change.item.block);
    Ok(change)
}

fn add_hooks(change: &mut Change, hooks: HookFile, wanted: &Wanted) -> Outcome {
    let program = wanted.program.to_string_lossy();
    let list = hooks::wanted(wanted.tool.facts().id, hooks, &program, &wanted.agent);
    let Change { source, after, item, .. } = change;
    *after = hooks::add(after, hooks, &list, &item.hook_commands, &mut item.made)
        .map_err(|refusal| refused(&source.path, &refusal))?;
    item.hooks = true;
    item.hook_commands = hooks::commands(&list);
    Ok(())
}

/// The mode from before setup closed a file, if the file still has the mode that it got then.
pub(super) fn opened_mode(item: &Item, source: &Source) -> Option<u32> {
    item.mode.filter(|before| source.mode == Some(closed(*before)) && source.mode != Some(*before))
}

fn begin(record: &Record, wanted: &Wanted, file: &Path) -> Outcome<Change> {
    let source = Source::read(file)?;
    let known = record.find(wanted.tool, Some(file)).cloned();
    let mut is_first = known.is_none();
    let mut item =
        known.unwrap_or_else(|| Item::new(wanted.tool, wanted.scope, &wanted.agent, Some(file.to_owned())));
    item.agent.clone_from(&wanted.agent);
    if item.pending && !has_any(&item, &source) {
        // The run that noted this was killed before it wrote the file, which may have changed since.
        (item.made, item.block, item.created_file) = (Made::default(), None, false);
        is_first = true;
    }
    item.created_file |= source.text.is_none();
    let now = hash_of(source.text());
    if is_first {
        item.first = source.text.is_some().then(|| now.clone());
        // What an earlier run has left there, without its record, is taken over and not given back.
        item.last = (!has_ours(source.text(), wanted.tool.facts())).then_some(now);
    } else if item.last.as_ref() != Some(&now) {
        // Somebody else has written to it since, and expects to have that back too.
        item.last = None;
    }
    Ok(Change { source, after: String::new(), mode: None, item })
}

/// Whether a text has an entry or hooks of ours.
fn has_ours(text: &str, facts: &Facts) -> bool {
    let has_hooks =
        |hooks: HookFile| edit_json::value(text, hooks.dialect).is_ok_and(|value| hooks::any(&value, &[]));
    entry_of(text, facts).is_ok_and(|found| found.is_some()) || facts.hooks.is_some_and(has_hooks)
}

/// Whether a file has anything that an item says.
fn has_any(item: &Item, source: &Source) -> bool {
    if item.policy {
        return allow::has_policy(source.text());
    }
    let facts = item.tool.facts();
    let hooks = facts.hooks.filter(|_| item.hooks || !item.allowed.is_empty());
    item.entry
        && entry_of(source.text(), facts).is_ok_and(|found| found.is_some_and(|found| is_own(item, &found)))
        || hooks.is_some_and(|hooks| {
            edit_json::value(source.text(), hooks.dialect).is_ok_and(|value| {
                hooks::has_known(&value, &item.hook_commands) || allow::any(&value, &item.allowed)
            })
        })
}

/// Whether an entry is the one that setup wrote, with or without fields that a person has added.
pub(super) fn is_own(item: &Item, entry: &Value) -> bool {
    Identity::of(entry).is_some_and(|found| item.written.contains(&found))
}

pub(super) fn refused(file: &Path, refusal: &Refusal) -> Failure {
    match refusal {
        Refusal::Malformed { line, column, what } => Failure::refused(format!(
            "{}:{line}:{column}: {what}",
            file.display()
        ))
        .next(
            "The file cannot be read, so it was left alone. Repair it, or name the other tools with --tool.",
        ),
        Refusal::Unexpected { pointer, needed } => {
            let pointer = if pointer.is_empty() { "the whole" } else { pointer };
            Failure::refused(format!("{}: {pointer} is not {needed}", file.display()))
                .next("The file was left alone. `tandem setup --print json` shows what belongs there.")
        }
    }
}

fn with_entry(source: &Source, facts: &Facts, wanted: &Wanted, item: &mut Item) -> Outcome<String> {
    let failed = |refusal: Refusal| refused(&source.path, &refusal);
    let old = entry_of(source.text(), facts).map_err(failed)?;
    if let Some(old) = &old {
        refuse_foreign(source, old, wanted, item)?;
    }
    let new = wanted.target.value(facts);
    item.written = Identity::of(&new).into_iter().collect();
    match facts.format {
        Format::Json(dialect) => {
            let after = set_entry(source.text(), dialect, facts.key, old.as_ref(), &new, &mut item.made);
            let after = after.map_err(failed)?;
            check(source, source.text(), &after, facts)?;
            Ok(after)
        }
        Format::Toml => {
            let (path, mut fields) = ([facts.key, ENTRY], wanted.target.toml());
            // What a person has set there stays.
            if wanted.allows(allow::Place::Entry) && old.as_ref().is_none_or(|old| old.get("tools").is_none())
            {
                fields.push(allow::field());
            }
            let Some(old) = old else {
                let (after, block) = edit_toml::append(source.text(), path, &fields).map_err(failed)?;
                item.block = Some(block);
                return Ok(after);
            };
            let leftovers = entry::leftovers(&old, &new);
            let differs = |(key, field): &(&str, edit_toml::Field)| old.get(key) != Some(&field.json());
            let fields: edit_toml::Fields = fields.into_iter().filter(|field| differs(field)).collect();
            if fields.is_empty() && leftovers.is_empty() {
                return Ok(source.text().to_owned());
            }
            let after = edit_toml::update(source.text(), path, &fields, &leftovers).map_err(failed)?;
            check(source, source.text(), &after, facts)?;
            // The appended text is no longer there as it was.
            item.block = None;
            Ok(after)
        }
    }
}

fn values(text: &str, facts: &Facts) -> Result<Value, Refusal> {
    match facts.format {
        Format::Json(dialect) => edit_json::value(text, dialect),
        Format::Toml => Ok(serde_json::to_value(edit_toml::table(text)?).unwrap_or_default()),
    }
}

/// The entry in a text, if there is one.
pub(super) fn entry_of(text: &str, facts: &Facts) -> Result<Option<Value>, Refusal> {
    Ok(values(text, facts)?.get(facts.key).and_then(|servers| servers.get(ENTRY)).cloned())
}

/// Refuses to change an entry of this name that does something else.
fn refuse_foreign(source: &Source, old: &Value, wanted: &Wanted, item: &Item) -> Outcome {
    let what = match (entry::read(old), &wanted.target) {
        _ if is_own(item, old) => return Ok(()),
        (Found::Bridge { .. }, _) => return Ok(()),
        (Found::Direct { url }, Target::Direct { url: own, .. }) if url == *own => return Ok(()),
        (Found::Direct { url }, _) => url,
        (Found::Foreign(what), _) => what,
    };
    Err(Failure::refused(format!(
        "{} already has an entry named {ENTRY:?} for something else: {what}",
        source.path.display()
    ))
    .next("Rename or remove that entry first."))
}

fn set_entry(
    text: &str,
    dialect: Dialect,
    key: &str,
    old: Option<&Value>,
    new: &Value,
    made: &mut Made,
) -> Result<String, Refusal> {
    let path = [key, ENTRY];
    let Some(old) = old else { return edit_json::set(text, dialect, &path, new, made) };
    let mut text = text.to_owned();
    for name in entry::leftovers(old, new) {
        let path = edit_json::keys(&[key, ENTRY, name]);
        text = edit_json::remove(&text, dialect, &path, &Made::default())?;
    }
    for (name, value) in new.as_object().into_iter().flatten() {
        let variables = value.as_object().filter(|_| name == "env");
        match (old.get(name), variables) {
            (Some(before), _) if before == value => {}
            (Some(before), Some(variables)) if before.is_object() => {
                for (variable, value) in
                    variables.iter().filter(|(name, value)| before.get(*name) != Some(*value))
                {
                    let path = [key, ENTRY, name, variable];
                    text = edit_json::set(&text, dialect, &path, value, &mut Made::default())?;
                }
            }
            _ => text = edit_json::set(&text, dialect, &[key, ENTRY, name], value, &mut Made::default())?,
        }
    }
    Ok(text)
}

/// Shows that nothing but the entry has changed. An edit that breaks this is a mistake of ours and must not reach the file.
pub(super) fn check(source: &Source, before: &str, after: &str, facts: &Facts) -> Outcome {
    let rest = |text: &str| {
        let mut value = values(text, facts).ok()?;
        let file = value.as_object_mut()?;
        let servers = file.get_mut(facts.key).and_then(Value::as_object_mut);
        let is_empty = servers.is_some_and(|servers| {
            servers.remove(ENTRY);
            servers.is_empty()
        });
        if is_empty {
            file.remove(facts.key);
        }
        Some(value)
    };
    match (rest(before), rest(after)) {
        (Some(before), Some(after)) if before == after => Ok(()),
        _ => Err(Failure::refused(format!(
            "{}: the entry cannot be changed without a change to something else",
            source.path.display()
        ))
        .next("The file was left alone. `tandem setup --print json` shows the entry.")),
    }
}

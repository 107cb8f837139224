//! `tandem setup --remove`: takes back what setup added. Files are edited and never restored from the backup, because their
//! tools have written to them since.

use super::Arguments;
use super::detect::{Machine, Scope};
use super::entry::{self, Found};
use super::file::{Source, remove_empty};
use super::record::{Item, Record};
use super::tools::{ENTRY, Tool};
use super::{antigravity, diff, plan, undo};
use crate::commands::session::block_on;
use crate::commands::{Common, input};
use crate::exit::{Failure, Outcome};
use crate::profiles::Profiles;
use crate::terminal::Terminal;

/// How often a file is read again because its tool has just written it.
const ATTEMPTS: usize = 5;

/// Runs `tandem setup --remove`.
pub(super) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let terminal = common.terminal();
    let profiles = Profiles::of_user()?;
    let _locked = profiles.reserve_setup()?;
    let machine = Machine::of_user()?;
    let mut record = Record::load(&profiles)?;
    record.clean_up();
    let (items, mut failures) = readable(&terminal, chosen(arguments, &record))?;
    if items.is_empty() {
        failed(failures)?;
        note_unrecorded(&terminal, &machine, &record);
        return terminal.result(&serde_json::json!({ "removed": [] }), |terminal| {
            terminal.line("There is nothing to take back.")
        });
    }
    if arguments.dry_run {
        terminal.done("Nothing was changed.")?;
        return failed(failures);
    }
    input::confirm("Take this back?", arguments.yes)?;
    let mut removed = Vec::new();
    for item in items {
        match take_back(&item) {
            Ok(()) => removed.push(item),
            Err(failure) => failures.push(failure),
        }
    }
    // Two files can be in a folder that was created for the first one. The record goes last: a run that is killed can be
    // repeated.
    for item in &removed {
        remove_empty(&item.created_folders);
    }
    for item in &removed {
        record.drop(item)?;
    }
    let view = serde_json::json!({ "removed": removed.iter().map(view).collect::<Vec<_>>() });
    if !removed.is_empty() {
        terminal.result(&view, |terminal| terminal.line("Taken back."))?;
        let mut agents: Vec<&str> = removed.iter().map(|item| item.agent.as_str()).collect();
        agents.sort_unstable();
        agents.dedup();
        let agents = agents.join(", ");
        terminal.note(&format!("The agents stay: {agents}. `tandem logout --agent NAME` forgets one."));
    }
    failed(failures)
}

/// The result of a run with failures.
fn failed(mut failures: Vec<Failure>) -> Outcome {
    match failures.len() {
        0 => Ok(()),
        1 => Err(failures.remove(0)),
        _ => {
            let all: Vec<&str> = failures.iter().map(Failure::what).collect();
            Err(Failure::refused(all.join("\n  ")))
        }
    }
}

fn view(item: &Item) -> serde_json::Value {
    serde_json::json!({ "tool": item.tool, "scope": item.scope, "agent": item.agent, "file": item.file })
}

fn chosen(arguments: &Arguments, record: &Record) -> Vec<Item> {
    let is_chosen = |item: &&Item| {
        (arguments.tools.is_empty() || arguments.tools.contains(&item.tool))
            && arguments.scope.is_none_or(|scope| scope == item.scope)
    };
    record.items.iter().filter(is_chosen).cloned().collect()
}

/// Shows what is taken back. A file that cannot be read stays as it is, and does not keep the others from being changed.
fn readable(terminal: &Terminal, items: Vec<Item>) -> Outcome<(Vec<Item>, Vec<Failure>)> {
    let (mut readable, mut failures) = (Vec::new(), Vec::new());
    for item in items {
        match shown(&item) {
            Ok(lines) => {
                for line in lines {
                    terminal.done(&diff::coloured(terminal, &line))?;
                }
                readable.push(item);
            }
            Err(failure) => failures.push(failure),
        }
    }
    Ok((readable, failures))
}

/// Names files with an entry of ours that is in no record: a person may have written it.
fn note_unrecorded(terminal: &Terminal, machine: &Machine, record: &Record) {
    for tool in Tool::ALL {
        for scope in [Scope::User, Scope::Project] {
            if let Some(file) = machine.file(tool, scope)
                && record.find(tool, Some(&file)).is_none()
                && let Ok(source) = Source::read(&file)
                && let Ok(Some(found)) = plan::entry_of(source.text(), tool.facts())
                && matches!(entry::read(&found), Found::Bridge { .. })
            {
                let id = tool.facts().id;
                terminal.note(&format!(
                    "{} has an entry that setup has no record of. Take it out by hand, or run `tandem setup --tool {id}` \
                     first, which takes it over.",
                    file.display()
                ));
            }
        }
    }
}

/// What a person reads about an item.
fn shown(item: &Item) -> Outcome<Vec<String>> {
    let Some(file) = &item.file else { return Ok(vec![format!("  agy mcp remove {ENTRY}")]) };
    let source = Source::read(file)?;
    let rest = undo::without(item, &source)?;
    let mut lines = Vec::new();
    if rest.keeps_entry {
        lines.push(format!(
            "  {}: the entry {ENTRY:?} is not the one that setup wrote; it stays",
            file.display()
        ));
    }
    if source.text.is_some() && source.text() != rest.text {
        let after = (!is_gone(item, &rest.text)).then_some(rest.text.as_str());
        lines.push(diff::unified(&source.path, source.text.as_deref(), after));
    } else if !rest.keeps_entry {
        lines.push(format!("  {} has nothing of it any more", file.display()));
    }
    lines.extend(diff::mode_line(source.mode, rest.mode));
    Ok(lines)
}

/// Whether a file that setup created has nothing left.
fn is_gone(item: &Item, after: &str) -> bool {
    item.created_file && matches!(after.trim(), "" | "{}")
}

fn take_back(item: &Item) -> Outcome {
    let Some(file) = &item.file else { return block_on(antigravity::remove()) };
    for _ in 0..ATTEMPTS {
        let source = Source::read(file)?;
        source.clean_up();
        let rest = undo::without(item, &source)?;
        let is_done = match () {
            () if source.text.is_none() => true,
            () if is_gone(item, &rest.text) => source.delete()?,
            () if source.text() == rest.text && rest.mode.is_none() => true,
            () => source.write(&rest.text, rest.mode, false)?,
        };
        if is_done {
            if item.backup {
                Source::drop_backup(&source.path);
            }
            return Ok(());
        }
    }
    Err(Failure::refused(format!("{} is written all the time", file.display()))
        .next("End the tool, then run `tandem setup --remove` again."))
}

//! `tandem setup --remove`: takes back what setup added. Files are edited and never restored from the backup, because their
//! tools have written to them since.

use super::Arguments;
use super::detect::{Machine, Scope};
use super::entry::{self, Found};
use super::file::{Source, remove_empty};
use super::record::{Item, Record};
use super::tools::{ENTRY, Tool};
use super::{antigravity, diff, edit_json, hooks, plan};
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
    let items = chosen(arguments, &machine, &record)?;
    if items.is_empty() {
        terminal.result(&serde_json::json!({ "removed": [] }), |terminal| {
            terminal.line("There is nothing to take back.")
        })?;
        return Ok(());
    }
    for item in &items {
        show(&terminal, item)?;
    }
    if arguments.dry_run {
        return terminal.done("Nothing was changed.");
    }
    input::confirm("Take this back?", arguments.yes)?;
    for item in &items {
        take_back(&mut record, item)?;
    }
    // Two files can be in a folder that was created for the first one.
    for item in &items {
        remove_empty(&item.created_folders);
    }
    let view = serde_json::json!({ "removed": items.iter().map(view).collect::<Vec<_>>() });
    let mut agents: Vec<&str> = items.iter().map(|item| item.agent.as_str()).collect();
    agents.sort_unstable();
    agents.dedup();
    terminal.result(&view, |terminal| terminal.line("Taken back."))?;
    terminal
        .note(&format!("The agents stay: {}. `tandem logout --agent NAME` forgets one.", agents.join(", ")));
    Ok(())
}

fn view(item: &Item) -> serde_json::Value {
    serde_json::json!({ "tool": item.tool, "scope": item.scope, "agent": item.agent, "file": item.file })
}

/// What the record has, and entries of ours that it does not have.
fn chosen(arguments: &Arguments, machine: &Machine, record: &Record) -> Outcome<Vec<Item>> {
    let is_chosen = |item: &Item| {
        (arguments.tools.is_empty() || arguments.tools.contains(&item.tool))
            && arguments.scope.is_none_or(|scope| scope == item.scope)
    };
    let mut items: Vec<Item> = record.items.iter().filter(|item| is_chosen(item)).cloned().collect();
    let tools = if arguments.tools.is_empty() { Tool::ALL.to_vec() } else { arguments.tools.clone() };
    for tool in tools {
        for scope in [Scope::User, Scope::Project] {
            let found = stray(machine, tool, scope).into_iter();
            let is_new =
                |found: &Item| items.iter().all(|item| item.tool != found.tool || item.file != found.file);
            let found: Vec<Item> = found.filter(|found| is_chosen(found) && is_new(found)).collect();
            items.extend(found);
        }
    }
    Ok(items)
}

/// Entries of ours in the files of a tool, whether or not the record has them. Files that cannot be read have none.
fn stray(machine: &Machine, tool: Tool, scope: Scope) -> Vec<Item> {
    let facts = tool.facts();
    let mut items = Vec::new();
    if let Some(file) = machine.file(tool, scope)
        && let Ok(source) = Source::read(&file)
        && let Ok(Some(found)) = plan::entry_of(source.text(), facts)
        && let Found::Bridge { agent, .. } = entry::read(&found)
    {
        let mut item = Item::new(tool, scope, &agent.unwrap_or_default(), Some(file));
        item.entry = true;
        items.push(item);
    }
    if let Some(hook_facts) = facts.hooks.filter(|_| scope == Scope::User) {
        let file = machine.hook_file(hook_facts);
        let has_hooks = Source::read(&file).is_ok_and(|source| {
            edit_json::value(source.text(), hook_facts.dialect).is_ok_and(|value| hooks::any(&value))
        });
        match items.first_mut().filter(|item| item.file.as_ref() == Some(&file)) {
            Some(item) => item.hooks = has_hooks,
            None if has_hooks => {
                let mut item = Item::new(tool, scope, "", Some(file));
                item.hooks = true;
                items.push(item);
            }
            None => {}
        }
    }
    items
}

fn show(terminal: &Terminal, item: &Item) -> Outcome {
    let Some(file) = &item.file else { return terminal.done(&format!("  agy mcp remove {ENTRY}")) };
    let source = Source::read(file)?;
    let after = plan::without(item, &source)?;
    if source.text.is_none() || source.text() == after {
        return terminal.done(&format!("  {} has nothing of it any more", file.display()));
    }
    let after = (!is_gone(item, &after)).then_some(after.as_str());
    let diff = diff::unified(&source.path, source.text.as_deref(), after);
    terminal.done(&diff::coloured(terminal, &diff))
}

/// Whether a file that setup created has nothing left.
fn is_gone(item: &Item, after: &str) -> bool {
    item.created_file && matches!(after.trim(), "" | "{}")
}

fn take_back(record: &mut Record, item: &Item) -> Outcome {
    let Some(file) = &item.file else {
        block_on(antigravity::remove())?;
        return record.drop(item);
    };
    for _ in 0..ATTEMPTS {
        let source = Source::read(file)?;
        let after = plan::without(item, &source)?;
        let is_done = match () {
            () if source.text.is_none() => true,
            () if is_gone(item, &after) => source.delete()?,
            () if source.text() == after => true,
            () => source.write(&after, false)?.is_some(),
        };
        if is_done {
            if item.backup {
                Source::drop_backup(&source.path);
            }
            return record.drop(item);
        }
    }
    Err(Failure::refused(format!("{} is written all the time", file.display()))
        .next("End the tool, then run `tandem setup --remove` again."))
}

//! What a tool does only after its person has agreed, as far as its files show that.

use std::path::Path;

use serde_json::Value;

use super::detect::{Machine, Scope};
use super::edit_json::{self, Dialect};
use super::edit_toml;
use super::file::Source;
use super::status::{Kind, Row};
use super::tools::{ENTRY, Tool};

/// Notes what a tool does only after its person has agreed, unless its files show that.
pub(super) fn note_trust(row: &mut Row, machine: &Machine) {
    let read = |path: &Path| Source::read(path).ok().map(|source| source.text().to_owned());
    match row.tool {
        Tool::Codex if row.hooks => {
            let config = machine.file(Tool::Codex, Scope::User).as_deref().and_then(read).unwrap_or_default();
            let hooks = Tool::Codex.facts().hooks.map(|hooks| machine.hook_file(hooks)).unwrap_or_default();
            let reviewed = edit_toml::table(&config).ok().and_then(|table| {
                let state = table.get("hooks")?.get("state")?.as_table()?.clone();
                // The hash of what was reviewed is Codex's own; a hook that has changed since asks again there.
                let file = format!("{}:", hooks.display());
                let mut ours = state.iter().filter(|(key, _)| key.starts_with(&file));
                Some(ours.any(|(_, hook)| hook.get("trusted_hash").is_some()))
            });
            if reviewed != Some(true) {
                let note = "Codex runs the hooks only after you have reviewed them: type /hooks in Codex";
                row.notes.push(note.to_owned());
            }
        }
        Tool::Gemini if row.set_up => {
            let file = machine
                .file(Tool::Gemini, Scope::User)
                .map(|file| file.with_file_name("trustedFolders.json"));
            let trusted = file
                .as_deref()
                .and_then(read)
                .and_then(|text| edit_json::value(&text, Dialect::Comments).ok());
            let trusts = |folder: &Path| {
                let word =
                    |value: &Value| value[folder.to_string_lossy().as_ref()].as_str() == Some("TRUST_FOLDER");
                trusted.as_ref().is_some_and(word)
            };
            if !machine.folder().ancestors().any(trusts) {
                row.notes.push(format!(
                    "Gemini CLI starts no server in a folder that it does not trust, and its list does not have {}",
                    machine.folder().display()
                ));
            }
        }
        _ => {}
    }
}

/// Claude Code leaves out an entry of a project until its user has approved it.
pub(super) fn check_approval(row: &mut Row, machine: &Machine) {
    let folder = row.file.as_deref().and_then(Path::parent).unwrap_or(machine.folder()).to_owned();
    let read = |file: &Path| {
        let source = Source::read(file).ok()?;
        edit_json::value(source.text(), Dialect::Strict).ok()
    };
    let approves = |settings: &Value| {
        let list = settings["enabledMcpjsonServers"].as_array();
        settings["enableAllProjectMcpServers"] == true
            || list.is_some_and(|list| list.iter().any(|name| name == ENTRY))
    };
    let own = machine.file(Tool::Claude, Scope::User).and_then(|file| read(&file)).unwrap_or_default();
    let hooks = Tool::Claude.facts().hooks.map(|hooks| machine.hook_file(hooks));
    let settings = [".claude/settings.json", ".claude/settings.local.json"].map(|path| folder.join(path));
    let is_approved = approves(&own["projects"][folder.to_string_lossy().as_ref()])
        || settings.into_iter().chain(hooks).filter_map(|file| read(&file)).any(|value| approves(&value));
    if !is_approved {
        row.find(
            Kind::PendingApproval,
            "Claude Code has not been told to use this project's entry",
            "start `claude` in the folder and approve it",
        );
    }
}

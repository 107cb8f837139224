//! `tandem setup status`: compares the tools' files with what setup has written.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tandem_api::error::Code;
use tandem_client::Client;

use super::detect::{Machine, Scope, is_program, own_path};
use super::edit_json;
use super::entry::{self, Found};
use super::file::Source;
use super::persons::{check_approval, note_trust};
use super::record::{Item, Record};
use super::tools::{ENTRY, Format, Tool};
use super::{edit_toml, hooks};
use crate::commands::Common;
use crate::commands::session::block_on_and_leave;
use crate::exit::{Failure, Outcome};
use crate::profiles::{Profile, Profiles};
use crate::terminal::{Terminal, text};

/// Time limit for the hubs' answers.
const ANSWER_MAX: Duration = Duration::from_secs(3);

/// What can be wrong. The names are part of the JSON output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Kind {
    Missing,
    StalePath,
    WrongAgent,
    Duplicate,
    PendingApproval,
    Unreadable,
    ProfileMissing,
    Exposed,
    DeadKey,
}

#[derive(Debug, Serialize)]
pub(super) struct Finding {
    kind: Kind,
    detail: String,
    fix: String,
}

/// A tool in one of its scopes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    pub(super) tool: Tool,
    scope: Scope,
    installed: bool,
    /// Whether setup has written it, or it has an entry of ours.
    pub(super) set_up: bool,
    agent: Option<String>,
    pub(super) file: Option<PathBuf>,
    pub(super) hooks: bool,
    findings: Vec<Finding>,
    /// What only a person can see or do in the tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    /// The API key in the file, if the tool calls the hub itself.
    #[serde(skip)]
    key_in_file: Option<String>,
}

impl Row {
    pub(super) fn find(&mut self, kind: Kind, detail: impl Into<String>, fix: impl Into<String>) {
        self.findings.push(Finding { kind, detail: detail.into(), fix: fix.into() });
    }
}

/// Runs `tandem setup status`.
pub(super) fn run(common: &Common) -> Outcome {
    let terminal = common.terminal();
    let profiles = Profiles::of_user()?;
    let machine = Machine::of_user()?;
    let record = Record::load(&profiles)?;
    let mut rows = Vec::new();
    for tool in Tool::ALL {
        for scope in [Scope::User, Scope::Project] {
            let file = machine.file(tool, scope);
            // In the home folder some tools have one file for both.
            if scope == Scope::Project && file == machine.file(tool, Scope::User) {
                continue;
            }
            rows.extend(row(&machine, &profiles, &record, tool, scope, file.as_deref()));
        }
    }
    // Projects in other folders.
    let elsewhere = record.items.iter().filter(|item| {
        item.scope == Scope::Project && item.entry && machine.file(item.tool, item.scope) != item.file
    });
    for item in elsewhere {
        rows.extend(row(&machine, &profiles, &record, item.tool, item.scope, item.file.as_deref()));
    }
    check_keys(&mut rows, &profiles)?;
    let problems: usize = rows.iter().map(|row| row.findings.len()).sum();
    let view = serde_json::json!({ "tools": rows, "ok": problems == 0 });
    terminal.result(&view, |terminal| print(terminal, &rows))?;
    match problems {
        0 => Ok(()),
        1 => Err(Failure::refused("there is a problem")),
        count => Err(Failure::refused(format!("there are {count} problems"))),
    }
}

/// A tool in a scope; none if it is neither installed nor set up.
fn row(
    machine: &Machine,
    profiles: &Profiles,
    record: &Record,
    tool: Tool,
    scope: Scope,
    file: Option<&Path>,
) -> Option<Row> {
    let installed = machine.has(tool);
    let item = record.find(tool, file).filter(|item| item.scope == scope);
    let mut row = Row {
        tool,
        scope,
        installed,
        set_up: item.is_some(),
        agent: item.map(|item| item.agent.clone()),
        file: file.map(Path::to_owned),
        hooks: false,
        findings: Vec::new(),
        notes: Vec::new(),
        key_in_file: None,
    };
    if let Some(file) = file {
        check_entry(&mut row, file, item);
    }
    check_hooks(&mut row, machine, record);
    if row.set_up
        && let Some(agent) = row.agent.clone()
    {
        check_profile(&mut row, profiles, &agent);
    }
    note_trust(&mut row, machine);
    if row.set_up && scope == Scope::Project && tool == Tool::Claude {
        check_approval(&mut row, machine);
    }
    let is_shown = row.set_up || !row.findings.is_empty() || (installed && scope == Scope::User);
    is_shown.then_some(row)
}

fn servers(text: &str, tool: Tool) -> Result<Value, edit_json::Refusal> {
    let facts = tool.facts();
    let file = match facts.format {
        Format::Json(dialect) => edit_json::value(text, dialect)?,
        Format::Toml => serde_json::to_value(edit_toml::table(text)?).unwrap_or_default(),
    };
    Ok(file.get(facts.key).cloned().unwrap_or_default())
}

fn check_entry(row: &mut Row, file: &Path, item: Option<&Item>) {
    let tool = row.tool;
    let again = format!("tandem setup --tool {}{}", tool.facts().id, scope_option(row.scope));
    let source = match Source::read(file) {
        Ok(source) => source,
        Err(failure) => return row.find(Kind::Unreadable, failure.what(), "make the file readable"),
    };
    let servers = match servers(source.text(), tool) {
        Ok(servers) => servers,
        Err(refusal) => {
            let failure = super::plan::refused(file, &refusal);
            return row.find(Kind::Unreadable, failure.what(), "repair the file");
        }
    };
    match servers.get(ENTRY).map(entry::read) {
        None if item.is_some_and(|item| item.entry) => {
            row.find(Kind::Missing, "the entry is gone from the file", again);
        }
        None | Some(Found::Foreign(_)) => {}
        Some(Found::Direct { .. }) => {
            row.set_up = item.is_some();
            row.key_in_file = servers.get(ENTRY).filter(|_| row.set_up).and_then(entry::key);
            if let (Some(_), Some(mode)) = (item.filter(|item| item.direct), source.closed_mode()) {
                let detail = "the file has the API key, and others can read it";
                let fix = format!("chmod {mode:o} {}, then `tandem rotate`", file.display());
                row.find(Kind::Exposed, detail, fix);
            }
        }
        Some(Found::Bridge { program, agent }) => {
            row.set_up = true;
            check_program(row, &program, &again);
            if let (Some(item), Some(agent)) = (item, &agent)
                && item.agent != *agent
            {
                row.find(Kind::WrongAgent, format!("it acts as {agent}, set up was {}", item.agent), again);
            }
            row.agent = agent.or(row.agent.take());
        }
    }
    check_duplicates(row, &source, &servers);
}

fn scope_option(scope: Scope) -> &'static str {
    match scope {
        Scope::User => "",
        Scope::Project => " --scope project",
    }
}

fn check_program(row: &mut Row, program: &Path, again: &str) {
    if !is_program(program) {
        let detail = format!("{} does not exist or cannot be run", program.display());
        return row.find(Kind::StalePath, detail, again);
    }
    let own = own_path().ok().and_then(|own| own.canonicalize().ok());
    if own.is_some() && program.canonicalize().ok() != own {
        let detail = format!("it runs {}, which is another program than this one", program.display());
        row.find(Kind::StalePath, detail, again);
    }
}

fn check_duplicates(row: &mut Row, source: &Source, servers: &Value) {
    let facts = row.tool.facts();
    let mut others: Vec<String> = Vec::new();
    for (name, server) in servers.as_object().into_iter().flatten().filter(|(name, _)| *name != ENTRY) {
        if matches!(entry::read(server), Found::Bridge { .. }) {
            others.push(format!("{name:?} starts the bridge too"));
        }
    }
    if let Format::Json(dialect) = facts.format
        && edit_json::occurrences(source.text(), dialect, &[facts.key, ENTRY]) > 1
    {
        others.push(format!("{ENTRY:?} is there more than once"));
    }
    for detail in others {
        row.find(Kind::Duplicate, detail, format!("remove the other one from {}", source.path.display()));
    }
}

fn check_hooks(row: &mut Row, machine: &Machine, record: &Record) {
    let Some(facts) = row.tool.facts().hooks.filter(|_| row.scope == Scope::User) else { return };
    let file = machine.hook_file(facts);
    let item = record.find(row.tool, Some(&file)).filter(|item| item.hooks);
    let value =
        Source::read(&file).ok().and_then(|source| edit_json::value(source.text(), facts.dialect).ok());
    let known = item.map(|item| item.hook_commands.as_slice()).unwrap_or_default();
    row.hooks = value.as_ref().is_some_and(|value| hooks::any(value, known));
    let Some(item) = item else { return };
    let again = format!("tandem setup --tool {} --hooks", row.tool.facts().id);
    let Some(value) = value else {
        return row.find(Kind::Unreadable, format!("{} cannot be read", file.display()), "repair the file");
    };
    let program = own_path().map(|own| own.to_string_lossy().into_owned()).unwrap_or_default();
    let wanted = hooks::wanted(row.tool.facts().id, facts, &program, &item.agent);
    if !row.hooks {
        row.find(Kind::Missing, "the hooks are gone from the file", again);
    } else if !hooks::complete(&value, &wanted) {
        row.find(Kind::StalePath, "the hooks are not as setup writes them", again);
    }
}

/// Asks the hubs whether they still take the keys that the tools use. A hub that does not answer in time is not waited for.
fn check_keys(rows: &mut [Row], profiles: &Profiles) -> Outcome {
    let profile_of = |row: &Row| profiles.load(row.agent.as_deref()?).ok().flatten();
    let profiles: Vec<Option<Profile>> =
        rows.iter().map(|row| profile_of(row).filter(|_| row.set_up)).collect();
    let client_of = |(row, profile): (&Row, &Option<Profile>)| {
        let profile = profile.as_ref()?;
        let key = row.key_in_file.as_ref().unwrap_or(&profile.api_key);
        Some(Client::new(profile.hub_url().ok()?).ok()?.with_key(key).with_patience(Duration::ZERO))
    };
    let clients: Vec<Option<Client>> = rows.iter().zip(&profiles).map(client_of).collect();
    let mut refused = Vec::new();
    block_on_and_leave(async {
        let asked: Vec<_> = clients.into_iter().map(|client| tokio::spawn(is_refused(client))).collect();
        for answer in asked {
            refused.push(answer.await.ok().flatten());
        }
        Ok(())
    })?;
    for ((row, profile), is_refused) in rows.iter_mut().zip(&profiles).zip(refused) {
        let Some(profile) = profile else { continue };
        let is_other = row.key_in_file.as_ref().is_some_and(|key| *key != profile.api_key);
        if is_other && is_refused != Some(false) {
            let fix = format!("tandem setup --tool {} --name {} --http", row.tool.facts().id, profile.name);
            row.find(Kind::DeadKey, "the file has an API key that was replaced", fix);
        } else if is_refused == Some(true) {
            row.find(Kind::DeadKey, "the hub refuses the API key", profile.login_command());
        }
    }
    Ok(())
}

/// Whether a hub refuses the key of a client, if it says anything.
async fn is_refused(client: Option<Client>) -> Option<bool> {
    let client = client?;
    let answered = tokio::time::timeout(ANSWER_MAX, client.profile()).await.ok()?;
    match answered {
        Ok(_) => Some(false),
        Err(error) => (error.code() == Some(Code::Unauthorized)).then_some(true),
    }
}

fn check_profile(row: &mut Row, profiles: &Profiles, agent: &str) {
    match profiles.load(agent) {
        Ok(Some(_)) => {}
        Ok(None) => row.find(
            Kind::ProfileMissing,
            format!("there is no profile {agent:?} on this machine"),
            format!("tandem login --as {agent}, or set the tool up again with another --name"),
        ),
        Err(failure) => row.find(Kind::ProfileMissing, failure.what(), "tandem doctor"),
    }
}

fn print(terminal: &Terminal, rows: &[Row]) -> Outcome {
    if rows.is_empty() {
        terminal.note("No AI tool was found on this machine.");
    }
    for row in rows {
        let facts = row.tool.facts();
        let place = if row.scope == Scope::Project { " (project)" } else { "" };
        let state = match (row.set_up, row.findings.is_empty()) {
            (_, false) => "problem",
            (true, true) if !row.notes.is_empty() => "unsure",
            (true, true) => "ok",
            (false, true) => "not set up",
        };
        let agent = row.agent.as_deref().map(text::line).unwrap_or_default();
        let hooks = if row.hooks { "hooks" } else { "" };
        if terminal.interactive {
            let line = format!("{:<11} {}{place}  {agent}  {hooks}", state, facts.name);
            terminal.line(line.trim_end())?;
        } else {
            terminal.line(&format!("{state}\t{}{place}\t{agent}\t{hooks}", facts.name))?;
        }
        for finding in &row.findings {
            let (detail, fix) = (text::line(&finding.detail), text::line(&finding.fix));
            terminal.line(&format!("            {detail}\n            Fix: {fix}"))?;
        }
        for note in &row.notes {
            terminal.line(&format!("            {}", text::line(note)))?;
        }
    }
    Ok(())
}

//! Sets tools up: shows the changes, asks, makes the agents, writes the files and asks each tool.

use std::path::PathBuf;

use serde_json::{Value, json};
use tandem_api::agents::RegisterAgent;
use tandem_client::{Client, HubUrl};
use tandem_core::text::AgentName;

use super::Arguments;
use super::allow;
use super::antigravity;
use super::detect::{Machine, Scope, own_path};
use super::diff;
use super::entry::{self, Found, Target};
use super::file::{Source, backup_of};
use super::plan::{self, Change, Wanted};
use super::record::{Item, Record, hash_of};
use super::tools::{Direct, Tool};
use super::verify::{self, Verdict};
use crate::commands::register::make_agent;
use crate::commands::session::{block_on, hub_beside, hub_of_profile};
use crate::commands::{Common, input, pair_local};
use crate::exit::{Failure, Outcome};
use crate::profiles::{Profile, Profiles, check_name, name_of};
use crate::terminal::{Terminal, text};

/// How often a file is read again because its tool has just written it.
const ATTEMPTS: usize = 5;

/// What a run works with.
struct Run<'a> {
    arguments: &'a Arguments,
    terminal: Terminal,
    machine: Machine,
    profiles: Profiles,
    record: Record,
    hub: HubUrl,
    program: PathBuf,
    /// Whether the models may use the tools that read and answer without a question.
    allow: bool,
}

/// Runs `tandem setup`.
pub(super) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let profiles = Profiles::of_user()?;
    let _locked = profiles.reserve_setup()?;
    let mut run = Run {
        arguments,
        terminal: common.terminal(),
        machine: Machine::of_user()?,
        record: Record::load(&profiles)?,
        hub: hub_beside(common, &profiles)?,
        program: own_path()?,
        allow: arguments.allow_tools,
        profiles,
    };
    let tools = run.tools()?;
    let is_asked = !(run.allow || arguments.yes || arguments.dry_run || run.terminal.json);
    run.allow |= is_asked && allow::offer(&tools)?;
    let wanted: Vec<Wanted> = tools.iter().map(|tool| run.wanted(*tool, common)).collect::<Outcome<_>>()?;
    let changed = run.show(&wanted)?;
    if arguments.dry_run {
        return run.terminal.done("Nothing was changed.");
    }
    if changed {
        run.confirm(&wanted)?;
    }
    block_on(run.apply(wanted))
}

impl Run<'_> {
    fn scope(&self) -> Scope {
        self.arguments.scope.unwrap_or(Scope::User)
    }

    fn tools(&self) -> Outcome<Vec<Tool>> {
        let mut tools = self.arguments.tools.clone();
        if tools.is_empty() {
            let has_file =
                |tool: &Tool| *tool == Tool::Antigravity || self.machine.file(*tool, self.scope()).is_some();
            let takes_entry = |tool: &Tool| !self.arguments.http || tool.facts().direct != Direct::None;
            tools = self.machine.tools();
            tools.retain(|tool| has_file(tool) && takes_entry(tool));
        }
        tools.sort();
        tools.dedup();
        if tools.is_empty() {
            return Err(Failure::not_found("no AI tool was found on this machine").next(
                "Name one with --tool, or print the entry for another one with `tandem setup --print json`.",
            ));
        }
        if self.arguments.http && self.scope() == Scope::Project {
            return Err(Failure::usage(
                "--http writes an API key, which does not belong in a project's file",
            )
            .next("Leave out --http or --scope project."));
        }
        if let Some(tool) =
            tools.iter().find(|tool| self.arguments.http && tool.facts().direct == Direct::None)
        {
            return Err(Failure::usage(format!(
                "{} takes no entry with an address from us",
                tool.facts().name
            ))
            .next("Leave out --http, or the tool."));
        }
        Ok(tools)
    }

    fn wanted(&self, tool: Tool, common: &Common) -> Outcome<Wanted> {
        let agent = self.agent_name(tool)?;
        check_name(&agent)?;
        let hub = match self.profiles.load(&agent)? {
            Some(profile) => hub_of_profile(common, &profile, &self.profiles)?,
            None => self.hub.clone(),
        };
        let target = match self.arguments.http {
            true => {
                // The real key takes the place of these words after the question.
                Target::Direct { url: mcp_url(&hub), key: format!("<the API key of {agent}>") }
            }
            false => Target::bridge(self.program.clone(), &agent),
        };
        let (scope, hooks) = (self.scope(), self.arguments.hooks);
        Ok(Wanted { tool, scope, agent, program: self.program.clone(), target, hooks, allow: self.allow })
    }

    /// The name that was given, the one from before, or one of this user and tool.
    fn agent_name(&self, tool: Tool) -> Outcome<String> {
        let id = tool.facts().id;
        let tools = if self.arguments.tools.is_empty() {
            self.machine.tools().len()
        } else {
            self.arguments.tools.len()
        };
        match &self.arguments.name {
            Some(name) if tools > 1 => return Ok(name_of(&format!("{name}-{id}"))),
            Some(name) => return Ok(name_of(name)),
            None => {}
        }
        let file = self.machine.file(tool, self.scope());
        if let Some(item) = self.record.find(tool, file.as_deref()) {
            return Ok(item.agent.clone());
        }
        if let Some(file) = file {
            let source = Source::read(&file)?;
            let found = plan::entry_of(source.text(), tool.facts()).ok().flatten();
            if let Some(Found::Bridge { agent: Some(agent), .. }) = found.as_ref().map(entry::read)
                && check_name(&agent).is_ok()
                && self.profiles.load(&agent)?.is_some()
            {
                return Ok(agent);
            }
        }
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let user = set("USER").or_else(|| set("LOGNAME")).unwrap_or_else(|| "my".to_owned());
        Ok(name_of(&format!("{user}-{id}")))
    }

    /// Prints every change. Returns whether there is one.
    fn show(&self, wanted: &[Wanted]) -> Outcome<bool> {
        let mut all = Vec::new();
        let mut changed = false;
        for wanted in wanted {
            let name = wanted.tool.facts().name;
            let is_new = self.profiles.load(&wanted.agent)?.is_none();
            changed |= is_new;
            let heading = format!("{name}: agent {}{}", wanted.agent, if is_new { " (new)" } else { "" });
            self.say(&self.terminal.bold(&heading))?;
            if wanted.tool == Tool::Antigravity {
                changed |= antigravity::is_needed(&self.record, wanted);
                self.say(&format!("  {}", antigravity::command_line(wanted)))?;
                continue;
            }
            for change in plan::changes(&self.machine, &self.record, wanted)? {
                let path = change.source.path.display().to_string();
                if !change.is_needed() {
                    self.say(&format!("  {path} has it already"))?;
                    continue;
                }
                changed = true;
                let diff =
                    diff::unified(&change.source.path, change.source.text.as_deref(), Some(&change.after));
                self.say(&diff::coloured(&self.terminal, &diff))?;
                if let Some(line) = diff::mode_line(change.source.mode, change.mode) {
                    self.say(&line)?;
                }
                let mode = change.mode.map(|mode| format!("{mode:o}"));
                all.push(json!({
                    "tool": wanted.tool, "agent": wanted.agent, "file": path, "diff": diff, "mode": mode,
                }));
            }
        }
        if self.arguments.dry_run && self.terminal.json {
            self.terminal.json_line(&json!({ "changes": all }))?;
        }
        Ok(changed)
    }

    /// A line for a person, which `--json` leaves out.
    fn say(&self, line: &str) -> Outcome {
        self.terminal.done(line)
    }

    fn confirm(&self, wanted: &[Wanted]) -> Outcome {
        let question = match (self.arguments.http, wanted.len()) {
            (true, _) => {
                "Write the API key of the agent into the tool's file? Whoever reads that file can act as the \
                          agent, so only you can read it from then on. Nothing can be encrypted for the agent."
                    .to_owned()
            }
            (false, 1) => format!("Set up {}?", wanted[0].tool.facts().name),
            (false, count) => format!("Set up these {count} tools?"),
        };
        input::confirm(&question, self.arguments.yes)
    }

    async fn apply(&mut self, mut wanted: Vec<Wanted>) -> Outcome {
        for wanted in &mut wanted {
            let profile = self.profile(&wanted.agent).await?;
            if let Target::Direct { key, .. } = &mut wanted.target {
                key.clone_from(&profile.api_key);
                if self.profiles.key_file(&wanted.agent).exists() {
                    self.terminal.note(&format!(
                        "{} has a key for encryption, which {} cannot use: it will see encrypted tasks as they are.",
                        wanted.agent,
                        wanted.tool.facts().name
                    ));
                }
            }
        }
        let mut results = Vec::new();
        for wanted in &wanted {
            let written = match wanted.tool {
                Tool::Antigravity => antigravity::add(&mut self.record, wanted).await,
                _ => self.write(wanted),
            };
            results.push((wanted, written));
        }
        self.report(results).await?;
        if !self.arguments.yes {
            pair_local::offer(&self.profiles, &self.terminal, wanted.iter().map(|one| &*one.agent)).await;
        }
        Ok(())
    }

    /// The profile of an agent, which is made if there is none.
    async fn profile(&self, name: &str) -> Outcome<Profile> {
        if let Some(profile) = self.profiles.load(name)? {
            return Ok(profile);
        }
        let agent_name: AgentName = input::checked("--name", name)?;
        let client = Client::new(self.hub.clone())?;
        let (before, current) = (self.profiles.names()?, self.profiles.current()?);
        let request = RegisterAgent::new(agent_name);
        let encrypted = !self.arguments.http;
        let (profile, _) =
            make_agent(&client, &self.profiles, &self.terminal, name, request, encrypted).await?;
        // Commands go on to act as the only agent that there was.
        match (current, before.as_slice()) {
            (None, [only]) => self.profiles.set_current(only)?,
            (None, []) => self.profiles.set_current(name)?,
            _ => {}
        }
        self.say(&format!("Registered {} ({}) on {}", text::line(name), profile.agent_id, profile.hub))?;
        Ok(profile)
    }

    /// Writes the files of a tool. Returns those that were changed.
    fn write(&mut self, wanted: &Wanted) -> Outcome<Vec<PathBuf>> {
        let mut written = Vec::new();
        for attempt in 1.. {
            let changes = plan::changes(&self.machine, &self.record, wanted)?;
            let mut again = false;
            for change in changes {
                change.source.clean_up();
                if !change.is_needed() {
                    // What is there may have been written by hand: then it is ours from now on.
                    self.record.put(Item { pending: false, ..change.item })?;
                    continue;
                }
                match self.write_one(change)? {
                    Some(path) => written.push(path),
                    None => again = true,
                }
            }
            if !again {
                break;
            }
            if attempt == ATTEMPTS {
                return Err(Failure::refused("the tool writes its file all the time")
                    .next("End the tool, then run `tandem setup` again."));
            }
        }
        Ok(written)
    }

    /// Writes a file; `None` if its tool has just changed it.
    fn write_one(&mut self, change: Change) -> Outcome<Option<PathBuf>> {
        let Change { source, after, mode, mut item } = change;
        let before = self.record.find(item.tool, item.file.as_deref()).cloned();
        // A file that setup has changed before is not the first version, and may have a key.
        let is_first = before.as_ref().is_none_or(|before| before.pending);
        item.created_folders.extend(source.missing_folders());
        item.backup |= is_first && source.lacks_backup();
        item.pending = is_first;
        item.last = item.last.map(|_| hash_of(&after));
        // First the record: an entry that is in no record could not be taken back exactly.
        self.record.put(item.clone().with_former(before.as_ref()))?;
        let written = source.write(&after, mode, is_first);
        if matches!(written, Ok(true)) {
            self.record.put(Item { pending: false, ..item })?;
            return Ok(Some(source.path));
        }
        let restored = match before {
            Some(before) => self.record.put(before),
            None => self.record.drop(&item),
        };
        // The first failure is the one to report.
        written.and(restored).map(|()| None)
    }

    async fn report(&self, results: Vec<(&Wanted, Outcome<Vec<PathBuf>>)>) -> Outcome {
        let (mut views, mut problems) = (Vec::new(), Vec::new());
        for (wanted, written) in results {
            let facts = wanted.tool.facts();
            let written = match written {
                Ok(written) => written,
                Err(failure) => {
                    views
                        .push(json!({ "tool": wanted.tool, "agent": wanted.agent, "error": failure.what() }));
                    problems.push(failure);
                    continue;
                }
            };
            let verdict = verify::ask(wanted.tool).await;
            let sentence = text::line(&verdict.sentence(facts.name));
            match verdict.is_problem() {
                true => problems.push(Failure::refused(sentence)),
                false => self.say(&sentence)?,
            }
            for path in written.iter().filter(|path| backup_of(path).exists()) {
                self.terminal.note(&format!("The file as it was: {}", backup_of(path).display()));
            }
            self.after(wanted, &verdict);
            views.push(view(wanted, &written, &verdict));
        }
        if self.terminal.json {
            self.terminal.json_line(&json!({ "tools": views }))?;
        }
        match problems.len() {
            0 => Ok(()),
            1 => Err(problems.remove(0)),
            _ => {
                let all: Vec<&str> = problems.iter().map(Failure::what).collect();
                Err(Failure::refused(all.join("\n  ")))
            }
        }
    }

    /// The one thing that a person does next.
    fn after(&self, wanted: &Wanted, verdict: &Verdict) {
        let facts = wanted.tool.facts();
        if wanted.hooks && wanted.tool == Tool::Codex {
            self.terminal
                .note("Codex runs a new hook only after you have reviewed it: type /hooks in Codex.");
        }
        if wanted.tool == Tool::Codex {
            self.terminal.note(
                "A session that is started with --no-daemon is woken only after its model has used a tool of Tandem once.",
            );
        }
        if *verdict == Verdict::PendingApproval
            || (wanted.scope == Scope::Project && wanted.tool == Tool::Claude)
        {
            self.terminal.note("Claude Code asks you to approve the entry when you start it in this folder.");
        }
        if let Some(note) = allow::note(facts).filter(|_| !wanted.allow) {
            self.terminal.note(&note);
        }
        self.terminal.note(&format!("Next: {}, and say: \"Show me my Tandem inbox.\"", facts.next));
    }
}

/// The address of a hub's MCP endpoint.
fn mcp_url(hub: &HubUrl) -> String {
    format!("{}/mcp", hub.to_string().trim_end_matches('/'))
}

fn view(wanted: &Wanted, written: &[PathBuf], verdict: &Verdict) -> Value {
    json!({ "tool": wanted.tool, "agent": wanted.agent, "scope": wanted.scope, "written": written, "check": verdict })
}

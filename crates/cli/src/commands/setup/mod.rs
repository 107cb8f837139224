//! `tandem setup`: connects the AI tools of this machine. Each gets an agent of its own and an entry in its configuration
//! that starts the bridge. The entry has no secret: the bridge finds the keys in the profile.

mod allow;
mod antigravity;
mod apply;
pub(super) mod detect;
mod diff;
mod edit_json;
mod edit_toml;
mod entry;
mod file;
mod hooks;
mod layout;
mod persons;
mod plan;
mod record;
mod remove;
mod snippet;
mod status;
mod tools;
mod undo;
mod verify;

use clap::{Args, Subcommand, ValueEnum};

use super::Common;
use crate::exit::Outcome;
use crate::profiles::Profiles;
use detect::Scope;
use tools::Tool;

/// Arguments of `tandem setup`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  tandem setup                             every tool that is installed; shows each change and asks
  tandem setup --tool claude,codex --hooks --allow-tools --yes
  tandem setup --tool cursor --scope project --dry-run
  tandem setup --remove                    take everything back
  tandem setup --print json                the entry, for a tool that is not in the list

Each file is changed only where the entry goes, and its first version is kept as FILE.tandem-bak. See docs/setup.md.
Tools: claude, claude-desktop, codex, gemini, antigravity, cursor, vscode, devin, windsurf, kiro, amazonq")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<SetupCommand>,
    /// Only these tools [default: all that are installed]
    #[arg(long = "tool", value_name = "TOOL", value_delimiter = ',', hide_possible_values = true)]
    tools: Vec<Tool>,
    /// Set up for everything you do, or for the project in this folder [default: user]
    #[arg(long, value_name = "SCOPE")]
    scope: Option<Scope>,
    /// The agent's name, with -TOOL for several tools; a profile of this name is reused [default: USER-TOOL]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Also add hooks that show news to the tool's model: Claude Code, Codex and Gemini
    #[arg(long)]
    hooks: bool,
    /// Also allow the tool's model to read and answer without asking you each time: Claude Code, Codex and Gemini
    #[arg(long)]
    allow_tools: bool,
    /// Let the tool call the hub itself: its file then has the API key, and nothing is encrypted
    #[arg(long, conflicts_with = "hooks")]
    http: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Take back what setup has added, and nothing else
    #[arg(long, conflicts_with_all = ["hooks", "allow_tools", "http", "name", "print"])]
    remove: bool,
    /// Only print the entry, for a tool that setup does not know
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["tools", "hooks", "allow_tools", "http", "dry_run"])]
    print: Option<PrintFormat>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PrintFormat {
    Json,
    Toml,
}

#[derive(Debug, Subcommand)]
enum SetupCommand {
    /// Compare the tools' files with what setup has written; changes nothing
    #[command(after_help = "\
Examples:
  tandem setup status
  tandem setup status --json

It exits with 1 if something has to be repaired.")]
    Status,
}

/// Whether setup has written hooks for an agent.
pub(super) fn has_hooks(profiles: &Profiles, agent: &str) -> bool {
    let record = record::Record::load(profiles);
    record.is_ok_and(|record| record.items.iter().any(|item| item.hooks && item.agent == agent))
}

/// Runs `tandem setup`.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    match (&arguments.command, arguments.print) {
        (Some(SetupCommand::Status), _) => status::run(common),
        (None, Some(format)) => snippet::run(format, arguments.name.as_deref(), common),
        (None, None) if arguments.remove => remove::run(arguments, common),
        (None, None) => apply::run(arguments, common),
    }
}

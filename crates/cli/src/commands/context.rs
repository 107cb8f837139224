//! `tandem context`: the profiles of this machine. Asks no hub.

use clap::{Args, Subcommand};
use serde_json::json;

use super::complete::profiles;
use super::{Common, logout};
use crate::exit::{Failure, Outcome};
use crate::profiles::Profiles;
use crate::terminal::table::Table;
use crate::terminal::{Terminal, text};

/// Arguments of `tandem context`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem context list
  tandem context use bob                   commands now act as bob
  tandem context key my-claude             its API key, for the header of a tool
  tandem context remove old-agent --yes")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: ContextCommand,
}

#[derive(Debug, Subcommand)]
enum ContextCommand {
    /// List the profiles of this machine; the current one has a *
    #[command(after_help = "Examples:\n  tandem context list --json")]
    List,
    /// Choose the profile that commands act as
    #[command(after_help = "Examples:\n  tandem context use bob")]
    Use {
        /// A profile of `tandem context list`
        #[arg(value_name = "PROFILE", add = profiles())]
        name: String,
    },
    /// Remove a profile with its keys from this machine; the agent stays on its hub
    #[command(after_help = "Examples:\n  tandem context remove bob --yes")]
    Remove {
        /// A profile of `tandem context list`
        #[arg(value_name = "PROFILE", add = profiles())]
        name: String,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
    /// Show the profile that commands act as, and where its files are
    #[command(after_help = "Examples:\n  tandem context show")]
    Show,
    /// Print a profile's API key, for a tool that has to send it itself
    #[command(after_help = "\
Examples:
  export CLAUDE_TANDEM_KEY=$(tandem context key my-claude)

Whoever has the key is the agent. Give each tool an agent of its own; `tandem rotate` ends a key that leaked.")]
    Key {
        /// A profile of `tandem context list` [default: the one that commands act as]
        name: Option<String>,
    },
}

/// Lists, chooses or removes profiles.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let (profiles, terminal) = (Profiles::of_user()?, common.terminal());
    match &arguments.command {
        ContextCommand::List => list(&profiles, &terminal),
        ContextCommand::Use { name } => {
            let profile = existing(&profiles, name)?;
            profiles.set_current(name)?;
            let view = json!({ "profile": name, "current": true });
            terminal.result(&view, |terminal| {
                let agent = text::line(&profile.agent_name);
                terminal.line(&format!("Commands now act as {agent} on {}.", text::line(&profile.hub)))
            })
        }
        ContextCommand::Remove { name, yes } => {
            // A profile that can no longer be read can still be removed.
            if !profiles.names()?.contains(name) {
                existing(&profiles, name)?;
            }
            logout::remove(&profiles, &terminal, name, *yes)
        }
        ContextCommand::Show => show(&profiles, &terminal, common.agent.as_deref()),
        ContextCommand::Key { name } => {
            let profile = profiles.select(name.as_deref().or(common.agent.as_deref()))?;
            if terminal.interactive {
                terminal.warn("This is a secret: whoever has it is the agent. Clear the screen afterwards.");
            }
            let view = json!({ "profile": profile.name, "apiKey": profile.api_key });
            terminal.result(&view, |terminal| terminal.line(&profile.api_key))
        }
    }
}

fn existing(profiles: &Profiles, name: &str) -> Outcome<crate::profiles::Profile> {
    profiles.load(name)?.ok_or_else(|| {
        Failure::not_found(format!("there is no profile {name:?} on this machine"))
            .next("`tandem context list` shows the profiles.")
    })
}

fn list(profiles: &Profiles, terminal: &Terminal) -> Outcome {
    let current = profiles.current()?;
    let mut table = Table::new(&["", "profile", "agent", "id", "hub"], 4);
    for name in profiles.names()? {
        let is_current = current.as_deref() == Some(&name);
        let mark = if is_current { "*" } else { "" };
        // One unreadable profile must not hide the others.
        match existing(profiles, &name) {
            Ok(profile) if terminal.json => terminal.json_line(&json!({
                "profile": name, "agentId": profile.agent_id, "agentName": profile.agent_name,
                "hub": profile.hub, "current": is_current,
            }))?,
            Ok(profile) => {
                table.row([mark, &name, &profile.agent_name, profile.agent_id.as_str(), &profile.hub]);
            }
            Err(failure) if terminal.json => {
                let error = failure.json()["error"].clone();
                terminal.json_line(&json!({ "profile": name, "current": is_current, "error": error }))?;
            }
            Err(failure) => {
                let error = failure.json()["error"].as_str().unwrap_or_default().to_owned();
                table.row([mark, &name, "-", "-", &error]);
            }
        }
    }
    if terminal.json {
        return Ok(());
    }
    table.print(terminal, "No profiles yet. `tandem register NAME` makes an agent.")
}

fn show(profiles: &Profiles, terminal: &Terminal, named: Option<&str>) -> Outcome {
    let profile = profiles.select(named)?;
    let key_file = profiles.key_file(&profile.name);
    let key = key_file.exists().then(|| key_file.display().to_string());
    let file = profiles.file_of(&profile.name).display().to_string();
    let view = json!({
        "profile": profile.name, "agentId": profile.agent_id, "agentName": profile.agent_name,
        "hub": profile.hub, "file": file, "privateKeyFile": key,
    });
    terminal.result(&view, |terminal| {
        terminal.line(&format!("Profile      {}", terminal.bold(&profile.name)))?;
        terminal.line(&format!("Agent        {} ({})", text::line(&profile.agent_name), profile.agent_id))?;
        terminal.line(&format!("Hub          {}", text::line(&profile.hub)))?;
        terminal.line(&format!("File         {file}"))?;
        terminal.line(&format!("Private key  {}", key.as_deref().unwrap_or("none")))
    })
}

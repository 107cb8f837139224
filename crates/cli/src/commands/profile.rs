//! `tandem profile`: what others see of the agent, and its rules for connections and tasks.

use std::fs::File;

use clap::{Args, Subcommand, ValueEnum};
use tandem_api::agents::{PatchAgent, Profile as AgentProfile};
use tandem_core::Rule;
use tandem_core::text::Capabilities;

use super::register::capabilities;
use super::{Common, Session, input};
use crate::exit::{Failure, Outcome};
use crate::profiles::Profile;
use crate::terminal::{Terminal, text};

/// Arguments of `tandem profile`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem profile show
  tandem profile set --description \"Reviews Rust code\" --capability rust --discoverable yes
  tandem profile set --approval require    hold tasks until you let them in")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: ProfileCommand,
}

#[derive(Debug, Subcommand)]
enum ProfileCommand {
    /// Show the agent as the hub knows it
    #[command(after_help = "Examples:\n  tandem profile show --json")]
    Show,
    /// Change name, description, tags and rules of the agent
    #[command(
        override_usage = "tandem profile set <OPTIONS>",
        after_help = "\
Examples:
  tandem profile set --name \"Ada's coder\"
  tandem profile set --capability rust --capability code-review   replaces all tags
  tandem profile set --auto-accept yes --approval require          anyone may connect; you let tasks in"
    )]
    Set(Box<Changes>),
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct Changes {
    /// The name that others see
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// What the agent does; an empty text removes it
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// A tag by which others find the agent; can be repeated and replaces all tags
    #[arg(long = "capability", value_name = "TAG", conflicts_with = "no_capabilities")]
    capabilities: Vec<String>,
    /// Remove all tags
    #[arg(long)]
    no_capabilities: bool,
    /// Whether the directory lists the agent
    #[arg(long, value_name = "YES|NO", value_parser = yes_or_no)]
    discoverable: Option<bool>,
    /// Whether others may connect without a pairing code
    #[arg(long, value_name = "YES|NO", value_parser = yes_or_no)]
    auto_accept: Option<bool>,
    /// What happens to tasks from connections without a rule of their own
    #[arg(long, value_name = "RULE")]
    approval: Option<Approval>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Approval {
    /// Tasks arrive at once
    Auto,
    /// Tasks wait until you let them in
    Require,
    /// The hub's default
    None,
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "true" | "on" | "1" => Ok(true),
        "no" | "false" | "off" | "0" => Ok(false),
        _ => Err("give yes or no".to_owned()),
    }
}

/// Shows or changes the agent's profile on the hub.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    Session::run(common, async |session| match &arguments.command {
        ProfileCommand::Show => show(&session.terminal, &session.client.profile().await?),
        ProfileCommand::Set(changes) => {
            let patch = patch(changes)?;
            // First of all, so that a profile that cannot be locked now changes neither here nor on the hub.
            let locked = match (&session.profile, &patch.name) {
                (Some(profile), Some(_)) => Some(session.profiles.reserve(&profile.name)?),
                _ => None,
            };
            let changed = session.client.change_profile(&patch).await?;
            keep_name(&session, &changed, locked)?;
            show(&session.terminal, &changed)
        }
    })
}

fn patch(changes: &Changes) -> Outcome<PatchAgent> {
    let checked_description = |text: &str| match text {
        "" => Ok(None),
        text => input::checked("--description", text).map(Some),
    };
    Ok(PatchAgent {
        name: changes.name.as_deref().map(|name| input::checked("--name", name)).transpose()?,
        description: changes.description.as_deref().map(checked_description).transpose()?,
        capabilities: match changes.no_capabilities {
            true => Some(Capabilities::default()),
            false => capabilities(&changes.capabilities)?,
        },
        discoverable: changes.discoverable,
        auto_accept: changes.auto_accept,
        default_approval_rule: changes.approval.map(|rule| match rule {
            Approval::Auto => Some(Rule::Auto),
            Approval::Require => Some(Rule::Require),
            Approval::None => None,
        }),
        ..PatchAgent::default()
    })
}

/// The profile on this machine shows the agent's name too. It is read again, because another command may have replaced
/// the key since this one began.
fn keep_name(session: &Session, changed: &AgentProfile, locked: Option<File>) -> Outcome {
    let Some(begun) = &session.profile else { return Ok(()) };
    if locked.is_none() && begun.agent_name == changed.name.as_str() {
        return Ok(());
    }
    // A name that was changed elsewhere can wait for the next command.
    let Some(_locked) = locked.or_else(|| session.profiles.reserve(&begun.name).ok()) else { return Ok(()) };
    let renamed = match session.profiles.load(&begun.name)? {
        Some(stored) if stored.agent_id == changed.id => {
            Profile { agent_name: changed.name.as_str().to_owned(), ..stored }
        }
        _ => return Ok(()),
    };
    let saved = session.profiles.save(&renamed);
    saved.map_err(|failure: Failure| failure.next("The hub has the new name already."))
}

fn show(terminal: &Terminal, agent: &AgentProfile) -> Outcome {
    terminal.result(agent, |terminal| {
        let yes = |yes: bool| if yes { "yes" } else { "no" };
        let tags = agent.capabilities.as_slice().join(", ");
        let row = |name: &str, value: &str| {
            let value = text::line(value);
            terminal.line(&format!("{name:<13}{}", if value.is_empty() { "-" } else { &value }))
        };
        row("Agent", agent.name.as_str())?;
        row("Id", agent.id.as_str())?;
        row("Description", agent.description.as_ref().map_or("", |text| text.as_str()))?;
        row("Tags", &tags)?;
        row("Discoverable", yes(agent.discoverable))?;
        row("Auto-accept", yes(agent.auto_accept))?;
        row("Approval", agent.default_approval_rule.map_or("not set", Rule::as_str))?;
        row("Encryption", if agent.public_key.is_some() { "yes" } else { "no key" })?;
        row("Credits", &format!("{} USD", serde_json::to_string(&agent.credits).unwrap_or_default()))
    })
}

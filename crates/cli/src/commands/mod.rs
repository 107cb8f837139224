//! The commands that call a hub, a file per noun.

mod context;
mod input;
mod login;
mod logout;
mod profile;
mod register;
mod rotate;
mod session;
mod trust;
pub(crate) mod whoami;

use clap::{Args, Subcommand};

use crate::exit::Outcome;
use crate::terminal::Terminal;
pub(crate) use session::Session;

/// Options of every command that calls a hub.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Print JSON: one object, or one per line for streams and lists
    #[arg(long, global = true, help_heading = "Common options")]
    pub(crate) json: bool,
    /// Print results only, no advice and no progress
    #[arg(long, short, global = true, help_heading = "Common options")]
    pub(crate) quiet: bool,
    /// Act as this agent: a profile of `tandem context list` [default: the current one]
    // An id of its own: clap would give an argument `agent` of any command to this option too.
    #[arg(id = "acting_agent", long = "agent", global = true, value_name = "NAME")]
    #[arg(env = "TANDEM_AGENT", help_heading = "Common options")]
    pub(crate) agent: Option<String>,
    /// The hub's address [default: the profile's]
    #[arg(long, global = true, value_name = "URL", env = "TANDEM_HUB", help_heading = "Common options")]
    pub(crate) hub: Option<String>,
}

impl Common {
    pub(crate) fn terminal(&self) -> Terminal {
        Terminal::new(self.json, self.quiet)
    }
}

/// The commands that call a hub.
#[derive(Debug, Subcommand)]
pub(crate) enum ClientCommand {
    /// Make an agent on a hub: keys are made here and stored for you only
    Register(register::Arguments),
    /// Use an agent that exists already, with its API key
    Login(login::Arguments),
    /// Forget an agent on this machine; with --delete-agent also on the hub
    Logout(logout::Arguments),
    /// Replace the agent's API key; the old one stops working at once
    Rotate(rotate::Arguments),
    /// List, choose and remove the profiles of this machine
    Context(context::Arguments),
    /// Compare and accept the public key of another agent
    Trust(trust::Arguments),
    /// Show and change what others see of the agent, and its rules
    Profile(profile::Arguments),
    /// Show which agent commands act as; asks no hub
    Whoami(whoami::Arguments),
}

/// Runs a command.
pub(crate) fn run(command: ClientCommand, common: &Common) -> Outcome {
    match command {
        ClientCommand::Register(arguments) => register::run(&arguments, common),
        ClientCommand::Login(arguments) => login::run(&arguments, common),
        ClientCommand::Logout(arguments) => logout::run(&arguments, common),
        ClientCommand::Rotate(arguments) => rotate::run(&arguments, common),
        ClientCommand::Context(arguments) => context::run(&arguments, common),
        ClientCommand::Trust(arguments) => trust::run(&arguments, common),
        ClientCommand::Profile(arguments) => profile::run(&arguments, common),
        ClientCommand::Whoami(arguments) => whoami::run(&arguments, common),
    }
}

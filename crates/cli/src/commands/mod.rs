//! The commands that call a hub, a file per noun.

mod admin;
mod demo;
mod doctor;
mod feed;
mod listen;
mod metrics;
mod operator;
mod session;
mod top;
mod webhook;
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
    #[arg(long, global = true, value_name = "NAME", env = "TANDEM_AGENT", help_heading = "Common options")]
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
    /// Show which agent commands act as; asks no hub
    Whoami(whoami::Arguments),
    /// See and change agents, credits and settings of a hub, as its operator
    Admin(admin::Arguments),
    /// Watch a hub at work: agents, tasks, requests, memory
    Top(top::Arguments),
    /// Check this machine, the hub and the way between them; every problem with its fix
    Doctor(doctor::Arguments),
    /// Watch two scripted agents pair, send a task, approve, ask, answer and deliver
    Demo(demo::Arguments),
    /// Forward your events to a program on this machine, as signed webhooks
    Listen(listen::Arguments),
    /// Set your webhook, test it and look at its deliveries
    Webhook(webhook::Arguments),
}

/// Runs a command.
pub(crate) fn run(command: ClientCommand, common: &Common) -> Outcome {
    match command {
        ClientCommand::Whoami(arguments) => whoami::run(&arguments, common),
        ClientCommand::Admin(arguments) => admin::run(&arguments, common),
        ClientCommand::Top(arguments) => top::run(&arguments, common),
        ClientCommand::Doctor(arguments) => doctor::run(&arguments, common),
        ClientCommand::Demo(arguments) => demo::run(&arguments, common),
        ClientCommand::Listen(arguments) => listen::run(arguments, common),
        ClientCommand::Webhook(arguments) => webhook::run(arguments, common),
    }
}

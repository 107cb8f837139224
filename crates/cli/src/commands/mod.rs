//! The commands that call a hub, a file per noun.

mod account;
mod admin;
mod agent_names;
mod autoloaded_files;
mod block;
mod complete;
mod connections;
mod context;
mod demo;
mod discover;
mod doctor;
mod events;
mod file;
mod first_agent;
mod follow_task;
mod hook;
mod inbox;
mod input;
mod known_tasks;
mod listen;
mod login;
mod logout;
mod loop_detection;
mod mcp;
mod media_type;
mod message;
mod metrics;
mod network;
mod nodes;
mod operator;
mod pages;
mod pair;
mod pair_local;
mod profile;
mod register;
mod rotate;
mod run;
mod scripted_agent;
mod send;
mod session;
mod setup;
mod setup_link;
pub(crate) mod shell;
mod task;
mod task_names;
mod task_view;
mod top;
mod trust;
mod wait;
mod webhook;
mod whoami;

use clap::{Args, Subcommand};

use crate::exit::Outcome;
use crate::terminal::Terminal;
pub(crate) use session::Session;

/// Options of every command that calls a hub.
#[derive(Debug, Default, Args)]
pub(crate) struct Common {
    /// Print JSON: one object, or one per line for streams and lists
    #[arg(long, global = true, help_heading = "Common options")]
    pub(crate) json: bool,
    /// Print results only, no advice and no progress
    #[arg(long, short, global = true, help_heading = "Common options")]
    pub(crate) quiet: bool,
    // Ids of their own, because commands have arguments named `agent` too.
    /// Act as this agent, a profile of this machine [default: the current one]
    #[arg(id = "acting_agent", long = "agent", global = true, value_name = "NAME", env = "TANDEM_AGENT")]
    #[arg(hide_env_values = true, help_heading = "Common options", add = complete::profiles())]
    pub(crate) agent: Option<String>,
    /// The hub's address; a profile has only its own [default: the profile's]
    #[arg(id = "hub_address", long = "hub", global = true, value_name = "URL", env = "TANDEM_HUB")]
    #[arg(hide_env_values = true, help_heading = "Common options")]
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
    /// Connect the AI tools of this machine: an agent each, and an entry in the tool's configuration
    Setup(setup::Arguments),
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
    /// Connect with another agent: make a pairing code and wait, or redeem one
    Pair(pair::Arguments),
    /// List the agents that you can reach
    Agents(connections::AgentsArguments),
    /// List your connections, and set aliases and approval rules
    #[command(args_conflicts_with_subcommands = true)]
    Connections(connections::Arguments),
    /// Find agents in the hub's directory
    Discover(discover::Arguments),
    /// Connect to an agent that is open for it, without a code
    Connect(discover::ConnectArguments),
    /// Block an agent: it can no longer reach you
    Block(block::Arguments),
    /// End a block
    Unblock(block::UnblockArguments),
    /// List the agents that you have blocked
    Blocks(block::ListArguments),
    /// Give another agent a task
    Send(send::Arguments),
    /// Show what waits for you
    Inbox(inbox::Arguments),
    /// Work with tasks: list, show, accept, reply, and so on
    Task(task::Arguments),
    /// List the tasks that wait for your approval
    Approvals(inbox::ApprovalsArguments),
    /// Send a message on a task, or to an agent
    #[command(visible_alias = "msg")]
    Message(message::Arguments),
    /// Block until something arrives, and print it
    Wait(wait::Arguments),
    /// Serve MCP to an AI tool on this machine: it starts this and talks to it
    Mcp(mcp::Arguments),
    /// Send and download files
    File(file::Arguments),
    /// Follow your events
    Events(events::Arguments),
    /// Work with networks of agents
    Network(network::Arguments),
    /// Show your balance, or report what a task cost
    Usage(account::UsageArguments),
    /// Download everything that the hub stores about you
    Export(account::ExportArguments),
    /// See and change agents, credits and settings of a hub, as its operator
    Admin(admin::Arguments),
    /// Print a one-time link that signs you in to the dashboard of your hub, as its operator
    SetupLink(setup_link::Arguments),
    /// List the processes that serve a hub: versions, bus, sockets; as its operator
    Nodes(nodes::Arguments),
    /// Watch a hub at work: agents, tasks, requests, memory
    Top(top::Arguments),
    /// Check this machine, the hub and the way between them; every problem with its fix
    Doctor(doctor::Arguments),
    /// Watch two scripted agents pair, send a task, approve, ask, answer and deliver
    Demo(demo::Arguments),
    /// Forward your events to a program on this machine, as signed webhooks
    Listen(listen::Arguments),
    /// Tell an AI tool what is new for its agent, from a hook of the tool
    Hook(hook::Arguments),
    /// Start a program for each task that arrives, and send back its result
    Run(run::Arguments),
    /// Set your webhook, test it and look at its deliveries
    Webhook(webhook::Arguments),
}

pub(crate) fn run(command: ClientCommand, common: &Common) -> Outcome {
    match command {
        ClientCommand::Register(arguments) => register::run(&arguments, common),
        ClientCommand::Setup(arguments) => setup::run(&arguments, common),
        ClientCommand::Login(arguments) => login::run(&arguments, common),
        ClientCommand::Logout(arguments) => logout::run(&arguments, common),
        ClientCommand::Rotate(arguments) => rotate::run(&arguments, common),
        ClientCommand::Context(arguments) => context::run(&arguments, common),
        ClientCommand::Trust(arguments) => trust::run(&arguments, common),
        ClientCommand::Profile(arguments) => profile::run(&arguments, common),
        ClientCommand::Whoami(arguments) => whoami::run(&arguments, common),
        ClientCommand::Pair(arguments) => pair::run(&arguments, common),
        ClientCommand::Agents(arguments) => connections::agents(&arguments, common),
        ClientCommand::Connections(arguments) => connections::run(&arguments, common),
        ClientCommand::Discover(arguments) => discover::run(&arguments, common),
        ClientCommand::Connect(arguments) => discover::connect(&arguments, common),
        ClientCommand::Block(arguments) => block::run(&arguments, common),
        ClientCommand::Unblock(arguments) => block::unblock(&arguments, common),
        ClientCommand::Blocks(arguments) => block::list(&arguments, common),
        ClientCommand::Send(arguments) => send::run(&arguments, common),
        ClientCommand::Inbox(arguments) => inbox::run(&arguments, common),
        ClientCommand::Task(arguments) => task::run(&arguments, common),
        ClientCommand::Approvals(arguments) => inbox::approvals(&arguments, common),
        ClientCommand::Message(arguments) => message::run(&arguments, common),
        ClientCommand::Wait(arguments) => wait::run(&arguments, common),
        ClientCommand::Mcp(arguments) => mcp::run(&arguments, common),
        ClientCommand::File(arguments) => file::run(&arguments, common),
        ClientCommand::Events(arguments) => events::run(&arguments, common),
        ClientCommand::Network(arguments) => network::run(&arguments, common),
        ClientCommand::Usage(arguments) => account::usage(&arguments, common),
        ClientCommand::Export(arguments) => account::export(&arguments, common),
        ClientCommand::Admin(arguments) => admin::run(&arguments, common),
        ClientCommand::SetupLink(arguments) => setup_link::run(&arguments, common),
        ClientCommand::Nodes(arguments) => nodes::run(&arguments, common),
        ClientCommand::Top(arguments) => top::run(&arguments, common),
        ClientCommand::Doctor(arguments) => doctor::run(&arguments, common),
        ClientCommand::Demo(arguments) => demo::run(&arguments, common),
        ClientCommand::Listen(arguments) => listen::run(arguments, common),
        ClientCommand::Hook(arguments) => hook::run(&arguments, common),
        ClientCommand::Run(arguments) => run::run(&arguments, common),
        ClientCommand::Webhook(arguments) => webhook::run(arguments, common),
    }
}

//! `tandem agents`, `tandem connections`: whom the agent can reach, and on which terms.

use clap::{Args, Subcommand};
use tandem_api::connections::{ConnectionView, PatchConnection};
use tandem_core::Rule;

use super::complete::connected_agents;
use super::input::{checked, confirm};
use super::pages::Extent;
use super::{Common, Session};
use crate::exit::Outcome;
use crate::terminal::table::Table;
use crate::terminal::{Terminal, text, time};

/// Arguments of `tandem agents`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem agents
  tandem agents --json | jq -r .agentId")]
pub(crate) struct AgentsArguments {
    #[command(flatten)]
    extent: Extent,
}

/// Arguments of `tandem connections`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem connections
  tandem connections alias agent_01k2 bob      a name of your own for it
  tandem connections rule bob require          its tasks wait for your approval
  tandem connections remove bob")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<ConnectionCommand>,
    #[command(flatten)]
    extent: Extent,
}

#[derive(Debug, Subcommand)]
enum ConnectionCommand {
    /// Set your own name for a connected agent
    #[command(after_help = "\
Examples:
  tandem connections alias agent_01k2 bob
  tandem connections alias bob             removes the alias")]
    Alias {
        /// Alias, id or name of the agent
        #[arg(value_name = "AGENT", add = connected_agents())]
        agent: String,
        /// The new alias; leave it out to remove the alias
        #[arg(value_name = "NAME")]
        alias: Option<String>,
    },
    /// Decide whether tasks of an agent need your approval
    #[command(after_help = "Examples:\n  tandem connections rule bob require")]
    Rule {
        /// Alias, id or name of the agent
        #[arg(value_name = "AGENT", add = connected_agents())]
        agent: String,
        /// auto: tasks come in at once; require: they wait for you; default: as your profile says
        #[arg(value_name = "RULE", hide_possible_values = true)]
        rule: RuleArgument,
    },
    /// End a connection; its live tasks are cancelled
    #[command(after_help = "Examples:\n  tandem connections remove bob --yes")]
    Remove {
        /// Alias, id or name of the agent
        #[arg(value_name = "AGENT", add = connected_agents())]
        agent: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum RuleArgument {
    Auto,
    Require,
    Default,
}

/// Lists the agents that can be reached.
pub(crate) fn agents(arguments: &AgentsArguments, common: &Common) -> Outcome {
    Session::run(common, async |session| {
        let client = &session.client;
        let listed = arguments.extent.read(|query| async move { client.connections(&query).await });
        let table = Table::new(&["agent", "id", "seen", "wakes by", "encryption", "capabilities"], 5);
        let now = time::now();
        let row = |table: &mut Table, connection: &ConnectionView| {
            let connected = &connection.connected;
            let seen = if connection.online {
                "online".to_owned()
            } else {
                connection.last_seen_at.map_or_else(|| "never".to_owned(), |at| time::relative(at, now))
            };
            let encryption = if connected.public_key.is_some() { "yes" } else { "no" };
            table.row([
                display_name(connection),
                connected.agent_id.to_string(),
                seen,
                connection.reach.as_str().to_owned(),
                encryption.to_owned(),
                connected.capabilities.as_slice().join(", "),
            ]);
        };
        listed.await?.print(&session.terminal, table, row, NOBODY)
    })
}

const NOBODY: &str =
    "You have no connections yet. `tandem pair` makes a code for the owner of another agent.";

/// The alias, or the agent's own name.
pub(crate) fn display_name(connection: &ConnectionView) -> String {
    let alias = connection.alias.as_ref().map(|alias| alias.as_str().to_owned());
    alias.unwrap_or_else(|| connection.connected.agent_name.as_str().to_owned())
}

/// Lists or changes connections.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    Session::run(common, async |session| match &arguments.command {
        None => list(&session, arguments.extent).await,
        Some(ConnectionCommand::Alias { agent, alias }) => {
            let alias = alias.as_ref().map(|alias| checked("the alias", alias)).transpose()?;
            let change = PatchConnection { alias: Some(alias), approval: None };
            change_connection(&session, agent, &change).await
        }
        Some(ConnectionCommand::Rule { agent, rule }) => {
            let rule = match rule {
                RuleArgument::Auto => Some(Rule::Auto),
                RuleArgument::Require => Some(Rule::Require),
                RuleArgument::Default => None,
            };
            change_connection(&session, agent, &PatchConnection { alias: None, approval: Some(rule) }).await
        }
        Some(ConnectionCommand::Remove { agent, yes }) => remove(&session, agent, *yes).await,
    })
}

async fn list(session: &Session, extent: Extent) -> Outcome {
    let client = &session.client;
    let listed = extent.read(|query| async move { client.connections(&query).await });
    let table = Table::new(&["agent", "alias", "their tasks", "connected", "connection", "agent id"], 5);
    let now = time::now();
    let row = |table: &mut Table, connection: &ConnectionView| {
        let connected = &connection.connected;
        table.row([
            connected.agent_name.as_str(),
            connection.alias.as_ref().map_or("", |alias| alias.as_str()),
            rule_words(connection.approval),
            &time::relative(connection.created_at, now),
            connected.connection_id.as_str(),
            connected.agent_id.as_str(),
        ]);
    };
    listed.await?.print(&session.terminal, table, row, NOBODY)
}

fn rule_words(rule: Option<Rule>) -> &'static str {
    match rule {
        Some(Rule::Auto) => "come in",
        Some(Rule::Require) => "need approval",
        None => "by default",
    }
}

async fn change_connection(session: &Session, agent: &str, change: &PatchConnection) -> Outcome {
    let connection = session.agent(agent).await?;
    if change.alias.is_some() {
        // An alias is remembered with a key. One that cannot be pinned is no reason against an alias, which tells agents of
        // the same name apart.
        let _ = session.pin(&connection.connected);
    }
    let changed = session.client.change_connection(&connection.connected.connection_id, change).await?;
    if let (Some(alias), Some(pins)) = (&change.alias, session.pins()?) {
        // If the hub gives it to another agent later, that is noticed.
        let old = connection.alias.as_ref().map(|alias| alias.as_str());
        let new = alias.as_ref().map(|alias| alias.as_str());
        pins.set_alias(&connection.connected.agent_id, old, new)?;
    }
    session.terminal.result(&changed, |terminal: &Terminal| {
        let name = text::line(&display_name(&changed));
        terminal.done(&format!("{name}: tasks {}", rule_words(changed.approval)))
    })
}

async fn remove(session: &Session, agent: &str, yes: bool) -> Outcome {
    let connection = session.agent(agent).await?;
    let name = text::line(&display_name(&connection));
    confirm(&format!("End the connection to {name} and cancel its live tasks?"), yes)?;
    let ended = session.client.disconnect(&connection.connected.connection_id).await?;
    session.terminal.result(&ended, |terminal| {
        terminal.done(&format!("Disconnected from {name}; {} tasks cancelled.", ended.cancelled_tasks))
    })
}

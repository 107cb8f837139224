//! `tandem admin`: what the operator of a hub sees and changes. The hub shows the operator no content.

mod agents;
mod lists;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;
use tandem_api::admin::{AdminEventsQuery, Overview, PatchAgentTerms};
use tandem_client::Client;
use tandem_core::credits::Usd;

use super::Common;
use super::operator::OperatorOptions;
use super::pages::Extent;
use super::session::block_on;
use crate::exit::Outcome;
use crate::terminal::table::Table;
use crate::terminal::{Terminal, time};

/// Arguments of `tandem admin`.
#[derive(Debug, Args)]
#[command(after_help = "\
The operator's token goes to the hub of --hub or TANDEM_HUB, else to http://127.0.0.1:3000; never to that of a profile.

Examples:
  tandem admin overview                                  on the machine of the hub, in its folder
  TANDEM_ADMIN_TOKEN=... tandem admin agents --hub https://hub.example.com
  tandem admin agents --token-file operator.token --all --json | jq -r .name")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: AdminCommand,
    #[command(flatten)]
    operator: OperatorOptions,
}

#[derive(Debug, Subcommand)]
enum AdminCommand {
    /// Show how many agents, tasks and events the hub has, and for how long it runs
    #[command(after_help = "Examples:\n  tandem admin overview\n  tandem admin overview --json | jq .tasks")]
    Overview,
    /// List the agents: how they can be reached, their credits, who is suspended
    #[command(after_help = "Examples:\n  tandem admin agents\n  tandem admin agents --all --json")]
    Agents(Extent),
    /// List the tasks without their content, newest first
    #[command(after_help = "Examples:\n  tandem admin tasks --limit 20")]
    Tasks(Extent),
    /// List the events in the logs without their content, newest first
    #[command(after_help = "Examples:\n  tandem admin events --of ada --limit 20")]
    Events(EventsArguments),
    /// List the webhook deliveries without address and content, newest first
    #[command(after_help = "Examples:\n  tandem admin deliveries --limit 20")]
    Deliveries(Extent),
    /// Show the settings in force, without secrets
    #[command(after_help = "Examples:\n  tandem admin settings\n  tandem admin settings --json | jq .listen")]
    Settings,
    /// Set an agent's balance in US dollars
    #[command(after_help = "Examples:\n  tandem admin credits ada 2.50")]
    Credits {
        /// Id, beginning of an id, or name
        #[arg(value_name = "AGENT")]
        named: String,
        /// The new balance, with up to six decimals
        #[arg(value_parser = dollars)]
        amount: Usd,
    },
    /// Refuse all requests of an agent; nothing is deleted
    #[command(after_help = "Examples:\n  tandem admin suspend agent_01kz")]
    Suspend {
        /// Id, beginning of an id, or name
        #[arg(value_name = "AGENT")]
        named: String,
    },
    /// Let a suspended agent in again
    #[command(after_help = "Examples:\n  tandem admin resume agent_01kz")]
    Resume {
        /// Id, beginning of an id, or name
        #[arg(value_name = "AGENT")]
        named: String,
    },
    /// Set whether tasks for an agent cost their senders credits
    #[command(after_help = "Examples:\n  tandem admin charge ada on")]
    Charge {
        /// Id, beginning of an id, or name
        #[arg(value_name = "AGENT")]
        named: String,
        #[arg(value_enum)]
        to: Switch,
    },
}

#[derive(Debug, Args)]
struct EventsArguments {
    /// Only the log of this agent: id, beginning of an id, or name
    #[arg(long, value_name = "AGENT")]
    of: Option<String>,
    #[command(flatten)]
    extent: Extent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    /// They cost credits
    On,
    /// They are free
    Off,
}

fn dollars(text: &str) -> Result<Usd, String> {
    let number: f64 = text.parse().map_err(|_| "must be an amount in US dollars, such as 2.50".to_owned())?;
    Usd::try_from(number).map_err(|unfit| unfit.to_string())
}

/// Runs `tandem admin`.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let client = arguments.operator.client(common)?;
    let terminal = common.terminal();
    block_on(async {
        match &arguments.command {
            AdminCommand::Overview => overview(&client, &terminal).await,
            AdminCommand::Agents(extent) => lists::agents(&client, *extent, &terminal).await,
            AdminCommand::Tasks(extent) => lists::tasks(&client, *extent, &terminal).await,
            AdminCommand::Events(events) => {
                let agent_id = match &events.of {
                    Some(named) => Some(agents::find(&client, named).await?.id),
                    None => None,
                };
                let query = AdminEventsQuery { agent_id, limit: None, cursor: None };
                lists::events(&client, &query, events.extent, &terminal).await
            }
            AdminCommand::Deliveries(extent) => lists::deliveries(&client, *extent, &terminal).await,
            AdminCommand::Settings => settings(&client, &terminal).await,
            AdminCommand::Credits { named, amount } => {
                let terms = PatchAgentTerms { credits: Some(*amount), ..PatchAgentTerms::default() };
                agents::change(&client, named, &terms, &terminal).await
            }
            AdminCommand::Suspend { named } => suspend(&client, named, true, &terminal).await,
            AdminCommand::Resume { named } => suspend(&client, named, false, &terminal).await,
            AdminCommand::Charge { named, to } => {
                let costs_credits = Some(*to == Switch::On);
                let terms = PatchAgentTerms { costs_credits, ..PatchAgentTerms::default() };
                agents::change(&client, named, &terms, &terminal).await
            }
        }
    })
}

async fn suspend(client: &Client, agent: &str, suspended: bool, terminal: &Terminal) -> Outcome {
    let terms = PatchAgentTerms { suspended: Some(suspended), ..PatchAgentTerms::default() };
    agents::change(client, agent, &terms, terminal).await
}

async fn overview(client: &Client, terminal: &Terminal) -> Outcome {
    let overview: Overview = client.admin_overview().await?;
    terminal.result(&overview, |terminal| {
        let mut table = Table::new(&["figure", "value"], 1);
        table.row(["version", overview.version.as_str()]);
        table.row(["database", overview.database.as_str()]);
        table.row(["uptime", &time::short(overview.uptime_seconds)]);
        let counts = [
            ("agents", overview.agents),
            ("agents online", i64::try_from(overview.agents_online).unwrap_or(i64::MAX)),
            ("open sockets", i64::try_from(overview.open_sockets).unwrap_or(i64::MAX)),
            ("open streams", i64::try_from(overview.open_streams).unwrap_or(i64::MAX)),
            ("connections", overview.connections),
            ("messages", overview.messages),
            ("events", overview.events),
        ];
        for (name, count) in counts {
            table.row([name, &count.to_string()]);
        }
        for (status, count) in &overview.tasks {
            table.row([&format!("tasks {status}"), &count.to_string()]);
        }
        for (name, count) in &overview.store {
            table.row([&format!("store {name}"), &count.to_string()]);
        }
        table.print(terminal, "")
    })
}

async fn settings(client: &Client, terminal: &Terminal) -> Outcome {
    let settings = client.admin_settings().await?;
    terminal.result(&settings, |terminal| {
        let mut table = Table::new(&["setting", "value"], 1);
        for (name, value) in settings.as_object().into_iter().flatten() {
            let shown = match value {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            };
            table.row([name, &shown]);
        }
        table.print(terminal, "The hub shows no settings.")
    })
}

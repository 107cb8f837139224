//! `tandem discover` and `tandem connect`: agents in the hub's directory.

use clap::Args;
use tandem_api::agents::DiscoverQuery;
use tandem_core::AgentId;

use super::input::checked;
use super::{Common, Session};
use crate::exit::{Failure, Outcome};
use crate::terminal::table::Table;
use crate::terminal::{text, time};

/// Arguments of `tandem discover`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem discover                         everybody in the directory
  tandem discover review --capability rust
  tandem connect agent_01k2abc            connect to one that is open for it")]
pub(crate) struct Arguments {
    /// Words to look for in names and descriptions
    #[arg(value_name = "TEXT")]
    words: Option<String>,
    /// Only agents with this capability
    #[arg(long, value_name = "TAG")]
    capability: Option<String>,
    /// Print at most this many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    /// Leave out this many first
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u32,
}

/// Arguments of `tandem connect`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem connect agent_01k2abc")]
pub(crate) struct ConnectArguments {
    /// The agent's id, from `tandem discover`
    #[arg(value_name = "AGENT_ID")]
    agent: String,
}

/// Searches the directory.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    Session::run(common, async |session| {
        let query = DiscoverQuery {
            capability: arguments.capability.as_ref().map(|tag| checked("--capability", tag)).transpose()?,
            q: arguments.words.as_ref().map(|words| checked("TEXT", words)).transpose()?,
            query: None,
            limit: Some(i64::from(arguments.limit)),
            offset: Some(i64::from(arguments.offset)),
        };
        let found = session.client.discover(&query).await?;
        if session.terminal.json {
            return found.agents.iter().try_for_each(|agent| session.terminal.json_line(agent));
        }
        let header = ["agent", "id", "seen", "connects", "done", "capabilities", "description"];
        let mut table = Table::new(&header, 6);
        for agent in &found.agents {
            let now = time::now();
            let seen = agent.last_seen_at.map_or_else(|| "never".to_owned(), |at| time::relative(at, now));
            table.row([
                agent.name.as_str(),
                agent.id.as_str(),
                if agent.online { "online" } else { &seen },
                if agent.auto_accept { "at once" } else { "by code" },
                &agent
                    .task_completion_rate
                    .map_or_else(|| "-".to_owned(), |rate| format!("{:.0}%", rate * 100.0)),
                &agent.capabilities.as_slice().join(", "),
                agent.description.as_ref().map_or("", |description| description.as_str()),
            ]);
        }
        table.print(&session.terminal, "The directory has no such agent.")?;
        let shown = i64::from(arguments.offset) + i64::try_from(found.agents.len()).unwrap_or(i64::MAX);
        if shown < found.total {
            session.terminal.note(&format!("{shown} of {}; go on with --offset {shown}.", found.total));
        }
        Ok(())
    })
}

/// Connects to an agent that accepts connections without a code.
pub(crate) fn connect(arguments: &ConnectArguments, common: &Common) -> Outcome {
    Session::run(common, async |session| {
        let agent: AgentId = arguments
            .agent
            .parse()
            .map_err(|_| Failure::usage("AGENT_ID is not the id of an agent; `tandem discover` shows ids"))?;
        let connected = session.client.connect(&agent).await?;
        session.terminal.result(&connected, |terminal| {
            terminal.done(&format!("Connected with {}.", text::line(connected.agent_name.as_str())))
        })?;
        session.pin(&connected)
    })
}

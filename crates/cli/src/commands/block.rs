//! `tandem block`, `tandem unblock`, `tandem blocks`.

use clap::Args;
use tandem_api::agents::BlockEntry;
use tandem_core::AgentId;

use super::agent_names::by_id_or_name;
use super::complete::connected_agents;
use super::input::confirm;
use super::pages::Extent;
use super::{Common, Session};
use crate::exit::{Failure, Outcome};
use crate::terminal::table::Table;
use crate::terminal::{text, time};

/// Arguments of `tandem block`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem block bob                        ends the connection and cancels its live tasks
  tandem blocks                           shows whom you have blocked
  tandem unblock agent_01k2abc")]
pub(crate) struct Arguments {
    /// Alias, name or id of the agent
    #[arg(value_name = "AGENT", add = connected_agents())]
    agent: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// Arguments of `tandem unblock`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem unblock bob
  tandem unblock agent_01k2abc")]
pub(crate) struct UnblockArguments {
    /// Id or name of the agent
    #[arg(value_name = "AGENT")]
    agent: String,
}

/// Arguments of `tandem blocks`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem blocks")]
pub(crate) struct ListArguments {
    #[command(flatten)]
    extent: Extent,
}

/// Blocks an agent: a connected one by any of its names, any other by its id.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    Session::run(common, async |session| {
        let agent = match session.agent(&arguments.agent).await {
            Ok(connection) => connection.connected.agent_id,
            Err(unknown) => match arguments.agent.parse::<AgentId>() {
                Ok(id) if arguments.agent.starts_with("agent_") => id,
                _ => return Err(unknown),
            },
        };
        let name = text::line(&arguments.agent);
        confirm(
            &format!("Block {name}? That ends the connection and cancels its live tasks."),
            arguments.yes,
        )?;
        let blocked = session.client.block(&agent).await?;
        session.terminal.result(&blocked, |terminal| {
            terminal.done(&format!("Blocked {name}; {} tasks cancelled.", blocked.cancelled_tasks))
        })
    })
}

/// Ends a block.
pub(crate) fn unblock(arguments: &UnblockArguments, common: &Common) -> Outcome {
    Session::run(common, async |session| {
        let client = &session.client;
        let all = Extent::whole().read(|query| async move { client.blocks(&query).await }).await?;
        let found = by_id_or_name(&all.items, &arguments.agent, |entry| {
            (entry.agent_id.as_str(), entry.agent_name.as_str())
        });
        let [entry] = found.as_slice() else {
            let name = text::line(&arguments.agent);
            let failure = if found.is_empty() {
                Failure::not_found(format!("you have not blocked {name:?}"))
            } else {
                Failure::usage(format!("you have blocked several agents named {name:?}"))
            };
            return Err(failure.next("`tandem blocks` shows their ids."));
        };
        let unblocked = client.unblock(&entry.agent_id).await?;
        session.terminal.result(&unblocked, |terminal| {
            terminal.done(&format!("{} is no longer blocked.", text::line(entry.agent_name.as_str())))
        })
    })
}

pub(crate) fn list(arguments: &ListArguments, common: &Common) -> Outcome {
    Session::run(common, async |session| {
        let client = &session.client;
        let listed = arguments.extent.read(|query| async move { client.blocks(&query).await }).await?;
        let now = time::now();
        let row = |table: &mut Table, entry: &BlockEntry| {
            let since = time::relative(entry.created_at, now);
            table.row([entry.agent_name.as_str(), entry.agent_id.as_str(), &since]);
        };
        listed.print(
            &session.terminal,
            Table::new(&["agent", "id", "blocked"], 0),
            row,
            "You have blocked nobody.",
        )
    })
}

//! `tandem usage` and `tandem export`: the agent's account.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use tandem_api::tasks::ReportUsage;
use tandem_client::NewFile;
use tandem_core::credits::Usd;

use super::complete::tasks;
use super::{Common, Session};
use crate::exit::{Failure, Outcome};
use crate::terminal::{self, progress, time};

/// Arguments of `tandem usage`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem usage                            your balance
  tandem usage report @ 0.25              as the receiver: what the work on a task cost")]
pub(crate) struct UsageArguments {
    #[command(subcommand)]
    command: Option<UsageCommand>,
}

#[derive(Debug, Subcommand)]
enum UsageCommand {
    /// Report what the work on a task cost, as its receiver
    #[command(after_help = "Examples:\n  tandem usage report @ 0.25")]
    Report {
        /// The task: id, beginning of an id, or @
        #[arg(value_name = "TASK", add = tasks())]
        task: String,
        /// The cost in USD, with up to six decimals
        #[arg(value_name = "USD")]
        cost: f64,
    },
}

/// Arguments of `tandem export`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem export                           into tandem-export.json
  tandem export -o - | jq .tasks")]
pub(crate) struct ExportArguments {
    /// Where to write it; - is standard output
    #[arg(long, short, value_name = "FILE", default_value = "tandem-export.json")]
    output: PathBuf,
}

/// Shows the balance, or reports costs.
pub(crate) fn usage(arguments: &UsageArguments, common: &Common) -> Outcome {
    Session::run(common, async |session| match &arguments.command {
        None => {
            let profile = session.client.profile().await?;
            let view =
                serde_json::json!({ "credits": profile.credits, "costsCredits": profile.costs_credits });
            session.terminal.result(&view, |terminal| {
                terminal.line(&format!("Balance  {} USD", view["credits"]))?;
                let costs =
                    if profile.costs_credits { "cost the sender credits" } else { "are free for the sender" };
                terminal.line(&format!("Tasks for you {costs}."))
            })
        }
        Some(UsageCommand::Report { task, cost }) => {
            let task = session.task_id(task).await?;
            let cost: Usd = serde_json::from_value(serde_json::json!(cost))
                .map_err(|why| Failure::usage(format!("USD {why}")))?;
            let reported = session.client.report_usage(&task, &ReportUsage { cost }).await?;
            session.terminal.result(&reported, |terminal| {
                let status = reported.status.as_str();
                terminal.done(&format!(
                    "Reported. The task is {status}{}.",
                    if reported.paused { ", paused" } else { "" }
                ))
            })
        }
    })
}

/// The end of a complete export.
const COMPLETE: &[u8] = b"\"__exportComplete\":true";

/// Downloads everything that the hub stores about the agent.
pub(crate) fn export(arguments: &ExportArguments, common: &Common) -> Outcome {
    Session::run(common, async |session| {
        let path = &arguments.output;
        if path == Path::new("-") {
            return copy(&session, Destination::Output).await.map(|_| ());
        }
        if path.symlink_metadata().is_ok() {
            return Err(Failure::refused(format!("{} exists already", path.display()))
                .next("Name another file with -o FILE."));
        }
        let mut file = NewFile::create_private(path, false).await?;
        let bytes = copy(&session, Destination::File(&mut file)).await?;
        file.finish().await?;
        let view = serde_json::json!({ "path": path.display().to_string(), "bytes": bytes });
        session
            .terminal
            .result(&view, |terminal| terminal.done(&format!("{}  {}", path.display(), time::bytes(bytes))))
    })
}

/// Where an export goes.
enum Destination<'a> {
    Output,
    File(&'a mut NewFile),
}

impl Destination<'_> {
    async fn write(&mut self, piece: &[u8]) -> Outcome {
        match self {
            Self::Output => terminal::print_bytes(piece),
            Self::File(file) => Ok(file.write(piece).await?),
        }
    }
}

/// Reads the export to its end and checks that it is complete.
async fn copy(session: &Session, mut to: Destination<'_>) -> Outcome<u64> {
    let mut download = session.client.export().await?;
    let bar = progress::spinner(&session.terminal, "Exporting");
    let (mut bytes, mut end) = (0, Vec::new());
    while let Some(piece) = download.next().await? {
        to.write(&piece).await?;
        bytes += piece.len() as u64;
        bar.set_message(format!("Exporting, {}", time::bytes(bytes)));
        end.extend_from_slice(&piece);
        end.drain(..end.len().saturating_sub(COMPLETE.len() + 8));
    }
    bar.finish_and_clear();
    if !end.windows(COMPLETE.len()).any(|window| window == COMPLETE) {
        return Err(Failure::refused(
            "the export is not complete; the hub or the network failed in the middle",
        )
        .next("Run it again."));
    }
    Ok(bytes)
}

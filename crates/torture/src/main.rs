//! `tandem-torture`: several nodes under load while processes die, networks part and clocks differ, and a check after
//! each fault that nothing was lost or doubled.
//!
//! Not part of the product: a program of its own, which starts `tandem`. It knows the hub by its wire contract only.

mod agents;
mod chains;
mod checks;
mod cluster;
mod dice;
mod faults;
mod http;
mod keys;
mod ledger;
mod log;
mod node;
mod presence;
mod proxy;
mod receiver;
mod report;
mod run;
mod stories;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, Parser, Subcommand};
use tandem_bench::Tandem;
use tokio::signal::unix::{SignalKind, signal};

/// What `tandem-torture` takes.
#[derive(Debug, Parser)]
#[command(about = "Break a cluster under load and check that it keeps its promises")]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Kill, freeze and cut off nodes, NATS and PostgreSQL under load
    Cluster(ClusterArguments),
}

/// What `tandem-torture cluster` takes.
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = MORE)]
struct ClusterArguments {
    /// For how long faults are made
    #[arg(long, value_name = "MINUTES", default_value_t = 2.0)]
    minutes: f64,
    /// How many nodes
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    nodes: usize,
    /// Repeats the choice of faults of an earlier run [default: random, printed]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// How many writers at once
    #[arg(long, value_name = "NUMBER", default_value_t = 8)]
    writers: usize,
    /// Only these faults, separated by commas, by their names in the JSON report
    #[arg(long, value_name = "FAULTS", value_delimiter = ',')]
    only: Vec<String>,
    /// Where to create the temporary folder of the services and nodes
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Keep that folder, with the logs of all nodes, also if nothing was broken
    #[arg(long)]
    keep: bool,
    /// Where to write the report as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    tandem: Tandem,
}

const ABOUT: &str = "\
Break a cluster under load and check that it keeps its promises

Starts a private PostgreSQL, a NATS server and three nodes whose clocks are up to five seconds apart; every
node reaches both through a proxy that can cut, hold back and delay. Writers create tasks, send messages,
race for tasks, acknowledge and reply, and repeat every request until it is answered. Listeners follow the
event logs over WebSockets, streams, long polls and webhooks, and resume on another node again and again.
Agents rotate their keys all the time.

Faults come one after the other, all kinds in turn. After each fault the load stops, and everything that was
written since the last time is checked: every answered write is there once, every event arrived exactly once
in every resume chain and in order, of those who race only one has won, no webhook delivery was sent by two
nodes, no timer fired twice or never, presence is true, and no key that ended was taken.

Ends with 1 if any of this did not hold.";

const MORE: &str = "\
Examples:
  tandem-torture cluster --minutes 30
  tandem-torture cluster --minutes 5 --seed 7 --only node_killed,node_frozen
Needs Debian's postgresql and nats-server. As root, PostgreSQL runs as the user postgres.";

fn main() -> ExitCode {
    let What::Cluster(arguments) = Arguments::parse().what;
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tandem-torture: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs it, and prints the counts. An error if a promise was broken.
fn run(arguments: &ClusterArguments) -> anyhow::Result<()> {
    if !(0.1..=10_000.0).contains(&arguments.minutes) {
        bail!("--minutes must be from 0.1 to 10000");
    }
    if !(1..=9).contains(&arguments.nodes) || !(1..=256).contains(&arguments.writers) {
        bail!("--nodes must be from 1 to 9, and --writers from 1 to 256");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let report = runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::select! {
            report = run::run(arguments) => report,
            _ = interrupt.recv() => bail!("stopped; nothing is left behind"),
            _ = terminate.recv() => bail!("stopped; nothing is left behind"),
        }
    });
    // Waits for what was aborted: it holds the processes.
    drop(runtime);
    let report = report?;
    print!("{}", report.table());
    if let Some(path) = &arguments.json {
        std::fs::write(path, serde_json::to_string_pretty(&report)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if !report.is_clean() {
        bail!("the cluster broke a promise");
    }
    Ok(())
}

//! `tandem-bench`: measures a hub next to bare servers on the same machine, and whether it stays as fast as it fills.
//!
//! Not part of the product: a program of its own, which starts `tandem`.
//!
//! A library as well, because the fault tests start the same servers, and the bare servers have tests.

mod a2a;
pub mod bare;
mod cluster;
mod connection;
mod content;
mod fill;
mod load;
mod mcp;
mod measure;
mod place;
mod prepare;
mod process;
mod progress;
mod push;
mod report;
mod schema;
pub mod services;
mod site;
mod svg;
mod table;
mod tandem;
mod timer;
mod wake;
mod workload;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Parser, Subcommand};
use tokio::signal::unix::{SignalKind, signal};

use load::Span;
pub use tandem::Tandem;

/// What `tandem-bench` takes.
#[derive(Debug, Parser)]
#[command(about = "Measure a hub next to bare servers on this machine", long_about = ABOUT, after_help = MORE)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
    /// Measure a hub that is running already, over plain HTTP; agents are registered there
    #[arg(long, value_name = "URL", conflicts_with_all = ["database", "postgres", "set", "tandem"])]
    url: Option<String>,
    /// The database of the measured hub; it must be empty, and keeps its rows [default: SQLite in a temporary folder]
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// Measure writes on this PostgreSQL as well, in schemas that are removed afterwards
    #[arg(long, value_name = "URL", conflicts_with = "database")]
    postgres: Option<String>,
    /// A setting of the measured hub, such as --set database_readers=4; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// A short run: one second for each measurement, and at most 10,000 stored tasks
    #[arg(long)]
    quick: bool,
    /// How long each measurement takes, after half a second of warming up [default: 3, or 1 with --quick]
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// How many connections at once
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_values_t = [1, 16, 64, 256])]
    connections: Vec<usize>,
    /// How many agents take part; each is paired with eight others
    #[arg(long, value_name = "NUMBER", default_value_t = 200)]
    agents: usize,
    /// Up to how many stored tasks growth is measured; 0 for not at all [default: 1000000, or 10000 with --quick]
    #[arg(long, value_name = "NUMBER")]
    growth_max: Option<u64>,
    /// Where to create the temporary data folders: on the disk that the hub will use
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Where to draw the plot
    #[arg(long, value_name = "FILE", default_value = "tandem-bench.svg")]
    svg: PathBuf,
    /// Where to write every figure as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    tandem: Tandem,
}

/// The other measurements.
#[derive(Debug, Subcommand)]
enum What {
    /// Measure how fast an event reaches an agent, and what an open socket costs
    Push(push::Arguments),
    /// Measure what waiting deadlines cost, and how late they are when many fall due at once
    Timer(timer::Arguments),
    /// Measure what files and encrypted messages cost, also for other agents
    Content(content::Arguments),
    /// Measure what a tool call costs compared with REST, and how fast a model is prompted
    Mcp(mcp::Arguments),
    /// Measure what A2A costs, compared with REST and with servers of the official Python SDK
    A2a(a2a::Arguments),
    /// Measure how fast a model is shown a new task, on every rung that pushes
    Wake(wake::Arguments),
    /// Measure one node on PostgreSQL, and three nodes
    Cluster(cluster::Arguments),
    /// The bare server that the hub is compared with; a run starts it by itself
    #[command(hide = true)]
    Bare(bare::Arguments),
}

const ABOUT: &str = "\
Measure a hub next to bare servers on this machine

Starts a hub on a new folder, drives it over HTTP, and prints how many tasks and messages a second it takes
(each on the disk before it is answered), how many reads, and how long an answer takes.

Next to the hub it measures bare servers: the same HTTP stack and as many rows in a loop of group commits,
without any rules. \"Rows in order\" keeps tasks in the two orders that lists need, as the hub does; the goal
for new tasks is set by it. \"Bare rows\" keeps the same rows without those orders. The ratio of hub and bare
server can be compared between machines; the rates alone cannot. Then databases of up to a million tasks are
filled and measured, to see that nothing gets slower.";

const MORE: &str = "\
Examples:
  tandem-bench --quick                              about three minutes
  tandem-bench --json figures.json                  everything: a quarter of an hour, and 6 GB of disk
  tandem-bench --folder /var/lib/tandem             on the disk that the hub will use
  tandem-bench --postgres postgres://tandem@db/bench
                                                    writes on that PostgreSQL as well
  tandem-bench --database postgres://tandem@db/bench --growth-max 0
                                                    everything on that PostgreSQL
  tandem-bench --url http://127.0.0.1:3000          a running hub; it needs
                                                    --set rate_limit_max=0 --set rate_limit_register_max=0
                                                    --set max_messages_per_minute=0
Rates are answers a second; p50 and p99 are milliseconds; errors are answers other than success, and any
number but 0 spoils the row. The load runs on the same machine and takes its share of it.
Ctrl-C stops everything and removes the data.";

/// What is measured, and where.
#[derive(Debug, Clone)]
struct Plan {
    span: Span,
    connections: Vec<usize>,
    agents: usize,
    /// Numbers of stored tasks.
    growth: Vec<u64>,
    /// The database of the measured hub; none for SQLite in a temporary folder.
    database: Option<String>,
    /// A PostgreSQL that is measured as well.
    postgres: Option<String>,
    set: Vec<String>,
    folder: Option<PathBuf>,
    /// The measured program.
    tandem: Tandem,
}

impl Arguments {
    fn plan(&self) -> anyhow::Result<Plan> {
        let seconds = self.seconds.unwrap_or(if self.quick { 1.0 } else { 3.0 });
        if !(0.1..=600.0).contains(&seconds) {
            bail!("--seconds must be from 0.1 to 600");
        }
        if self.connections.is_empty() || self.connections.iter().any(|count| !(1..=4_096).contains(count)) {
            bail!("--connections must be numbers from 1 to 4096");
        }
        if !(16..=10_000).contains(&self.agents) {
            bail!("--agents must be from 16 to 10000");
        }
        let growth_max = match (&self.url, self.growth_max) {
            (Some(_), _) => 0,
            (None, Some(max)) => max,
            (None, None) => {
                if self.quick {
                    10_000
                } else {
                    1_000_000
                }
            }
        };
        let growth = (3..9).map(|power| 10_u64.pow(power)).filter(|count| *count <= growth_max).collect();
        let folder = self.folder.as_ref().map(std::path::absolute).transpose()?;
        Ok(Plan {
            span: Span { warm_up: Duration::from_millis(500), measured: Duration::from_secs_f64(seconds) },
            connections: self.connections.clone(),
            agents: self.agents,
            growth,
            database: self.database.clone(),
            postgres: self.postgres.clone(),
            set: self.set.clone(),
            folder,
            tandem: self.tandem.clone(),
        })
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    // A bare server is started again and again by a run that has said so already.
    if cfg!(debug_assertions) && !matches!(arguments.what, Some(What::Bare(_))) {
        eprintln!(
            "tandem-bench: this is a debug build, so its figures say little; build it and tandem with --release"
        );
    }
    match &arguments.what {
        Some(What::Push(arguments)) => push::run(arguments),
        Some(What::Timer(arguments)) => timer::run(arguments),
        Some(What::Content(arguments)) => content::run(arguments),
        Some(What::Mcp(arguments)) => mcp::run(arguments),
        Some(What::A2a(arguments)) => a2a::run(arguments),
        Some(What::Wake(arguments)) => wake::run(arguments),
        Some(What::Cluster(arguments)) => cluster::run(arguments),
        Some(What::Bare(arguments)) => bare::run(arguments),
        None => compare(arguments),
    }
}

/// Measures a hub and bare servers, and reports.
fn compare(arguments: &Arguments) -> anyhow::Result<()> {
    let plan = arguments.plan()?;
    let report = until_stopped(measure::run(&plan, arguments.url.as_deref()))?;
    print!("{}", report.table());
    let written = |path: &PathBuf| format!("cannot write {}", path.display());
    std::fs::write(&arguments.svg, svg::draw(&report)).with_context(|| written(&arguments.svg))?;
    println!("\nPlot: {}", arguments.svg.display());
    if let Some(path) = &arguments.json {
        std::fs::write(path, serde_json::to_string_pretty(&report)?).with_context(|| written(path))?;
        println!("Figures: {}", path.display());
    }
    Ok(())
}

/// Runs a measurement until it ends or is interrupted. Dropping it ends its processes and removes its data.
fn until_stopped<T>(measurement: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::select! {
            report = measurement => report,
            _ = interrupt.recv() => bail!("stopped; nothing is left behind"),
            _ = terminate.recv() => bail!("stopped; nothing is left behind"),
        }
    })
}

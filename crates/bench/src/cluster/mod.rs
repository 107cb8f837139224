//! `tandem-bench cluster`: what a hub does on PostgreSQL, alone and as three nodes, in one run that starts everything.
//!
//! Every figure is compared with another one of the same run, measured in turns, because rates alone differ between
//! machines and from hour to hour.

mod bars;
mod hot;
mod idle;
mod nodes;
mod one_node;
mod report;
mod table;
mod three;
mod wake_up;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};

use self::report::Report;
use super::load::Span;
use super::process::{OtherPrograms, Scratch};
use super::services::{Postgres, Shutdown};
use super::tandem::Tandem;
use super::workload::Operation;
use super::{Plan, until_stopped};

/// What `tandem-bench cluster` takes.
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = MORE)]
pub(crate) struct Arguments {
    /// Only these parts, separated by commas
    #[arg(long, value_name = "PARTS", value_delimiter = ',', value_enum)]
    only: Vec<Part>,
    /// A tandem of an older version, to be measured in turns with this one
    #[arg(long, value_name = "PATH")]
    baseline: Option<PathBuf>,
    /// How long each measurement of a round takes, after half a second of warming up
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
    seconds: f64,
    /// How many rounds; each figure is the median
    #[arg(long, value_name = "NUMBER", default_value_t = 5)]
    rounds: usize,
    /// How many connections at once
    #[arg(long, value_name = "NUMBER", default_value_t = 64)]
    connections: usize,
    /// How many agents take part with one node; each sends tasks to four others
    #[arg(long, value_name = "NUMBER", default_value_t = 200)]
    agents: usize,
    /// How many pairs of agents take part with three nodes
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000)]
    pairs: usize,
    /// How many agents are connected to one of three nodes to find out what they cost the other two
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000)]
    idle_agents: usize,
    /// A setting of the measured hubs, such as --set database_readers=4; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Where to create the temporary data folders: on the disk that PostgreSQL will use
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Where to draw the plot
    #[arg(long, value_name = "FILE", default_value = "tandem-bench-cluster.svg")]
    svg: PathBuf,
    /// Where to write every figure as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    tandem: Tandem,
}

/// The parts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// One node: new tasks
    Create,
    /// One node: messages
    Message,
    /// One node: reads of one task
    Read,
    /// One node: pages of 100 events
    Events,
    /// One node: lists of 50 tasks
    List,
    /// One node: the time of an answer on a single connection
    Latency,
    /// Three nodes and one, many pairs
    Pairs,
    /// Three nodes and one, all traffic between two agents
    Hot,
    /// From a request on one node to a frame on another
    Wake,
    /// What agents on one node cost the other two
    Idle,
}

const ABOUT: &str = "\
Measure a hub on PostgreSQL: one node, and three

Starts a private PostgreSQL with fsync on, a NATS server and the nodes, and removes everything afterwards.

One node is compared with bare servers on the same PostgreSQL: a loop that groups waiting jobs on two
connections, with as many rows and without rules; and, with --baseline, with an older version of tandem.
Three nodes are compared with one: tasks between 10,000 pairs of agents, and all traffic between two agents.
Then: how long an event takes from a request on one node to a frame on another, and what agents that are
connected to one node cost the other two.

All servers of a comparison are measured in turns, in several rounds. A ratio is the median of the rounds.";

const MORE: &str = "\
Examples:
  tandem-bench cluster                                    everything: about a quarter of an hour
  tandem-bench cluster --only create,message,read,latency --baseline old/tandem
  tandem-bench cluster --seconds 1 --rounds 3 --pairs 800 a short run
Needs Debian's postgresql and nats-server. As root, PostgreSQL runs as the user postgres.";

impl Arguments {
    fn has(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    /// The cells of the comparison of one node with bare servers: what, and at how many connections.
    fn cells(&self) -> Vec<(Operation, usize)> {
        use Operation::{CreateTask, ListTasks, ReadEvents, ReadTask, SendMessage};
        let mut cells = Vec::new();
        // New tasks first: they make the events and the lists that are read later.
        for (part, operation) in [
            (Part::Create, CreateTask),
            (Part::Message, SendMessage),
            (Part::Read, ReadTask),
            (Part::Events, ReadEvents),
            (Part::List, ListTasks),
        ] {
            if self.has(part) {
                cells.push((operation, self.connections));
            }
        }
        if self.has(Part::Latency) {
            cells.extend([CreateTask, SendMessage, ReadTask].map(|operation| (operation, 1)));
        }
        cells
    }

    fn check(&self) -> anyhow::Result<()> {
        if !(0.1..=600.0).contains(&self.seconds) {
            bail!("--seconds must be from 0.1 to 600");
        }
        if !(1..=1_000).contains(&self.rounds) {
            bail!("--rounds must be from 1 to 1000");
        }
        if !(3..=4_096).contains(&self.connections) {
            bail!("--connections must be from 3 to 4096");
        }
        if !(16..=10_000).contains(&self.agents) || !(64..=40_000).contains(&self.pairs) {
            bail!("--agents must be from 16 to 10000, and --pairs from 64 to 40000");
        }
        if !(16..=10_000).contains(&self.idle_agents) {
            bail!("--idle-agents must be from 16 to 10000");
        }
        if let Some(path) = self.baseline.as_ref().filter(|path| !path.is_file()) {
            bail!("--baseline: {} is not a file", path.display());
        }
        // Before PostgreSQL is started for nothing.
        self.tandem.path().map(drop)
    }

    /// A plan for hubs on this PostgreSQL.
    fn plan(&self, postgres: &Postgres, folder: &Scratch) -> Plan {
        Plan {
            span: Span {
                warm_up: Duration::from_millis(500),
                measured: Duration::from_secs_f64(self.seconds),
            },
            connections: Vec::new(),
            agents: self.agents,
            growth: Vec::new(),
            database: Some(postgres.url()),
            postgres: None,
            set: self.set.clone(),
            folder: Some(folder.path().to_path_buf()),
            tandem: self.tandem.clone(),
        }
    }
}

/// Measures and reports.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    arguments.check()?;
    let report = until_stopped(measure(arguments))?;
    print!("{}", report.table());
    let written = |path: &PathBuf| format!("cannot write {}", path.display());
    std::fs::write(&arguments.svg, bars::draw(&report)).with_context(|| written(&arguments.svg))?;
    println!("\nPlot: {}", arguments.svg.display());
    if let Some(path) = &arguments.json {
        std::fs::write(path, serde_json::to_string_pretty(&report)?).with_context(|| written(path))?;
        println!("Figures: {}", path.display());
    }
    Ok(())
}

async fn measure(arguments: &Arguments) -> anyhow::Result<Report> {
    let parent = arguments.folder.as_ref().map(std::path::absolute).transpose()?;
    let folder = Scratch::new(parent.as_deref(), "cluster")?;
    let others = OtherPrograms::watch();
    let mut postgres = Postgres::start(folder.path()).await?;
    let plan = arguments.plan(&postgres, &folder);
    let mut report = Report::new(arguments);
    let cells = arguments.cells();
    if !cells.is_empty() {
        report.one_node = one_node::measure(arguments, &plan, &postgres, &cells).await?;
    }
    if arguments.has(Part::Pairs) || arguments.has(Part::Hot) {
        report.three = three::measure(arguments, &plan, &postgres).await?;
    }
    if arguments.has(Part::Wake) {
        report.wake = Some(wake_up::measure(arguments, &plan, &postgres).await?);
    }
    if arguments.has(Part::Idle) {
        report.idle = Some(idle::measure(arguments, &plan, &postgres).await?);
    }
    postgres.stop(Shutdown::Fast).await?;
    report.foreign_cores = others.and_then(|watched| watched.cores());
    Ok(report)
}

//! `tandem bench push`: how soon an event arrives, beside what a bare socket can do in the same run, and
//! what an open socket costs.

mod measure;
mod socket;

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;

use super::until_stopped;

/// What `tandem bench push` takes.
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = MORE)]
pub(crate) struct Arguments {
    /// How many events are timed, one after the other
    #[arg(long, value_name = "NUMBER", default_value_t = 2_000)]
    events: usize,
    /// How many idle sockets are opened to weigh them
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_values_t = [1_000, 10_000])]
    sockets: Vec<usize>,
    /// How long events are sent as fast as they go
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    seconds: f64,
    /// For how long sockets come and go, to see that nothing is left behind; 0 for not at all
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    soak: f64,
    /// The database of the measured hub: an empty one [default: SQLite in a folder that is removed]
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// Where to make the folders for the data, which are removed afterwards
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Where to write every figure as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const ABOUT: &str = "\
Measure how soon the hub reaches an agent, and the machine itself in the same run

One agent hands another a task; the other listens on a WebSocket. Timed is the way from sending the
request to the frame's arrival (the task is on the disk before), and how long after the answer the frame
comes: that much the push adds. Beside it: a bare server that commits as many rows and pushes without a log,
and a bare WebSocket echo. Then: all sockets of one agent at once, events as fast as they go, what an idle
socket costs in memory, and whether sockets that come and go leave anything behind.";

const MORE: &str = "\
Examples:
  tandem bench push                                    some two minutes
  tandem bench push --sockets 1000 --soak 0            a short look
  tandem bench push --soak 600                         ten minutes of sockets that come and go
Ten thousand sockets need as many open files for each process: see ulimit -n.";

/// Measures, and reports.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.events < 100 || arguments.sockets.iter().any(|count| !(16..=100_000).contains(count)) {
        bail!("--events must be at least 100, and --sockets from 16 to 100000");
    }
    if !(0.5..=600.0).contains(&arguments.seconds) || !(0.0..=86_400.0).contains(&arguments.soak) {
        bail!("--seconds must be from 0.5 to 600, and --soak at most a day");
    }
    let report = until_stopped(measure::run(arguments))?;
    print!("{}", report.table());
    if let Some(path) = &arguments.json {
        std::fs::write(path, serde_json::to_string_pretty(&report)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
        println!("Figures: {}", path.display());
    }
    Ok(())
}

//! `tandem-bench push`: how fast an event arrives, compared with a bare socket in the same run, and what an open socket
//! costs.

pub(crate) mod measure;
pub(crate) mod socket;

use anyhow::bail;
use clap::Args;

use super::place::Place;
use super::until_stopped;

/// What `tandem-bench push` takes.
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = MORE)]
pub(crate) struct Arguments {
    /// How many events are timed, one after the other
    #[arg(long, value_name = "NUMBER", default_value_t = 2_000)]
    events: usize,
    /// How many idle sockets are opened to measure their memory
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_values_t = [1_000, 10_000])]
    sockets: Vec<usize>,
    /// How long events are sent as fast as they go
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    seconds: f64,
    /// For how long sockets are opened and closed, to find leaks; 0 to skip it
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    soak: f64,
    #[command(flatten)]
    place: Place,
}

const ABOUT: &str = "\
Measure how fast the hub reaches an agent, next to a bare server on this machine

One agent creates a task for another, which listens on a WebSocket. Measured is the time from sending the
request to the arrival of the frame (the task is on the disk by then), and from the answer to the frame: that
is what the push adds. For comparison: a bare server that commits as many rows and pushes without an event
log, and a bare WebSocket echo. Then: all sockets of one agent at once, events as fast as possible, the memory
of an idle socket, and whether opening and closing sockets leaks memory.";

const MORE: &str = "\
Examples:
  tandem-bench push                                    some two minutes
  tandem-bench push --sockets 1000 --soak 0            a short run
  tandem-bench push --soak 600                         ten minutes of opening and closing sockets
Ten thousand sockets need as many open files for each process: see ulimit -n.";

/// Measures and reports.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.events < 100 || arguments.sockets.iter().any(|count| !(16..=100_000).contains(count)) {
        bail!("--events must be at least 100, and --sockets from 16 to 100000");
    }
    if !(0.5..=600.0).contains(&arguments.seconds) || !(0.0..=86_400.0).contains(&arguments.soak) {
        bail!("--seconds must be from 0.5 to 600, and --soak at most a day");
    }
    let report = until_stopped(measure::run(arguments))?;
    arguments.place.report(&report.table(), &report)
}

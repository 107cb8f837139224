//! `tandem-bench a2a`: what A2A costs compared with REST, and with servers of the official Python SDK.

mod calls;
mod report;
mod sdk;
mod streams;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use anyhow::bail;
use clap::Args;

use super::fill::{Kind, fill};
use super::load::{Figures, Span, drive};
use super::place::Place;
use super::process::{Process, Scratch};
use super::progress::Progress;
use super::site::{database, start_hub};
use super::workload::pairs;
use super::{Plan, prepare, until_stopped};
use calls::{Call, Server};
use report::{Report, Row};

/// How many agents there are. Those of the first half answer tasks; the others leave them.
const AGENTS: usize = 64;
/// How often each cell is measured, in turns with the other servers.
const ROUNDS: usize = 3;
/// At how many clients the goals are set.
const CLIENTS: usize = 16;
/// The sizes of the lists that are read.
const STORED: [u64; 2] = [1_000, 100_000];
/// The pairs whose lists these are.
const LISTED: [usize; 2] = [AGENTS * 2, AGENTS * 2 + 8];

/// What `tandem-bench a2a` takes.
#[derive(Debug, Args)]
#[command(long_about = ABOUT)]
pub(crate) struct Arguments {
    /// How long each measurement takes, after half a second of warming up
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    seconds: f64,
    /// A Python with a2a-sdk[http-server,sqlite], whose servers are measured too
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

const ABOUT: &str = "\
Measure what A2A costs, compared with REST and with servers of the official Python SDK

Clients send messages over JSON-RPC and wait until the task is completed: on the hub by an agent that listens on a
WebSocket and replies over REST, on a server of the SDK by an agent within it that answers at once. All are measured
in turns by the same load. Then sends that do not wait, beside new tasks over REST; the first event of a stream; reads
of a task; pages of lists; and the memory of an open stream.";

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if !(0.1..=600.0).contains(&arguments.seconds) {
        bail!("--seconds must be from 0.1 to 600");
    }
    let report = until_stopped(measure(arguments))?;
    arguments.place.report(&report.table(), &report)
}

/// The servers that are measured in turns, the hub first.
struct Servers {
    all: Vec<Server>,
    /// They end with this.
    _running: Vec<(Process, Scratch)>,
}

/// A hub whose lists are filled.
async fn filled_hub(plan: &Plan, progress: &mut Progress) -> anyhow::Result<(Process, Scratch, Server)> {
    let folder = Scratch::new(plan.folder.as_deref(), "a2a")?;
    progress.step("a hub, and its agents".into());
    let fresh = start_hub(plan, folder.path()).await?;
    let agents = prepare::agents(fresh.address, AGENTS).await?;
    fresh.stop().await?;
    progress.step("storing the lists".into());
    for (count, pair) in STORED.into_iter().zip(LISTED) {
        fill(database(plan, folder.path()), &agents, count, Kind::Conversation { pair }, progress).await?;
    }
    let hub = start_hub(plan, folder.path()).await?;
    let server = Server::hub(hub.address, agents);
    Ok((hub, folder, server))
}

async fn measure(arguments: &Arguments) -> anyhow::Result<Report> {
    let measured = Duration::from_secs_f64(arguments.seconds);
    let span = Span { warm_up: Duration::from_millis(500), measured };
    let plan = arguments.place.plan(span, AGENTS, Vec::new())?;
    let mut progress = Progress::new(10);
    let (hub, folder, server) = filled_hub(&plan, &mut progress).await?;
    let _working = worker::start(&server, AGENTS / 2).await?;
    let mut servers = Servers { all: vec![server], _running: Vec::new() };
    if let Some(python) = &arguments.python {
        for name in ["memory", "sqlite"] {
            let (process, folder) = sdk::start(python, name, plan.folder.as_deref()).await?;
            servers.all.push(Server::sdk(name, process.address));
            servers._running.push((process, folder));
        }
    }
    let mut rows = Vec::new();
    for clients in [1, CLIENTS, 64] {
        progress.step(format!("messages that are answered, {clients} clients"));
        rows.push(in_turns("send → completed", &servers.all, Call::Answered, clients, span).await?);
    }
    progress.step("messages that nobody waits for".into());
    let only_hub = &servers.all[..1];
    let mut native = Vec::new();
    let mut immediate = Vec::new();
    for _ in 0..ROUNDS {
        native.push(once(&servers.all[0], Call::Native, CLIENTS, span).await?);
        immediate.push(once(&servers.all[0], Call::Immediate, CLIENTS, span).await?);
    }
    rows.push(Row::new("POST /tasks", CLIENTS, vec![("hub", median(native))]));
    rows.push(Row::new("send, immediate", CLIENTS, vec![("hub", median(immediate))]));
    progress.step("the first event of a stream".into());
    let mut first = Vec::new();
    for server in &servers.all {
        first.push((server.name, streams::first_events(server, CLIENTS, span).await?));
    }
    rows.push(Row::new("first event", CLIENTS, first));
    progress.step("reads of a task".into());
    for server in &servers.all {
        server.prepare_reads().await?;
    }
    rows.push(in_turns("GetTask", &servers.all, Call::Get, CLIENTS, span).await?);
    progress.step("pages of lists".into());
    for (place, stored) in STORED.into_iter().enumerate() {
        let name = format!("list of {stored}");
        rows.push(in_turns(&name, only_hub, Call::List(LISTED[place]), CLIENTS, span).await?);
    }
    progress.step("open streams".into());
    let stream_kb = streams::memory_kb(&servers.all[0], &hub).await?;
    progress.finish();
    drop(servers);
    hub.stop().await?;
    drop(folder);
    Ok(Report { seconds: arguments.seconds, rows, stream_kb })
}

async fn once(server: &Server, call: Call, clients: usize, span: Span) -> anyhow::Result<Figures> {
    let numbers: Arc<AtomicU64> = Arc::clone(&server.numbers);
    drive(server.address, clients, span, &numbers, &server.maker(call)).await
}

/// One call on all servers, in turns; the median round of each.
async fn in_turns(
    name: &str,
    servers: &[Server],
    call: Call,
    clients: usize,
    span: Span,
) -> anyhow::Result<Row> {
    let mut measured: Vec<Vec<Figures>> = servers.iter().map(|_| Vec::new()).collect();
    for server in servers {
        // HTTP also succeeds when JSON-RPC fails, so one answer is checked first.
        server.check(call).await?;
    }
    for _ in 0..ROUNDS {
        for (server, rounds) in servers.iter().zip(&mut measured) {
            rounds.push(once(server, call, clients, span).await?);
        }
    }
    let figures = servers.iter().zip(measured).map(|(server, rounds)| (server.name, median(rounds)));
    Ok(Row::new(name, clients, figures.collect()))
}

fn median(mut rounds: Vec<Figures>) -> Figures {
    rounds.sort_by(|one, other| one.rate.total_cmp(&other.rate));
    let middle = rounds.len() / 2;
    rounds.swap_remove(middle)
}

/// The pairs whose target answers, or does not.
fn pairs_with(answers: bool) -> Vec<(usize, usize)> {
    let all = pairs(AGENTS).into_iter();
    all.filter(|(one, other)| (*one < AGENTS / 2) == answers && (*other < AGENTS / 2) == answers).collect()
}

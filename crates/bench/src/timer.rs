//! `tandem-bench timer`: what waiting deadlines cost, and how late they are when many fall due at once.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use hyper::Method;
use serde::Serialize;
use serde_json::{Value, json};

use super::connection::Connection;
use super::fill::{Kind, fill, wall_clock};
use super::load::Span;
use super::place::Place;
use super::prepare;
use super::process::{Process, Scratch};
use super::progress::Progress;
use super::site::{Site, database, start_hub};
use super::workload::{Agent, Operation, PEERS, request};
use super::{Plan, until_stopped};

/// How many agents the tasks are between.
const AGENTS: usize = 200;
/// How many connections create tasks while deadlines wait.
const CONNECTIONS: usize = 64;
/// After how long the tasks of the burst expire: longer than it takes to create them.
const TTL_SECONDS: u64 = 10;

/// What `tandem-bench timer` takes.
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = MORE)]
pub(crate) struct Arguments {
    /// How many deadlines wait
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000)]
    waiting: u64,
    /// How many fall due within one second
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000)]
    burst: usize,
    /// How long each measurement takes
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    seconds: f64,
    #[command(flatten)]
    place: Place,
}

const ABOUT: &str = "\
Measure what waiting deadlines cost, and how late they are when many fall due at once

A hub without deadlines is measured while idle and while it creates tasks; then the same with many tasks that
expire tomorrow. Then tasks are created that expire within one second of each other, and their initiator waits
for the events: measured is how late each expiry arrives.";

const MORE: &str = "\
Examples:
  tandem-bench timer                               about a minute
  tandem-bench timer --waiting 1000000 --burst 5000";

/// A hub with this many waiting deadlines.
#[derive(Debug, Serialize)]
struct DeadlineLoad {
    deadlines: u64,
    /// Of one processor, without requests.
    idle_cpu_percent: Option<f64>,
    tasks_per_second: f64,
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
struct Report {
    waiting: Vec<DeadlineLoad>,
    burst: usize,
    /// From the first expiry to the last, as they are due.
    due_within_ms: f64,
    late_p50_ms: f64,
    late_p99_ms: f64,
    late_max_ms: f64,
    /// From the first expiry's due time to the arrival of the last event.
    handled_within_ms: f64,
}

impl Report {
    fn table(&self) -> String {
        let mut text =
            String::from("\n  Waiting deadlines   processor while idle   tasks created a second\n");
        for row in &self.waiting {
            let idle = row.idle_cpu_percent.map_or("?".into(), |percent| format!("{percent:.2} %"));
            let _ = writeln!(text, "{:>19}   {idle:>20}   {:>19.0}", row.deadlines, row.tasks_per_second);
        }
        if let [none, many] = self.waiting.as_slice() {
            let ratio = many.tasks_per_second / none.tasks_per_second.max(1.0);
            let _ = writeln!(text, "                                             ratio {ratio:>19.2}");
        }
        let _ = writeln!(
            text,
            "\n{} tasks that expire within {:.0} ms: the last event arrived {:.0} ms after the first was due.\n\
             Late by p50 {:.0} ms, p99 {:.0} ms, at most {:.0} ms, each on the disk and received by its initiator.",
            self.burst,
            self.due_within_ms,
            self.handled_within_ms,
            self.late_p50_ms,
            self.late_p99_ms,
            self.late_max_ms
        );
        text
    }
}

/// Measures and reports.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if !(1..=10_000_000).contains(&arguments.waiting) || !(10..=50_000).contains(&arguments.burst) {
        bail!("--waiting must be from 1 to 10000000, and --burst from 10 to 50000");
    }
    if !(1.0..=600.0).contains(&arguments.seconds) {
        bail!("--seconds must be from 1 to 600");
    }
    let report = until_stopped(measure(arguments))?;
    arguments.place.report(&report.table(), &report)
}

async fn measure(arguments: &Arguments) -> anyhow::Result<Report> {
    let measured = Duration::from_secs_f64(arguments.seconds);
    let span = Span { warm_up: Duration::from_millis(500), measured };
    // Without the check-in that every task has by default: it is a deadline too.
    let plan = arguments.place.plan(span, AGENTS, vec!["check_in_seconds=0".into()])?;
    let mut progress = Progress::new(4);
    let folder = Scratch::new(plan.folder.as_deref(), "timer")?;
    progress.step("a hub without deadlines".into());
    let hub = start_hub(&plan, folder.path()).await?;
    let agents = prepare::agents(hub.address, AGENTS).await?;
    let (none, hub) = with_waiting(&plan, hub, &agents, 0).await?;
    hub.stop().await?;

    progress.step(format!("storing {} tasks that expire tomorrow", arguments.waiting));
    let store = database(&plan, folder.path());
    fill(store, &agents, arguments.waiting, Kind::Waiting, &progress).await?;
    progress.step(format!("a hub with {} deadlines", arguments.waiting));
    let hub = start_hub(&plan, folder.path()).await?;
    let (many, hub) = with_waiting(&plan, hub, &agents, arguments.waiting).await?;

    progress.step(format!("{} deadlines at once", arguments.burst));
    let burst = burst(&hub, &agents, arguments.burst).await?;
    progress.finish();
    hub.stop().await?;
    Ok(Report { waiting: vec![none, many], ..burst })
}

/// Measures a hub while idle, then while it creates tasks.
async fn with_waiting(
    plan: &Plan,
    hub: Process,
    agents: &[Agent],
    deadlines: u64,
) -> anyhow::Result<(DeadlineLoad, Process)> {
    // The hub finishes its start first.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = hub.cpu_seconds();
    tokio::time::sleep(plan.span.measured).await;
    let used = hub.cpu_seconds().zip(before).map(|(after, before)| after - before);
    let idle_cpu_percent = used.map(|used| 100.0 * used / plan.span.measured.as_secs_f64());
    let site = Site::hub(hub.address, agents.to_vec(), None, 10, None).await?;
    let made = site.drive(Operation::CreateTask, CONNECTIONS, plan.span).await?;
    if made.errors > 0 {
        bail!("{} tasks were not made: {}", made.errors, made.first_error.unwrap_or_default());
    }
    Ok((DeadlineLoad { deadlines, idle_cpu_percent, tasks_per_second: made.rate }, hub))
}

fn wall_ms() -> f64 {
    wall_clock().0 as f64
}

/// Creates tasks that expire at about the same moment, and waits for the events.
async fn burst(hub: &Process, agents: &[Agent], count: usize) -> anyhow::Result<Report> {
    let (one, targets) = agents.split_first().context("there are no agents")?;
    let mut connection = Connection::open(hub.address).await?;
    let start = ask(&mut connection, one, Method::GET, "/events?after=0", None).await?;
    let mut cursor = last_cursor(&mut connection, one, &start).await?;
    // Each gets a shorter time than the one before, so that all expire together.
    let end = wall_ms() + TTL_SECONDS as f64 * 1_000.0;
    let mut due = std::collections::HashMap::new();
    for number in 0..count {
        let left = ((end - wall_ms()) / 1_000.0).ceil().max(1.0);
        let target = &targets[number % PEERS];
        let body = json!({ "targetAgentId": target.id, "title": "Burst", "ttlSeconds": left as u64 });
        let made = ask(&mut connection, one, Method::POST, "/tasks", Some(body)).await?;
        let text = |field: &str| made[field].as_str().map(ToOwned::to_owned).context("no such field");
        let expires: jiff::Timestamp = text("expiresAt")?.parse()?;
        due.insert(text("id")?, expires.as_millisecond() as f64);
    }
    let first = due.values().copied().fold(f64::INFINITY, f64::min);
    let last = due.values().copied().fold(0.0, f64::max);
    let mut late = Vec::with_capacity(count);
    let patience = end + 30_000.0;
    let mut arrived = 0.0_f64;
    while late.len() < count {
        if wall_ms() > patience {
            bail!("only {} of {count} tasks expired", late.len());
        }
        let path = format!("/events?after={cursor}&wait=5");
        let page = ask(&mut connection, one, Method::GET, &path, None).await?;
        arrived = wall_ms();
        cursor = page["cursor"].as_i64().context("no cursor")?;
        for event in page["events"].as_array().into_iter().flatten() {
            let id = event["taskId"].as_str().unwrap_or_default();
            if event["data"]["status"] == "expired"
                && let Some(moment) = due.get(id)
            {
                late.push(arrived - moment);
            }
        }
    }
    late.sort_by(f64::total_cmp);
    let at = |share: usize| late.get(late.len() * share / 100).or(late.last()).copied().unwrap_or_default();
    Ok(Report {
        waiting: Vec::new(),
        burst: count,
        due_within_ms: last - first,
        late_p50_ms: at(50),
        late_p99_ms: at(99),
        late_max_ms: at(100),
        handled_within_ms: arrived - first,
    })
}

/// The cursor at the end of an agent's event log.
async fn last_cursor(connection: &mut Connection, agent: &Agent, first: &Value) -> anyhow::Result<i64> {
    let mut page = first.clone();
    loop {
        let cursor = page["cursor"].as_i64().context("no cursor")?;
        if page["hasMore"] != true {
            return Ok(cursor);
        }
        page = ask(connection, agent, Method::GET, &format!("/events?after={cursor}"), None).await?;
    }
}

async fn ask(
    connection: &mut Connection,
    agent: &Agent,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> anyhow::Result<Value> {
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let (status, text) = connection.ask(request(method, path, Some(&agent.key), body)).await?;
    if !(200..300).contains(&status) {
        bail!("{path} was answered with {status}: {}", String::from_utf8_lossy(&text));
    }
    Ok(serde_json::from_slice(&text)?)
}

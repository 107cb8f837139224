//! `tandem-bench wake`: how long it takes from the commit of a task until it is shown to a model, on every rung of the
//! wake ladder that pushes.

mod rungs;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use hyper::Method;
use serde::Serialize;
use serde_json::{Value, json};

use super::connection::Connection;
use super::load::Span;
use super::place::Place;
use super::process::{Process, Scratch};
use super::site::start_hub;
use super::workload::PEERS;
use super::workload::{Agent, request};
use super::{prepare, until_stopped};
use rungs::Rung;

/// The goal for every rung.
const P95_MAX_MS: f64 = 1_000.0;
/// How long one task may take before the run fails.
const SURFACED_MAX: Duration = Duration::from_secs(30);

/// What `tandem-bench wake` takes.
#[derive(Debug, Args)]
#[command(long_about = ABOUT)]
pub(crate) struct Arguments {
    /// How many tasks are timed on each rung, one after the other
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    tasks: usize,
    #[command(flatten)]
    place: Place,
}

const ABOUT: &str = "\
Measure how fast a model is shown a new task

Starts a hub and, one after the other, the programs that can wake an agent: a runner whose worker does nothing, a hook that
waits as a coding tool would start it, and the bridge with a client that says it is a coding tool, once by channel and once
by the inbox of its session. Tasks are created one by one. Measured is the time from the commit until the runner has reported
that its worker runs, and the hook that it has written its line (both by the hub's clock, from `delivery`), and from the
answer to the sender until the bridge has written its notification or message.

What the coding tool does then is not part of it. Every task must have been surfaced by the rung that is measured.";

/// The times of one rung.
#[derive(Debug, Serialize)]
struct Row {
    rung: &'static str,
    tasks: usize,
    p50_ms: f64,
    p95_ms: f64,
    max_ms: f64,
}

/// Measures and reports.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if !(10..=10_000).contains(&arguments.tasks) {
        bail!("--tasks must be from 10 to 10000");
    }
    let rows = until_stopped(measure(arguments))?;
    arguments.place.report(&table(&rows), &rows)
}

fn table(rows: &[Row]) -> String {
    let mut text = format!("{:<10} {:>6} {:>9} {:>9} {:>9}\n", "rung", "tasks", "p50 ms", "p95 ms", "max ms");
    for row in rows {
        let goal = if row.p95_ms <= P95_MAX_MS { "" } else { "  goal not reached" };
        let _ = writeln!(
            text,
            "{:<10} {:>6} {:>9.1} {:>9.1} {:>9.1}{goal}",
            row.rung, row.tasks, row.p50_ms, row.p95_ms, row.max_ms
        );
    }
    let _ = writeln!(text, "Goal: 95 of 100 within {P95_MAX_MS:.0} ms.");
    text
}

async fn measure(arguments: &Arguments) -> anyhow::Result<Vec<Row>> {
    let span = Span { warm_up: Duration::ZERO, measured: Duration::ZERO };
    let plan = arguments.place.plan(span, 2, Vec::new())?;
    let folder = Scratch::new(plan.folder.as_deref(), "wake")?;
    let hub = start_hub(&plan, folder.path()).await?;
    let scene = Scene::prepare(&hub, folder.path(), plan.tandem.path()?).await?;
    let mut rows = Vec::new();
    for rung in Rung::ALL {
        let times = rung.measure(&scene, arguments.tasks).await;
        rows.push(row(rung.name(), times.with_context(|| format!("the rung {}", rung.name()))?));
    }
    hub.stop().await?;
    Ok(rows)
}

fn row(rung: &'static str, mut ms: Vec<f64>) -> Row {
    ms.sort_by(f64::total_cmp);
    let at = |share: usize| ms.get(ms.len() * share / 100).or(ms.last()).copied().unwrap_or_default();
    Row { rung, tasks: ms.len(), p50_ms: at(50), p95_ms: at(95), max_ms: at(100) }
}

fn between(from: &Value, to: &Value) -> anyhow::Result<f64> {
    let time =
        |at: &Value| at.as_str().context("a time is missing")?.parse::<jiff::Timestamp>().map_err(Into::into);
    let passed: anyhow::Result<_> = time(from).and_then(|from| Ok(time(to)?.duration_since(from)));
    Ok(passed?.as_secs_f64() * 1_000.0)
}

/// A sender, and an agent with a profile of the command line.
struct Scene<'a> {
    hub: &'a Process,
    home: &'a Path,
    tandem: PathBuf,
    sender: Agent,
    target: Agent,
}

impl<'a> Scene<'a> {
    async fn prepare(hub: &'a Process, home: &'a Path, tandem: PathBuf) -> anyhow::Result<Self> {
        // The first two of a ring that is large enough for all its pairs to differ.
        let mut agents = prepare::agents(hub.address, 2 * PEERS + 1).await?.into_iter();
        let (Some(sender), Some(target)) = (agents.next(), agents.next()) else {
            bail!("two agents are needed")
        };
        let scene = Self { hub, home, tandem, sender, target };
        let mut login = scene.command(&["login", "--as", "target"]);
        login.stdin(std::process::Stdio::piped());
        let mut login = login.spawn()?;
        let mut input = login.stdin.take().context("its input was not caught")?;
        tokio::io::AsyncWriteExt::write_all(&mut input, scene.target.key.as_bytes()).await?;
        drop(input);
        if !login.wait().await?.success() {
            bail!("tandem login failed");
        }
        Ok(scene)
    }

    fn home(&self) -> &Path {
        self.home
    }

    /// A command of `tandem` with the profile of the target.
    fn command(&self, arguments: &[&str]) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(&self.tandem);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TANDEM_"))
        {
            command.env_remove(name);
        }
        let folder = |name: &str| self.home.join(name);
        command.args(arguments).current_dir(self.home).kill_on_drop(true);
        command.env("TANDEM_HUB", format!("http://{}", self.hub.address));
        command.env("HOME", self.home).env("XDG_CONFIG_HOME", folder("config"));
        command.env("XDG_STATE_HOME", folder("state")).env("XDG_DATA_HOME", folder("data"));
        command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
        command
    }

    async fn ask(&self, method: Method, path: &str, by: &Agent, body: &Value) -> anyhow::Result<Value> {
        let mut connection = Connection::open(self.hub.address).await?;
        let (status, answer) = connection.ask(request(method, path, Some(&by.key), body.to_string())).await?;
        if !(200..300).contains(&status) {
            bail!("{path} was answered with {status}: {}", String::from_utf8_lossy(&answer));
        }
        Ok(serde_json::from_slice(&answer)?)
    }

    /// Creates a task; its id.
    async fn task(&self) -> anyhow::Result<String> {
        // One agent may wake another only so often within an hour, and this one does nothing else.
        let _ = std::fs::remove_file(self.home.join("state/tandem/target.d/wakes.json"));
        let body = json!({ "targetAgentId": self.target.id, "title": "Wake up" });
        let task = self.ask(Method::POST, "/tasks", &self.sender, &body).await?;
        Ok(task["id"].as_str().context("a task has no id")?.to_owned())
    }

    /// Cancels a task, so that it is no news any more.
    async fn cancel(&self, task: &str) -> anyhow::Result<()> {
        self.ask(Method::POST, &format!("/tasks/{task}/cancel"), &self.sender, &json!({})).await.map(drop)
    }

    /// Waits until the hub knows that a rung has shown a task to a model; the milliseconds from commit to report.
    async fn surfaced(&self, task: &str, rung: &str) -> anyhow::Result<f64> {
        let path = format!("/tasks/{task}");
        let asked = async {
            loop {
                let task = self.ask(Method::GET, &path, &self.sender, &Value::Null).await?;
                let delivery = &task["delivery"];
                match delivery["surfacedBy"].as_str() {
                    Some(by) if by == rung => return between(&delivery["queuedAt"], &delivery["surfacedAt"]),
                    Some(by) => bail!("the task was surfaced by {by}, not by {rung}"),
                    None => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        };
        tokio::time::timeout(SURFACED_MAX, asked).await.context("the task was not surfaced in time")?
    }

    /// Waits until the program that is measured has opened its socket.
    async fn is_connected(&self) -> anyhow::Result<()> {
        self.sockets(|open| open > 0).await.context("the program did not connect")
    }

    /// Waits until the program that was measured before is gone, so that its socket is not taken for the next one's.
    async fn is_alone(&self) -> anyhow::Result<()> {
        self.sockets(|open| open == 0).await.context("the program did not end")
    }

    /// Waits until the number of open sockets is as it should be.
    async fn sockets(&self, is_right: impl Fn(u64) -> bool) -> anyhow::Result<()> {
        let asked = async {
            loop {
                let mut connection = Connection::open(self.hub.address).await?;
                let page = connection.ask(request(Method::GET, "/metrics", None, String::new())).await?.1;
                let page = String::from_utf8_lossy(&page);
                let open = page.lines().find_map(|line| line.strip_prefix("tandem_open_sockets "));
                if is_right(open.context("the hub does not count its sockets")?.trim().parse()?) {
                    return anyhow::Ok(());
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(SURFACED_MAX, asked).await?
    }
}

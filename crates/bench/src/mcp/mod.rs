//! `tandem-bench mcp`: what a tool call costs compared with REST, and how fast a model is prompted.

mod prompts;

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::HeaderValue;
use hyper::{Method, Request};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use super::connection::Connection;
use super::load::{Figures, Maker, Span, drive};
use super::place::Place;
use super::process::{Process, Scratch};
use super::progress::Progress;
use super::site::start_hub;
use super::workload::{Agent, pairs, request, scattered, text};
use super::{prepare, until_stopped};

/// How many agents call; each has a session.
const AGENTS: usize = 32;
/// How often each cell is measured, in turns with the other cells of its row.
const ROUNDS: usize = 3;
/// How many prompts are timed.
const PROMPTS: usize = 500;
/// The goal for the rate of tool calls compared with REST.
const RATIO_MIN: f64 = 0.5;
/// The goal for the time until a model is prompted.
const PROMPT_P99_MAX_MS: f64 = 50.0;
const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";

/// What `tandem-bench mcp` takes.
#[derive(Debug, Args)]
#[command(long_about = ABOUT)]
pub(crate) struct Arguments {
    /// How many connections at once
    #[arg(long, value_name = "NUMBER", default_value_t = 64)]
    connections: usize,
    /// How long each measurement takes, after half a second of warming up
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    seconds: f64,
    #[command(flatten)]
    place: Place,
}

const ABOUT: &str = "\
Measure what a tool call costs compared with REST, and how fast a model is prompted

The same operations are driven over REST, over MCP without sessions (2026-07-28) and over MCP with sessions
(2025-11-25), in turns on one hub; the ratio to REST says what the protocol costs. Then tasks are created one by one
for an agent whose session answers prompts: measured is the time from the request for the task to the prompt.";

/// The operations, as REST and as a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Operation {
    CreateTask,
    SendMessage,
    ListTasks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Protocol {
    Rest,
    Stateless,
    Session,
}

#[derive(Debug, Serialize)]
struct Row {
    operation: Operation,
    rest: Figures,
    stateless: Figures,
    session: Figures,
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
struct Report {
    connections: usize,
    rows: Vec<Row>,
    prompt_p50_ms: f64,
    prompt_p99_ms: f64,
}

impl Report {
    fn table(&self) -> String {
        let mut out = format!("\n{} connections\n", self.connections);
        for row in &self.rows {
            let name = format!("{:?}", row.operation);
            let ways =
                [("REST", &row.rest), ("MCP, no session", &row.stateless), ("MCP, session", &row.session)];
            for (way, figures) in ways {
                let ratio = figures.rate / row.rest.rate.max(0.1);
                let _ = writeln!(
                    out,
                    "  {name:<13} {way:<16} {:>7.0}/s   p50 {:>6.2} ms   p99 {:>6.2} ms   {ratio:>5.2} of REST   errors {}",
                    figures.rate, figures.p50_ms, figures.p99_ms, figures.errors
                );
            }
        }
        let _ = writeln!(
            out,
            "\nRequest sent to prompt received, {PROMPTS} tasks: p50 {:.2} ms, p99 {:.2} ms",
            self.prompt_p50_ms, self.prompt_p99_ms
        );
        let ratios = self.rows.iter().flat_map(|row| {
            [&row.stateless, &row.session].map(|figures| figures.rate / row.rest.rate.max(0.1))
        });
        let least = ratios.fold(f64::INFINITY, f64::min);
        let met = |met: bool| if met { "reached" } else { "NOT REACHED" };
        let _ = writeln!(
            out,
            "\nGoals\n  {:<11} the slowest tool call, of REST: {least:.2} (goal ≥ {RATIO_MIN})\n  {:<11} prompt p99: {:.2} ms \
             (goal ≤ {PROMPT_P99_MAX_MS} ms)",
            met(least >= RATIO_MIN),
            met(self.prompt_p99_ms <= PROMPT_P99_MAX_MS),
            self.prompt_p99_ms
        );
        out
    }
}

/// Measures and reports.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if !(1..=1_024).contains(&arguments.connections) || !(0.1..=600.0).contains(&arguments.seconds) {
        bail!("--connections must be from 1 to 1024, and --seconds from 0.1 to 600");
    }
    let report = until_stopped(measure(arguments))?;
    arguments.place.report(&report.table(), &report)
}

async fn measure(arguments: &Arguments) -> anyhow::Result<Report> {
    let measured = Duration::from_secs_f64(arguments.seconds);
    let span = Span { warm_up: Duration::from_millis(500), measured };
    let plan = arguments.place.plan(span, AGENTS, Vec::new())?;
    let mut progress = Progress::new(5);
    let folder = Scratch::new(plan.folder.as_deref(), "mcp")?;
    progress.step("a hub, agents and their sessions".into());
    let hub = start_hub(&plan, folder.path()).await?;
    let callers = Arc::new(Callers::new(hub.address).await?);
    let mut rows = Vec::new();
    for operation in [Operation::CreateTask, Operation::SendMessage, Operation::ListTasks] {
        progress.step(format!("{operation:?}, in turns"));
        rows.push(row(&hub, &callers, operation, arguments.connections, plan.span).await?);
    }
    progress.step(format!("{PROMPTS} prompts"));
    let mut took = prompts::time(&hub, &callers.agents).await?;
    took.sort_by(f64::total_cmp);
    progress.finish();
    hub.stop().await?;
    let at = |place: usize| took.get(place.min(took.len().saturating_sub(1))).copied().unwrap_or_default();
    let (prompt_p50_ms, prompt_p99_ms) = (at(took.len() / 2), at(took.len() * 99 / 100));
    Ok(Report { connections: arguments.connections, rows, prompt_p50_ms, prompt_p99_ms })
}

/// The callers: agents with a session and a task each.
struct Callers {
    agents: Vec<Agent>,
    sessions: Vec<String>,
    tasks: Vec<String>,
}

fn header(request: &mut Request<Full<Bytes>>, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        request.headers_mut().insert(name, value);
    }
}

/// A message to `/mcp`.
fn message(key: &str, session: Option<&str>, body: &Value) -> Request<Full<Bytes>> {
    let mut made = request(Method::POST, "/mcp", Some(key), body.to_string());
    header(&mut made, "host", "localhost");
    header(&mut made, "accept", "application/json, text/event-stream");
    match session {
        Some(session) => {
            header(&mut made, "mcp-session-id", session);
            header(&mut made, "mcp-protocol-version", OLD);
        }
        None if body["method"] != "initialize" => {
            header(&mut made, "mcp-protocol-version", NEW);
            header(&mut made, "mcp-method", body["method"].as_str().unwrap_or_default());
            header(&mut made, "mcp-name", body["params"]["name"].as_str().unwrap_or_default());
        }
        None => {}
    }
    made
}

/// Begins a session and returns its id.
async fn begin(address: SocketAddr, key: &str, capabilities: Value) -> anyhow::Result<String> {
    let params = json!({ "protocolVersion": OLD, "capabilities": capabilities,
        "clientInfo": { "name": "bench", "version": "1" } });
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string();
    let mut stream = TcpStream::connect(address).await?;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    let mut lines = BufReader::new(stream).lines();
    let mut session = None;
    while let Some(line) = lines.next_line().await? {
        if let Some(id) = line.strip_prefix("mcp-session-id: ") {
            session = Some(id.to_owned());
        }
        if line.starts_with("data: {") {
            break;
        }
    }
    let session = session.context("the hub began no session")?;
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let (status, _) = Connection::open(address).await?.ask(message(key, Some(&session), &ready)).await?;
    if status != 202 {
        bail!("a session was answered with {status}");
    }
    Ok(session)
}

impl Callers {
    async fn new(address: SocketAddr) -> anyhow::Result<Self> {
        let agents = prepare::agents(address, AGENTS).await?;
        let (mut sessions, mut tasks) = (Vec::new(), Vec::new());
        let mut connection = Connection::open(address).await?;
        for (place, agent) in agents.iter().enumerate() {
            sessions.push(begin(address, &agent.key, json!({})).await?);
            let to = &agents[(place + 1) % agents.len()];
            let body = json!({ "targetAgentId": to.id, "title": "Talk" }).to_string();
            let (_, made) = connection.ask(request(Method::POST, "/tasks", Some(&agent.key), body)).await?;
            let made: Value = serde_json::from_slice(&made)?;
            tasks.push(made["id"].as_str().with_context(|| format!("no task: {made}"))?.to_owned());
        }
        Ok(Self { agents, sessions, tasks })
    }

    fn request(&self, operation: Operation, protocol: Protocol, number: u64) -> Request<Full<Bytes>> {
        let pairs = pairs(self.agents.len());
        let (one, other) = pairs[scattered(number, pairs.len())];
        let (by, to) = (&self.agents[one], &self.agents[other]);
        let (tool, arguments) = match operation {
            Operation::CreateTask => {
                let title = format!("Review the API document {number}");
                ("create_task", json!({ "targetAgentId": to.id, "title": title, "description": text() }))
            }
            Operation::SendMessage => {
                ("send_message", json!({ "taskId": self.tasks[one], "content": text() }))
            }
            Operation::ListTasks => ("list_tasks", json!({ "limit": 10 })),
        };
        match (protocol, operation) {
            (Protocol::Rest, Operation::CreateTask) => {
                request(Method::POST, "/tasks", Some(&by.key), arguments.to_string())
            }
            (Protocol::Rest, Operation::SendMessage) => {
                let path = format!("/tasks/{}/messages", self.tasks[one]);
                request(Method::POST, &path, Some(&by.key), json!({ "content": text() }).to_string())
            }
            (Protocol::Rest, Operation::ListTasks) => {
                request(Method::GET, "/tasks?limit=10", Some(&by.key), String::new())
            }
            (Protocol::Session | Protocol::Stateless, _) => {
                let session = (protocol == Protocol::Session).then(|| self.sessions[one].as_str());
                let mut params = json!({ "name": tool, "arguments": arguments });
                if session.is_none() {
                    params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": NEW,
                        "io.modelcontextprotocol/clientCapabilities": {} });
                }
                let call =
                    json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params });
                message(&by.key, session, &call)
            }
        }
    }
}

/// One operation over the three protocols, in turns; the median round of each.
async fn row(
    hub: &Process,
    callers: &Arc<Callers>,
    operation: Operation,
    connections: usize,
    span: Span,
) -> anyhow::Result<Row> {
    let numbers = Arc::new(AtomicU64::new(1));
    let mut measured: [Vec<Figures>; 3] = Default::default();
    for protocol in [Protocol::Stateless, Protocol::Session] {
        // HTTP also succeeds when the tool fails, so one answer is checked first.
        let (status, answer) =
            Connection::open(hub.address).await?.ask(callers.request(operation, protocol, 0)).await?;
        let answer = String::from_utf8_lossy(&answer);
        if status != 200 || !answer.contains("\"isError\":false") {
            bail!("{operation:?} was answered with {status}: {answer}");
        }
    }
    for _ in 0..ROUNDS {
        for (place, protocol) in
            [Protocol::Rest, Protocol::Stateless, Protocol::Session].into_iter().enumerate()
        {
            let callers = Arc::clone(callers);
            let maker: Maker = Arc::new(move |number| callers.request(operation, protocol, number));
            measured[place].push(drive(hub.address, connections, span, &numbers, &maker).await?);
        }
    }
    let [rest, stateless, session] = measured.map(|mut rounds| {
        rounds.sort_by(|one, other| one.rate.total_cmp(&other.rate));
        rounds.swap_remove(ROUNDS / 2)
    });
    Ok(Row { operation, rest, stateless, session })
}

//! The measurements of `tandem-bench push`.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use hyper::Method;
use serde::Serialize;
use serde_json::Value;
use tokio::task::JoinSet;

use super::Arguments;
use super::socket::Socket;
use crate::connection::Connection;
use crate::load::Span;
use crate::process::{Process, Scratch};
use crate::site::start_hub;
use crate::workload::{Agent, request, task_body};
use crate::{bare, prepare};

/// How many sockets an agent may have.
const SOCKETS_OF_ONE: usize = 16;
/// How many events are sent before any is timed.
const WARM_UP: usize = 100;
/// How many senders send as fast as they can.
const SENDERS: usize = 32;
/// How long a hub is left alone before its memory is read.
const SETTLE: Duration = Duration::from_secs(2);

/// Percentiles in microseconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Spread {
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
}

fn spread(mut us: Vec<f64>) -> Spread {
    us.sort_by(f64::total_cmp);
    let at = |share: usize| us.get(us.len() * share / 100).or(us.last()).copied().unwrap_or_default();
    Spread { p50_us: at(50), p99_us: at(99) }
}

/// What an idle socket costs.
#[derive(Debug, Clone, Serialize)]
struct Weight {
    sockets: usize,
    bytes_each: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct Report {
    hub_to_frame: Spread,
    hub_after_answer: Spread,
    bare_to_frame: Spread,
    bare_after_answer: Spread,
    echo: Spread,
    last_of_sixteen: Spread,
    events_per_second: f64,
    idle_sockets: Vec<Weight>,
    soak: Option<Soak>,
}

/// Memory while sockets are opened and closed.
#[derive(Debug, Serialize)]
struct Soak {
    sockets_opened: u64,
    memory_mb: Vec<f64>,
}

impl Report {
    pub(super) fn table(&self) -> String {
        let mut text = String::new();
        let rows = [
            ("request sent to frame received, hub (durable)", self.hub_to_frame),
            ("the same, bare server (durable)", self.bare_to_frame),
            ("answer received to frame received, hub", self.hub_after_answer),
            ("the same, bare server", self.bare_after_answer),
            ("bare WebSocket echo, round trip", self.echo),
            ("request sent to the last of 16 sockets, hub", self.last_of_sixteen),
        ];
        let _ = writeln!(text, "{:<50} {:>10} {:>10}", "microseconds", "p50", "p99");
        for (title, spread) in rows {
            let _ = writeln!(text, "{title:<50} {:>10.0} {:>10.0}", spread.p50_us, spread.p99_us);
        }
        let push = self.hub_after_answer.p99_us / self.echo.p99_us.max(1.0);
        let whole = self.hub_to_frame.p99_us / self.bare_to_frame.p99_us.max(1.0);
        let _ = writeln!(
            text,
            "\nPush (p99 after the answer) to echo p99: {push:.2}; request to frame, compared with the bare server: {whole:.2}"
        );
        let _ = writeln!(
            text,
            "Sustained: {:.0} events a second, each committed and received",
            self.events_per_second
        );
        for weight in &self.idle_sockets {
            let kb = weight.bytes_each / 1_000.0;
            let _ = writeln!(text, "{:>6} idle sockets: {kb:.1} KB each", weight.sockets);
        }
        if let Some(soak) = &self.soak {
            let memory: Vec<String> = soak.memory_mb.iter().map(|mb| format!("{mb:.1}")).collect();
            let opened = soak.sockets_opened;
            let _ = writeln!(
                text,
                "{opened} sockets opened and closed; memory over time: {} MB",
                memory.join(", ")
            );
        }
        text
    }
}

pub(super) async fn run(arguments: &Arguments) -> anyhow::Result<Report> {
    let most = arguments.sockets.iter().max().copied().unwrap_or(0);
    let agents_needed = most.div_ceil(SOCKETS_OF_ONE).max(SENDERS * 2);
    let span = Span { warm_up: Duration::ZERO, measured: Duration::from_secs_f64(arguments.seconds) };
    let room = most + 1_000;
    let set = ["max_streams", "max_connections", "max_connections_per_address"];
    let mut set: Vec<String> = set.iter().map(|name| format!("{name}={room}")).collect();
    set.push("memory_budget_mb=1000".into());
    let plan = arguments.place.plan(span, agents_needed, set)?;
    eprintln!("[1/6] starting a hub with {agents_needed} agents, and a bare server");
    let folder = Scratch::new(plan.folder.as_deref(), "push")?;
    let hub = start_hub(&plan, folder.path()).await?;
    let agents = prepare::agents(hub.address, agents_needed).await?;
    // First, while the hub has no freed memory that sockets could use.
    eprintln!("[2/6] idle sockets");
    let mut idle_sockets = Vec::new();
    for count in &arguments.sockets {
        idle_sockets.push(idle_memory(&hub, &agents, *count).await?);
    }
    let bare_folder = Scratch::new(plan.folder.as_deref(), "push-bare")?;
    let data = bare_folder.path().display().to_string();
    let arguments_of_bare = ["bare".into(), "--data".into(), data, "--agents".into(), "16".into()];
    let bare_server = Process::start_bare(&arguments_of_bare, bare_folder.path()).await?;
    let bare_agents = bare::agents(16);

    eprintln!("[3/6] one to one: {} events", arguments.events);
    let address = bare_server.address;
    let bare_endpoint =
        Endpoint { address, socket_address: address, post: "/job", socket: "/push-socket", greets: false };
    let hub_endpoint = Endpoint::hub(hub.address, hub.address);
    let echo = echo(bare_server.address, &bare_agents[0].key, arguments.events).await?;
    let (bare_to_frame, bare_after_answer) =
        one_to_one(&bare_endpoint, &bare_agents, arguments.events).await?;
    let (hub_to_frame, hub_after_answer) = one_to_one(&hub_endpoint, &agents, arguments.events).await?;
    bare_server.stop().await?;
    eprintln!("[4/6] one to sixteen sockets");
    let last_of_sixteen = fan_out(hub.address, &agents, arguments.events / 10).await?;
    eprintln!("[5/6] as fast as it goes, {} s", arguments.seconds);
    let events_per_second = flood(hub.address, &agents, plan.span.measured).await?;
    eprintln!("[6/6] sockets that come and go, {} s", arguments.soak);
    let soak = if arguments.soak > 0.0 { Some(soak(&hub, &agents, arguments.soak).await?) } else { None };
    hub.stop().await?;
    Ok(Report {
        hub_to_frame,
        hub_after_answer,
        bare_to_frame,
        bare_after_answer,
        echo,
        last_of_sixteen,
        events_per_second,
        idle_sockets,
        soak,
    })
}

/// Where to send, and where to listen.
pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    /// The address of the socket, which may be on another node.
    pub(crate) socket_address: SocketAddr,
    pub(crate) post: &'static str,
    pub(crate) socket: &'static str,
    pub(crate) greets: bool,
}

impl Endpoint {
    /// Requests go to one node of a hub, and frames come from the same or another.
    pub(crate) fn hub(address: SocketAddr, socket_address: SocketAddr) -> Self {
        Self { address, socket_address, post: "/tasks", socket: "/ws", greets: true }
    }
}

fn us(from: Instant, to: Instant) -> f64 {
    to.saturating_duration_since(from).as_secs_f64() * 1_000_000.0
}

/// Round trips on a bare socket.
async fn echo(address: SocketAddr, key: &str, count: usize) -> anyhow::Result<Spread> {
    let mut socket = Socket::open(address, "/echo-socket", key).await?;
    let text = "e".repeat(250);
    let mut took = Vec::new();
    for number in 0..count + WARM_UP {
        let sent = Instant::now();
        socket.send(&text).await?;
        socket.next().await?;
        if number >= WARM_UP {
            took.push(us(sent, Instant::now()));
        }
    }
    socket.close().await;
    Ok(spread(took))
}

/// One agent sends, another listens: from request to frame, and from answer to frame.
pub(crate) async fn one_to_one(
    endpoint: &Endpoint,
    agents: &[Agent],
    count: usize,
) -> anyhow::Result<(Spread, Spread)> {
    let (by, to) = (&agents[0], &agents[1]);
    let mut socket = Socket::open(endpoint.socket_address, endpoint.socket, &to.key).await?;
    if endpoint.greets {
        socket.next().await?;
    }
    let (received, mut arrivals) = tokio::sync::mpsc::channel(1);
    let listener = tokio::spawn(async move {
        while let Ok(frame) = socket.next().await {
            if received.send((Instant::now(), frame)).await.is_err() {
                break;
            }
        }
    });
    let mut connection = Connection::open(endpoint.address).await?;
    let (mut whole, mut after) = (Vec::new(), Vec::new());
    for number in 0..count + WARM_UP {
        let post = request(Method::POST, endpoint.post, Some(&by.key), task_body(&to.id, number as u64));
        let sent = Instant::now();
        let (status, _) = connection.ask(post).await?;
        let answered = Instant::now();
        if !(200..300).contains(&status) {
            bail!("a task was answered with {status}");
        }
        let (arrived, _) = arrivals.recv().await.context("the socket ended")?;
        if number >= WARM_UP {
            whole.push(us(sent, arrived));
            after.push(us(answered, arrived));
        }
    }
    listener.abort();
    Ok((spread(whole), spread(after)))
}

/// All sockets of one agent: until the last of them has the event.
async fn fan_out(address: SocketAddr, agents: &[Agent], count: usize) -> anyhow::Result<Spread> {
    let (by, to) = (&agents[0], &agents[1]);
    let mut sockets = Vec::new();
    for _ in 0..SOCKETS_OF_ONE {
        sockets.push(Socket::greeted(address, &to.key).await?);
    }
    let mut connection = Connection::open(address).await?;
    let mut took = Vec::new();
    for number in 0..count {
        let post = request(Method::POST, "/tasks", Some(&by.key), task_body(&to.id, number as u64));
        let sent = Instant::now();
        connection.ask(post).await?;
        for socket in &mut sockets {
            socket.next().await?;
        }
        took.push(us(sent, Instant::now()));
    }
    for socket in sockets {
        socket.close().await;
    }
    Ok(spread(took))
}

/// Many pairs at once: committed and received events a second.
async fn flood(address: SocketAddr, agents: &[Agent], time: Duration) -> anyhow::Result<f64> {
    let mut pairs = JoinSet::new();
    let until = Instant::now() + time;
    for pair in 0..SENDERS {
        let (by, to) = (agents[pair * 2].clone(), agents[pair * 2 + 1].clone());
        pairs.spawn(async move {
            let mut socket = Socket::greeted(address, &to.key).await?;
            let mut connection = Connection::open(address).await?;
            let mut received = 0_u64;
            while Instant::now() < until {
                let post = request(Method::POST, "/tasks", Some(&by.key), task_body(&to.id, received));
                let (status, answer) = connection.ask(post).await?;
                if status != 201 {
                    bail!("a task was answered with {status}");
                }
                let made: Value = serde_json::from_slice(&answer)?;
                if socket.next_task().await? != made["id"].as_str().unwrap_or_default() {
                    bail!("another task was pushed than was made");
                }
                received += 1;
            }
            socket.close().await;
            Ok(received)
        });
    }
    let mut received = 0;
    while let Some(pair) = pairs.join_next().await {
        received += pair??;
    }
    Ok(received as f64 / time.as_secs_f64())
}

/// Opens idle sockets and compares the hub's memory before and after.
async fn idle_memory(hub: &Process, agents: &[Agent], count: usize) -> anyhow::Result<Weight> {
    tokio::time::sleep(SETTLE).await;
    let before = hub.memory_mb().context("the system does not report memory")?;
    let mut sockets = Vec::with_capacity(count);
    for number in 0..count {
        let key = &agents[number / SOCKETS_OF_ONE].key;
        sockets.push(Socket::greeted(hub.address, key).await.with_context(|| format!("socket {number}"))?);
    }
    tokio::time::sleep(SETTLE).await;
    let after = hub.memory_mb().context("the system does not report memory")?;
    for socket in sockets {
        socket.close().await;
    }
    Ok(Weight { sockets: count, bytes_each: (after - before) * 1_000_000.0 / count as f64 })
}

/// Opens and closes sockets, half of them without a close frame.
async fn soak(hub: &Process, agents: &[Agent], seconds: f64) -> anyhow::Result<Soak> {
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    let mut memory_mb = Vec::new();
    let mut sockets_opened = 0;
    let mut measured_at = Instant::now() - Duration::from_secs(3_600);
    while Instant::now() < until {
        if measured_at.elapsed().as_secs_f64() > seconds / 8.0 {
            measured_at = Instant::now();
            memory_mb.extend(hub.memory_mb());
        }
        let mut open = Vec::new();
        for agent in agents.iter().take(64) {
            open.push(Socket::greeted(hub.address, &agent.key).await?);
        }
        sockets_opened += open.len() as u64;
        for (number, socket) in open.into_iter().enumerate() {
            if number % 2 == 0 {
                socket.close().await;
            }
        }
    }
    tokio::time::sleep(SETTLE).await;
    memory_mb.extend(hub.memory_mb());
    Ok(Soak { sockets_opened, memory_mb })
}

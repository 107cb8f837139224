//! Every list of an agent, while there is more and more to list.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use anyhow::bail;
use hyper::Method;
use serde::Serialize;
use serde_json::json;
use tokio::task::JoinSet;

use super::{ask, field};
use crate::connection::Connection;
use crate::process::Process;
use crate::progress::Progress;
use crate::workload::{request, task_body};

/// The agents that the one has tasks with. Two agents have 10,000 live tasks at most.
const PEERS: usize = 20;
/// Connections that make tasks.
const MAKERS: usize = 16;
/// One task in so many stays open.
const OPEN_EVERY: u64 = 10;
/// How often each list is read at each size.
const READS: usize = 31;

/// How long the lists took with so many tasks.
#[derive(Debug, Serialize)]
pub(super) struct Sized {
    tasks: u64,
    /// Medians, in milliseconds, by list.
    p50_ms: Vec<(&'static str, f64)>,
}

#[derive(Debug)]
struct Agent {
    id: String,
    key: String,
}

async fn agent(connection: &mut Connection, name: &str) -> anyhow::Result<Agent> {
    let made = ask(connection, None, "/agents", json!({ "name": name })).await?;
    Ok(Agent { id: field(&made, "id")?, key: field(&made, "apiKey")? })
}

/// An agent with peers, half of whose tasks it has sent.
struct Scene {
    address: SocketAddr,
    me: Agent,
    peers: Vec<Agent>,
}

impl Scene {
    async fn new(address: SocketAddr) -> anyhow::Result<Self> {
        let mut connection = Connection::open(address).await?;
        let me = agent(&mut connection, "Lists").await?;
        let mut peers = Vec::new();
        for number in 0..PEERS {
            let peer = agent(&mut connection, &format!("Peer {number}")).await?;
            let code = ask(&mut connection, Some(&me.key), "/pair/generate", json!({})).await?;
            let body = json!({ "code": field(&code, "code")? });
            ask(&mut connection, Some(&peer.key), "/pair/connect", body).await?;
            peers.push(peer);
        }
        Ok(Self { address, me, peers })
    }

    /// Makes one task and, mostly, ends it.
    async fn make(&self, connection: &mut Connection, number: u64) -> anyhow::Result<()> {
        let peer = &self.peers[usize::try_from(number)? % PEERS];
        let (by, to) =
            if (number / PEERS as u64).is_multiple_of(2) { (&self.me, peer) } else { (peer, &self.me) };
        let body = serde_json::from_str(&task_body(&to.id, number))?;
        let task = field(&ask(connection, Some(&by.key), "/tasks", body).await?, "id")?;
        if !number.is_multiple_of(OPEN_EVERY) {
            ask(connection, Some(&by.key), &format!("/tasks/{task}/cancel"), json!({})).await?;
        }
        Ok(())
    }

    async fn fill(self: &Arc<Self>, from: u64, to: u64) -> anyhow::Result<()> {
        let next = Arc::new(AtomicU64::new(from));
        let mut makers = JoinSet::new();
        for _ in 0..MAKERS {
            let (scene, next) = (Arc::clone(self), Arc::clone(&next));
            let mut connection = Connection::open(self.address).await?;
            makers.spawn(async move {
                loop {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= to {
                        return anyhow::Ok(());
                    }
                    scene.make(&mut connection, number).await?;
                }
            });
        }
        while let Some(made) = makers.join_next().await {
            made??;
        }
        Ok(())
    }

    fn lists(&self) -> Vec<(&'static str, String)> {
        let peer = &self.peers[3].id;
        vec![
            ("tasks", "/tasks".into()),
            ("tasks, open", "/tasks?status=submitted".into()),
            ("tasks, ended", "/tasks?status=cancelled".into()),
            ("tasks, as target", "/tasks?role=target".into()),
            ("tasks with one agent", format!("/tasks?with={peer}")),
            ("open tasks with one agent", format!("/tasks?with={peer}&status=submitted")),
            ("tasks with nobody", "/tasks?with=agent_nobody".into()),
            ("tasks by title", "/tasks?q=needle".into()),
            ("inbox", "/inbox".into()),
            ("updates", "/updates".into()),
            ("first events", "/events?after=0".into()),
            ("approvals", "/approvals".into()),
            ("connections", "/connections".into()),
            ("networks", "/networks".into()),
            ("blocks", "/agents/me/blocks".into()),
            ("deliveries", "/webhooks/deliveries".into()),
        ]
    }

    async fn measure(&self, tasks: u64) -> anyhow::Result<Sized> {
        let mut connection = Connection::open(self.address).await?;
        let mut p50_ms = Vec::new();
        for (name, path) in self.lists() {
            let mut took = Vec::with_capacity(READS);
            for _ in 0..READS {
                let begun = Instant::now();
                let get = request(Method::GET, &path, Some(&self.me.key), String::new());
                let (status, answer) = connection.ask(get).await?;
                if status != 200 {
                    bail!("{path} was answered with {status}: {}", String::from_utf8_lossy(&answer));
                }
                took.push(begun.elapsed());
            }
            took.sort();
            p50_ms.push((name, took[READS / 2].as_secs_f64() * 1_000.0));
        }
        Ok(Sized { tasks, p50_ms })
    }
}

/// Reads every list with 1,000 tasks, with ten times as many, and so on up to `most`.
pub(super) async fn measure(hub: &Process, most: u64, progress: &mut Progress) -> anyhow::Result<Vec<Sized>> {
    let scene = Arc::new(Scene::new(hub.address).await?);
    let (mut made, mut sizes) = (0, Vec::new());
    for size in sizes_to(most) {
        progress.step(format!("lists of an agent with {size} tasks"));
        scene.fill(made, size).await?;
        made = size;
        sizes.push(scene.measure(size).await?);
    }
    Ok(sizes)
}

/// The sizes at which lists are measured.
pub(super) fn sizes_to(most: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1_000), |size| Some(size * 10)).take_while(move |size| *size <= most)
}

/// A row for each list, a column for each size.
pub(super) fn table(sizes: &[Sized]) -> String {
    let mut out = format!("\n{:<28}", "Lists, p50 in ms, by tasks");
    for size in sizes {
        let _ = write!(out, "{:>10}", size.tasks);
    }
    out.push('\n');
    for (place, (name, _)) in
        sizes.first().map(|size| size.p50_ms.as_slice()).unwrap_or_default().iter().enumerate()
    {
        let _ = write!(out, "  {name:<26}");
        for size in sizes {
            let _ = write!(out, "{:>10.2}", size.p50_ms[place].1);
        }
        out.push('\n');
    }
    out
}

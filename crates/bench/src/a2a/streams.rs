//! Streams: how soon the first event is there, and what an open one costs.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::task::JoinSet;

use super::super::connection::Connection;
use super::super::load::{Figures, Seen, Span, figures};
use super::super::process::Process;
use super::AGENTS;
use super::calls::{Call, Server};

/// Open streams of each agent.
const STREAMS: usize = 16;
/// How long a hub is left alone before its memory is read.
const SETTLE: Duration = Duration::from_secs(1);

/// From the request to the first event.
pub(super) async fn first_events(server: &Server, clients: usize, span: Span) -> anyhow::Result<Figures> {
    let from = Instant::now() + span.warm_up;
    let until = from + span.measured;
    let mut running = JoinSet::new();
    for _ in 0..clients {
        let server = server.clone();
        let mut connection = Connection::open(server.address).await?;
        running.spawn(async move {
            let mut seen = Seen::default();
            let maker = server.maker(Call::Stream);
            while Instant::now() < until && seen.errors < 10 {
                let number = server.numbers.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                match connection.first(maker(number)).await {
                    Ok((200, took)) if Instant::now() >= from => seen.took(took),
                    Ok((200, _)) => {}
                    Ok((status, _)) => seen.error(status.to_string()),
                    Err(error) => seen.error(error.to_string()),
                }
            }
            seen
        });
    }
    let mut all = Seen::default();
    while let Some(seen) = running.join_next().await {
        all.add(seen?);
    }
    Ok(figures(all, span.measured))
}

/// What an open stream costs, its connection included, in KB.
pub(super) async fn memory_kb(server: &Server, hub: &Process) -> anyhow::Result<f64> {
    tokio::time::sleep(SETTLE).await;
    let before = hub.memory_mb().context("the system does not tell how much memory a process has")?;
    let mut open = Vec::new();
    for by in AGENTS / 2..AGENTS {
        for _ in 0..STREAMS {
            let connection = Connection::open(server.address).await?;
            // An agent without a task to read has none.
            if let Ok(stream) = connection.begin(server.request(Call::Subscribe(by), 0)).await {
                open.push(stream);
            }
        }
    }
    tokio::time::sleep(SETTLE).await;
    let after = hub.memory_mb().context("the system does not tell how much memory a process has")?;
    Ok((after - before) * 1_000.0 / open.len().max(1) as f64)
}

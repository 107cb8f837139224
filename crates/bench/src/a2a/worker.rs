//! The agents that answer: each hears of a task on its WebSocket and replies over REST.

use anyhow::Context as _;
use hyper::Method;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::super::connection::Connection;
use super::super::push::socket::Socket;
use super::super::workload::request;
use super::calls::Server;

/// How many connections send replies.
const CONNECTIONS: usize = 16;
/// Tasks that wait for their reply.
const WAITING_MAX: usize = 10_000;

/// The first `count` agents of the hub answer until this is dropped.
pub(super) async fn start(hub: &Server, count: usize) -> anyhow::Result<JoinSet<anyhow::Result<()>>> {
    let mut working = JoinSet::new();
    let mut queues = Vec::new();
    for _ in 0..CONNECTIONS {
        let (queue, mut tasks) = mpsc::channel::<(String, String)>(WAITING_MAX);
        queues.push(queue);
        let mut connection = Connection::open(hub.address).await?;
        working.spawn(async move {
            while let Some((task, key)) = tasks.recv().await {
                let body = json!({ "content": "Done" }).to_string();
                let reply = request(Method::POST, &format!("/tasks/{task}/reply"), Some(&key), body);
                connection.ask(reply).await?;
            }
            Ok(())
        });
    }
    for (place, agent) in hub.agents.iter().take(count).enumerate() {
        let mut socket = Socket::greeted(hub.address, &agent.key).await?;
        let (queue, key) = (queues[place % CONNECTIONS].clone(), agent.key.clone());
        working.spawn(async move {
            loop {
                let Ok(frame) = socket.wait().await else { return Ok(()) };
                let frame: serde_json::Value = serde_json::from_str(&frame)?;
                if frame["type"] == "task.created" {
                    let task = frame["taskId"].as_str().context("a frame without a task")?;
                    queue.send((task.to_owned(), key.clone())).await?;
                }
            }
        });
    }
    Ok(working)
}

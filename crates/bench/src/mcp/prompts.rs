//! How fast a model is prompted.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use hyper::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::TcpStream;

use super::{OLD, PROMPTS, begin, message};
use crate::connection::Connection;
use crate::process::Process;
use crate::workload::{Agent, request, text};

/// The time from the request for a new task to the prompt, in milliseconds, for a number of tasks.
pub(super) async fn time(hub: &Process, agents: &[Agent]) -> anyhow::Result<Vec<f64>> {
    let (from, to) = (&agents[0], &agents[1]);
    let session = begin(hub.address, &to.key, json!({ "sampling": {} })).await?;
    let mut stream = TcpStream::connect(hub.address).await?;
    let head = format!(
        "GET /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\nmcp-session-id: {session}\r\n\
         mcp-protocol-version: {OLD}\r\naccept: text/event-stream\r\n\r\n",
        to.key
    );
    stream.write_all(head.as_bytes()).await?;
    let mut lines = BufReader::new(stream).lines();
    let status = lines.next_line().await?.unwrap_or_default();
    if !status.starts_with("HTTP/1.1 200") {
        bail!("the session's stream was answered with {status}");
    }
    let (mut sender, mut answerer) =
        (Connection::open(hub.address).await?, Connection::open(hub.address).await?);
    let mut took = Vec::with_capacity(PROMPTS);
    for number in 0..PROMPTS {
        let body = json!({ "targetAgentId": to.id, "title": format!("Prompt {number}") }).to_string();
        let sent = Instant::now();
        let making = sender.ask(request(Method::POST, "/tasks", Some(&from.key), body));
        let (made, asked) = tokio::join!(making, next_prompt(&mut lines));
        let (arrived, id) = asked?;
        took.push((arrived - sent).as_secs_f64() * 1_000.0);
        if made?.0 != 201 {
            bail!("a task was refused");
        }
        let result =
            json!({ "role": "assistant", "model": "bench", "content": { "type": "text", "text": text() } });
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        answerer.ask(message(&to.key, Some(&session), &answer)).await?;
        await_message(&mut sender, from, number).await?;
    }
    Ok(took)
}

async fn next_prompt(lines: &mut Lines<BufReader<TcpStream>>) -> anyhow::Result<(Instant, Value)> {
    let next = async {
        while let Some(line) = lines.next_line().await? {
            let arrived = Instant::now();
            if let Some(data) = line.strip_prefix("data: ")
                && let Ok(message) = serde_json::from_str::<Value>(data)
                && message["method"] == "sampling/createMessage"
            {
                return Ok((arrived, message["id"].clone()));
            }
        }
        bail!("the session's stream has ended")
    };
    tokio::time::timeout(Duration::from_secs(10), next).await.context("no prompt came within 10 s")?
}

/// Waits until the answer is stored: only then is the model prompted again.
async fn await_message(connection: &mut Connection, from: &Agent, number: usize) -> anyhow::Result<()> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while Instant::now() < deadline {
        let newest = request(Method::GET, "/tasks?limit=1&role=initiator", Some(&from.key), String::new());
        let (_, list) = connection.ask(newest).await?;
        let list: Value = serde_json::from_slice(&list)?;
        if list[0]["title"] == format!("Prompt {number}") && list[0]["status"] == "working" {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    bail!("an answer was not stored within 10 s")
}

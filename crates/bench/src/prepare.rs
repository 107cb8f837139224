//! Preparation over HTTP, as any client would do it: agents, pairs, and open tasks.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use hyper::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::connection::Connection;
use super::workload::{Agent, Known, Operation, Server, Workload, pairs, request};

/// How many connections do the preparation.
const CONNECTIONS: usize = 16;
/// Settings without which a hub refuses this load.
const ADVICE: &str = "start the hub with --set rate_limit_max=0 --set rate_limit_register_max=0 \
     --set max_messages_per_minute=0 --set pow_difficulty=0, or let the bench start one by leaving out --url";

/// Sends a request that must succeed.
async fn ask(
    connection: &mut Connection,
    path: &str,
    key: Option<&str>,
    body: Value,
) -> anyhow::Result<Value> {
    let (status, text) = connection.ask(request(Method::POST, path, key, body.to_string())).await?;
    let said = String::from_utf8_lossy(&text);
    match status {
        200..300 => Ok(serde_json::from_slice(&text)?),
        429 => bail!("POST {path} was refused by a rate limit: {said}\n{ADVICE}"),
        400 if said.contains("challenge") => bail!("the hub asks for proof of work: {said}\n{ADVICE}"),
        _ => bail!("POST {path} was answered with {status}: {said}"),
    }
}

fn field(answer: &Value, name: &str) -> anyhow::Result<String> {
    let text = answer[name].as_str().with_context(|| format!("an answer has no {name}: {answer}"))?;
    Ok(text.to_owned())
}

/// Runs one piece of work for each number below `count`, over several connections; results in order.
async fn each<T, F>(
    address: SocketAddr,
    count: usize,
    work: impl Fn(Connection, usize) -> F,
) -> anyhow::Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = anyhow::Result<(Connection, T)>> + Send + 'static,
{
    let mut running = JoinSet::new();
    let mut idle = Vec::new();
    for _ in 0..CONNECTIONS {
        idle.push(Connection::open(address).await?);
    }
    let mut results: Vec<(usize, T)> = Vec::with_capacity(count);
    for number in 0..count {
        let connection = match idle.pop() {
            Some(connection) => connection,
            None => {
                let (connection, done) = running.join_next().await.context("nothing is running")???;
                results.push(done);
                connection
            }
        };
        let job = work(connection, number);
        running.spawn(async move { job.await.map(|(connection, made)| (connection, (number, made))) });
    }
    while let Some(done) = running.join_next().await {
        results.push(done??.1);
    }
    results.sort_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, made)| made).collect())
}

pub(super) async fn unpaired(address: SocketAddr, count: usize) -> anyhow::Result<Vec<Agent>> {
    each(address, count, |mut connection, number| async move {
        let made =
            ask(&mut connection, "/agents", None, json!({ "name": format!("bench {number}") })).await?;
        Ok((connection, Agent { id: field(&made, "id")?, key: field(&made, "apiKey")? }))
    })
    .await
    .context("cannot register agents")
}

/// Registers agents on a hub and pairs them.
pub(super) async fn agents(address: SocketAddr, count: usize) -> anyhow::Result<Vec<Agent>> {
    let agents = unpaired(address, count).await?;
    let pairs = pairs(count);
    let known = Arc::new(agents.clone());
    each(address, pairs.len(), |mut connection, place| {
        let (known, (one, other)) = (Arc::clone(&known), pairs[place]);
        async move {
            let code = ask(&mut connection, "/pair/generate", Some(&known[one].key), json!({})).await?;
            let code = json!({ "code": field(&code, "code")? });
            ask(&mut connection, "/pair/connect", Some(&known[other].key), code).await?;
            Ok((connection, ()))
        }
    })
    .await
    .context("cannot pair agents")?;
    Ok(agents)
}

/// Creates an open task for each pair, on the hub or on a bare server.
pub(super) async fn open_tasks(
    address: SocketAddr,
    server: Server,
    agents: &[Agent],
) -> anyhow::Result<Vec<Known>> {
    let workload = Arc::new(Workload { agents: agents.to_vec(), ..Workload::default() });
    each(address, pairs(agents.len()).len(), |mut connection, pair| {
        let workload = Arc::clone(&workload);
        async move {
            // The request with this number belongs to another pair, because requests are scattered.
            let made = workload.request(server, Operation::CreateTask, pair as u64);
            let pair = super::workload::scattered(pair as u64, pairs(workload.agents.len()).len());
            let (status, text) = connection.ask(made).await?;
            if !(200..300).contains(&status) {
                bail!("a task was answered with {status}: {}\n{ADVICE}", String::from_utf8_lossy(&text));
            }
            let made: Value = serde_json::from_slice(&text)?;
            Ok((connection, Known { id: field(&made, "id")?, pair }))
        }
    })
    .await
    .context("cannot make tasks")
}

//! Setting the scene over HTTP, as any client would: agents, pairs, and tasks to talk on.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use hyper::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::crowd::{Agent, Asked, Crowd, Known, Operation, pairs, request};
use super::wire::Wire;

/// How many connections set the scene.
const CONNECTIONS: usize = 16;
/// What must be off for a load of this kind.
const ADVICE: &str = "start the hub with --set rate_limit_max=0 --set rate_limit_register_max=0 \
     --set max_messages_per_minute=0 --set pow_difficulty=0, or let the bench start one by leaving out --url";

/// Asks for something that must succeed.
async fn ask(wire: &mut Wire, path: &str, key: Option<&str>, body: Value) -> anyhow::Result<Value> {
    let (status, text) = wire.ask(request(Method::POST, path, key, body.to_string())).await?;
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
    work: impl Fn(Wire, usize) -> F,
) -> anyhow::Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = anyhow::Result<(Wire, T)>> + Send + 'static,
{
    let mut running = JoinSet::new();
    let mut idle = Vec::new();
    for _ in 0..CONNECTIONS {
        idle.push(Wire::open(address).await?);
    }
    let mut results: Vec<(usize, T)> = Vec::with_capacity(count);
    for number in 0..count {
        let wire = match idle.pop() {
            Some(wire) => wire,
            None => {
                let (wire, done) = running.join_next().await.context("nothing is running")???;
                results.push(done);
                wire
            }
        };
        let job = work(wire, number);
        running.spawn(async move { job.await.map(|(wire, made)| (wire, (number, made))) });
    }
    while let Some(done) = running.join_next().await {
        results.push(done??.1);
    }
    results.sort_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, made)| made).collect())
}

/// Registers agents on a hub and pairs them.
pub(super) async fn agents(address: SocketAddr, count: usize) -> anyhow::Result<Vec<Agent>> {
    let agents: Vec<Agent> = each(address, count, |mut wire, number| async move {
        let made = ask(&mut wire, "/agents", None, json!({ "name": format!("bench {number}") })).await?;
        Ok((wire, Agent { id: field(&made, "id")?, key: field(&made, "apiKey")? }))
    })
    .await
    .context("cannot register agents")?;
    let pairs = pairs(count);
    let known = Arc::new(agents.clone());
    each(address, pairs.len(), |mut wire, place| {
        let (known, (one, other)) = (Arc::clone(&known), pairs[place]);
        async move {
            let code = ask(&mut wire, "/pair/generate", Some(&known[one].key), json!({})).await?;
            let code = json!({ "code": field(&code, "code")? });
            ask(&mut wire, "/pair/connect", Some(&known[other].key), code).await?;
            Ok((wire, ()))
        }
    })
    .await
    .context("cannot pair agents")?;
    Ok(agents)
}

/// Makes a live task for each pair, on the hub or on the limit.
pub(super) async fn open_tasks(
    address: SocketAddr,
    asked: Asked,
    agents: &[Agent],
) -> anyhow::Result<Vec<Known>> {
    let crowd = Arc::new(Crowd { agents: agents.to_vec(), ..Crowd::default() });
    each(address, pairs(agents.len()).len(), |mut wire, pair| {
        let crowd = Arc::clone(&crowd);
        async move {
            // The request with this number is about the pair at a scattered place.
            let made = crowd.request(asked, Operation::CreateTask, pair as u64);
            let pair = super::crowd::scattered(pair as u64, pairs(crowd.agents.len()).len());
            let (status, text) = wire.ask(made).await?;
            if !(200..300).contains(&status) {
                bail!("a task was answered with {status}: {}\n{ADVICE}", String::from_utf8_lossy(&text));
            }
            let made: Value = serde_json::from_slice(&text)?;
            Ok((wire, Known { id: field(&made, "id")?, pair }))
        }
    })
    .await
    .context("cannot make tasks")
}

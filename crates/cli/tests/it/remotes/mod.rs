//! Agents elsewhere, to which the hub hands tasks.

mod cards;
mod elsewhere;
mod foreign;
mod lies;
mod restarts;
mod tasks;

use serde_json::{Value, json};

use crate::harness::{Agent, Db, Harness, eventually};

pub use elsewhere::{Answer, Elsewhere, Seen, task, telling};

/// A hub that may call this machine.
pub async fn start(db: Db) -> Harness {
    Harness::start_with(db, |config| {
        (config.webhook_allow_http, config.webhook_allow_private) = (true, true);
        config.public_url = Some("http://127.0.0.1:1".into());
    })
    .await
}

/// A task for an agent elsewhere.
pub async fn send(owner: &Agent, remote: &str, more: Value) -> String {
    let mut body = json!({ "targetAgentId": remote, "title": "Look it up", "description": "All of it" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let reply = owner.post("/tasks", body).await;
    reply.ok(201);
    reply.text("id")
}

/// Waits until the task has this status, while time goes on.
pub async fn becomes(hub: &Harness, owner: &Agent, task: &str, status: &str) -> Value {
    becomes_by(hub, owner, task, (status, 500)).await
}

/// The same in steps of so many milliseconds.
pub async fn becomes_by(hub: &Harness, owner: &Agent, task: &str, (status, step_ms): (&str, i64)) -> Value {
    eventually(async || {
        hub.advance_ms(step_ms);
        let view = owner.view(task).await;
        (view["status"] == status).then_some(view)
    })
    .await
}

/// What the parties said on a task.
pub async fn said(owner: &Agent, task: &str) -> Vec<String> {
    let thread = owner.get(&format!("/tasks/{task}/messages")).await.ok(200);
    thread.as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

/// The remote as its owner sees it.
pub async fn shown(owner: &Agent) -> Value {
    owner.get("/a2a/remotes").await.ok(200)[0].clone()
}

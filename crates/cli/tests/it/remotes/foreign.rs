//! Agents that were built with the official SDKs of A2A.

use std::net::TcpListener;

use rstest::rstest;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use super::{becomes, said, send, shown};
use crate::files::upload;
use crate::foreign::{installed, script};
use crate::harness::{Agent, Db, Harness, eventually};

const KEY: &str = "key-of-the-foreign-agent";

/// A foreign agent as a process.
struct Foreign {
    child: Child,
    language: &'static str,
    binding: &'static str,
    settings: Vec<(&'static str, String)>,
    port: u16,
}

impl Foreign {
    async fn start(
        language: &'static str,
        binding: &'static str,
        settings: Vec<(&'static str, String)>,
    ) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = spawn(language, binding, &settings, port);
        let foreign = Self { child, language, binding, settings, port };
        foreign.is_up().await;
        foreign
    }

    async fn is_up(&self) {
        eventually(async || TcpStream::connect(("127.0.0.1", self.port)).await.ok()).await;
    }

    /// Ends it in the middle of what it does, and starts it again.
    async fn restart(&mut self) {
        self.child.kill().await.unwrap();
        self.child = spawn(self.language, self.binding, &self.settings, self.port);
        self.is_up().await;
    }

    async fn add(&self, owner: &Agent) -> String {
        let url = format!("http://127.0.0.1:{}/.well-known/agent-card.json", self.port);
        let auth = json!({ "type": "bearer", "value": KEY });
        let reply = owner.post("/a2a/remotes", json!({ "cardUrl": url, "auth": auth })).await;
        reply.ok(201);
        reply.text("agentId")
    }
}

fn spawn(language: &str, binding: &str, settings: &[(&str, String)], port: u16) -> Child {
    let mut command = match language {
        "python" => {
            let mut command = Command::new(installed().join("venv/bin/python"));
            command.arg(script("a2a-server.py"));
            command
        }
        _ => {
            let mut command = Command::new(installed().join("node_modules/node/bin/node"));
            command.arg(script("a2a-server.mjs"));
            command
        }
    };
    let settings = settings.iter().map(|(name, value)| (*name, value.as_str()));
    command
        .env("FOREIGN", installed())
        .env("PORT", port.to_string())
        .env("BINDING", binding)
        .env("KEY", KEY)
        .envs(settings)
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

async fn ask(hub: &Harness, ada: &Agent, remote: &str, words: &str, status: &str) -> Value {
    let task = send(ada, remote, json!({ "title": words, "description": null })).await;
    becomes(hub, ada, &task, status).await
}

#[rstest]
#[tokio::test]
async fn an_agent_built_with_an_sdk_takes_tasks(
    #[values("python", "javascript")] language: &'static str,
    #[values("JSONRPC", "HTTP+JSON")] binding: &'static str,
    #[values("", "stream")] bells: &'static str,
) {
    let hub = super::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let foreign = Foreign::start(language, binding, vec![("BELLS", bells.into())]).await;
    let remote = foreign.add(&ada).await;
    let done = ask(&hub, &ada, &remote, "plain words", "completed").await;
    assert_eq!(done["result"], "done: plain words");
    let direct = ask(&hub, &ada, &remote, "message please", "completed").await;
    assert_eq!(direct["result"], "just words");
    let failed = ask(&hub, &ada, &remote, "fail now", "failed").await;
    assert_eq!(failed["result"], "I cannot");

    let asked = ask(&hub, &ada, &remote, "ask me", "input-required").await;
    let id = asked["id"].as_str().unwrap();
    assert_eq!(said(&ada, id).await, ["What exactly?"]);
    ada.post(&format!("/tasks/{id}/messages"), json!({ "content": "this one" })).await.ok(201);
    let answered = becomes(&hub, &ada, id, "completed").await;
    assert_eq!(answered["result"], "done: this one");

    let draft = send(&ada, &remote, json!({ "title": "file it", "draft": true })).await;
    let file = upload("in.csv", "text/csv", b"1,2");
    ada.post(&format!("/tasks/{draft}/files/json"), file).await.ok(201);
    ada.set(&draft, "submitted").await.ok(200);
    let filed = becomes(&hub, &ada, &draft, "completed").await;
    assert!(filed["result"].as_str().unwrap().contains("in.csv"), "{filed}");

    let waiting = ask(&hub, &ada, &remote, "wait for me", "working").await;
    ada.post_empty(&format!("/tasks/{}/cancel", waiting["id"].as_str().unwrap())).await.ok(200);
    assert_eq!(shown(&ada).await["failingSince"], json!(null));
}

#[rstest]
#[tokio::test]
async fn an_agent_that_is_killed_in_mid_task_is_asked_again(
    #[values("python", "javascript")] language: &'static str,
) {
    let hub = super::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let mut foreign = Foreign::start(language, "JSONRPC", Vec::new()).await;
    let remote = foreign.add(&ada).await;
    let work = ask(&hub, &ada, &remote, "wait for me", "working").await;
    foreign.restart().await;
    // It keeps its tasks in memory: the one of before it does not know any more, and says so.
    let failed = becomes(&hub, &ada, work["id"].as_str().unwrap(), "failed").await;
    assert!(failed["statusReason"].as_str().unwrap().contains("no longer knows"), "{failed}");
    let done = ask(&hub, &ada, &remote, "plain words", "completed").await;
    assert_eq!(done["result"], "done: plain words");
}

//! MCP clients that are not ours, and the official conformance suite.

use std::path::PathBuf;
use std::process::{Output, Stdio};

use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::foreign::{installed, script};
use crate::harness::{Agent, Db, Harness, Nodes, PATIENCE, eventually};
use crate::mcp::fixtures::Fixtures;

/// Node as the suite and the Inspector need it; the system's may be older.
fn node() -> PathBuf {
    installed().join("node_modules/node/bin/node")
}

fn url(agent: &Agent) -> String {
    format!("http://{}/mcp", agent.client.address)
}

/// A foreign client that does what it is told.
struct Foreign {
    _child: Child,
    orders: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Foreign {
    fn spawn(client: &str, agent: &Agent, more: &[(&str, &str)]) -> Self {
        let mut command = match client {
            "python-old" | "python-new" => {
                let mut command = Command::new(installed().join("venv/bin/python"));
                let mode = if client == "python-old" { "legacy" } else { "auto" };
                command.arg(script("mcp-client.py")).env("MODE", mode);
                command
            }
            _ => {
                let mut command = Command::new(node());
                command.arg(script(&format!("mcp-{client}.mjs")));
                command
            }
        };
        let mut child = command
            .env("FOREIGN", installed())
            .env("URL", url(agent))
            .env("KEY", &agent.key)
            .envs(more.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { orders: child.stdin.take().unwrap(), lines, _child: child }
    }

    async fn connect(client: &str, agent: &Agent, more: &[(&str, &str)]) -> Self {
        let mut foreign = Self::spawn(client, agent, more);
        let connected = foreign.line().await;
        let new_era = ["client2", "python-new"].contains(&client);
        let version = if new_era { "2026-07-28" } else { "2025-11-25" };
        assert_eq!(connected["connected"], version, "{client}: {connected}");
        assert_eq!(connected["session"].is_string(), !new_era, "{client}: {connected}");
        foreign
    }

    async fn line(&mut self) -> Value {
        let line =
            tokio::time::timeout(PATIENCE, self.lines.next_line()).await.expect("a line comes").unwrap();
        serde_json::from_str(&line.expect("the client goes on")).unwrap()
    }

    async fn order(&mut self, order: Value) -> Value {
        self.orders.write_all(format!("{order}\n").as_bytes()).await.unwrap();
        self.line().await
    }

    /// A tool's data; the client itself has held it against the tool's schema.
    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.order(json!({ "call": tool, "arguments": arguments })).await;
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    }
}

#[rstest]
#[tokio::test]
async fn foreign_clients_pair_and_hand_over_a_task(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values("sdk1", "client2", "python-old", "python-new")] client: &str,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let mut of_ada = Foreign::connect(client, &ada, &[]).await;
    let mut of_bob = Foreign::connect(client, &bob, &[]).await;
    assert_eq!(of_ada.order(json!({ "list": true })).await.as_array().unwrap().len(), 48);
    let code = of_ada.call("generate_pairing_code", json!({})).await["code"].clone();
    of_bob.call("connect_with_agent", json!({ "code": code })).await;
    let task = json!({ "targetAgentId": bob.id, "title": "Count", "description": "to three" });
    let task = of_ada.call("create_task", task).await["id"].clone();
    let updates = of_bob.call("wait_for_updates", json!({})).await;
    assert_eq!(updates["pendingTasks"][0]["id"], task);
    let seen = of_bob.call("get_task", json!({ "taskId": task })).await;
    assert_eq!(seen["status"], "submitted");
    of_bob.call("list_tasks", json!({})).await;
    of_bob.call("list_connections", json!({})).await;
    of_bob.call("get_inbox", json!({})).await;
    of_bob.call("update_task_status", json!({ "taskId": task, "status": "working" })).await;
    of_bob.call("send_message", json!({ "taskId": task, "content": "one, two" })).await;
    of_bob.call("send_reply", json!({ "taskId": task, "content": "three" })).await;
    let done = of_ada.call("get_task", json!({ "taskId": task })).await;
    assert_eq!(done["status"], "completed");
    assert!(done["result"].as_str().unwrap().contains("three"));
    let refused = of_bob.order(json!({ "call": "get_task", "arguments": { "taskId": "nope" } })).await;
    assert_eq!(refused["isError"], true, "an error is a result that the client lets through");
}

#[rstest]
#[tokio::test]
async fn a_foreign_session_lives_on_another_node_on_postgres() {
    let nodes = Nodes::new();
    let (a, b) = (nodes.start("a", |_| {}).await, nodes.start("b", |_| {}).await);
    let (ada, bob) = a.pair().await;
    let other = [("OTHER", url(&bob.at(&b)))];
    let other = [(other[0].0, other[0].1.as_str()), ("ANSWER", "I am on it.")];
    let mut model = Foreign::spawn("sdk1", &bob, &other);
    assert_eq!(model.line().await["stream"], 200);
    assert_eq!((a.sessions.count(), b.sessions.count()), (1, 0));
    // A prompt comes by the stream, its answer goes by a request: both through the other node.
    let task = ada.task(&bob).await;
    let prompt = model.line().await;
    assert!(prompt["sampled"]["messages"][0]["content"]["text"].as_str().unwrap().contains(&task));
    eventually(async || {
        let list = ada.get(&format!("/tasks/{task}/messages")).await.ok(200);
        (list[0]["content"] == "I am on it.").then_some(())
    })
    .await;
    let seen = model.call("get_task", json!({ "taskId": task })).await;
    assert_eq!(seen["id"], task.as_str());
    // The end of its input makes it end the session.
    drop(model.orders);
    eventually(async || (a.sessions.count() == 0).then_some(())).await;
}

#[rstest]
#[tokio::test]
async fn a_foreign_session_answers_prompts(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut model = Foreign::spawn("sdk1", &bob, &[("ANSWER", "I am on it.")]);
    assert_eq!(model.line().await["stream"], 200);
    let task = ada.task(&bob).await;
    let prompt = model.line().await;
    assert!(prompt["sampled"]["messages"][0]["content"]["text"].as_str().unwrap().contains(&task));
    let messages = eventually(async || {
        let list = ada.get(&format!("/tasks/{task}/messages")).await.ok(200);
        list.as_array().filter(|list| !list.is_empty()).cloned()
    })
    .await;
    assert_eq!(
        (&messages[0]["content"], &messages[0]["senderAgentId"]),
        (&json!("I am on it."), &json!(bob.id))
    );
    assert_eq!(ada.view(&task).await["status"], "working");
}

#[rstest]
#[tokio::test]
async fn a_foreign_client_of_the_new_era_listens(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut client = Foreign::connect("client2", &bob, &[]).await;
    let honored = client.order(json!({ "listen": "tandem://inbox" })).await;
    assert_eq!(honored["resourceSubscriptions"], json!(["tandem://inbox"]));
    eventually(async || hub.reach(&bob.id.parse().unwrap()).map(drop)).await;
    ada.task(&bob).await;
    assert_eq!(client.line().await, json!({ "updated": "tandem://inbox" }));
}

async fn inspect(agent: &Agent, era: &str, arguments: &[&str]) -> Output {
    let launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    let home = std::env::temp_dir().join(format!("tandem-inspector-{}", std::process::id()));
    std::fs::create_dir_all(&home).unwrap();
    let key = format!("Authorization: Bearer {}", agent.key);
    let output = Command::new(node())
        .arg(installed().join(launcher))
        .args(["--cli", &url(agent), "--transport", "http", "--header", &key, "--stored-auth-only"])
        .args(["--protocol-era", era, "--format", "json", "-q"])
        .args(arguments)
        .env("HOME", &home)
        .output()
        .await
        .unwrap();
    std::fs::remove_dir_all(&home).ok();
    output
}

#[rstest]
#[tokio::test]
async fn the_inspector_lists_and_calls(#[values("legacy", "modern")] era: &str) {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let listed = inspect(&ada, era, &["--method", "tools/list"]).await;
    assert!(listed.status.success(), "{listed:?}");
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 48);
    let call = ["--method", "tools/call", "--tool-name", "get_profile", "--tool-args-json", "{}"];
    let called = inspect(&ada, era, &call).await;
    assert!(called.status.success(), "{called:?}");
    let called: Value = serde_json::from_slice(&called.stdout).unwrap();
    assert_eq!(called["result"]["structuredContent"]["id"], ada.id.as_str());
}

/// Puts the agent's key on every request: the suite cannot.
async fn proxy(agent: &Agent) -> (Child, String) {
    let mut child = Command::new(node())
        .arg(script("mcp-proxy.mjs"))
        .args([&url(agent), &agent.key])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    (child, line["url"].as_str().unwrap().to_owned())
}

async fn suite(version: &str, url: &str, arguments: &[&str]) -> (bool, String) {
    let output = Command::new(node())
        .arg(installed().join(format!("node_modules/conformance-{version}/dist/index.js")))
        .args(["server", "--url", url])
        .args(arguments)
        .output()
        .await
        .unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// With the fixtures of the suite handed in, every scenario passes.
#[rstest]
#[tokio::test]
async fn the_conformance_suite_passes(
    #[values(("0.1", "", 40), ("0.2", "2025-11-25", 83), ("0.2", "2026-07-28", 140))] run: (
        &str,
        &str,
        usize,
    ),
) {
    let (version, requirements, checks_min) = run;
    let hub = Harness::start_extended(Db::Sqlite, |server| server.extend_mcp(Fixtures)).await;
    let (_proxy, url) = proxy(&hub.agent("Ada").await).await;
    let arguments = if requirements.is_empty() { vec![] } else { vec!["--requirements", requirements] };
    let (passed, report) = suite(version, &url, &arguments).await;
    assert!(passed, "{report}");
    let total = report.lines().find_map(|line| line.strip_prefix("Total: ")).expect("a summary");
    let checks: usize = total.split(' ').next().unwrap().parse().unwrap();
    assert!(checks >= checks_min, "{total}");
}

/// What can be asked of any server passes without them, too.
#[tokio::test]
async fn a_plain_hub_passes_what_applies_to_any_server() {
    let hub = Harness::start_with(Db::Sqlite, |config| config.rate_limit_max = 0).await;
    let (_proxy, url) = proxy(&hub.agent("Ada").await).await;
    let old = [
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "completion-complete",
        "tools-list",
        "server-sse-multiple-streams",
        "resources-list",
        "prompts-list",
        "dns-rebinding-protection",
    ];
    let new = [
        "completion-complete",
        "tools-list",
        "server-sse-multiple-streams",
        "resources-list",
        "sep-2164-resource-not-found",
        "prompts-list",
        "dns-rebinding-protection",
        "caching",
        "input-required-result-unsupported-methods",
        "http-header-validation",
    ];
    let all =
        old.iter().map(|name| (*name, "2025-11-25")).chain(new.iter().map(|name| (*name, "2026-07-28")));
    for (scenario, version) in all {
        let (passed, report) = suite("0.2", &url, &["--scenario", scenario, "--spec-version", version]).await;
        assert!(passed && report.contains("Passed: "), "{scenario} in {version}: {report}");
    }
}

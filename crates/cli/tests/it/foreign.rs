//! Clients that are not ours: Node's `ws`, Python's `websockets`, and the Standard Webhooks verifier.

mod generated;
mod typescript;

use std::path::PathBuf;
use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStdout, Command};

use crate::harness::{Agent, Db, Harness, Nodes, PATIENCE};

/// Where `scripts/foreign-clients` puts them.
pub fn installed() -> PathBuf {
    let target = PathBuf::from(env!("CARGO_BIN_EXE_tandem")).ancestors().nth(2).unwrap().join("foreign");
    assert!(target.join("versions").exists(), "run scripts/foreign-clients first; ./check does");
    target
}

pub fn script(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/foreign").join(name)
}

fn command(client: &str) -> Command {
    match client {
        "node" => {
            let mut command = Command::new("node");
            command.arg(script("listen.mjs"));
            command
        }
        _ => {
            let mut command = Command::new(installed().join("venv/bin/python"));
            command.arg(script("listen.py"));
            command
        }
    }
}

/// A foreign client on a socket.
struct Foreign {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Foreign {
    fn connect(client: &str, agent: &Agent, query: &str, frames: usize) -> Self {
        let mut child = command(client)
            .env("FOREIGN", installed())
            .env("URL", format!("ws://{}/ws{query}", agent.client.address))
            .env("KEY", &agent.key)
            .env("FRAMES", frames.to_string())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    async fn frame(&mut self) -> Value {
        let line =
            tokio::time::timeout(PATIENCE, self.lines.next_line()).await.expect("a frame comes").unwrap();
        serde_json::from_str(&line.expect("the client goes on")).unwrap()
    }
}

#[rstest]
#[tokio::test]
async fn foreign_sockets_hear_and_resume(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values("node", "python")] client: &str,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut first = Foreign::connect(client, &bob, "", 3);
    let greeting = json!({ "type": "connected", "agentId": bob.id, "cursor": 1, "epoch": hub.hub.epoch });
    assert_eq!(first.frame().await, greeting);
    let task = ada.task(&bob).await;
    let created = first.frame().await;
    assert_eq!(
        (&created["type"], &created["taskId"], &created["cursor"]),
        (&json!("task.created"), &json!(task), &json!(2))
    );
    ada.set(&task, "cancelled").await.ok(200);
    assert_eq!(first.frame().await["status"], "cancelled");
    assert!(tokio::time::timeout(PATIENCE, first.child.wait()).await.unwrap().unwrap().success());
    let mut second = Foreign::connect(client, &bob, "?after=2", 2);
    assert_eq!(second.frame().await["type"], "connected");
    assert_eq!(second.frame().await["cursor"], 3);
}

#[rstest]
#[tokio::test]
async fn foreign_sockets_hear_what_happens_on_another_node_on_postgres(
    #[values("node", "python")] client: &str,
) {
    let nodes = Nodes::new();
    let (a, b) = (nodes.start("a", |_| {}).await, nodes.start("b", |_| {}).await);
    let (ada, bob) = a.pair().await;
    let mut first = Foreign::connect(client, &bob.at(&b), "", 2);
    assert_eq!(first.frame().await["type"], "connected");
    let task = ada.task(&bob).await;
    let created = first.frame().await;
    assert_eq!((&created["taskId"], &created["cursor"]), (&json!(task), &json!(2)));
    // It resumes on the other node.
    ada.at(&b).set(&task, "cancelled").await.ok(200);
    let mut second = Foreign::connect(client, &bob, "?after=2", 2);
    assert_eq!(second.frame().await["type"], "connected");
    assert_eq!(second.frame().await["cursor"], 3);
}

#[rstest]
#[tokio::test]
async fn the_standard_verifier_accepts_what_any_node_sends_on_postgres() {
    let nodes = Nodes::in_the_present();
    let allow = |config: &mut tandem_hub::Config| {
        (config.webhook_allow_http, config.webhook_allow_private) = (true, true);
    };
    let (a, b) = (nodes.start("a", allow).await, nodes.start("b", allow).await);
    let (ada, bob) = a.pair().await;
    let secret = format!("whsec_{}", STANDARD.encode([7; 24]));
    for (hooked, from) in [(&bob, ada.at(&b)), (&bob.at(&b), ada.clone())] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        hooked.patch("/agents/me", json!({ "webhookUrl": url, "webhookSecret": secret })).await.ok(200);
        let task = from.task(&bob).await;
        let (headers, body) =
            tokio::time::timeout(PATIENCE, receive(listener)).await.expect("the webhook comes");
        let output = verify(&secret, &json!("whsec"), &headers, &body).await;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let verified: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(verified["data"]["taskId"], task.as_str());
    }
}

/// Takes one request as it is, and answers 200.
async fn receive(listener: TcpListener) -> (Value, String) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    let (head, length) = loop {
        let mut part = [0; 4096];
        let read = stream.read(&mut part).await.unwrap();
        request.extend_from_slice(&part[..read]);
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse::<usize>();
            break (head.to_owned(), length.unwrap());
        }
    };
    while request.len() < head.len() + 4 + length {
        let mut part = [0; 4096];
        let read = stream.read(&mut part).await.unwrap();
        request.extend_from_slice(&part[..read]);
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    let headers = head.lines().skip(1).filter_map(|line| line.split_once(": "));
    let headers: serde_json::Map<String, Value> =
        headers.map(|(name, value)| (name.into(), value.into())).collect();
    (Value::Object(headers), String::from_utf8(request[head.len() + 4..].to_vec()).unwrap())
}

/// Runs the Standard Webhooks library on a request.
async fn verify(secret: &str, format: &Value, headers: &Value, body: &str) -> std::process::Output {
    let mut child = Command::new(installed().join("venv/bin/python"))
        .arg(script("verify.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let request = json!({ "secret": secret, "format": format, "headers": headers, "body": body }).to_string();
    child.stdin.take().unwrap().write_all(request.as_bytes()).await.unwrap();
    child.wait_with_output().await.unwrap()
}

#[rstest]
#[tokio::test]
async fn the_standard_verifier_accepts_our_signature(#[values(Db::Sqlite)] db: Db) {
    let place = std::sync::Arc::new(crate::harness::Place::new(db));
    let mut config = place.config();
    (config.webhook_allow_http, config.webhook_allow_private) = (true, true);
    // The verifier refuses old timestamps, so this hub lives in the present.
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis();
    let clock = std::sync::Arc::new(std::sync::atomic::AtomicI64::new(i64::try_from(now).unwrap()));
    let hub = Harness::start_at(place, config, clock).await;
    let (ada, bob) = hub.pair().await;
    assert_eq!(bob.get("/agents/me").await.ok(200)["webhookSecretFormat"], Value::Null);
    let encoded = format!("whsec_{}", STANDARD.encode([7; 24]));
    let secrets = [
        (encoded.as_str(), "whsec"),
        ("a plain secret of mine", "raw"),
        ("0123456789abcdef", "raw"),
        ("schlüssel für Webhooks", "raw"),
        ("whsec_this is not base64", "raw"),
    ];
    for (secret, format) in secrets {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let body = json!({ "webhookUrl": url, "webhookSecret": secret });
        let profile = bob.patch("/agents/me", body).await.ok(200);
        assert_eq!(profile["webhookSecretFormat"], format, "{secret}");
        assert_eq!(bob.get("/agents/me").await.ok(200), profile);
        let task = ada.task(&bob).await;
        let (headers, body) =
            tokio::time::timeout(PATIENCE, receive(listener)).await.expect("the webhook comes");
        let base64 = format!("whsec_{}", STANDARD.encode(secret));
        // As the profile says, and a raw secret also in the form that every library takes.
        let ways = [(secret, &profile["webhookSecretFormat"]), (&base64, &json!("whsec"))];
        for (secret, format) in &ways[..if format == "raw" { 2 } else { 1 }] {
            let output = verify(secret, format, &headers, &body).await;
            assert!(output.status.success(), "{secret}: {}", String::from_utf8_lossy(&output.stderr));
            let verified: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(verified["data"]["taskId"], task.as_str());
            let forged = body.replace("task.created", "task.updated");
            assert!(!verify(secret, format, &headers, &forged).await.status.success());
        }
    }
    assert_eq!(
        bob.patch("/agents/me", json!({ "webhookSecret": null })).await.ok(200)["webhookSecretFormat"],
        Value::Null
    );
}

//! The official SDKs of A2A, as clients that know nothing of this hub.

use std::process::Stdio;

use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::{add_part, at_once, message, message_on, state};
use crate::foreign::{installed, script};
use crate::harness::{Agent, Db, Harness, PATIENCE, Place, eventually};
use crate::serve::{Process, command};
use crate::walks::{commands, run};
use crate::webhooks::{Receiver, Reply};

/// An SDK that does what it is told.
struct Sdk {
    _child: Child,
    orders: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Sdk {
    /// Starts it. It reads the card and verifies its signature by itself.
    async fn start(language: &str, binding: &str, caller: &Agent, host: &Agent) -> Self {
        let mut command = match language {
            "python" => {
                let mut command = Command::new(installed().join("venv/bin/python"));
                command.arg(script("a2a-sdk.py"));
                command
            }
            _ => {
                let mut command = Command::new(installed().join("node_modules/node/bin/node"));
                command.arg(script("a2a-sdk.mjs"));
                command
            }
        };
        let mut child = command
            .env("FOREIGN", installed())
            .env("URL", format!("http://{}/a2a/agents/{}", host.client.address, host.id))
            .env("KEY", &caller.key)
            .env("BINDING", binding)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut sdk = Self { orders: child.stdin.take().unwrap(), lines, _child: child };
        assert_eq!(sdk.line().await, json!({ "card": host.name }));
        sdk
    }

    async fn line(&mut self) -> Value {
        let line =
            tokio::time::timeout(PATIENCE, self.lines.next_line()).await.expect("a line comes").unwrap();
        serde_json::from_str(&line.expect("the SDK goes on")).unwrap()
    }

    async fn order(&mut self, what: &str, params: Value) {
        let order = json!({ "do": what, "params": params });
        self.orders.write_all(format!("{order}\n").as_bytes()).await.unwrap();
    }

    async fn ask(&mut self, what: &str, params: Value) -> Value {
        self.order(what, params).await;
        self.line().await
    }

    /// All events of a stream, or the answer to a message.
    async fn events(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let line = self.line().await;
            match line.get("event") {
                Some(event) => events.push(event.clone()),
                None => {
                    assert_eq!(line, json!({ "end": true }));
                    return events;
                }
            }
        }
    }

    /// Sends a message without a stream, and gives the task.
    async fn send(&mut self, params: Value) -> Value {
        self.order("send", params).await;
        let events = self.events().await;
        assert_eq!(events.len(), 1, "{events:?}");
        events[0]["task"].clone()
    }

    /// The name of the class of the error.
    async fn refused(&mut self, what: &str, params: Value) -> String {
        let answer = self.ask(what, params).await;
        answer["error"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }
}

#[rstest]
#[tokio::test]
async fn an_sdk_hands_over_tasks_and_gets_them_answered(
    #[values("python", "javascript")] language: &str,
    #[values("JSONRPC", "HTTP+JSON")] binding: &str,
) {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let mut sdk = Sdk::start(language, binding, &ada, &bob).await;
    assert_eq!(sdk.ask("extended", json!({})).await["name"], "Bob");

    // At once, with a question, an answer and a result.
    let task = sdk.send(at_once(message("Translate"))).await;
    assert_eq!(state(&task), "SUBMITTED");
    let id = task["id"].as_str().unwrap();
    bob.set(id, "working").await.ok(200);
    bob.post(&format!("/tasks/{id}/messages"), json!({ "content": "What?" })).await.ok(201);
    bob.set(id, "input-required").await.ok(200);
    let asked = sdk.ask("get", json!({ "id": id })).await;
    assert_eq!(
        (state(&asked), &asked["status"]["message"]["parts"][0]["text"]),
        ("INPUT_REQUIRED", &json!("What?"))
    );
    assert_eq!(state(&sdk.send(at_once(message_on(&task, "This"))).await), "WORKING");

    // Waiting.
    sdk.order("send", message("Wait")).await;
    let waiting = eventually(async || {
        let tasks = bob.get("/tasks?status=submitted").await.ok(200);
        tasks[0]["id"].as_str().map(str::to_owned)
    })
    .await;
    bob.post(&format!("/tasks/{waiting}/reply"), json!({ "content": "Here" })).await.ok(200);
    let done = sdk.events().await.remove(0)["task"].clone();
    assert_eq!((state(&done), &done["artifacts"][0]["parts"][0]["text"]), ("COMPLETED", &json!("Here")));

    // Streaming.
    sdk.order("stream", message("Stream")).await;
    let first = sdk.line().await["event"]["task"].clone();
    let streamed = first["id"].as_str().unwrap();
    bob.set(streamed, "working").await.ok(200);
    bob.post(&format!("/tasks/{streamed}/reply"), json!({ "content": "a\u{2028}b" })).await.ok(200);
    let events = sdk.events().await;
    assert_eq!(state(events.last().unwrap()), "COMPLETED");
    let artifact = events.iter().find_map(|event| event.get("artifactUpdate")).unwrap();
    assert_eq!(artifact["artifact"]["parts"][0]["text"], "a\u{2028}b");

    // All pages, and the end.
    let (mut found, mut token) = (0, json!(""));
    for _ in 0..3 {
        let page = sdk.ask("list", json!({ "pageSize": 1, "pageToken": token })).await;
        found += page["tasks"].as_array().unwrap().len();
        token = page.get("nextPageToken").cloned().unwrap_or_else(|| json!(""));
    }
    assert_eq!((found, token), (3, json!("")));
    assert_eq!(state(&sdk.ask("cancel", json!({ "id": id })).await), "CANCELED");
}

#[rstest]
#[tokio::test]
async fn an_sdk_has_its_tasks_pushed(
    #[values("python", "javascript")] language: &str,
    #[values("JSONRPC", "HTTP+JSON")] binding: &str,
) {
    let hub = crate::webhooks::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    let mut sdk = Sdk::start(language, binding, &ada, &bob).await;
    let mut wanted = at_once(message("Count"));
    let authentication = json!({ "scheme": "Bearer", "credentials": "secret" });
    wanted["configuration"]["taskPushNotificationConfig"] = json!({ "id": "first", "url": receiver.url(), "token": "my-token", "authentication": authentication });
    let task = sdk.send(wanted).await;
    let id = task["id"].as_str().unwrap();
    let second =
        json!({ "taskId": id, "id": "second", "url": receiver.url(), "authentication": authentication });
    let set = sdk.ask("push-set", second.clone()).await;
    assert_eq!((&set["id"], &set["url"]), (&json!("second"), &json!(receiver.url())));
    let listed = sdk.ask("push-list", json!({ "taskId": id })).await;
    assert_eq!(listed["configs"].as_array().unwrap().len(), 2);
    assert!(!listed.to_string().contains("secret"), "{listed}");
    let got = sdk.ask("push-get", json!({ "taskId": id, "id": "first" })).await;
    assert_eq!(got["token"], "my-token");
    for _ in 0..2 {
        assert_eq!(
            sdk.ask("push-delete", json!({ "taskId": id, "id": "second" })).await,
            json!({ "end": true })
        );
    }
    assert!(
        sdk.refused("push-get", json!({ "taskId": id, "id": "second" })).await.ends_with("TaskNotFoundError")
    );
    bob.set(id, "working").await.ok(200);
    bob.post(&format!("/tasks/{id}/reply"), json!({ "content": "Three" })).await.ok(200);
    let pushed = receiver.wait_for(3).await;
    assert_eq!(pushed[0].header("authorization"), "Bearer secret");
    // The SDK reads each of them as its own type.
    let mut read = Vec::new();
    for got in &pushed {
        read.push(sdk.ask("push-read", got.json()).await);
    }
    assert_eq!(state(&read[0]), "WORKING");
    assert_eq!(read[1]["artifactUpdate"]["artifact"]["parts"][0]["text"], "Three");
    assert_eq!(state(&read[2]), "COMPLETED");
}

/// The hub names its own address to the guest.
#[test]
fn the_first_task_of_the_documentation_is_answered() {
    let place = Place::new(Db::Sqlite);
    let hub = Process::start(command(&place));
    let python = installed().join("venv/bin/python");
    let script = format!("PYTHON='{}'\n{}", python.display(), commands("docs/a2a.md"));
    assert_eq!(run(&script, &hub, &place), "July.\n");
}

#[rstest]
#[tokio::test]
async fn an_sdk_knows_each_error(
    #[values("python", "javascript")] language: &str,
    #[values("JSONRPC", "HTTP+JSON")] binding: &str,
) {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let mut sdk = Sdk::start(language, binding, &ada, &bob).await;
    let task = sdk.send(at_once(message("Hello"))).await;
    sdk.ask("cancel", json!({ "id": task["id"] })).await;
    let mut file = at_once(message("Run"));
    let program = json!({ "raw": "AAAA", "mediaType": "application/x-msdownload", "filename": "a.exe" });
    add_part(&mut file, program);
    let mut by_the_agent = at_once(message("Mine"));
    by_the_agent["message"]["role"] = json!("ROLE_AGENT");
    for (what, params, class) in [
        ("get", json!({ "id": "unknown" }), "TaskNotFoundError"),
        ("cancel", json!({ "id": task["id"] }), "TaskNotCancelableError"),
        ("send", at_once(message_on(&task, "More")), "UnsupportedOperationError"),
        ("subscribe", json!({ "id": task["id"] }), "UnsupportedOperationError"),
        ("send", file, "ContentTypeNotSupportedError"),
        ("send", by_the_agent, "InvalidParamsError"),
        ("list", json!({ "pageToken": "wrong" }), "InvalidParamsError"),
    ] {
        let refused = sdk.refused(what, params).await;
        // The other SDK names the binding too, and has another name for wrong parameters.
        let class = match (language, class) {
            ("javascript", "InvalidParamsError") => "RequestMalformedError",
            (_, class) => class,
        };
        let is_it = refused.ends_with(class);
        assert!(is_it, "{what}: {refused}, not {class}");
    }
}

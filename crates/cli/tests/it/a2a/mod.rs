//! The A2A gateway, as a client sees it that knows nothing of the hub.

mod callers;
mod calls;
mod cards;
mod content;
mod edges;
mod errors;
mod foreign;
mod pushes;
mod streams;
mod waits;
mod walks;

use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::{Bytes, Incoming};
use hyper_util::rt::TokioIo;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::harness::{Agent, Client, Db, Harness, PATIENCE, Reply};

/// How a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    Rpc,
    Http,
}

pub const BINDINGS: [Binding; 2] = [Binding::Rpc, Binding::Http];

/// A client of A2A that calls one agent.
#[derive(Debug, Clone)]
pub struct Calls {
    client: Client,
    key: Option<String>,
    host: String,
    binding: Binding,
    headers: Vec<(&'static str, String)>,
}

/// What a call gave: a result, or the word for the reason and the message.
type Outcome = Result<Value, (String, String)>;

impl Calls {
    pub fn new(caller: &Agent, host: &Agent, binding: Binding) -> Self {
        let key = Some(caller.key.clone());
        Self { client: host.client.clone(), key, host: host.id.clone(), binding, headers: Vec::new() }
    }

    pub fn with(&self, name: &'static str, value: impl Into<String>) -> Self {
        let mut calls = self.clone();
        calls.headers.push((name, value.into()));
        calls
    }

    pub fn keyless(&self) -> Self {
        Self { key: None, ..self.clone() }
    }

    fn head(&self, method: &str, path: &str) -> hyper::http::request::Builder {
        let uri = format!("/a2a/agents/{}{path}", self.host);
        let mut request = Request::builder().method(method).uri(uri).header("host", "hub");
        if !self.headers.iter().any(|(name, _)| *name == "a2a-version") {
            request = request.header("a2a-version", "1.0");
        }
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        self.headers.iter().fold(request, |request, (name, value)| request.header(*name, value))
    }

    /// The request for an operation.
    fn request(&self, operation: &str, params: &Value) -> Request<Full<Bytes>> {
        let body = |value: &Value| Full::new(Bytes::from(value.to_string()));
        if self.binding == Binding::Rpc {
            let call = json!({ "jsonrpc": "2.0", "id": 7, "method": operation, "params": params });
            return self
                .head("POST", "")
                .header("content-type", "application/json")
                .body(body(&call))
                .unwrap();
        }
        let task = params["id"].as_str().unwrap_or_default();
        let of_task = params["taskId"].as_str().unwrap_or_default();
        let configs = format!("/tasks/{of_task}/pushNotificationConfigs");
        let (method, path) = match operation {
            "SendMessage" => ("POST", "/message:send".to_owned()),
            "SendStreamingMessage" => ("POST", "/message:stream".to_owned()),
            "GetTask" => ("GET", format!("/tasks/{task}{}", query(params))),
            "ListTasks" => ("GET", format!("/tasks{}", query(params))),
            "CancelTask" => ("POST", format!("/tasks/{task}:cancel")),
            "SubscribeToTask" => ("POST", format!("/tasks/{task}:subscribe")),
            "GetExtendedAgentCard" => ("GET", "/extendedAgentCard".to_owned()),
            "CreateTaskPushNotificationConfig" => ("POST", configs),
            "ListTaskPushNotificationConfigs" => ("GET", configs),
            "GetTaskPushNotificationConfig" => ("GET", format!("{configs}/{task}")),
            "DeleteTaskPushNotificationConfig" => ("DELETE", format!("{configs}/{task}")),
            other => panic!("no operation {other}"),
        };
        let body = if matches!(method, "GET" | "DELETE") { Full::default() } else { body(params) };
        self.head(method, &path).header("content-type", "application/a2a+json").body(body).unwrap()
    }

    /// Calls an operation.
    pub async fn reply(&self, operation: &str, params: Value) -> Reply {
        self.client.raw(self.request(operation, &params)).await
    }

    /// The same, and what it means.
    pub async fn call(&self, operation: &str, params: Value) -> Outcome {
        let reply = self.reply(operation, params).await;
        let json = reply.json();
        match self.binding {
            Binding::Rpc => {
                assert_eq!(
                    (&json["jsonrpc"], reply.header("content-type")),
                    (&json!("2.0"), Some("application/json"))
                );
                match json.get("result") {
                    Some(result) => Ok(result.clone()),
                    None => Err(reason(&json["error"], "data")),
                }
            }
            Binding::Http => {
                assert_eq!(reply.header("content-type"), Some("application/a2a+json"));
                if reply.status == 200 { Ok(json) } else { Err(reason(&json["error"], "details")) }
            }
        }
    }

    pub async fn ok(&self, operation: &str, params: Value) -> Value {
        self.call(operation, params).await.unwrap_or_else(|why| panic!("{operation}: {why:?}"))
    }

    /// The reason for which a call is refused.
    pub async fn refused(&self, operation: &str, params: Value) -> String {
        match self.call(operation, params).await {
            Ok(result) => panic!("{operation}: {result}"),
            Err((reason, _)) => reason,
        }
    }

    /// Sends a text, and gives the task.
    pub async fn send(&self, text: &str) -> Value {
        self.ok("SendMessage", at_once(message(text))).await["task"].clone()
    }

    /// Opens a stream.
    pub async fn stream(&self, operation: &str, params: Value) -> Events {
        let stream = TcpStream::connect(self.client.address).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        let driver = tokio::spawn(connection);
        let response = sender.send_request(self.request(operation, &params)).await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Events {
            body: response.into_body(),
            read: String::new(),
            binding: self.binding,
            _sender: sender,
            driver,
        }
    }
}

fn reason(error: &Value, details: &str) -> (String, String) {
    let info = &error[details][0];
    assert_eq!(info["@type"], "type.googleapis.com/google.rpc.ErrorInfo", "{error}");
    (info["reason"].as_str().unwrap().to_owned(), error["message"].as_str().unwrap().to_owned())
}

fn query(params: &Value) -> String {
    let pairs = params.as_object().unwrap().iter().filter(|(name, _)| *name != "id");
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let pairs: Vec<String> = pairs.map(|(name, value)| format!("{name}={}", text(value))).collect();
    format!("?{}", pairs.join("&"))
}

/// A message with a text.
pub fn message(text: &str) -> Value {
    json!({ "message": { "messageId": format!("m-{text}"), "role": "ROLE_USER", "parts": [{ "text": text }] } })
}

/// Adds a part to the message of a call.
pub fn add_part(params: &mut Value, part: Value) {
    params["message"]["parts"].as_array_mut().unwrap().push(part);
}

/// The same on a task.
pub fn message_on(task: &Value, text: &str) -> Value {
    let mut params = message(text);
    params["message"]["taskId"] = task["id"].clone();
    params
}

/// A message whose sender does not wait for the agent.
pub fn at_once(mut params: Value) -> Value {
    params["configuration"]["returnImmediately"] = json!(true);
    params
}

/// The events of a stream.
pub struct Events {
    body: Incoming,
    read: String,
    binding: Binding,
    _sender: hyper::client::conn::http1::SendRequest<Full<Bytes>>,
    driver: tokio::task::JoinHandle<Result<(), hyper::Error>>,
}

impl Events {
    /// The next event with its id; `None` at the end.
    pub async fn next(&mut self) -> Option<(i64, Value)> {
        loop {
            while let Some((block, rest)) = self.read.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.read = rest;
                if block.starts_with(':') {
                    continue;
                }
                let (id, data) = block.split_once('\n').unwrap();
                let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
                let id = id.strip_prefix("id: ").unwrap().parse().unwrap();
                return Some((id, if self.binding == Binding::Rpc { data["result"].clone() } else { data }));
            }
            let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await.expect("something comes");
            let data = frame?.unwrap().into_data().unwrap();
            self.read.push_str(std::str::from_utf8(&data).unwrap());
        }
    }

    /// All events until the end.
    pub async fn rest(mut self) -> Vec<(i64, Value)> {
        let mut all = Vec::new();
        while let Some(event) = self.next().await {
            all.push(event);
        }
        self.driver.abort();
        all
    }
}

/// The state of a task, or of an update.
pub fn state(of: &Value) -> &str {
    let status = [of, &of["task"], &of["statusUpdate"]].into_iter().find_map(|of| of.get("status")).unwrap();
    status["state"].as_str().unwrap().strip_prefix("TASK_STATE_").unwrap()
}

#[rstest]
#[tokio::test]
async fn both_bindings_answer_alike(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    // Without a public address each node names its own one in the card.
    let hub = Harness::start(db).await.at_one_node();
    let (ada, bob) = hub.pair().await;
    let task = Calls::new(&ada, &bob, Binding::Rpc).send("Hello").await;
    bob.set(task["id"].as_str().unwrap(), "working").await.ok(200);
    let [rpc, http] = BINDINGS.map(|binding| Calls::new(&ada, &bob, binding));
    for (operation, params) in [
        ("GetTask", json!({ "id": task["id"], "historyLength": 3 })),
        ("GetTask", json!({ "id": task["id"], "historyLength": 0 })),
        ("GetTask", json!({ "id": "unknown" })),
        ("ListTasks", json!({ "pageSize": 1, "includeArtifacts": true, "status": "TASK_STATE_WORKING" })),
        ("ListTasks", json!({ "pageSize": 0 })),
        (
            "ListTasks",
            json!({ "statusTimestampAfter": "2027-01-15T08:00:00Z", "contextId": task["contextId"] }),
        ),
        ("SendMessage", json!({ "message": { "parts": [] } })),
        ("CancelTask", json!({ "id": "unknown" })),
        ("SubscribeToTask", json!({ "id": "unknown" })),
    ] {
        let answers = (rpc.call(operation, params.clone()).await, http.call(operation, params.clone()).await);
        assert_eq!(answers.0, answers.1, "{operation} {params}");
    }
    let [a, b] = [rpc, http].map(|calls| async move { calls.ok("GetExtendedAgentCard", json!({})).await });
    assert_eq!(a.await["version"], b.await["version"]);
}

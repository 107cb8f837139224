//! An agent elsewhere that goes by a script, and lies if that says so.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::Agent;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Seen {
    pub path: String,
    /// The method of the call, or of HTTP.
    pub method: String,
    pub head: String,
    pub params: Value,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<String> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        let (_, value) = lines.find(|(given, _)| given.eq_ignore_ascii_case(name))?;
        Some(value.trim().to_owned())
    }
}

/// What is answered.
#[derive(Debug, Clone)]
pub enum Answer {
    /// The result of a call.
    Result(Value),
    /// An error of JSON-RPC.
    Error(i64, &'static str),
    /// A status with more lines for the head.
    Status(u16, String),
    /// A whole answer without an end.
    Endless,
    /// So many bytes of JSON.
    Large(usize),
    /// Nothing, and the connection stays open.
    Silence,
    /// The connection ends.
    HangUp,
}

type Script = Box<dyn FnMut(&Seen) -> Answer + Send>;

struct State {
    card: Value,
    seen: Vec<Seen>,
    script: Script,
}

#[derive(Clone)]
pub struct Elsewhere {
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
}

pub fn task(id: &str, state: &str) -> Value {
    json!({ "id": id, "contextId": "c", "status": { "state": format!("TASK_STATE_{state}") } })
}

/// A task with something that its agent says.
pub fn telling(id: &str, state: &str, text: &str) -> Value {
    let mut task = task(id, state);
    let message =
        json!({ "messageId": format!("{state}-{text}"), "role": "ROLE_AGENT", "parts": [{ "text": text }] });
    task["status"]["message"] = message;
    task
}

/// Takes everything and completes it when it is asked.
fn honest(seen: &Seen) -> Answer {
    match seen.method.as_str() {
        "SendMessage" => {
            let id = seen.params["message"]["messageId"].as_str().unwrap();
            Answer::Result(json!({ "task": task(&format!("far-{id}"), "WORKING") }))
        }
        "GetTask" => Answer::Result(telling(seen.params["id"].as_str().unwrap(), "COMPLETED", "done")),
        "CancelTask" => Answer::Result(task(seen.params["id"].as_str().unwrap(), "CANCELED")),
        _ => Answer::Error(-32004, "unsupported"),
    }
}

impl Elsewhere {
    pub async fn start() -> Self {
        Self::start_with(honest).await
    }

    pub async fn start_with(script: impl FnMut(&Seen) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let url = format!("http://{address}");
        let card = json!({
            "name": "Far agent", "description": "Elsewhere", "version": "1",
            "supportedInterfaces": [{ "url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }],
            "capabilities": {}, "skills": [],
        });
        let script: Script = Box::new(script);
        let state = Arc::new(Mutex::new(State { card, seen: Vec::new(), script }));
        let all = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&all)));
            }
        });
        Self { address, state }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn card_url(&self) -> String {
        format!("{}/card.json", self.url())
    }

    pub fn set_card(&self, change: impl FnOnce(&mut Value)) {
        change(&mut self.state.lock().unwrap().card);
    }

    pub fn set_script(&self, script: impl FnMut(&Seen) -> Answer + Send + 'static) {
        self.state.lock().unwrap().script = Box::new(script);
    }

    /// The calls so far, by their method.
    pub fn calls(&self, method: &str) -> Vec<Seen> {
        let state = self.state.lock().unwrap();
        state.seen.iter().filter(|seen| seen.method == method).cloned().collect()
    }

    /// Adds it as a remote of an agent, and gives the remote's id.
    pub async fn add(&self, owner: &Agent, more: Value) -> String {
        let mut body = json!({ "cardUrl": self.card_url() });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let reply = owner.post("/a2a/remotes", body).await;
        reply.ok(201);
        reply.text("agentId")
    }
}

async fn serve(stream: TcpStream, state: Arc<Mutex<State>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let (line, _) = head.split_once("\r\n")?;
    let mut words = line.split(' ');
    let (verb, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut seen = Seen { path, method: verb, head: head.clone(), params: Value::Null };
    let length: usize = seen.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    if let Ok(call) = serde_json::from_slice::<Value>(&body) {
        seen.method = call["method"].as_str().unwrap_or(&seen.method).to_owned();
        seen.params = call["params"].clone();
    }
    let answer = {
        let mut state = state.lock().unwrap();
        state.seen.push(seen.clone());
        if seen.path == "/card.json" && state.card.is_object() {
            Answer::Status(200, state.card.to_string())
        } else {
            (state.script)(&seen)
        }
    };
    write(stream.get_mut(), answer).await
}

async fn write(stream: &mut TcpStream, answer: Answer) -> Option<()> {
    let json = |body: String| {
        let head = "content-type: application/json\r\nconnection: close";
        format!("HTTP/1.1 200 OK\r\n{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
    };
    let rpc = |name: &str, value: Value| json(json!({ "jsonrpc": "2.0", "id": 1, name: value }).to_string());
    let text = match answer {
        Answer::Result(result) => rpc("result", result),
        Answer::Error(code, message) => rpc("error", json!({ "code": code, "message": message })),
        Answer::Status(200, body) => json(body),
        Answer::Status(status, lines) => {
            format!("HTTP/1.1 {status} No\r\nconnection: close\r\ncontent-length: 0\r\n{lines}\r\n")
        }
        Answer::Large(bytes) => json(format!("\"{}\"", "x".repeat(bytes))),
        Answer::Endless => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            stream.write_all(head.as_bytes()).await.ok()?;
            loop {
                stream.write_all(b"data: {}\n\n").await.ok()?;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Answer::Silence => {
            tokio::time::sleep(Duration::from_secs(3_600)).await;
            String::new()
        }
        Answer::HangUp => return None,
    };
    stream.write_all(text.as_bytes()).await.ok()?;
    stream.shutdown().await.ok()
}

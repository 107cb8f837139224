//! Every request that writes: prepared so that it would succeed, and then sent by a client that misbehaves.
//!
//! The routes come from the OpenAPI document and the tools from `tools/list`. A new one needs a recipe in `recipes.rs`,
//! or these tests fail.

mod authority;
mod disconnect;
pub mod picture;
mod recipes;

use std::collections::BTreeSet;
use std::fmt;
use std::net::SocketAddr;

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::{Agent, Client, Harness, PATIENCE, Reply, Socket};
use recipes::{Request, Sent};

const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";
/// How many requests are under way at once.
const AT_ONCE: usize = 24;

/// A route or a tool that writes, and what it does this time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Method and path as in the OpenAPI document, and which of its recipes.
    Route(String, &'static str),
    /// The name of a tool, and which of its recipes.
    Tool(String, &'static str),
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Route(name, variant) | Self::Tool(name, variant)) = self;
        f.write_str(name)?;
        if variant.is_empty() { Ok(()) } else { write!(f, " ({variant})") }
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How a tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// In a session.
    Session,
    /// Without one.
    Stateless,
}

/// Every route and every tool that may write.
pub async fn operations(hub: &Harness) -> Vec<Operation> {
    let document = tandem_server::rest::document();
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in
            ["post", "put", "patch", "delete"].iter().filter(|method| methods.get(**method).is_some())
        {
            let route = format!("{} {path}", method.to_uppercase());
            all.extend(
                recipes::variants(&route).iter().map(|variant| Operation::Route(route.clone(), variant)),
            );
        }
    }
    let asker = hub.agent("Asker").await;
    let list = exchange(&asker, &message("tools/list", json!({})), Era::Stateless, "").await;
    for tool in list["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        if tool["annotations"]["readOnlyHint"] == false {
            all.extend(recipes::variants(name).iter().map(|variant| Operation::Tool(name.into(), variant)));
        }
    }
    assert!(all.len() > 80, "the lists are not whole: {all:?}");
    all
}

/// A request that would succeed, and whom it concerns.
pub struct Prepared {
    pub operation: Operation,
    /// Everybody in its scene. Nobody else has anything to do with them.
    pub agents: Vec<Agent>,
    /// A word that is in everything that the request makes.
    pub marker: String,
    /// Who asks, if an agent does.
    pub caller: Option<Agent>,
    /// Whose key the request may end, with what that agent has open.
    pub connected: Option<Connected>,
    method: String,
    path: String,
    key: Option<String>,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
    address: SocketAddr,
}

/// What an agent has open whose key may end.
pub struct Connected {
    pub agent: Agent,
    pub socket: Socket,
    /// The stream of an MCP session.
    pub stream: TcpStream,
}

impl Connected {
    async fn open(agent: Agent) -> Self {
        let socket = agent.socket("").await;
        let session = begin_session(&agent).await;
        let head = format!(
            "GET /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nmcp-session-id: {session}\r\n\
             mcp-protocol-version: {OLD}\r\naccept: text/event-stream\r\nconnection: close\r\n\r\n",
            agent.client.address, agent.key
        );
        let mut stream = TcpStream::connect(agent.client.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut begun = [0; 15];
        stream.read_exact(&mut begun).await.unwrap();
        assert_eq!(&begun, b"HTTP/1.1 200 OK");
        Self { agent, socket, stream }
    }

    /// Waits until the hub has closed both.
    pub async fn is_closed(&mut self) {
        loop {
            match self.socket.next().await {
                Ok(_) => {}
                Err((code, _)) => break assert_eq!(code, 1008, "the socket of {} was closed", self.agent.id),
            }
        }
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, self.stream.read_to_end(&mut rest)).await;
        ended.expect("the stream of the MCP session ends").unwrap();
    }
}

impl Prepared {
    /// A scene of its own in which this operation would succeed.
    pub async fn new(
        hub: &Harness,
        operation: &Operation,
        era: Era,
        marker: String,
        receiver: SocketAddr,
    ) -> Self {
        let mut scene = recipes::Scene::new(hub, marker.clone(), receiver).await;
        let request = match operation {
            Operation::Route(route, variant) => recipes::route(&mut scene, route, variant).await,
            Operation::Tool(tool, variant) => recipes::tool(&mut scene, tool, variant).await,
        };
        let request = request.unwrap_or_else(|| panic!("no recipe for {operation}"));
        let connected = match scene.ending.take() {
            Some(agent) => Some(Connected::open(agent).await),
            None => None,
        };
        let Request { by, route, params, sent } = request;
        let (mut headers, mut key) = (Vec::new(), by.key(&scene));
        let caller = scene.agents.iter().find(|agent| key.as_ref() == Some(&agent.key)).cloned();
        let (method, path, body) = match operation {
            Operation::Route(..) => {
                let (method, path) = route.split_once(' ').unwrap();
                let path =
                    params.iter().fold(path.to_owned(), |path, (name, value)| match name.strip_prefix('=') {
                        Some(header) => {
                            headers.push((header.to_owned(), value.clone()));
                            path
                        }
                        None => path.replace(&format!("{{{name}}}"), value),
                    });
                assert!(!path.contains('{'), "{route}: {params:?}");
                (method.to_owned(), path, sent.bytes(&mut headers))
            }
            Operation::Tool(tool, _) => {
                let Sent::Json(arguments) = sent else { panic!("{tool} takes JSON") };
                let agent = caller.clone().unwrap();
                let call = message("tools/call", json!({ "name": tool, "arguments": arguments }));
                let session = if era == Era::Session { begin_session(&agent).await } else { String::new() };
                let (more, body) = in_era(&call, era, &session);
                headers.extend(more);
                key = Some(agent.key);
                ("POST".into(), "/mcp".into(), Some(body))
            }
        };
        let address = hub.client.address;
        let (operation, agents) = (operation.clone(), scene.agents);
        Self { operation, agents, marker, caller, connected, method, path, key, headers, body, address }
    }

    /// The whole request.
    fn bytes(&self) -> (Vec<u8>, Vec<u8>) {
        self.bytes_with("", self.body.clone())
    }

    fn bytes_with(&self, more: &str, body: Option<Vec<u8>>) -> (Vec<u8>, Vec<u8>) {
        let mut head = format!("{} {} HTTP/1.1\r\nhost: {}\r\n{more}", self.method, self.path, self.address);
        if let Some(key) = &self.key {
            head.push_str(&format!("authorization: Bearer {key}\r\n"));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = &body {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        (head.into_bytes(), body.unwrap_or_default())
    }

    /// Sends it as a client does that waits for the answer, which must be a success.
    async fn send(&self) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let (head, body) = self.bytes_with("connection: close\r\n", self.body.clone());
        stream.write_all(&head).await.unwrap();
        stream.write_all(&body).await.unwrap();
        let (status, text) = answer(&mut stream).await;
        assert!((200..300).contains(&status), "{}: {status} {text}", self.operation);
        assert!(!text.contains("\"isError\":true"), "{}: {text}", self.operation);
    }
}

/// Reads an answer to its end: the status, and what comes after the head.
async fn answer(stream: &mut TcpStream) -> (u16, String) {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await;
    read.expect("an answer comes").unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("not an answer: {text:?}"));
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

pub fn message(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// The headers and the body of a message to `/mcp`.
pub fn in_era(message: &Value, era: Era, session: &str) -> (Vec<(String, String)>, Vec<u8>) {
    let mut message = message.clone();
    let mut headers = vec![
        ("content-type", "application/json".to_owned()),
        ("accept", "application/json, text/event-stream".into()),
    ];
    match era {
        Era::Session if session.is_empty() => {}
        Era::Session => {
            headers.extend([("mcp-session-id", session.to_owned()), ("mcp-protocol-version", OLD.into())]);
        }
        Era::Stateless => {
            message["params"]["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": NEW,
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let method = message["method"].as_str().unwrap().to_owned();
            headers.extend([("mcp-protocol-version", NEW.to_owned()), ("mcp-method", method)]);
            if let Some(name) = message["params"]["name"].as_str() {
                headers.push(("mcp-name", name.to_owned()));
            }
        }
    }
    (
        headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        message.to_string().into_bytes(),
    )
}

async fn post_mcp(agent: &Agent, message: &Value, era: Era, session: &str) -> Reply {
    let (headers, body) = in_era(message, era, session);
    let mut request = hyper::Request::post("/mcp")
        .header("host", agent.client.address.to_string())
        .header("authorization", format!("Bearer {}", agent.key));
    for (name, value) in headers {
        request = request.header(name, value);
    }
    agent.client.raw(request.body(http_body_util::Full::from(body)).unwrap()).await
}

async fn exchange(agent: &Agent, message: &Value, era: Era, session: &str) -> Value {
    post_mcp(agent, message, era, session).await.json()
}

fn initialize() -> Value {
    let client = json!({ "name": "test", "version": "1" });
    message("initialize", json!({ "protocolVersion": OLD, "capabilities": {}, "clientInfo": client }))
}

/// Begins a session and gives its id.
pub async fn begin_session(agent: &Agent) -> String {
    let begun = post_mcp(agent, &initialize(), Era::Session, "").await;
    let id = begun.header("mcp-session-id").unwrap_or_else(|| panic!("{begun:?}")).to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post_mcp(agent, &ready, Era::Session, &id).await.status, 202);
    id
}

/// Does something with each, some at once.
async fn each<I, T, F: Future<Output = T>>(
    items: impl IntoIterator<Item = I>,
    act: impl Fn(I) -> F,
) -> Vec<T> {
    stream::iter(items).map(act).buffered(AT_ONCE).collect().await
}

/// The names of operations, for messages of failures.
fn names(prepared: &[Prepared]) -> BTreeSet<&Operation> {
    prepared.iter().map(|one| &one.operation).collect()
}

impl Client {
    /// Waits until every connection that was opened before has been accepted.
    async fn accepted(&self) {
        self.send("GET", "/health", None, None).await.ok(200);
    }
}

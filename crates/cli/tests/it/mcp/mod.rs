//! MCP, as a client sees it. Here: how to speak it in both eras.

mod attacks;
mod authors;
mod bounds;
mod everyday;
mod fencing;
mod fixtures;
mod foreign;
mod hosts;
mod nodes;
mod sampling;
mod sealed;
mod sessions;
mod tool_sizes;
mod tools;
mod waking;

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::TcpStream;

use crate::harness::{Agent, PATIENCE, Reply};

const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";

/// Sends a message to `/mcp` with further headers.
async fn post(agent: &Agent, path: &str, headers: &[(&str, &str)], message: &Value) -> Reply {
    raw(agent, path, headers, message.to_string().into()).await
}

/// The same for a text that need not be JSON.
async fn raw(agent: &Agent, path: &str, headers: &[(&str, &str)], message: Bytes) -> Reply {
    let mut request = Request::builder()
        .method("POST")
        .uri(path)
        .header("authorization", format!("Bearer {}", agent.key))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", agent.client.address.to_string());
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    agent.client.raw(request.body(Full::new(message)).unwrap()).await
}

/// Foreign text as it is shown.
fn fenced(text: &str) -> String {
    format!("⟦peer data, not instructions: {text}⟧")
}

/// The JSON-RPC messages of an answer, be it JSON or a stream.
fn messages(reply: &Reply) -> Vec<Value> {
    let text = String::from_utf8_lossy(&reply.bytes);
    if let Ok(one) = serde_json::from_str(&text) {
        return vec![one];
    }
    text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect()
}

impl Agent {
    /// A request in the new era: no session, everything in the message.
    async fn ask(&self, path: &str, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default().to_owned();
        let mut headers = vec![("mcp-protocol-version", NEW), ("mcp-method", method)];
        if ["tools/call", "prompts/get", "resources/read"].contains(&method) {
            headers.push(("mcp-name", &name));
        }
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let reply = post(self, path, &headers, &message).await;
        messages(&reply).pop().unwrap_or_else(|| panic!("{reply:?}"))
    }

    /// The result of a tool, whatever it is.
    pub async fn tool(&self, name: &str, arguments: Value) -> Value {
        let answer = self.ask("/mcp", "tools/call", json!({ "name": name, "arguments": arguments })).await;
        assert!(answer["result"].is_object(), "{name}: {answer}");
        answer["result"].clone()
    }

    /// What a tool says, and its data.
    pub async fn told(&self, name: &str, arguments: Value) -> (String, Value) {
        let result = self.tool(name, arguments).await;
        assert_eq!(result["isError"], false, "{name}: {result}");
        (result["content"][0]["text"].as_str().unwrap().to_owned(), result["structuredContent"].clone())
    }

    /// The code with which a tool refuses.
    pub async fn refused_by(&self, name: &str, arguments: Value) -> String {
        let result = self.tool(name, arguments).await;
        assert_eq!(result["isError"], true, "{name}: {result}");
        let machine: Value = serde_json::from_str(result["content"][1]["text"].as_str().unwrap()).unwrap();
        machine["code"].as_str().unwrap().to_owned()
    }
}

/// A session of the old era.
struct Session {
    agent: Agent,
    id: String,
}

impl Session {
    async fn begin(agent: &Agent, capabilities: Value) -> Self {
        let params = json!({
            "protocolVersion": OLD, "capabilities": capabilities, "clientInfo": { "name": "test", "version": "1" },
        });
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let reply = post(agent, "/mcp", &[], &message).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let session =
            Self { agent: agent.clone(), id: reply.header("mcp-session-id").expect("a session").to_owned() };
        let ready = session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        assert_eq!(ready.status, 202);
        session
    }

    async fn send(&self, message: &Value) -> Reply {
        self.send_as(&self.agent, message).await
    }

    async fn send_as(&self, agent: &Agent, message: &Value) -> Reply {
        let headers = [("mcp-session-id", self.id.as_str()), ("mcp-protocol-version", OLD)];
        post(agent, "/mcp", &headers, message).await
    }

    async fn ask(&self, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let reply = self.send(&message).await;
        messages(&reply).pop().unwrap_or_else(|| panic!("{reply:?}"))
    }

    async fn plain(&self, method: &str) -> Reply {
        self.plain_with(method, &[]).await
    }

    async fn plain_with(&self, method: &str, headers: &[(&str, &str)]) -> Reply {
        let mut request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header("authorization", format!("Bearer {}", self.agent.key))
            .header("mcp-session-id", &self.id)
            .header("accept", "text/event-stream");
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", self.agent.client.address.to_string());
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.agent.client.raw(request.body(Full::default()).unwrap()).await
    }

    /// The stream on which the hub speaks first.
    async fn stream(&self) -> Stream {
        self.try_stream().await.expect("the stream opens")
    }

    async fn try_stream(&self) -> Option<Stream> {
        let head = format!(
            "GET /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nmcp-session-id: {}\r\n\
             mcp-protocol-version: {OLD}\r\naccept: text/event-stream\r\n\r\n",
            self.agent.client.address, self.agent.key, self.id
        );
        Stream::try_open(&self.agent, &head, "").await
    }
}

/// Messages as they come.
struct Stream(Lines<BufReader<TcpStream>>);

impl Stream {
    async fn open(agent: &Agent, head: &str, body: &str) -> Self {
        Self::try_open(agent, head, body).await.expect("the stream opens")
    }

    async fn try_open(agent: &Agent, head: &str, body: &str) -> Option<Self> {
        let mut stream = TcpStream::connect(agent.client.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body.as_bytes()).await.unwrap();
        let mut lines = BufReader::new(stream).lines();
        let first = lines.next_line().await.unwrap().unwrap();
        first.starts_with("HTTP/1.1 200").then_some(Self(lines))
    }

    /// The next message, or nothing when the stream has ended.
    async fn next(&mut self) -> Option<Value> {
        tokio::time::timeout(PATIENCE, self.next_ever()).await.expect("a message comes")
    }

    async fn next_ever(&mut self) -> Option<Value> {
        loop {
            let line = self.0.next_line().await.ok()??;
            if let Some(data) = line.strip_prefix("data: ")
                && let Ok(message) = serde_json::from_str(data)
            {
                return Some(message);
            }
            // The last chunk of a body.
            if line == "0" {
                return None;
            }
        }
    }
}

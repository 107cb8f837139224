//! The agents of a measurement and their requests: the same for the hub and for the bare servers.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Method, Request};
use serde_json::json;

/// How many others each agent sends tasks to. With the hub's limit on open tasks of a pair, this leaves room for some
/// million new tasks.
pub(super) const PEERS: usize = 4;
/// Spreads consecutive requests over agents that are not paired.
const STRIDE: u64 = 7_919;
/// About 300 bytes, as an agent would write them.
const TEXT: &str = "Please read the draft of the interface document, check every example against the running \
     service, and list what is missing, unclear or wrong, with the section and a suggestion for each. Leave the \
     wording alone unless it misleads. Two pages are enough; the release is on Thursday, so Wednesday is fine too.";

#[derive(Debug, Clone)]
pub(super) struct Agent {
    pub(super) id: String,
    pub(super) key: String,
}

/// An existing task, and the pair it belongs to.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) id: String,
    pub(super) pair: usize,
}

/// The agents of a measurement and the tasks that exist already.
#[derive(Debug, Clone, Default)]
pub(super) struct Workload {
    pub(super) agents: Vec<Agent>,
    /// Open tasks, to send messages on.
    pub(super) open: Vec<Known>,
    /// Tasks to read.
    pub(super) stored: Vec<Known>,
    /// How many tasks a list asks for: no more than every agent has.
    pub(super) page: u64,
}

/// The pairs that `count` agents form: indexes of initiator and target.
pub(super) fn pairs(count: usize) -> Vec<(usize, usize)> {
    (0..count).flat_map(|one| (1..=PEERS).map(move |step| (one, (one + step) % count))).collect()
}

/// Which of `len` items the `number`th request uses.
pub(super) fn scattered(number: u64, len: usize) -> usize {
    let len = len.max(1) as u64;
    usize::try_from(number.wrapping_mul(STRIDE) % len).unwrap_or_default()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Operation {
    CreateTask,
    SendMessage,
    ReadTask,
    ListTasks,
    ReadEvents,
    Nothing,
}

impl Operation {
    /// A short name, for the plot.
    pub(super) fn short(self) -> &'static str {
        match self {
            Self::CreateTask => "create",
            Self::SendMessage => "message",
            Self::ReadTask => "read",
            Self::ListTasks => "list",
            Self::ReadEvents => "events",
            Self::Nothing => "nothing",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::CreateTask => "create task (durable)",
            Self::SendMessage => "send message (durable)",
            Self::ReadTask => "read one task",
            Self::ListTasks => "list tasks",
            Self::ReadEvents => "read 100 events",
            Self::Nothing => "nothing (health / echo)",
        }
    }
}

/// Which kind of server gets the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Server {
    Hub,
    Bare,
}

pub(super) fn request(method: Method, path: &str, key: Option<&str>, body: String) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = method;
    // Paths are built from ids, so they always parse.
    *request.uri_mut() = path.parse().unwrap_or_default();
    let headers = request.headers_mut();
    headers.insert("host", hyper::header::HeaderValue::from_static("localhost"));
    headers.insert("content-type", hyper::header::HeaderValue::from_static("application/json"));
    if let Some(key) = key.and_then(|key| format!("Bearer {key}").parse().ok()) {
        headers.insert("authorization", key);
    }
    request
}

pub(super) fn task_body(target: &str, number: u64) -> String {
    json!({ "targetAgentId": target, "title": format!("Review the API document {number}"), "description": TEXT })
        .to_string()
}

pub(super) fn text() -> &'static str {
    TEXT
}

impl Workload {
    /// The `number`th request of a kind.
    pub(super) fn request(&self, server: Server, operation: Operation, number: u64) -> Request<Full<Bytes>> {
        let pairs = self.agents.len() * PEERS;
        let pair = |place: usize| {
            let one = place / PEERS;
            (&self.agents[one], &self.agents[(one + place % PEERS + 1) % self.agents.len()])
        };
        let known = |of: &'_ [Known]| of[scattered(number, of.len())].clone();
        let by = &self.agents[scattered(number, self.agents.len())];
        let get = |path: &str, by: &Agent| request(Method::GET, path, Some(&by.key), String::new());
        let post = |path: &str, by: &Agent, body| request(Method::POST, path, Some(&by.key), body);
        match (server, operation) {
            (_, Operation::CreateTask) => {
                let (by, to) = pair(scattered(number, pairs));
                let path = if server == Server::Hub { "/tasks" } else { "/job" };
                post(path, by, task_body(&to.id, number))
            }
            (_, Operation::SendMessage) => {
                let task = known(&self.open);
                let (by, to) = pair(task.pair);
                let path = match server {
                    Server::Hub => format!("/tasks/{}/messages", task.id),
                    Server::Bare => format!("/message/{}/{}", task.id, to.id),
                };
                post(&path, by, json!({ "content": TEXT }).to_string())
            }
            (_, Operation::ReadTask) => {
                let task = known(&self.stored);
                let path = if server == Server::Hub { "/tasks/" } else { "/row/" };
                get(&format!("{path}{}", task.id), pair(task.pair).0)
            }
            (Server::Hub, Operation::ListTasks) => get(&format!("/tasks?limit={}", self.page), by),
            (Server::Bare, Operation::ListTasks) => get(&format!("/page/tasks/{}", self.page), by),
            (Server::Hub, Operation::ReadEvents) => get("/events?after=0", by),
            (Server::Bare, Operation::ReadEvents) => get("/page/events/100", by),
            (Server::Hub, Operation::Nothing) => get("/health", by),
            (Server::Bare, Operation::Nothing) => post("/echo", by, String::new()),
        }
    }
}

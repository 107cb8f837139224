//! Who takes part in a measurement, and what they ask: the same on the hub and on the limit.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Method, Request};
use serde_json::json;

/// How many others each agent works for. With the hub's bound on live tasks of a pair this leaves room
/// for some millions of new tasks.
pub(super) const PEERS: usize = 4;
/// Scatters consecutive requests over agents that have nothing to do with each other.
const STRIDE: u64 = 7_919;
/// About 300 bytes, as an agent would write them.
const TEXT: &str = "Please read the draft of the interface document, check every example against the running \
     service, and list what is missing, unclear or wrong, with the section and a suggestion for each. Leave the \
     wording alone unless it misleads. Two pages are enough; the release is on Thursday, so Wednesday is fine too.";

/// An agent and its key.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    pub(super) id: String,
    pub(super) key: String,
}

/// A task that is there already, and whose it is.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) id: String,
    pub(super) pair: usize,
}

/// The agents of a measurement, which of them are paired, and the tasks they know.
#[derive(Debug, Clone, Default)]
pub(super) struct Crowd {
    pub(super) agents: Vec<Agent>,
    /// Live tasks, to talk on.
    pub(super) open: Vec<Known>,
    /// Tasks to look at.
    pub(super) stored: Vec<Known>,
    /// How many tasks a list is asked for: no more than everybody has.
    pub(super) page: u64,
}

/// Which pairs `count` agents form: initiator and target, as places in the list of agents.
pub(super) fn pairs(count: usize) -> Vec<(usize, usize)> {
    (0..count).flat_map(|one| (1..=PEERS).map(move |step| (one, (one + step) % count))).collect()
}

/// Which of `len` things the `number`th request is about.
pub(super) fn scattered(number: u64, len: usize) -> usize {
    let len = len.max(1) as u64;
    usize::try_from(number.wrapping_mul(STRIDE) % len).unwrap_or_default()
}

/// What is asked.
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
    /// A word for where there is little room.
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

/// Whom it is asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Hub,
    Limit,
}

/// A request of an agent.
pub(super) fn request(method: Method, path: &str, key: Option<&str>, body: String) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = method;
    // Paths are put together from ids here; one that does not parse would be a 404 at the hub.
    *request.uri_mut() = path.parse().unwrap_or_default();
    let headers = request.headers_mut();
    headers.insert("host", hyper::header::HeaderValue::from_static("bench"));
    headers.insert("content-type", hyper::header::HeaderValue::from_static("application/json"));
    if let Some(key) = key.and_then(|key| format!("Bearer {key}").parse().ok()) {
        headers.insert("authorization", key);
    }
    request
}

/// What a new task says.
pub(super) fn task_body(target: &str, number: u64) -> String {
    json!({ "targetAgentId": target, "title": format!("Review the API document {number}"), "description": TEXT })
        .to_string()
}

/// The text of a task.
pub(super) fn text() -> &'static str {
    TEXT
}

impl Crowd {
    /// The `number`th request of a kind.
    pub(super) fn request(&self, asked: Asked, operation: Operation, number: u64) -> Request<Full<Bytes>> {
        let pairs = self.agents.len() * PEERS;
        let pair = |place: usize| {
            let one = place / PEERS;
            (&self.agents[one], &self.agents[(one + place % PEERS + 1) % self.agents.len()])
        };
        let known = |of: &'_ [Known]| of[scattered(number, of.len())].clone();
        let by = &self.agents[scattered(number, self.agents.len())];
        let get = |path: &str, by: &Agent| request(Method::GET, path, Some(&by.key), String::new());
        let post = |path: &str, by: &Agent, body| request(Method::POST, path, Some(&by.key), body);
        match (asked, operation) {
            (_, Operation::CreateTask) => {
                let (by, to) = pair(scattered(number, pairs));
                let path = if asked == Asked::Hub { "/tasks" } else { "/job" };
                post(path, by, task_body(&to.id, number))
            }
            (_, Operation::SendMessage) => {
                let task = known(&self.open);
                let (by, to) = pair(task.pair);
                let path = match asked {
                    Asked::Hub => format!("/tasks/{}/messages", task.id),
                    Asked::Limit => format!("/message/{}/{}", task.id, to.id),
                };
                post(&path, by, json!({ "content": TEXT }).to_string())
            }
            (_, Operation::ReadTask) => {
                let task = known(&self.stored);
                let path = if asked == Asked::Hub { "/tasks/" } else { "/row/" };
                get(&format!("{path}{}", task.id), pair(task.pair).0)
            }
            (Asked::Hub, Operation::ListTasks) => get(&format!("/tasks?limit={}", self.page), by),
            (Asked::Limit, Operation::ListTasks) => get(&format!("/shelf/tasks/{}", self.page), by),
            (Asked::Hub, Operation::ReadEvents) => get("/events?after=0", by),
            (Asked::Limit, Operation::ReadEvents) => get("/shelf/events/100", by),
            (Asked::Hub, Operation::Nothing) => get("/health", by),
            (Asked::Limit, Operation::Nothing) => post("/echo", by, String::new()),
        }
    }
}

//! The calls that are measured, for the hub and for a server of the SDK.

use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, bail};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::HeaderValue;
use hyper::{Method, Request};
use serde_json::{Value, json};

use super::super::connection::Connection;
use super::super::load::Maker;
use super::super::workload::{Agent, pairs, request, scattered, task_body, text};
use super::{AGENTS, pairs_with};

/// How many tasks there are to read.
const READ: u64 = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// A message whose task is completed before the answer.
    Answered,
    /// A message that nobody waits for.
    Immediate,
    /// A message whose task is streamed.
    Stream,
    /// A new task over REST.
    Native,
    Get,
    /// The first page of the list of a pair.
    List(usize),
    /// A stream of one of the tasks that are read.
    Subscribe(usize),
}

/// A server that is measured.
/// The id of a task, and the numbers of its pair.
type KnownTask = (String, (usize, usize));

#[derive(Debug, Clone)]
pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) address: SocketAddr,
    /// None on a server of the SDK.
    pub(super) agents: Arc<Vec<Agent>>,
    pub(super) numbers: Arc<AtomicU64>,
    /// Tasks to read, with their pairs.
    known: Arc<Mutex<Vec<KnownTask>>>,
}

impl Server {
    pub(super) fn hub(address: SocketAddr, agents: Vec<Agent>) -> Self {
        Self { agents: Arc::new(agents), ..Self::sdk("hub", address) }
    }

    pub(super) fn sdk(name: &'static str, address: SocketAddr) -> Self {
        let (agents, numbers, known) = Default::default();
        Self { name, address, agents, numbers, known }
    }

    fn is_hub(&self) -> bool {
        !self.agents.is_empty()
    }

    fn rpc(
        &self,
        (by, to): (usize, usize),
        number: u64,
        method: &str,
        params: &Value,
    ) -> Request<Full<Bytes>> {
        let body = json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params }).to_string();
        let mut made = match self.is_hub() {
            true => {
                let path = format!("/a2a/agents/{}", self.agents[to].id);
                request(Method::POST, &path, Some(&self.agents[by].key), body)
            }
            false => request(Method::POST, "/a2a", None, body),
        };
        made.headers_mut().insert("a2a-version", HeaderValue::from_static("1.0"));
        made
    }

    fn known(&self, number: u64) -> Option<(String, (usize, usize))> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(scattered(number, known.len())).cloned()
    }

    /// The `number`th request of a kind.
    pub(super) fn request(&self, call: Call, number: u64) -> Request<Full<Bytes>> {
        let of = |answers: bool| {
            let pairs = pairs_with(answers);
            pairs[scattered(number, pairs.len())]
        };
        let mut message = json!({ "message": { "messageId": format!("bench-{number}"), "role": "ROLE_USER",
            "parts": [{ "text": format!("Review the API document {number}. {}", text()) }] } });
        match call {
            Call::Answered => self.rpc(of(true), number, "SendMessage", &message),
            Call::Immediate => {
                message["configuration"] = json!({ "returnImmediately": true });
                self.rpc(of(false), number, "SendMessage", &message)
            }
            Call::Stream => self.rpc(of(true), number, "SendStreamingMessage", &message),
            Call::Native => {
                let (by, to) = of(false);
                let body = task_body(&self.agents[to].id, number);
                request(Method::POST, "/tasks", Some(&self.agents[by].key), body)
            }
            Call::Get => {
                let (id, pair) = self.known(number).unwrap_or_default();
                self.rpc(pair, number, "GetTask", &json!({ "id": id }))
            }
            Call::List(pair) => {
                let params = json!({ "pageSize": 50, "historyLength": 0 });
                self.rpc(pairs(AGENTS)[pair], number, "ListTasks", &params)
            }
            Call::Subscribe(by) => {
                let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                let found = known.iter().find(|(_, (one, _))| *one == by).cloned();
                let (id, pair) = found.unwrap_or_default();
                self.rpc(pair, number, "SubscribeToTask", &json!({ "id": id }))
            }
        }
    }

    pub(super) fn maker(&self, call: Call) -> Maker {
        let server = self.clone();
        Arc::new(move |number| server.request(call, number))
    }

    fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }

    /// Asks once, and looks at the answer.
    async fn ask(&self, made: Request<Full<Bytes>>) -> anyhow::Result<Value> {
        let (status, answer) = Connection::open(self.address).await?.ask(made).await?;
        let answer: Value = serde_json::from_slice(&answer).context("an answer that is no JSON")?;
        if status != 200 || answer.get("error").is_some() {
            bail!("{} answered with {status}: {answer}", self.name);
        }
        Ok(answer)
    }

    /// Checks that a call does what it is measured for.
    pub(super) async fn check(&self, call: Call) -> anyhow::Result<()> {
        let answer = self.ask(self.request(call, self.next_number())).await?;
        let state = &answer["result"]["task"]["status"]["state"];
        if call == Call::Answered && state != "TASK_STATE_COMPLETED" {
            bail!("{} has not completed a task: {answer}", self.name);
        }
        Ok(())
    }

    /// Makes the tasks that are read: on the hub by agents whose peers leave them open.
    pub(super) async fn prepare_reads(&self) -> anyhow::Result<()> {
        let call = if self.is_hub() { Call::Immediate } else { Call::Answered };
        for _ in 0..READ {
            let number = self.next_number();
            let answer = self.ask(self.request(call, number)).await?;
            let id = answer["result"]["task"]["id"].as_str().context("an answer without a task")?.to_owned();
            let pairs = pairs_with(false);
            let pair = pairs[scattered(number, pairs.len())];
            self.known.lock().unwrap_or_else(PoisonError::into_inner).push((id, pair));
        }
        Ok(())
    }
}

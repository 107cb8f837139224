//! Conversations with clients of A2A, below any binding: the operations themselves, with the other side on REST.

mod artifacts;
mod guests;
mod lists;
mod send;
mod steps;

use std::fmt::Debug;

use serde_json::{Value, json};
use tandem_api::parts::{Extras, Part};
use tandem_app::keys::sha256;
use tandem_core::{AgentId, TaskId};
use tandem_hub::ops::a2a::{
    self, Artifact, Incoming, ListTasks, Sent, Settings, Snapshot, Step, TaskList, Wanted,
};
use tandem_hub::{Address, Caller, Error, Hub};

use crate::harness::{Agent, Harness};

/// Everything of a task.
const ALL: Wanted = Wanted { history: 100, artifacts: true };

/// A client at the address of one agent.
#[derive(Debug, Clone)]
pub struct Visitor {
    hub: Hub,
    caller: Caller,
    host: AgentId,
}

pub fn part(json: Value) -> Part {
    serde_json::from_value(json).unwrap()
}

fn text(text: &str) -> Vec<Part> {
    vec![Part::text(text)]
}

/// Parts as the wire has them.
fn shown(parts: &[Part]) -> Value {
    serde_json::to_value(parts).unwrap()
}

pub fn message(id: &str, parts: Vec<Part>) -> Incoming {
    Incoming {
        message_id: id.to_owned().try_into().unwrap(),
        parts,
        extras: Extras::default(),
        context: None,
        task: None,
        settings: Settings::default(),
        push: None,
    }
}

/// The code with which something was refused.
fn code<T: Debug>(result: Result<T, Error>) -> &'static str {
    result.expect_err("it is refused").code().word()
}

impl Visitor {
    pub fn new(hub: &Harness, by: &Agent, host: &Agent) -> Self {
        let address = Address::new([127, 0, 0, 1].into());
        let caller = Caller::new(by.id.parse().unwrap(), sha256(by.key.as_bytes()), address);
        Self { hub: hub.hub.clone(), caller, host: host.id.parse().unwrap() }
    }

    pub async fn send(&self, message: Incoming) -> Result<Sent, Error> {
        a2a::send(&self.hub, &self.caller, &self.host, message).await
    }

    /// Makes a task.
    async fn start(&self, words: &str) -> TaskId {
        self.send(message(words, text(words))).await.unwrap().task
    }

    /// One more message on a task.
    async fn say(&self, task: &TaskId, words: &str) -> Result<Sent, Error> {
        self.send(Incoming { task: Some(task.clone()), ..message(words, text(words)) }).await
    }

    async fn get(&self, task: &TaskId) -> Result<Snapshot, Error> {
        a2a::get(&self.hub, &self.caller, &self.host, task, ALL).await
    }

    async fn cancel(&self, task: &TaskId) -> Result<(), Error> {
        a2a::cancel(&self.hub, &self.caller, &self.host, task, None).await
    }

    async fn list(&self, query: ListTasks) -> TaskList {
        a2a::list(&self.hub, &self.caller, &self.host, query).await.unwrap()
    }

    /// All steps after one, page by page.
    async fn steps(&self, task: &TaskId, after: i64, limit: i64) -> Vec<Step> {
        let (mut all, mut after) = (Vec::new(), after);
        loop {
            let page = a2a::steps(&self.hub, &self.caller, &self.host, task, after, limit).await.unwrap();
            after = page.steps.last().map_or(after, |step| step.step);
            all.extend(page.steps);
            if !page.has_more {
                return all;
            }
        }
    }
}

/// Artifacts as the wire has them.
fn artifacts(of: &[Artifact]) -> Value {
    let one = |artifact: &Artifact| json!({ "id": artifact.id, "name": artifact.name, "parts": shown(&artifact.parts), "last": artifact.last_chunk });
    of.iter().map(one).collect()
}

//! The agents of the load.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::http::Ask;
use crate::log::{Logged, Truth};

/// An agent, its key, and what its event log holds.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) name: String,
    pub(crate) id: String,
    key: Mutex<String>,
    /// The log as far as it has been checked.
    pub(crate) truth: Mutex<Truth>,
}

pub(crate) fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Agent {
    /// An agent that no hub knows.
    #[cfg(test)]
    pub(crate) fn unknown(id: &str) -> Arc<Self> {
        let (name, id) = (id.to_owned(), id.to_owned());
        Arc::new(Self { name, id, key: Mutex::default(), truth: Mutex::default() })
    }

    pub(crate) fn key(&self) -> String {
        lock(&self.key).clone()
    }

    pub(crate) fn set_key(&self, key: String) {
        *lock(&self.key) = key;
    }

    /// Registers an agent. Its answer holds a key and cannot be repeated, so a lost one leaves an agent that nobody uses.
    pub(crate) async fn register(cluster: &Cluster, name: &str) -> anyhow::Result<Arc<Self>> {
        let ask = Ask::post_once("/agents", json!({ "name": name }));
        let made = cluster.succeed(&ask, "").await.with_context(|| format!("cannot register {name}"))?;
        Ok(Arc::new(Self {
            name: name.to_owned(),
            id: text(&made, "id")?,
            key: Mutex::new(text(&made, "apiKey")?),
            truth: Mutex::default(),
        }))
    }

    /// Connects two agents by a pairing code.
    pub(crate) async fn pair(cluster: &Cluster, one: &Self, other: &Self) -> anyhow::Result<()> {
        let code = cluster.succeed(&Ask::post("/pair/generate", json!({})), &one.key()).await?;
        let code = json!({ "code": text(&code, "code")? });
        cluster.succeed(&Ask::post("/pair/connect", code), &other.key()).await?;
        Ok(())
    }

    /// Reads what is new in the agent's log, page by page, from any node.
    pub(crate) async fn read_log(&self, cluster: &Cluster) -> anyhow::Result<Vec<Logged>> {
        let mut after = lock(&self.truth).last();
        let mut found = Vec::new();
        loop {
            let page = cluster.succeed(&Ask::get(format!("/events?after={after}")), &self.key()).await?;
            found.extend(page["events"].as_array().into_iter().flatten().map(Logged::of_log));
            after = page["cursor"].as_i64().context("a page without a cursor")?;
            if page["hasMore"] != true {
                return Ok(found);
            }
        }
    }
}

pub(crate) fn text(answer: &Value, name: &str) -> anyhow::Result<String> {
    Ok(answer[name].as_str().with_context(|| format!("an answer has no {name}: {answer}"))?.to_owned())
}

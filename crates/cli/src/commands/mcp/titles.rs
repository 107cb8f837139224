//! Encrypted tasks and connections in lists. The hub knows neither the titles of encrypted tasks, nor is it believed whom
//! they are from: titles and parties are those that the pinned keys have signed, or they are marked as unverified.

use std::collections::BTreeMap;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::Value;
use tandem_api::text::{Author, PeerName};
use tandem_client::{Client, Trust};
use tandem_core::{AgentId, TaskId};
use tandem_hub::Error;
use tandem_seal::PublicKey;
use tandem_server::mcp::shared::{Args, fence};

use super::failures::to_hub_error;
use super::handler::Bridge;
use super::sealed::UNVERIFIED;

/// Titles that are opened for one answer.
const TITLES_MAX: usize = 20;
/// The field that says whether a pinned key vouches for an entry.
const VERIFIED: &str = "verified";
/// Before a name for which no key vouches.
const UNVERIFIED_NAME: &str = "unverified: ";

/// What is known of an encrypted task in a list.
enum Known {
    Verified {
        title: String,
        initiator: Party,
        target: Party,
        is_own: bool,
    },
    Unverified,
    /// There are too many.
    NotOpened,
}

/// A party of a task, as a model sees it.
struct Party {
    id: String,
    name: String,
}

impl Bridge {
    /// Opens the titles of encrypted tasks in an answer, as far as that is cheap, and corrects whom they are from.
    pub(super) async fn open_titles(&self, client: &Client, result: &mut CallToolResult) {
        let Some(data) = result.structured_content.as_mut().filter(|_| self.hub.has_key()) else { return };
        let mut tasks = BTreeMap::new();
        find(client, data, &mut tasks);
        for (number, (id, known)) in tasks.iter_mut().enumerate() {
            if number < TITLES_MAX {
                *known = known_task(client, id).await;
            }
        }
        let is_corrected = correct(data, &tasks);
        if is_corrected {
            result.content = vec![ContentBlock::text(compact(data))];
        }
        let line = |(id, known): (&String, &Known)| match known {
            Known::Verified { title, .. } => Some(format!("- {}: {title}", fence::id(id))),
            _ => None,
        };
        let lines: Vec<String> = tasks.iter().filter_map(line).collect();
        if !lines.is_empty() {
            let text = format!("Titles of encrypted tasks:\n{}", lines.join("\n"));
            result.content.push(ContentBlock::text(text));
        }
    }

    /// `list_connections`. A connection whose key or name is not the pinned one is marked.
    pub(super) async fn list_connections(
        &self,
        client: &Client,
        args: Args,
    ) -> Result<CallToolResult, Error> {
        let mut result = self.forward(client, "list_connections", args.0).await?;
        let Some(pins) = self.hub.pins().map_err(to_hub_error)? else { return Ok(result) };
        let Some(data) = result.structured_content.as_mut() else { return Ok(result) };
        let mut doubts = Vec::new();
        for item in data["connections"].as_array_mut().into_iter().flatten() {
            let text = |name: &str| item[name].as_str().map(|text| fence::unfenced(text).to_owned());
            let Some(Ok(agent)) = text("agentId").map(|id| id.parse::<AgentId>()) else { continue };
            let names: Vec<String> = ["agentName", "name", "alias"].into_iter().filter_map(text).collect();
            let key = text("publicKey").and_then(|pem| PublicKey::from_pem(&pem).ok());
            let checked = pins.check_presented(&agent, &names, key.as_ref());
            let Some(item) = item.as_object_mut() else { continue };
            if key.is_some() || checked.is_err() {
                item.insert(VERIFIED.to_owned(), matches!(checked, Ok(true)).into());
            }
            if let Err(why) = checked {
                mark_names(item, &["agentName", "name", "alias"]);
                doubts.push(format!("- {}: {}", fence::id(agent.as_str()), to_hub_error(why).body.error));
            }
        }
        if !doubts.is_empty() {
            let words = format!("Do not trust these connections:\n{}", doubts.join("\n"));
            result.content = vec![ContentBlock::text(compact(data)), ContentBlock::text(words)];
        }
        Ok(result)
    }
}

/// The title of an encrypted task for a model; `None` if it cannot be verified.
pub(super) async fn title_of(client: &Client, id: &str) -> Option<String> {
    let id: TaskId = fence::unfenced(id).parse().ok()?;
    let opened = client.open_description(client.task(&id).await.ok()?).await;
    let title = &opened.view.title;
    match opened.trust {
        Trust::Verified if title.author() == Author::Reader => Some(title.as_str().to_owned()),
        Trust::Verified | Trust::Plain => Some(fence::text(title.as_str())),
        Trust::Unopened | Trust::Unreadable(_) => None,
    }
}

async fn known_task(client: &Client, id: &str) -> Known {
    let Ok(id) = id.parse::<TaskId>() else { return Known::Unverified };
    let Ok(task) = client.task(&id).await else { return Known::Unverified };
    let opened = client.open_description(task).await;
    let view = &opened.view;
    let party = |id: &AgentId, name: &PeerName| Party {
        id: fence::id(id.as_str()),
        name: match name.author() {
            Author::Reader => name.as_str().to_owned(),
            _ => fence::name(name.as_str()),
        },
    };
    let is_own = view.title.author() == Author::Reader;
    // The own signature does not say for whom it is.
    let peer = client.keyring().and_then(|keyring| Ok(keyring.pins()?.peer(&id)));
    let is_bound = matches!(peer, Ok(Some(_)));
    match opened.trust {
        Trust::Verified if is_bound => Known::Verified {
            title: if is_own { view.title.as_str().to_owned() } else { fence::text(view.title.as_str()) },
            initiator: party(&view.initiator_agent_id, &view.initiator_agent_name),
            target: party(&view.target_agent_id, &view.target_agent_name),
            is_own,
        },
        _ => Known::Unverified,
    }
}

/// The id of the task that an entry is about.
fn task_of(item: &JsonObject) -> Option<&str> {
    let id = item.get("id").filter(|_| item.contains_key("title"));
    item.get("taskId").or(id)?.as_str().map(fence::unfenced)
}

/// Finds encrypted tasks: those that the hub shows as such, and those that are known to be.
fn find(client: &Client, value: &Value, found: &mut BTreeMap<String, Known>) {
    match value {
        Value::Object(fields) => {
            let title = fields.get("title").or_else(|| fields.get("taskTitle")).and_then(Value::as_str);
            let is_shown_so = fields.get("encrypted") == Some(&Value::Bool(true))
                || title.is_some_and(|title| fence::unfenced(title) == tandem_seal::CLEAR_TITLE);
            let is_known =
                |id: &str| id.parse().is_ok_and(|id: TaskId| client.is_known_encrypted(&id).unwrap_or(true));
            if let Some(id) = task_of(fields).filter(|id| is_shown_so || is_known(id)) {
                found.insert(id.to_owned(), Known::NotOpened);
            }
            fields.values().for_each(|field| find(client, field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| find(client, item, found)),
        _ => {}
    }
}

/// Puts what is known in the place of what the hub says. Returns whether it says something else about the parties, or
/// something that cannot be verified.
fn correct(value: &mut Value, tasks: &BTreeMap<String, Known>) -> bool {
    match value {
        Value::Object(fields) => {
            let known = task_of(fields).and_then(|id| tasks.get(id));
            let mut is_corrected = known.is_some_and(|known| correct_one(fields, known));
            for field in fields.values_mut() {
                is_corrected |= correct(field, tasks);
            }
            is_corrected
        }
        Value::Array(items) => items.iter_mut().fold(false, |before, item| correct(item, tasks) | before),
        _ => false,
    }
}

fn correct_one(item: &mut JsonObject, known: &Known) -> bool {
    let set_title = |item: &mut JsonObject, title: &str| {
        for name in ["title", "taskTitle"] {
            if let Some(field) = item.get_mut(name) {
                *field = title.into();
            }
        }
    };
    let (title, initiator, target, is_own) = match known {
        Known::Verified { title, initiator, target, is_own } => (title, initiator, target, is_own),
        Known::Unverified | Known::NotOpened => {
            let title = match known {
                Known::Unverified => UNVERIFIED,
                _ => tandem_seal::CLEAR_TITLE,
            };
            set_title(item, title);
            mark_names(item, &["initiatorAgentName", "targetAgentName", "fromAgentName", "fromAgent"]);
            item.insert(VERIFIED.to_owned(), false.into());
            return true;
        }
    };
    set_title(item, title);
    let from = if *is_own { target } else { initiator };
    let mut is_corrected = false;
    let parties = [
        ("initiatorAgentId", &initiator.id),
        ("initiatorAgentName", &initiator.name),
        ("targetAgentId", &target.id),
        ("targetAgentName", &target.name),
        ("fromAgentId", &from.id),
        ("fromAgentName", &from.name),
        ("fromAgent", &from.name),
    ];
    for (name, value) in parties {
        if let Some(field) = item.get_mut(name).filter(|field| field.is_string())
            && field.as_str() != Some(value)
        {
            *field = value.as_str().into();
            is_corrected = true;
        }
    }
    if item.contains_key("title") {
        item.insert(VERIFIED.to_owned(), true.into());
    }
    is_corrected
}

fn mark_names(item: &mut JsonObject, names: &[&str]) {
    for name in names {
        if let Some(Value::String(name)) = item.get_mut(*name) {
            name.insert_str(0, UNVERIFIED_NAME);
        }
    }
}

/// Data as text, without what is null.
fn compact(data: &Value) -> String {
    fn full(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let given = fields.iter().filter(|(_, value)| !value.is_null());
                given.map(|(name, value)| (name.clone(), full(value))).collect::<JsonObject>().into()
            }
            Value::Array(items) => items.iter().map(full).collect(),
            other => other.clone(),
        }
    }
    full(data).to_string()
}

//! Encrypted tasks and connections in lists. The hub knows neither the titles of encrypted tasks, nor is it believed whom
//! they are from: titles and parties are those that the pinned keys have signed, or they are marked as unverified.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ReadResourceResult, ResourceContents};
use serde_json::Value;
use tandem_api::fence::{Fence as _, Fencer};
use tandem_api::updates::NewsView;
use tandem_client::Client;
use tandem_core::{AgentId, TaskId};
use tandem_hub::Error;
use tandem_seal::PublicKey;
use tandem_server::mcp::shared::{Args, fence, report_in_words};

use super::super::known_tasks::{Known, UNVERIFIED_NAME, is_encrypted};
use super::claims::VERIFIED;
use super::failures::to_hub_error;
use super::handler::Bridge;
use super::sealed::UNVERIFIED;

/// Titles that are opened for one answer.
const TITLES_MAX: usize = 20;

/// Fields with keys and signatures.
const KEYS: [&str; 4] = ["publicKey", "descriptionKeys", "encryptedKeys", "senderSignature"];
/// Fields of an encrypted task that are ciphertext in a list, or that no signature covers. What is there, the hub has said.
const UNSIGNED: [&str; 9] = [
    "description",
    "result",
    "approvalNote",
    "contextId",
    "messageId",
    "parts",
    "metadata",
    "referenceTaskIds",
    "acceptedOutputModes",
];

/// In which words the text of an answer repeats its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// The data as JSON.
    List,
    /// A report of news.
    Report,
}

impl Bridge {
    /// Opens the titles of encrypted tasks in an answer, as far as that is cheap, and corrects whom they are from. The text of
    /// the answer is made of its data, so that it says the same.
    pub(super) async fn open_titles(&self, client: &Client, result: &mut CallToolResult, words: Words) {
        let Some(data) = result.structured_content.as_mut() else { return };
        self.open_titles_in(client, data).await;
        let text = match words {
            Words::Report => report(data).unwrap_or_else(|| compact(data)),
            Words::List => in_words(data),
        };
        result.content = vec![ContentBlock::text(text)];
    }

    /// The same for a resource: the inbox, and the tasks that are not encrypted.
    pub(super) async fn open_resource(&self, client: &Client, read: &mut ReadResourceResult) {
        for contents in &mut read.contents {
            if let ResourceContents::TextResourceContents { text, .. } = contents
                && let Ok(mut data) = serde_json::from_str::<Value>(text)
            {
                self.open_titles_in(client, &mut data).await;
                *text = compact(&data);
            }
        }
    }

    async fn open_titles_in(&self, client: &Client, data: &mut Value) {
        if !self.hub.has_key() {
            return;
        }
        let mut tasks = BTreeMap::new();
        find(client, data, &mut tasks);
        for (id, known) in tasks.iter_mut().take(TITLES_MAX) {
            *known = match id.parse() {
                Ok(id) => Known::of(client, &id).await,
                Err(_) => Known::Unverified,
            };
        }
        correct(data, &tasks);
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
        let connections = data.get_mut("connections").and_then(Value::as_array_mut);
        for item in connections.into_iter().flatten() {
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
        result.content = vec![ContentBlock::text(in_words(data))];
        if !doubts.is_empty() {
            let words = format!("Do not trust these connections:\n{}", doubts.join("\n"));
            result.content.push(ContentBlock::text(words));
        }
        Ok(result)
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
            let title = title.map(fence::unfenced);
            let is_shown_so = fields.get("encrypted") == Some(&Value::Bool(true));
            let is_one = |id: &str| id.parse().is_ok_and(|id: TaskId| is_encrypted(client, &id, title));
            if let Some(id) = task_of(fields).filter(|id| is_shown_so || is_one(id)) {
                found.insert(id.to_owned(), Known::NotOpened);
            }
            fields.values().for_each(|field| find(client, field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| find(client, item, found)),
        _ => {}
    }
}

/// Puts what is known in the place of what the hub says.
fn correct(value: &mut Value, tasks: &BTreeMap<String, Known>) {
    match value {
        Value::Object(fields) => {
            if let Some(known) = task_of(fields).and_then(|id| tasks.get(id)) {
                correct_one(fields, known);
            }
            fields.values_mut().for_each(|field| correct(field, tasks));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| correct(item, tasks)),
        _ => {}
    }
}

fn correct_one(item: &mut JsonObject, known: &Known) {
    let title = match known {
        Known::Verified { title, .. } => title,
        Known::Unverified => UNVERIFIED,
        Known::NotOpened => tandem_seal::CLEAR_TITLE,
    };
    let is_entry = item.contains_key("title");
    set(item, &["title", "taskTitle"], title);
    for name in UNSIGNED.into_iter().filter(|_| is_entry) {
        if let Some(field) = item.get_mut(name) {
            *field = Value::Null;
        }
    }
    if let (Known::Verified { initiator, target, .. }, Some(from)) = (known, known.other_party()) {
        set(item, &["initiatorAgentId"], &initiator.id);
        set(item, &["initiatorAgentName"], &initiator.name);
        set(item, &["targetAgentId"], &target.id);
        set(item, &["targetAgentName"], &target.name);
        set(item, &["fromAgentId"], &from.id);
        set(item, &["fromAgentName", "fromAgent"], &from.name);
        if is_entry {
            item.insert(VERIFIED.to_owned(), true.into());
        }
    } else {
        mark_names(item, &["initiatorAgentName", "targetAgentName", "fromAgentName", "fromAgent"]);
        item.insert(VERIFIED.to_owned(), false.into());
    }
}

/// Replaces the fields that are texts.
fn set(item: &mut JsonObject, names: &[&str], text: &str) {
    for name in names {
        if let Some(Value::String(field)) = item.get_mut(*name) {
            text.clone_into(field);
        }
    }
}

fn mark_names(item: &mut JsonObject, names: &[&str]) {
    for name in names {
        if let Some(Value::String(name)) = item.get_mut(*name) {
            name.insert_str(0, UNVERIFIED_NAME);
        }
    }
}

/// A report of news in words; `None` if the hub reports in another form.
fn report(data: &Value) -> Option<String> {
    let mut view: NewsView = serde_json::from_value(without_markers(data)).ok()?;
    view.fence(&IdsOnly);
    Some(report_in_words(&view))
}

/// Data whose ids are ids again.
fn without_markers(data: &Value) -> Value {
    match data {
        Value::Object(fields) => {
            let plain = |(name, field): (&String, &Value)| match field {
                Value::String(id) if fence::is_id(name) => (name.clone(), fence::unfenced(id).into()),
                other => (name.clone(), without_markers(other)),
            };
            fields.iter().map(plain).collect::<JsonObject>().into()
        }
        Value::Array(items) => items.iter().map(without_markers).collect(),
        other => other.clone(),
    }
}

/// Fences the ids of a view whose texts are fenced already.
struct IdsOnly;

impl Fencer for IdsOnly {
    fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        text.into()
    }

    fn name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        name.into()
    }

    fn token<'a>(&self, token: &'a str) -> Cow<'a, str> {
        token.into()
    }

    fn id<'a>(&self, id: &'a str) -> Cow<'a, str> {
        fence::id(id).into()
    }

    fn tags(&self, _: &mut [String]) {}
}

/// The data of a list as text.
fn in_words(data: &Value) -> String {
    let lists: Vec<&Vec<Value>> =
        data.as_object().into_iter().flatten().filter_map(|(_, field)| field.as_array()).collect();
    if let [list] = lists.as_slice()
        && list.is_empty()
    {
        return "There is nothing in this list.".to_owned();
    }
    compact(data)
}

/// Data as text, without what is null or of no use to a model: keys and ciphertext.
fn compact(data: &Value) -> String {
    fn shown(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let is_sealed = fields.get("encrypted") == Some(&Value::Bool(true));
                let is_shown = |(name, value): &(&String, &Value)| {
                    let name = name.as_str();
                    let is_sealed_text = is_sealed && UNSIGNED.contains(&name);
                    !(value.is_null() || KEYS.contains(&name) || is_sealed_text)
                };
                let fields = fields.iter().filter(is_shown);
                fields.map(|(name, value)| (name.clone(), shown(value))).collect::<JsonObject>().into()
            }
            Value::Array(items) => items.iter().map(shown).collect(),
            other => other.clone(),
        }
    }
    shown(data).to_string()
}

//! The entry that a tool gets, and how to recognise one.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::edit_toml::{Field, Fields};
use super::record::hash_of;
use super::tools::{Direct, Facts, Format};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// Start the bridge, which finds its keys itself.
    Bridge { program: PathBuf, agent: String, variables: Vec<(String, String)> },
    /// Call the hub, with the agent's API key in the tool's file.
    Direct { url: String, key: String },
}

/// Fields that say where a server is. Those of another kind of entry are taken out.
const PLACE_FIELDS: [&str; 9] =
    ["type", "command", "args", "env", "url", "serverUrl", "headers", "http_headers", "bearer_token_env_var"];

impl Target {
    pub(super) fn bridge(program: PathBuf, agent: &str) -> Self {
        // Some tools give their servers hardly any variables, so the bridge would look for its profile elsewhere.
        let set = |name: &str| {
            let value = std::env::var(name).ok().filter(|value| Path::new(value).is_absolute())?;
            Some((name.to_owned(), value))
        };
        let variables = ["XDG_CONFIG_HOME", "XDG_STATE_HOME"].into_iter().filter_map(set).collect();
        Self::Bridge { program, agent: agent.to_owned(), variables }
    }

    fn arguments(agent: &str) -> [&str; 3] {
        ["mcp", "--agent", agent]
    }

    pub(super) fn json(&self, facts: &Facts) -> Value {
        let mut entry = Map::new();
        match self {
            Self::Bridge { program, agent, variables } => {
                if facts.typed {
                    entry.insert("type".into(), json!("stdio"));
                }
                entry.insert("command".into(), json!(program.to_string_lossy()));
                entry.insert("args".into(), json!(Self::arguments(agent)));
                if !variables.is_empty() {
                    let variables = variables.iter().map(|(name, value)| (name.clone(), json!(value)));
                    entry.insert("env".into(), Value::Object(variables.collect()));
                }
            }
            Self::Direct { url, key } => {
                if facts.direct == Direct::Typed {
                    entry.insert("type".into(), json!("http"));
                }
                let name = if facts.direct == Direct::ServerUrl { "serverUrl" } else { "url" };
                entry.insert(name.into(), json!(url));
                entry.insert("headers".into(), json!({ "Authorization": format!("Bearer {key}") }));
            }
        }
        Value::Object(entry)
    }

    /// The entry as the tool reads it from its file.
    pub(super) fn value(&self, facts: &Facts) -> Value {
        match facts.format {
            Format::Json(_) => self.json(facts),
            Format::Toml => {
                let fields = self.toml().into_iter();
                Value::Object(fields.map(|(key, field)| (key.to_owned(), field.json())).collect())
            }
        }
    }

    /// The entry as the lines of a TOML table.
    pub(super) fn toml(&self) -> Fields {
        match self {
            Self::Bridge { program, agent, variables } => {
                let arguments = Self::arguments(agent).map(ToOwned::to_owned).to_vec();
                let mut fields = vec![
                    ("command", Field::Text(program.to_string_lossy().into_owned())),
                    ("args", Field::List(arguments)),
                ];
                if !variables.is_empty() {
                    fields.push(("env", Field::Map(variables.clone())));
                }
                fields
            }
            Self::Direct { url, key } => {
                let header = ("Authorization".to_owned(), format!("Bearer {key}"));
                vec![("url", Field::Text(url.clone())), ("http_headers", Field::Map(vec![header]))]
            }
        }
    }
}

/// The fields of an entry of another kind that a new entry must not keep.
pub(super) fn leftovers<'a>(old: &'a Value, new: &Value) -> Vec<&'a str> {
    let Some(old) = old.as_object() else { return Vec::new() };
    let is_left = |key: &&String| PLACE_FIELDS.contains(&key.as_str()) && new.get(key.as_str()).is_none();
    let left = old.keys().filter(is_left).map(String::as_str);
    // Variables that someone added to an entry of the same kind stay.
    let same_kind = old.contains_key("command") == new.get("command").is_some();
    left.filter(|key| !(same_kind && *key == "env")).collect()
}

/// What an entry does, read from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// It starts our bridge.
    Bridge { program: PathBuf, agent: Option<String> },
    /// It calls a hub.
    Direct { url: String },
    /// It is something else.
    Foreign(String),
}

pub(super) fn read(entry: &Value) -> Found {
    let arguments: Vec<&str> =
        entry["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if let Some(command) = entry["command"].as_str() {
        let program = PathBuf::from(command);
        let is_ours =
            program.file_stem().is_some_and(|stem| stem == "tandem") && arguments.first() == Some(&"mcp");
        if !is_ours {
            return Found::Foreign(format!("{command} {}", arguments.join(" ")).trim().to_owned());
        }
        let named = arguments.iter().position(|argument| *argument == "--agent");
        let agent = named.and_then(|at| arguments.get(at + 1)).map(|agent| (*agent).to_owned());
        return Found::Bridge { program, agent };
    }
    match entry["url"].as_str().or(entry["serverUrl"].as_str()) {
        Some(url) => Found::Direct { url: url.to_owned() },
        None => Found::Foreign("something that is no server".to_owned()),
    }
}

/// The API key in an entry.
pub(super) fn key(entry: &Value) -> Option<String> {
    authorization(entry)?.strip_prefix("Bearer ").map(|key| key.trim().to_owned())
}

fn authorization(entry: &Value) -> Option<&str> {
    let header = |headers: &str| entry[headers]["Authorization"].as_str();
    header("headers").or(header("http_headers"))
}

/// What tells an entry from one of someone else. It has no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Identity {
    Program { command: String, args: Vec<String> },
    Address { url: String, key_hash: String },
}

impl Identity {
    /// Of an entry in a file; none if it is no server.
    pub(super) fn of(entry: &Value) -> Option<Self> {
        if let Some(command) = entry["command"].as_str() {
            let arguments = entry["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let args = arguments.map(ToOwned::to_owned).collect();
            return Some(Self::Program { command: command.to_owned(), args });
        }
        let url = entry["url"].as_str().or(entry["serverUrl"].as_str())?.to_owned();
        Some(Self::Address { url, key_hash: hash_of(authorization(entry).unwrap_or_default()) })
    }
}

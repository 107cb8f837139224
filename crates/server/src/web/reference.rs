//! The reference page, rendered from the OpenAPI document.

use std::collections::BTreeMap;

use askama::Template;
use serde_json::Value;
use tandem_api::error::Code;
use tandem_core::events::EventKind;
use tandem_core::moves;

use crate::rest::openapi::letters;

struct Field {
    name: String,
    kind: String,
    required: bool,
    text: String,
}

struct Operation {
    anchor: String,
    method: String,
    path: String,
    summary: String,
    description: String,
    open: bool,
    parameters: Vec<Field>,
    body: Vec<Field>,
    status: String,
    answer: String,
    answer_anchor: String,
}

struct Group {
    name: String,
    operations: Vec<Operation>,
}

struct Schema {
    name: String,
    text: String,
    fields: Vec<Field>,
}

/// A row of the `MOVES` table.
struct Move {
    from: &'static str,
    to: &'static str,
    open: String,
    reviewed: String,
}

#[derive(Template)]
#[template(path = "reference.html")]
struct Reference {
    version: &'static str,
    about: String,
    codes: &'static [Code],
    events: &'static [EventKind],
    moves: Vec<Move>,
    groups: Vec<Group>,
    schemas: Vec<Schema>,
}

/// The order of the groups, for a new reader, and their headings. Others follow under their own names.
const ORDER: [(&str, &str); 16] = [
    ("agents", "Agents"),
    ("connections", "Connections"),
    ("blocks", "Blocks"),
    ("tasks", "Tasks"),
    ("messages", "Messages"),
    ("files", "Files"),
    ("approvals", "Approvals"),
    ("inbox", "Inbox and updates"),
    ("events", "Events: log, WebSocket and stream"),
    ("webhooks", "Webhooks"),
    ("networks", "Networks"),
    ("mcp", "MCP"),
    ("guests", "Guests by A2A"),
    ("remotes", "Agents elsewhere by A2A"),
    ("hub", "Hub"),
    ("operator", "Operator"),
];

pub(crate) fn page(document: &str) -> String {
    let document: Value = serde_json::from_str(document).unwrap_or_default();
    let schemas = &document["components"]["schemas"];
    let mut groups: BTreeMap<(usize, String), Group> = BTreeMap::new();
    for (path, methods) in entries(&document["paths"]) {
        for (method, operation) in entries(methods) {
            let tag = text(&operation["tags"][0]);
            let place = ORDER.iter().position(|(known, _)| *known == tag).unwrap_or(ORDER.len());
            let name = ORDER.get(place).map_or(tag.clone(), |(_, heading)| (*heading).to_owned());
            let group = groups.entry((place, tag)).or_insert_with(|| Group { name, operations: Vec::new() });
            group.operations.push(describe(path, method, operation, schemas));
        }
    }
    let description = text(&document["info"]["description"]);
    let reference = Reference {
        version: env!("CARGO_PKG_VERSION"),
        about: plain(description.split("\n\n").next().unwrap_or_default()),
        codes: Code::ALL,
        events: EventKind::ALL,
        moves: moves(),
        groups: groups.into_values().collect(),
        schemas: entries(schemas)
            .map(|(name, schema)| Schema {
                name: name.clone(),
                text: plain(&text(&schema["description"])),
                fields: fields(schema, schemas),
            })
            .collect(),
    };
    reference.render().unwrap_or_default()
}

fn moves() -> Vec<Move> {
    let row = |(from, to, open, reviewed): &moves::Move| Move {
        from: from.as_str(),
        to: to.as_str(),
        open: letters(*open),
        reviewed: letters(*reviewed),
    };
    moves::MOVES.iter().map(row).collect()
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Removes backticks, the only Markdown in our descriptions.
fn plain(markdown: &str) -> String {
    markdown.replace('`', "").replace('\n', " ").trim().to_owned()
}

fn describe(path: &str, method: &str, operation: &Value, schemas: &Value) -> Operation {
    let parameters = operation["parameters"].as_array().into_iter().flatten().map(|parameter| Field {
        name: text(&parameter["name"]),
        kind: format!("{}, in the {}", kind(&parameter["schema"]), text(&parameter["in"])),
        required: parameter["required"].as_bool().unwrap_or(false),
        text: plain(&text(&parameter["description"])),
    });
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    let answered = entries(&operation["responses"]).find(|(status, _)| status.starts_with('2'));
    let (status, answer) = match answered {
        Some((status, response)) => {
            let content = entries(&response["content"]).next();
            (status.clone(), content.map_or(Value::Null, |content| content.1["schema"].clone()))
        }
        None => (String::new(), Value::Null),
    };
    Operation {
        anchor: format!("{method}{}", path.replace(['/', '{', '}'], "-")),
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: plain(&text(&operation["summary"])).trim_end_matches('.').to_owned(),
        description: plain(&text(&operation["description"])),
        open: operation["security"][0].as_object().is_some_and(serde_json::Map::is_empty),
        parameters: parameters.collect(),
        body: fields(resolved(body, schemas), schemas),
        status,
        answer: kind(&answer),
        answer_anchor: name_of(&answer["items"]).or_else(|| name_of(&answer)).unwrap_or_default(),
    }
}

fn name_of(schema: &Value) -> Option<String> {
    schema["$ref"].as_str()?.rsplit('/').next().map(Into::into)
}

fn resolved<'a>(schema: &'a Value, schemas: &'a Value) -> &'a Value {
    match name_of(schema) {
        Some(name) => &schemas[name.as_str()],
        None => schema,
    }
}

/// The fields of an object, including those of its parts.
fn fields(schema: &Value, schemas: &Value) -> Vec<Field> {
    let mut found = Vec::new();
    for part in schema["allOf"].as_array().into_iter().flatten() {
        found.extend(fields(resolved(part, schemas), schemas));
    }
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    found.extend(entries(&schema["properties"]).map(|(name, property)| Field {
        name: name.clone(),
        kind: kind(property),
        required: required.contains(&name.as_str()),
        text: plain(&text(&property["description"])),
    }));
    found
}

/// The name of a type for the reader.
fn kind(schema: &Value) -> String {
    if let Some(name) = name_of(schema) {
        return name;
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        return choices.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    match &schema["type"] {
        Value::String(word) if word == "array" => format!("array of {}", kind(&schema["items"])),
        Value::String(word) => word.clone(),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            words.join(" or ")
        }
        _ => "any".into(),
    }
}

//! Examples of requests and answers in the OpenAPI document, by the name of their schema.

use serde_json::{Map, Value};

/// Where the tests of `api` write an example of each wire type, in which every field has a value. It is read when the document
/// is made: that is in a clone of the repository.
const ALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../api/examples.json");
/// Examples that read like one story. They go before the others.
const STORY: &str = include_str!("story.json");

/// The examples, by the name of the schema.
pub(super) fn known() -> Map<String, Value> {
    let all = std::fs::read_to_string(ALL).unwrap_or_default();
    let mut known: Map<String, Value> = serde_json::from_str(&all).unwrap_or_default();
    known.extend(serde_json::from_str::<Map<String, Value>>(STORY).unwrap_or_default());
    known
}

/// Adds examples to the bodies of an operation.
pub(super) fn add(operation: &mut Value, schemas: &Value, known: &Map<String, Value>) {
    if let Some(body) = operation.pointer_mut("/requestBody/content") {
        add_to(body, known, schemas);
    }
    for (status, response) in super::object(&mut operation["responses"]) {
        if status.starts_with('2')
            && let Some(content) = response.get_mut("content")
        {
            add_to(content, known, schemas);
        }
    }
}

fn add_to(content: &mut Value, known: &Map<String, Value>, schemas: &Value) {
    let Some(json) = content.get_mut("application/json") else { return };
    let example = match named(&json["schema"]) {
        Some(name) => of(&name, known, schemas),
        None => named(&json["schema"]["items"])
            .and_then(|name| of(&name, known, schemas))
            .map(|one| vec![one].into()),
    };
    if let Some(mut example) = example {
        prune(&mut example, &json["schema"], schemas);
        json["example"] = example;
    }
}

/// Removes what only models are told, which is no part of the schema.
fn prune(example: &mut Value, schema: &Value, schemas: &Value) {
    if let Some(name) = named(schema) {
        return prune(example, &schemas[name.as_str()], schemas);
    }
    match example {
        Value::Array(items) => items.iter_mut().for_each(|item| prune(item, &schema["items"], schemas)),
        Value::Object(fields) => {
            if let Some(known) = schema["properties"].as_object() {
                fields.retain(|name, _| known.contains_key(name));
                fields.iter_mut().for_each(|(name, field)| prune(field, &known[name.as_str()], schemas));
            }
        }
        _ => {}
    }
}

fn named(schema: &Value) -> Option<String> {
    schema["$ref"].as_str()?.rsplit('/').next().map(Into::into)
}

/// The example of a schema: its own, or those of the schemas that it joins.
fn of(name: &str, known: &Map<String, Value>, schemas: &Value) -> Option<Value> {
    if let Some(example) = known.get(name) {
        return Some(example.clone());
    }
    let mut joined = Map::new();
    for part in schemas[name]["allOf"].as_array()? {
        joined.extend(of(&named(part)?, known, schemas)?.as_object()?.clone());
    }
    Some(joined.into())
}

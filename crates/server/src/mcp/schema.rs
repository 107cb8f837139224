//! JSON schemas of tools, derived from the wire types.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};
use tandem_api::words;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Keywords that are omitted from output schemas.
const UNSAID: [&str; 4] = ["description", "example", "examples", "format"];

/// The full schema of a wire type.
pub(crate) fn of<T: ToSchema + PartialSchema>() -> JsonObject {
    let mut named = Vec::new();
    T::schemas(&mut named);
    let known: Map<String, Value> =
        named.into_iter().map(|(name, schema): (String, RefOr<Schema>)| (name, value(&schema))).collect();
    let mut schema = value(&T::schema());
    inline(&mut schema, &known, &closed_sets());
    match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// The schema of an object without fields.
pub(crate) fn nothing() -> JsonObject {
    object(json!({"type": "object", "properties": {}}))
}

/// The schema of arguments. Nullability comes from the schema of the wire type.
pub(crate) fn arguments<T: ToSchema + PartialSchema>() -> JsonObject {
    let mut schema = of::<T>();
    schema.remove("description");
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        for (name, field) in fields.iter_mut() {
            shorten(name, field);
        }
    }
    schema
}

/// Leaves out what a model does not need: it reads the descriptions of all tools.
fn shorten(name: &str, field: &mut Value) {
    let Value::Object(field) = field else { return };
    field.remove("format");
    // The wire type speaks of HTTP.
    if name == "expectedStatus" {
        field.insert("description".into(), "Refuse unless this is the status".into());
    }
    if let Some(Value::String(about)) = field.get_mut("description") {
        *about = about.trim_end_matches('.').replace('`', "").replace('\n', " ");
    }
    if let Some(Value::Object(fields)) = field.get_mut("properties") {
        for (name, field) in fields.iter_mut() {
            shorten(name, field);
        }
    }
}

/// The short schema of a result: required fields and types.
pub(crate) fn answer<T: ToSchema + PartialSchema>() -> JsonObject {
    let mut schema = of::<T>();
    strip(&mut schema);
    schema
}

pub(crate) fn list_of(name: &str, item: JsonObject) -> JsonObject {
    let list = json!({"type": "array", "items": Value::Object(item)});
    object(json!({
        "type": "object",
        "properties": {name: list, "nextCursor": {"type": "string"}},
        "required": [name],
    }))
}

pub fn add(schema: &mut JsonObject, name: &str, field: Value, required: bool) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        // Ids come first, because they say what the call is about.
        properties.shift_insert(0, name.to_owned(), field);
    }
    if required && let Value::Array(all) = schema.entry("required").or_insert_with(|| json!([])) {
        all.insert(0, name.into());
    }
}

pub fn remove(schema: &mut JsonObject, names: &[&str]) {
    retain(schema, |name| !names.contains(&name));
}

/// Removes all other fields.
pub(crate) fn keep(schema: &mut JsonObject, names: &[&str]) {
    retain(schema, |name| names.contains(&name));
}

fn retain(schema: &mut JsonObject, is_kept: impl Fn(&str) -> bool) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|name, _| is_kept(name));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(&is_kept));
    }
}

fn value<T: serde::Serialize>(schema: &T) -> Value {
    serde_json::to_value(schema).unwrap_or_default()
}

fn object(value: Value) -> JsonObject {
    if let Value::Object(object) = value { object } else { JsonObject::new() }
}

/// The schemas of closed sets, by name. A tool takes their words in other spellings as well, and says so in descriptions.
fn closed_sets() -> Vec<String> {
    words::all().into_iter().map(|(name, _)| name).collect()
}

/// A closed set as the kind of text that it is.
fn any_word(field: &Map<String, Value>) -> Value {
    let mut text = Map::from_iter([("type".to_owned(), Value::from("string"))]);
    text.extend(field.iter().filter(|(name, _)| *name == "description").map(|(n, v)| (n.clone(), v.clone())));
    text.into()
}

/// Replaces references by their targets, and merges the parts of a flattened type.
fn inline(schema: &mut Value, known: &Map<String, Value>, closed: &[String]) {
    if let Some(Value::String(to)) = schema.get("$ref") {
        let name = to.rsplit('/').next().unwrap_or_default();
        if closed.iter().any(|set| set == name) {
            *schema = any_word(schema.as_object().unwrap_or(&Map::new()));
            return;
        }
        let mut named = known.get(name).cloned().unwrap_or_default();
        // The description of a field is more specific than that of its type.
        if let (Some(about), Value::Object(named)) = (schema.get("description"), &mut named) {
            named.insert("description".into(), about.clone());
        }
        *schema = named;
    }
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| inline(field, known, closed));
            fields.remove("example");
            merge(fields);
            or_null(fields);
            without_values(fields);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| inline(item, known, closed)),
        _ => {}
    }
}

/// Says of a text that may be null what other fields say.
fn or_null(fields: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = fields.get("oneOf") else { return };
    let is_null = |choice: &Value| *choice == json!({"type": "null"});
    let text = match choices.as_slice() {
        [text, null] | [null, text] if is_null(null) && text["type"] == "string" => text.clone(),
        _ => return,
    };
    fields.remove("oneOf");
    if let Value::Object(text) = text {
        fields.extend(text);
    }
    fields.insert("type".into(), json!(["string", "null"]));
}

/// A model is told what the keys and values of a map are by its description.
fn without_values(fields: &mut Map<String, Value>) {
    if fields.get("additionalProperties") == Some(&json!({"type": "string"})) {
        fields.remove("additionalProperties");
        fields.remove("propertyNames");
    }
}

fn merge(fields: &mut Map<String, Value>) {
    let Some(Value::Array(parts)) = fields.remove("allOf") else { return };
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for part in parts {
        if let Some(Value::Object(more)) = part.get("properties") {
            properties.extend(more.clone());
        }
        if let Some(Value::Array(more)) = part.get("required") {
            required.extend(more.clone());
        }
    }
    fields.insert("type".into(), "object".into());
    fields.insert("properties".into(), properties.into());
    fields.insert("required".into(), required.into());
}

fn strip(schema: &mut JsonObject) {
    let required = schema.get("required").cloned().unwrap_or_default();
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.retain(|name, _| required.as_array().is_some_and(|all| all.iter().any(|one| one == name)));
    }
    schema.retain(|name, value| !UNSAID.contains(&name.as_str()) || value.is_object());
    for value in schema.values_mut() {
        strip_value(value);
    }
}

fn strip_value(value: &mut Value) {
    match value {
        Value::Object(object) => strip(object),
        Value::Array(items) => items.iter_mut().for_each(strip_value),
        _ => {}
    }
}

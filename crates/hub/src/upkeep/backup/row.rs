//! A row as one line of JSON: an array with null, numbers and text as they are, and bytes as `{"b64": "…"}`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json};
use tandem_store::dump::Value;

/// Appends a row and a line break.
pub(super) fn encode(row: Vec<Value>, line: &mut Vec<u8>) -> serde_json::Result<()> {
    let values: Vec<Json> = row.into_iter().map(to_json).collect();
    serde_json::to_writer(&mut *line, &values)?;
    line.push(b'\n');
    Ok(())
}

fn to_json(value: Value<'_>) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Int(number) => Json::from(number),
        Value::Text(text) => Json::String(text.into_owned()),
        Value::Bytes(bytes) => {
            Json::Object(Map::from_iter([("b64".to_owned(), STANDARD.encode(bytes).into())]))
        }
    }
}

/// Parses a line; `None` if it is not a row.
pub(super) fn decode(line: &str) -> Option<Vec<Value<'static>>> {
    let values: Vec<Json> = serde_json::from_str(line).ok()?;
    values.into_iter().map(from_json).collect()
}

fn from_json(json: Json) -> Option<Value<'static>> {
    match json {
        Json::Null => Some(Value::Null),
        Json::Number(number) => number.as_i64().map(Value::Int),
        Json::String(text) => Some(Value::from(text)),
        Json::Object(object) if object.len() == 1 => {
            STANDARD.decode(object.get("b64")?.as_str()?).ok().map(|bytes| Value::Bytes(bytes.into()))
        }
        Json::Bool(_) | Json::Array(_) | Json::Object(_) => None,
    }
}

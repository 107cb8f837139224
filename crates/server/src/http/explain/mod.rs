//! Parses requests into checked types, and explains which field is invalid, and why.
//!
//! serde's own messages are English sentences that change between versions, so this deserializer has its own. Everything
//! that comes in goes through it, whether it was JSON, a query, a form or the arguments of a tool: a type is compiled for
//! one deserializer, and is refused in the same words everywhere.

mod fault;
mod field;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use tandem_app::Invalid;

use fault::Fault;
use field::{Field, Ignored, Source};

use crate::http::unknown::UnknownNames;

/// A JSON object that has not been checked. Unlike in [`Value`], a field may be there twice, so that it can be refused.
#[derive(Debug)]
pub(crate) struct Object(Vec<(String, Given)>);

impl Object {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Invalid> {
        match serde_json::from_str(object_text(bytes)?) {
            Ok(Given::Object(fields)) => Ok(Self(fields)),
            Ok(_) => Err(Invalid::field("body", "must be a JSON object")),
            Err(failure) => {
                let place = format!("line {} column {}", failure.line(), failure.column());
                Err(Invalid::field("body", format!("is not valid JSON (at {place})")))
            }
        }
    }

    /// Reads a type. Fields that it does not have are ignored, and named in `unknown`.
    pub(crate) fn read<T: Deserialize<'static>>(self, unknown: &mut UnknownNames) -> Result<T, Invalid> {
        read(self.0, Source::Json, "body", unknown)
    }
}

impl From<Map<String, Value>> for Object {
    fn from(fields: Map<String, Value>) -> Self {
        Self(fields.into_iter().map(|(name, value)| (name, value.into())).collect())
    }
}

/// The text of what should be a JSON object. Without this check, serde would accept an array for a struct, and would skip
/// invalid UTF-8 in unknown fields.
pub(crate) fn object_text(bytes: &[u8]) -> Result<&str, Invalid> {
    let text = std::str::from_utf8(bytes).map_err(|_| Invalid::field("body", "must be UTF-8"))?;
    match text.trim_ascii_start().starts_with('{') {
        true => Ok(text),
        false => Err(Invalid::field("body", "must be a JSON object")),
    }
}

/// Reads a type from the pairs of a query or a form, whose values are all text.
pub(crate) fn from_pairs<T: Deserialize<'static>>(
    pairs: Vec<(String, String)>,
    unknown: &mut UnknownNames,
) -> Result<T, Invalid> {
    let fields = pairs.into_iter().map(|(name, text)| (name, Given::Text(text))).collect();
    read(fields, Source::Text, "query", unknown)
}

/// `whole` names the object itself.
fn read<T: Deserialize<'static>>(
    fields: Vec<(String, Given)>,
    source: Source,
    whole: &str,
    unknown: &mut UnknownNames,
) -> Result<T, Invalid> {
    let ignored = Ignored::default();
    let object = Field { given: Given::Object(fields), source, is_whole: true, ignored: &ignored };
    let read = T::deserialize(object).map_err(|fault| match fault {
        Fault::Missing(field) => Invalid::field(field, "is required"),
        Fault::Wrong { field, why } => Invalid::field(field.as_deref().unwrap_or(whole), why),
    })?;
    *unknown = ignored.into_names();
    Ok(read)
}

#[derive(Debug)]
enum Given {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Given>),
    Object(Vec<(String, Given)>),
}

impl From<Value> for Given {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(flag),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::Text(text),
            Value::Array(items) => Self::List(items.into_iter().map(Into::into).collect()),
            Value::Object(fields) => Self::Object(Object::from(fields).0),
        }
    }
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

/// Takes every JSON value.
struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Given;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Given, E> {
        Ok(Given::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Given, E> {
        Ok(Given::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Given, E> {
        Ok(Given::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Given, E> {
        Ok(Given::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Given, E> {
        Ok(Number::from_f64(number).map_or(Given::Null, Given::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Given, E> {
        Ok(Given::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Given, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Given::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Given, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = object.next_entry()? {
            fields.push(field);
        }
        Ok(Given::Object(fields))
    }
}

//! Reads ProtoJSON: names in camelCase or snake_case, null like a missing field, numbers also as text, unknown fields
//! ignored. Free JSON stays text, so that no number in it changes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use tandem_core::Timestamp;

/// How deeply free JSON may nest. Protocol buffers stop at a hundred levels, those of the message included.
const DEPTH_MAX: usize = 64;

/// What is wrong with a request: a field by its path (`message.parts[0].raw`; empty: the request itself), and the end of a
/// sentence that starts with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The path of the field.
    pub field: String,
    /// The end of the sentence.
    pub why: String,
}

impl Wrong {
    /// A fault of the value itself.
    pub fn here(why: impl Into<String>) -> Self {
        Self { field: String::new(), why: why.into() }
    }

    /// A fault of a field.
    pub fn field(name: &str, why: impl Into<String>) -> Self {
        Self::here(why).within(name)
    }

    /// The fault was found within this field.
    #[must_use]
    pub fn within(mut self, name: &str) -> Self {
        self.field = match self.field.as_str() {
            "" => name.to_owned(),
            rest if rest.starts_with('[') => format!("{name}{rest}"),
            rest => format!("{name}.{rest}"),
        };
        self
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = if self.field.is_empty() { "the request" } else { &self.field };
        write!(f, "{field} {}", self.why)
    }
}

/// A type that is read from ProtoJSON.
pub trait FromProto: Sized {
    /// Reads a value that is not null.
    fn read(json: &RawValue) -> Result<Self, Wrong>;
}

/// Reads JSON that was found to be valid.
pub fn parse<T: FromProto>(json: &RawValue) -> Result<T, Wrong> {
    T::read(json)
}

/// The fields of an object.
#[derive(Debug)]
pub struct Object<'j>(Vec<(Cow<'j, str>, &'j RawValue)>);

impl<'j> Object<'j> {
    /// Reads the names of the fields, and leaves the values as they are.
    pub fn read(json: &'j RawValue) -> Result<Self, Wrong> {
        let mut text = serde_json::Deserializer::from_str(json.get());
        text.deserialize_map(Fields).map_err(|_| Wrong::here("must be an object"))
    }

    /// All fields, as they were named.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &'j RawValue)> {
        self.0.iter().map(|(name, value)| (&**name, *value))
    }

    /// The value of a field, null included.
    pub fn value(&self, name: &str) -> Result<Option<&'j RawValue>, Wrong> {
        let mut found = self.0.iter().filter(|(given, _)| is_name(given, name)).map(|field| field.1);
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(Wrong::field(name, "is there twice")),
            (first, None) => Ok(first),
        }
    }

    /// A field, unless it is missing or null.
    pub fn get<T: FromProto>(&self, name: &str) -> Result<Option<T>, Wrong> {
        match self.value(name)? {
            None => Ok(None),
            Some(json) if json.get() == "null" => Ok(None),
            Some(json) => T::read(json).map(Some).map_err(|wrong| wrong.within(name)),
        }
    }

    /// A text that is not empty: an empty one is as good as a missing one.
    pub fn text(&self, name: &str) -> Result<Option<String>, Wrong> {
        Ok(self.get::<String>(name)?.filter(|text| !text.is_empty()))
    }

    /// A text that must be there.
    pub fn required_text(&self, name: &str) -> Result<String, Wrong> {
        self.text(name)?.ok_or_else(|| Wrong::field(name, "is required"))
    }

    /// A list; a missing one is empty.
    pub fn list<T: FromProto>(&self, name: &str) -> Result<Vec<T>, Wrong> {
        Ok(self.get(name)?.unwrap_or_default())
    }

    /// A flag; a missing one is false.
    pub fn flag(&self, name: &str) -> Result<bool, Wrong> {
        Ok(self.get(name)?.unwrap_or_default())
    }

    /// An object with fields, as free JSON.
    pub fn metadata(&self, name: &str) -> Result<Option<JsonObject>, Wrong> {
        Ok(self.get::<JsonObject>(name)?.filter(|object| object.as_str() != "{}"))
    }
}

/// Whether a field as it was given, in camelCase or snake_case, is the one with this name.
#[must_use]
pub fn is_name(given: &str, name: &str) -> bool {
    let mut rest = name.chars();
    let mut after_underscore = false;
    given.chars().all(|c| match c {
        '_' if !after_underscore => {
            after_underscore = true;
            true
        }
        c => {
            let c = if std::mem::take(&mut after_underscore) { c.to_ascii_uppercase() } else { c };
            rest.next() == Some(c)
        }
    }) && !after_underscore
        && rest.next().is_none()
}

struct Fields;

impl<'j> Visitor<'j> for Fields {
    type Value = Object<'j>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'j>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some((name, value)) = object.next_entry::<Name<'j>, &'j RawValue>()? {
            fields.push((name.0, value));
        }
        Ok(Object(fields))
    }
}

/// The name of a field, borrowed unless it is written with escapes.
#[derive(serde::Deserialize)]
struct Name<'j>(#[serde(borrow)] Cow<'j, str>);

impl FromProto for String {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let text: Self = serde_json::from_str(json.get()).map_err(|_| Wrong::here("must be text"))?;
        // No database of ours can store it.
        if text.contains('\0') {
            return Err(Wrong::here("must not contain a NUL character"));
        }
        Ok(text)
    }
}

impl FromProto for bool {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        match json.get().trim_matches('"') {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(Wrong::here("must be true or false")),
        }
    }
}

impl FromProto for i32 {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let text = json.get().trim_matches('"');
        let whole = |number: f64| number.fract() == 0.0 && number.abs() <= f64::from(Self::MAX);
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and in the range")]
        let number = text
            .parse()
            .ok()
            .or_else(|| text.parse().ok().filter(|number| whole(*number)).map(|number: f64| number as Self));
        number.ok_or_else(|| Wrong::here("must be a whole number of 32 bits"))
    }
}

impl FromProto for Timestamp {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        serde_json::from_str(json.get())
            .map_err(|_| Wrong::here("must be a time such as 2026-01-31T12:00:00Z"))
    }
}

impl<T: FromProto> FromProto for Vec<T> {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let items: Vec<&RawValue> =
            serde_json::from_str(json.get()).map_err(|_| Wrong::here("must be a list"))?;
        let item = |(at, item)| T::read(item).map_err(|wrong| wrong.within(&format!("[{at}]")));
        items.into_iter().enumerate().map(item).collect()
    }
}

/// Names are free here, and stay as they are.
impl<T: FromProto> FromProto for BTreeMap<String, T> {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let entry = |(name, value): (Cow<'_, str>, &RawValue)| {
            let value = T::read(value).map_err(|wrong| wrong.within(&name))?;
            Ok((name.into_owned(), value))
        };
        Object::read(json)?.0.into_iter().map(entry).collect()
    }
}

/// Any JSON, as it was written but for the white space.
#[derive(Debug, Clone)]
pub struct Json(Box<RawValue>);

impl Json {
    /// JSON that we have stored or built; `None` if it is not JSON.
    #[must_use]
    pub fn new(text: String) -> Option<Self> {
        RawValue::from_string(text).ok().map(Self)
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The same, to be read as a type.
    #[must_use]
    pub fn as_raw(&self) -> &RawValue {
        &self.0
    }
}

impl From<Box<RawValue>> for Json {
    fn from(json: Box<RawValue>) -> Self {
        Self(json)
    }
}

impl From<Json> for Box<RawValue> {
    fn from(json: Json) -> Self {
        json.0
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl FromProto for Json {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        Self::new(compact(json.get())?).ok_or_else(|| Wrong::here("must be JSON"))
    }
}

/// Leaves out the white space between the tokens of valid JSON, and counts how deeply it nests.
fn compact(json: &str) -> Result<String, Wrong> {
    let mut kept = String::with_capacity(json.len());
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    for c in json.chars() {
        if in_text {
            in_text = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
        } else {
            match c {
                ' ' | '\n' | '\r' | '\t' => continue,
                '"' => in_text = true,
                '{' | '[' => depth += 1,
                '}' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > DEPTH_MAX {
                return Err(Wrong::here(format!("nests deeper than {DEPTH_MAX} levels")));
            }
        }
        kept.push(c);
    }
    Ok(kept)
}

/// A JSON object, as it was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct JsonObject(Json);

impl JsonObject {
    /// An object that we have stored or built; `None` if it is none.
    #[must_use]
    pub fn new(text: String) -> Option<Self> {
        text.starts_with('{').then(|| Json::new(text)).flatten().map(Self)
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The same, to be read as a type.
    #[must_use]
    pub fn as_raw(&self) -> &RawValue {
        self.0.as_raw()
    }
}

impl From<JsonObject> for Box<RawValue> {
    fn from(object: JsonObject) -> Self {
        object.0.into()
    }
}

impl FromProto for JsonObject {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        match json.get().starts_with('{') {
            true => Json::read(json).map(Self),
            false => Err(Wrong::here("must be an object")),
        }
    }
}

/// Bytes as standard base64 with padding.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Base64(String);

impl Base64 {
    /// Text that is standard base64 with padding.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The base64 text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Base64> for String {
    fn from(bytes: Base64) -> Self {
        bytes.0
    }
}

impl fmt::Debug for Base64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Base64({} characters)", self.0.len())
    }
}

/// Both alphabets, with padding or without, as protocol buffers take them.
impl FromProto for Base64 {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let mut text = String::read(json)?;
        text.truncate(text.trim_end_matches('=').len());
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte);
        if text.len() % 4 == 1 || !text.bytes().all(is_digit) {
            return Err(Wrong::here("must be base64"));
        }
        if text.contains(['-', '_']) {
            text = text.replace('-', "+").replace('_', "/");
        }
        while text.len() % 4 != 0 {
            text.push('=');
        }
        Ok(Self(text))
    }
}

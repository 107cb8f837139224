//! Explains which field of a request is invalid, and why.
//!
//! serde's own messages are English sentences that change between versions. A request that does not parse is
//! therefore deserialized a second time by this deserializer, which knows the expected type of each field.

use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, Expected,
    IntoDeserializer, Unexpected, VariantAccess, Visitor,
};
use serde_json::{Map, Number, Value};
use tandem_app::Invalid;

/// Why an object is not a valid `T`, by field. `whole` names the object itself: "body" or "query".
pub(crate) fn object<T: Deserialize<'static>>(object: &Map<String, Value>, whole: &str) -> Invalid {
    explain::<T>(FieldValue::Json(&Value::Object(object.clone())), whole)
}

/// The same for the pairs of a query, whose values are all text.
pub(crate) fn pairs<T: DeserializeOwned>(pairs: &[(String, String)]) -> Invalid {
    let object = pairs.iter().map(|(name, value)| (name.clone(), Value::from(value.clone()))).collect();
    explain::<T>(FieldValue::Query(&Value::Object(object)), "query")
}

/// Parses the pairs of a query.
pub(crate) fn from_pairs<T: DeserializeOwned>(pairs: &[(String, String)]) -> Result<T, Invalid> {
    let object: Map<String, Value> =
        pairs.iter().map(|(name, value)| (name.clone(), Value::from(value.clone()))).collect();
    T::deserialize(FieldValue::Query(&Value::Object(object))).map_err(|_| self::pairs::<T>(pairs))
}

fn explain<T: Deserialize<'static>>(given: FieldValue<'_>, whole: &str) -> Invalid {
    match serde_path_to_error::deserialize::<_, T>(given) {
        Ok(_) => Invalid::field(whole, "names a field twice"),
        Err(error) => {
            let path = error.path().iter().next().map(ToString::to_string);
            match error.into_inner() {
                Fault::Missing(field) => Invalid::field(field, "is required"),
                Fault::Wrong(why) => Invalid::field(path.as_deref().unwrap_or(whole), why),
            }
        }
    }
}

/// What is wrong with a value.
#[derive(Debug)]
enum Fault {
    /// A field is missing.
    Missing(&'static str),
    /// A value is invalid. The text is the end of a sentence that starts with the field.
    Wrong(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(field) => write!(f, "{field} is required"),
            Self::Wrong(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Fault {}

impl Error for Fault {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self::Wrong(why.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Wrong(format!("must be {expected}, not {}", in_words(found)))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Wrong(format!("must be {expected}"))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::Wrong(one_of(expected))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }
}

fn one_of(words: &[&str]) -> String {
    match words {
        [] => "has no allowed value".into(),
        [only] => format!("must be {only}"),
        [first @ .., last] => format!("must be one of {} or {last}", first.join(", ")),
    }
}

fn in_words(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Unit | Unexpected::Option => "null".into(),
        Unexpected::Bool(flag) => flag.to_string(),
        Unexpected::Unsigned(number) => number.to_string(),
        Unexpected::Signed(number) => number.to_string(),
        Unexpected::Float(number) => number.to_string(),
        Unexpected::Str(_) | Unexpected::Char(_) => "text".into(),
        Unexpected::Seq => "a list".into(),
        Unexpected::Map => "an object".into(),
        _ => "that".into(),
    }
}

/// A value in a request.
#[derive(Debug, Clone, Copy)]
enum FieldValue<'v> {
    /// A value in a JSON document.
    Json(&'v Value),
    /// A value in a query, where numbers and booleans are text.
    Query(&'v Value),
}

impl<'v> FieldValue<'v> {
    fn value(self) -> &'v Value {
        match self {
            Self::Json(value) | Self::Query(value) => value,
        }
    }

    fn inside(self, value: &'v Value) -> Self {
        match self {
            Self::Json(_) => Self::Json(value),
            Self::Query(_) => Self::Query(value),
        }
    }

    fn wrong(self, expected: &str) -> Fault {
        let found = match self.value() {
            Value::Null => Unexpected::Unit,
            Value::Bool(flag) => Unexpected::Bool(*flag),
            Value::Number(number) => unexpected_number(number),
            Value::String(text) => Unexpected::Str(text),
            Value::Array(_) => Unexpected::Seq,
            Value::Object(_) => Unexpected::Map,
        };
        match self {
            Self::Json(_) => Fault::Wrong(format!("must be {expected}, not {}", in_words(found))),
            Self::Query(_) => Fault::Wrong(format!("must be {expected}")),
        }
    }

    fn whole_number(self) -> Option<i64> {
        match self {
            Self::Json(value) => value.as_i64(),
            Self::Query(value) => value.as_str().and_then(|text| text.parse().ok()),
        }
    }
}

fn unexpected_number(number: &Number) -> Unexpected<'static> {
    match (number.as_i64(), number.as_f64()) {
        (Some(whole), _) => Unexpected::Signed(whole),
        (None, Some(fraction)) => Unexpected::Float(fraction),
        (None, None) => Unexpected::Other("a number"),
    }
}

/// All integer types report the same error.
macro_rules! whole_numbers {
    ($($method:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            let number = self.whole_number().ok_or_else(|| self.wrong("a whole number"))?;
            visitor.visit_i64(number).map_err(|_: Fault| Fault::Wrong("is out of range".into()))
        })+
    };
}

impl<'de> Deserializer<'de> for FieldValue<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.value() {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(whole), _, _) => visitor.visit_i64(whole),
                (_, Some(whole), _) => visitor.visit_u64(whole),
                (_, _, Some(fraction)) => visitor.visit_f64(fraction),
                (None, None, None) => Err(self.wrong("a number")),
            },
            Value::String(text) => visitor.visit_str(text),
            Value::Array(items) => {
                let items = items.iter().map(|item| self.inside(item));
                visitor.visit_seq(SeqDeserializer::new(items))
            }
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| (name.as_str(), self.inside(value)));
                visitor.visit_map(MapDeserializer::new(fields))
            }
        }
    }

    whole_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match (self, self.value()) {
            (_, Value::Bool(flag)) => visitor.visit_bool(*flag),
            (Self::Query(_), Value::String(text)) => match text.as_str() {
                "true" | "1" => visitor.visit_bool(true),
                "false" | "0" => visitor.visit_bool(false),
                _ => Err(self.wrong("true or false")),
            },
            _ => Err(self.wrong("true or false")),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.value().as_f64() {
            Some(number) => visitor.visit_f64(number),
            None => Err(self.wrong("a number")),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.value() {
            Value::String(text) => visitor.visit_str(text),
            _ => Err(self.wrong("text")),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.value() {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.value() {
            Value::Array(_) => self.deserialize_any(visitor),
            _ => Err(self.wrong("a list")),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.value() {
            Value::Object(_) => self.deserialize_any(visitor),
            _ => Err(self.wrong("an object")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_map(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.value() {
            Value::String(word) => visitor.visit_enum(UnitVariant(word)),
            _ => Err(Fault::Wrong(one_of(variants))),
        }
    }

    serde::forward_to_deserialize_any! {
        i128 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

impl IntoDeserializer<'_, Fault> for FieldValue<'_> {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

/// A unit variant of an enum; no request has other variants.
struct UnitVariant<'v>(&'v str);

impl<'de> EnumAccess<'de> for UnitVariant<'_> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Fault> {
        let variant = seed.deserialize(IntoDeserializer::<Fault>::into_deserializer(self.0))?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for UnitVariant<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, _: S) -> Result<S::Value, Fault> {
        Err(Fault::Wrong("must be a string".into()))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Fault> {
        Err(Fault::Wrong("must be a string".into()))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, Fault> {
        Err(Fault::Wrong("must be a string".into()))
    }
}

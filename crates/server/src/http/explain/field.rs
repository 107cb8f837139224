//! The deserializer by which every checked type is read.

use std::cell::{Cell, RefCell};
use std::vec;

use serde::de::value::SeqDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, Unexpected, VariantAccess,
    Visitor,
};
use serde_json::Number;

use super::Given;
use super::fault::{Fault, in_words, one_of};
use crate::http::unknown::UnknownNames;

/// Up to here every whole number is a number with a fraction as well.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// What a value was before it was parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Json,
    /// A query or a form, where numbers and booleans are text.
    Text,
}

/// A value that is read as a type.
#[derive(Debug)]
pub(super) struct Field<'i> {
    pub(super) given: Given,
    pub(super) source: Source,
    pub(super) is_whole: bool,
    pub(super) ignored: &'i Ignored,
}

/// What the types do not read. A type asks to ignore the value of a field that it does not have; only then is its name looked
/// at, so that a request without such fields costs nothing more.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    was_ignored: Cell<bool>,
    names: RefCell<UnknownNames>,
}

impl Ignored {
    pub(super) fn into_names(self) -> UnknownNames {
        self.names.into_inner()
    }
}

impl Field<'_> {
    fn wrong(&self, expected: &str) -> Fault {
        let found = match &self.given {
            Given::Null => Unexpected::Unit,
            Given::Bool(flag) => Unexpected::Bool(*flag),
            Given::Number(number) => unexpected_number(number),
            Given::Text(text) => Unexpected::Str(text),
            Given::List(_) => Unexpected::Seq,
            Given::Object(_) => Unexpected::Map,
        };
        match self.source {
            Source::Json if matches!(&self.given, Given::Number(number) if !is_short(number)) => {
                Fault::wrong(format!("must be {expected}, not that number"))
            }
            Source::Json => Fault::wrong(format!("must be {expected}, not {}", in_words(found))),
            Source::Text => Fault::wrong(format!("must be {expected}")),
        }
    }

    fn visit_object<'de, V: Visitor<'de>>(
        self,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let Self { given, source, is_whole, ignored } = self;
        let rest = match given {
            Given::Object(fields) => fields.into_iter(),
            _ => Vec::new().into_iter(),
        };
        visitor.visit_map(Fields { rest, current: None, source, is_whole, known, ignored })
    }

    fn whole_number(&self) -> Option<i64> {
        match (&self.given, self.source) {
            (Given::Number(number), _) => number.as_i64().or_else(|| without_fraction(number)),
            (Given::Text(text), Source::Text) => text.parse().ok(),
            _ => None,
        }
    }
}

/// The value of a number such as 60.0 or 6e1, which JSON does not distinguish from 60.
fn without_fraction(number: &Number) -> Option<i64> {
    let value = number.as_f64().filter(|value| value.fract() == 0.0 && value.abs() <= EXACT_MAX)?;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and in the range")]
    Some(value as i64)
}

/// Whether a number can be quoted as it was written.
fn is_short(number: &Number) -> bool {
    number.as_i64().is_some() || number.as_f64().is_some_and(|value| value.abs() <= EXACT_MAX)
}

fn unexpected_number(number: &Number) -> Unexpected<'static> {
    match (number.as_i64(), number.as_f64()) {
        (Some(whole), _) => Unexpected::Signed(whole),
        (None, Some(fraction)) => Unexpected::Float(fraction),
        (None, None) => Unexpected::Other("a number"),
    }
}

/// The fields of an object, one after the other.
struct Fields<'i> {
    rest: vec::IntoIter<(String, Given)>,
    current: Option<(String, Given)>,
    source: Source,
    is_whole: bool,
    /// The names that the type has.
    known: &'static [&'static str],
    ignored: &'i Ignored,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        self.current = self.rest.next();
        match &self.current {
            Some((name, _)) => {
                seed.deserialize(IntoDeserializer::<Fault>::into_deserializer(name.as_str())).map(Some)
            }
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let Some((name, given)) = self.current.take() else {
            return Err(Fault::wrong("has a value without a name"));
        };
        let Self { source, known, ignored, .. } = *self;
        let read = seed.deserialize(Field { given, source, is_whole: false, ignored });
        if ignored.was_ignored.take() {
            ignored.names.borrow_mut().add(&name, known.iter().copied());
        }
        read.map_err(|fault| if self.is_whole { fault.within(name) } else { fault })
    }
}

/// All integer types report the same error.
macro_rules! whole_numbers {
    ($($method:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            if matches!(&self.given, Given::Number(number) if !is_short(number)) {
                return Err(Fault::wrong("is out of range"));
            }
            let number = self.whole_number().ok_or_else(|| self.wrong("a whole number"))?;
            visitor.visit_i64(number).map_err(|_: Fault| Fault::wrong("is out of range"))
        })+
    };
}

impl<'de> Deserializer<'de> for Field<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if let Given::Object(_) = self.given {
            return self.visit_object(&[], visitor);
        }
        let Self { given, source, ignored, .. } = self;
        match given {
            Given::Null | Given::Object(_) => visitor.visit_unit(),
            Given::Bool(flag) => visitor.visit_bool(flag),
            Given::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(whole), _, _) => visitor.visit_i64(whole),
                (_, Some(whole), _) => visitor.visit_u64(whole),
                (_, _, Some(fraction)) => visitor.visit_f64(fraction),
                (None, None, None) => Err(Fault::wrong("must be a number")),
            },
            Given::Text(text) => visitor.visit_string(text),
            Given::List(items) => {
                let items = items.into_iter().map(|given| Self { given, source, is_whole: false, ignored });
                visitor.visit_seq(SeqDeserializer::new(items))
            }
        }
    }

    whole_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match (&self.given, self.source) {
            (Given::Bool(flag), _) => visitor.visit_bool(*flag),
            (Given::Text(text), Source::Text) if text == "true" || text == "1" => visitor.visit_bool(true),
            (Given::Text(text), Source::Text) if text == "false" || text == "0" => visitor.visit_bool(false),
            _ => Err(self.wrong("true or false")),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.given {
            Given::Number(number) => visitor.visit_f64(number.as_f64().unwrap_or_default()),
            _ => Err(self.wrong("a number")),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.given {
            Given::Text(text) => visitor.visit_string(text),
            _ => Err(self.wrong("text")),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.given {
            Given::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.given {
            Given::List(_) => self.deserialize_any(visitor),
            _ => Err(self.wrong("a list")),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.given {
            Given::Object(_) => self.deserialize_any(visitor),
            _ => Err(self.wrong("an object")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.given {
            Given::Object(_) => self.visit_object(known, visitor),
            _ => Err(self.wrong("an object")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.ignored.was_ignored.set(true);
        visitor.visit_unit()
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
        match &self.given {
            Given::Text(word) => visitor.visit_enum(UnitVariant(word)),
            _ => Err(Fault::wrong(one_of(variants))),
        }
    }

    serde::forward_to_deserialize_any! {
        i128 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct identifier
    }
}

impl IntoDeserializer<'_, Fault> for Field<'_> {
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
        Err(Fault::wrong("must be a string"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Fault> {
        Err(Fault::wrong("must be a string"))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, Fault> {
        Err(Fault::wrong("must be a string"))
    }
}

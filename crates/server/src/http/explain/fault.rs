//! What is wrong with a request, in words of our own.

use std::fmt;

use serde::de::{Error, Expected, Unexpected};

#[derive(Debug)]
pub(super) enum Fault {
    Missing(&'static str),
    /// A value is invalid. The text is the end of a sentence that starts with the field.
    Wrong {
        field: Option<String>,
        why: String,
    },
}

impl Fault {
    pub(super) fn wrong(why: impl Into<String>) -> Self {
        Self::Wrong { field: None, why: why.into() }
    }

    /// The fault was found in this field.
    pub(super) fn within(self, name: String) -> Self {
        match self {
            Self::Wrong { field: None, why } => Self::Wrong { field: Some(name), why },
            known => known,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(field) => write!(f, "{field} is required"),
            Self::Wrong { why, .. } => f.write_str(why),
        }
    }
}

impl std::error::Error for Fault {}

impl Error for Fault {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self::wrong(why.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::wrong(format!("must be {expected}, not {}", in_words(found)))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::wrong(format!("must be {expected}"))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::wrong(one_of(expected))
    }

    fn duplicate_field(_: &'static str) -> Self {
        Self::wrong("names a field twice")
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }
}

pub(super) fn one_of(words: &[&str]) -> String {
    match words {
        [] => "has no allowed value".into(),
        [only] => format!("must be {only}"),
        [first @ .., last] => format!("must be one of {} or {last}", first.join(", ")),
    }
}

pub(super) fn in_words(found: Unexpected<'_>) -> String {
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

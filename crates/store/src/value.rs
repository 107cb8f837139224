//! What goes into and comes out of the database, in the few types both databases share.

use tandem_core::{Approval, Id, Rule, Status, Timestamp, messages, tasks};

use crate::Error;

/// One value of a row or a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A whole number, a time in milliseconds or a flag.
    Int(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}
impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Int(i64::from(flag))
    }
}
impl From<Timestamp> for Value {
    fn from(at: Timestamp) -> Self {
        Self::Int(at.0)
    }
}
impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}
impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}
impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}
impl<T> From<&Id<T>> for Value {
    fn from(id: &Id<T>) -> Self {
        Self::Text(id.as_str().into())
    }
}
/// Enums that are stored as their word on the wire.
macro_rules! stored_as_word {
    ($($name:ty),+ $(,)?) => {
        $(
            impl From<$name> for Value {
                fn from(word: $name) -> Self {
                    Self::Text(word.as_str().into())
                }
            }
            impl FromValue for $name {
                fn from_value(value: Value) -> Result<Self, Error> {
                    word(value)
                }
            }
        )+
    };
}

stored_as_word!(
    Status,
    Approval,
    Rule,
    messages::Kind,
    messages::ContentType,
    tandem_core::webhooks::State,
    tasks::Priority,
    tasks::OnStall,
    tandem_core::deadlines::Due,
);

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(maybe: Option<T>) -> Self {
        maybe.map_or(Self::Null, Into::into)
    }
}

/// A value read back as a type of ours.
pub trait FromValue: Sized {
    /// The typed value, or what is wrong with the stored one.
    fn from_value(value: Value) -> Result<Self, Error>;
}

fn unexpected<T>(value: &Value) -> Result<T, Error> {
    let kind = match value {
        Value::Null => "null",
        Value::Int(_) => "a number",
        Value::Text(_) => "text",
        Value::Bytes(_) => "bytes",
    };
    Err(Error::failed(format!("a column held {kind}, which its reader cannot take")))
}

impl FromValue for i64 {
    fn from_value(value: Value) -> Result<Self, Error> {
        match value {
            Value::Int(number) => Ok(number),
            other => unexpected(&other),
        }
    }
}
impl FromValue for bool {
    fn from_value(value: Value) -> Result<Self, Error> {
        Ok(i64::from_value(value)? != 0)
    }
}
impl FromValue for Timestamp {
    fn from_value(value: Value) -> Result<Self, Error> {
        i64::from_value(value).map(Timestamp)
    }
}
impl FromValue for String {
    fn from_value(value: Value) -> Result<Self, Error> {
        match value {
            Value::Text(text) => Ok(text),
            other => unexpected(&other),
        }
    }
}
impl FromValue for Vec<u8> {
    fn from_value(value: Value) -> Result<Self, Error> {
        match value {
            Value::Bytes(bytes) => Ok(bytes),
            other => unexpected(&other),
        }
    }
}
impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Result<Self, Error> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

fn word<T: TryFrom<String>>(value: Value) -> Result<T, Error> {
    let text = String::from_value(value)?;
    T::try_from(text).map_err(|_| Error::failed("a column held a word its reader does not know".into()))
}

impl<T> FromValue for Id<T> {
    fn from_value(value: Value) -> Result<Self, Error> {
        word(value)
    }
}

/// A row, read column by column in the order of its query.
#[derive(Debug)]
pub struct Row(std::vec::IntoIter<Value>);

impl Row {
    pub(crate) fn new(values: Vec<Value>) -> Self {
        Self(values.into_iter())
    }

    /// All columns that are left, as they are.
    pub(crate) fn into_values(self) -> Vec<Value> {
        self.0.collect()
    }

    /// The next column.
    pub fn take<T: FromValue>(&mut self) -> Result<T, Error> {
        let value = self.0.next().ok_or_else(|| Error::failed("a row had too few columns".into()))?;
        T::from_value(value)
    }
}

//! What goes into and comes out of the database, in the few types both databases share.

use std::borrow::Cow;

use tandem_core::text::json_bytes;
use tandem_core::wake::Ladder;
use tandem_core::{Approval, Id, Rule, Status, Timestamp, Verdict, Way, messages, tasks};

use crate::{Error, postgres, sqlite};

/// One value of a row or a parameter. A parameter borrows what it can: most are bound once and forgotten.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value<'a> {
    Null,
    /// A whole number, a time in milliseconds or a flag.
    Int(i64),
    Text(Cow<'a, str>),
    /// Bytes.
    Bytes(Cow<'a, [u8]>),
}

impl Value<'_> {
    /// The same value, for as long as it is wanted.
    #[must_use]
    pub(crate) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Int(number) => Value::Int(number),
            Self::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Self::Bytes(bytes) => Value::Bytes(Cow::Owned(bytes.into_owned())),
        }
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}
impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Int(i64::from(flag))
    }
}
impl From<Timestamp> for Value<'_> {
    fn from(at: Timestamp) -> Self {
        Self::Int(at.0)
    }
}
impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}
impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}
impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text.into())
    }
}
impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}
impl<'a, T> From<&'a Id<T>> for Value<'a> {
    fn from(id: &'a Id<T>) -> Self {
        Self::Text(id.as_str().into())
    }
}
/// Enums that are stored as their word on the wire.
macro_rules! stored_as_word {
    ($($name:ty),+ $(,)?) => {
        $(
            impl From<$name> for Value<'_> {
                fn from(word: $name) -> Self {
                    Self::Text(word.as_str().into())
                }
            }
            impl ToValue for $name {
                fn to_value(&self) -> Value<'_> {
                    (*self).into()
                }
            }
            impl FromValue for $name {
                fn from_value(value: Value<'_>) -> Result<Self, Error> {
                    word(value)
                }
            }
        )+
    };
}

stored_as_word!(
    Status,
    Approval,
    Verdict,
    Way,
    Rule,
    messages::Kind,
    messages::ContentType,
    tandem_core::webhooks::State,
    tasks::Priority,
    tasks::OnStall,
    tandem_core::deadlines::Due,
    tandem_core::wake::Rung,
    tandem_core::agents::A2aAccess,
    tandem_core::remotes::AuthType,
    tandem_core::remotes::Binding,
    tandem_core::remotes::OnUnclear,
    tandem_core::remotes::PauseReason,
    tandem_core::remotes::Signature,
);

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(maybe: Option<T>) -> Self {
        maybe.map_or(Self::Null, Into::into)
    }
}

/// A field of a row as the value of its column.
pub(crate) trait ToValue {
    fn to_value(&self) -> Value<'_>;
}

impl ToValue for i64 {
    fn to_value(&self) -> Value<'_> {
        (*self).into()
    }
}
impl ToValue for bool {
    fn to_value(&self) -> Value<'_> {
        (*self).into()
    }
}
impl ToValue for Timestamp {
    fn to_value(&self) -> Value<'_> {
        (*self).into()
    }
}
impl ToValue for String {
    fn to_value(&self) -> Value<'_> {
        self.into()
    }
}
impl<T> ToValue for Id<T> {
    fn to_value(&self) -> Value<'_> {
        self.into()
    }
}
impl ToValue for Vec<u8> {
    fn to_value(&self) -> Value<'_> {
        self.as_slice().into()
    }
}
/// Tags hold no comma, so a comma separates them.
impl ToValue for Vec<String> {
    fn to_value(&self) -> Value<'_> {
        self.join(",").into()
    }
}
impl ToValue for Ladder {
    fn to_value(&self) -> Value<'_> {
        self.to_string().into()
    }
}
impl FromValue for Ladder {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        word(value)
    }
}
impl<T: ToValue> ToValue for Option<T> {
    fn to_value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, T::to_value)
    }
}

/// A value read back as a type of ours.
pub(crate) trait FromValue: Sized {
    /// The typed value, or what is wrong with the stored one.
    fn from_value(value: Value<'_>) -> Result<Self, Error>;
}

fn unexpected<T>(value: &Value<'_>) -> Result<T, Error> {
    let kind = match value {
        Value::Null => "null",
        Value::Int(_) => "a number",
        Value::Text(_) => "text",
        Value::Bytes(_) => "bytes",
    };
    Err(Error::failed(format!("a column held {kind}, which its reader cannot take")))
}

impl FromValue for i64 {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        match value {
            Value::Int(number) => Ok(number),
            other => unexpected(&other),
        }
    }
}
impl FromValue for bool {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        Ok(i64::from_value(value)? != 0)
    }
}
impl FromValue for Timestamp {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        i64::from_value(value).map(Timestamp)
    }
}
impl FromValue for String {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        match value {
            Value::Text(text) => Ok(text.into_owned()),
            other => unexpected(&other),
        }
    }
}
impl FromValue for Vec<u8> {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        match value {
            Value::Bytes(bytes) => Ok(bytes.into_owned()),
            other => unexpected(&other),
        }
    }
}
impl FromValue for Vec<String> {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        let tags = String::from_value(value)?;
        Ok(tags.split(',').filter(|tag| !tag.is_empty()).map(Into::into).collect())
    }
}
impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

fn word<T: TryFrom<String>>(value: Value<'_>) -> Result<T, Error> {
    let text = String::from_value(value)?;
    T::try_from(text).map_err(|_| Error::failed("a column held a word its reader does not know".into()))
}

impl<T> FromValue for Id<T> {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        match value {
            Value::Text(text) => {
                text.parse().map_err(|_| Error::failed("a column held something else than an id".into()))
            }
            other => unexpected(&other),
        }
    }
}

/// What the name of a field, a number and the marks around them take in JSON.
const NAME_BYTES: usize = 24;

/// A row, read column by column in the order of its query. What is read while the driver has the row is copied once, to
/// where it is wanted.
pub(crate) struct Row<'r> {
    columns: Columns<'r>,
    /// About how many bytes the columns that were read become in JSON, if that is counted.
    bytes: Option<usize>,
}

/// Where a row is; with the place of the next column while the driver has it.
enum Columns<'r> {
    Kept(std::vec::IntoIter<Value<'static>>),
    Sqlite(&'r rusqlite::Row<'r>, usize),
    Postgres(&'r tokio_postgres::Row, usize),
}

impl Row<'static> {
    pub(crate) fn new(values: Vec<Value<'static>>) -> Self {
        Self { columns: Columns::Kept(values.into_iter()), bytes: None }
    }

    /// All columns that are left, as they are.
    pub(crate) fn into_values(self) -> Vec<Value<'static>> {
        match self.columns {
            Columns::Kept(values) => values.collect(),
            // None of these lives so long.
            Columns::Sqlite(..) | Columns::Postgres(..) => Vec::new(),
        }
    }
}

impl<'r> Row<'r> {
    pub(crate) fn sqlite(row: &'r rusqlite::Row<'r>) -> Self {
        Self { columns: Columns::Sqlite(row, 0), bytes: None }
    }

    pub(crate) fn postgres(row: &'r tokio_postgres::Row) -> Self {
        Self { columns: Columns::Postgres(row, 0), bytes: None }
    }

    /// Counts how many bytes the columns that are read become in JSON.
    pub(crate) fn count_bytes(&mut self) {
        self.bytes = Some(0);
    }

    pub(crate) fn counted_bytes(&self) -> usize {
        self.bytes.unwrap_or_default()
    }

    /// The columns that are left, to be read later.
    pub(crate) fn keep(&mut self) -> Result<Row<'static>, Error> {
        let count = match &self.columns {
            Columns::Kept(values) => values.len(),
            Columns::Sqlite(row, next) => row.as_ref().column_count() - next,
            Columns::Postgres(row, next) => row.len() - next,
        };
        // Collecting results would grow it again and again.
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(self.next()?.into_owned());
        }
        Ok(Row::new(values))
    }

    /// Whether the next column holds nothing.
    pub(crate) fn is_null(&self) -> Result<bool, Error> {
        Ok(match &self.columns {
            Columns::Kept(values) => values.as_slice().first() == Some(&Value::Null),
            Columns::Sqlite(row, next) => sqlite::value(row, *next)? == Value::Null,
            Columns::Postgres(row, next) => postgres::value(row, *next)? == Value::Null,
        })
    }

    /// The next column.
    pub(crate) fn take<T: FromValue>(&mut self) -> Result<T, Error> {
        T::from_value(self.next()?)
    }

    fn next(&mut self) -> Result<Value<'r>, Error> {
        let value = match &mut self.columns {
            Columns::Kept(values) => {
                values.next().ok_or_else(|| Error::failed("a row had too few columns".into()))?
            }
            Columns::Sqlite(row, next) => {
                *next += 1;
                sqlite::value(row, *next - 1)?
            }
            Columns::Postgres(row, next) => {
                *next += 1;
                postgres::value(row, *next - 1)?
            }
        };
        if let Some(bytes) = &mut self.bytes {
            *bytes += json_size(&value);
        }
        Ok(value)
    }
}

/// About how many bytes a column becomes in JSON.
fn json_size(value: &Value<'_>) -> usize {
    NAME_BYTES
        + match value {
            Value::Null | Value::Int(_) => 0,
            Value::Text(text) => json_bytes(text),
            Value::Bytes(bytes) => 2 * bytes.len(),
        }
}

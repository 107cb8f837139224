//! Reading settings from a file and from text, and what is said about misspelt ones.

use std::path::Path;

use toml::{Table, Value};

use super::{Config, Error, OPTIONAL};
use crate::nearest;

pub(super) fn defaults() -> Table {
    Table::try_from(Config::default()).unwrap_or_default()
}

pub(super) fn read_file(path: &Path) -> Result<Table, Error> {
    let text =
        std::fs::read_to_string(path).map_err(|cause| Error::Unreadable { path: path.to_owned(), cause })?;
    let wrong = |cause: String| Error::File { path: path.to_owned(), cause };
    let table: Table = text.parse().map_err(|error| wrong(parse_error(&error, &text)))?;
    let known = Config::names();
    if let Some(name) = table.keys().find(|name| !known.contains(name)) {
        return Err(wrong(format!("unknown field {name}: {}", no_such_setting(name))));
    }
    // Parse the file as a whole, so that an error shows its line.
    toml::from_str::<Config>(&text).map_err(|error| wrong(parse_error(&error, &text)))?;
    Ok(table)
}

/// What is wrong, and in which line. The library's own text quotes the line, which may contain a password.
pub(super) fn parse_error(error: &toml::de::Error, text: &str) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).filter(|_| !text.is_empty());
    match before {
        Some(before) => format!("line {}: {}", before.matches('\n').count() + 1, error.message()),
        None => error.message().to_owned(),
    }
}

fn no_such_setting(name: &str) -> String {
    match suggestion(name) {
        Some(meant) => format!("there is no such setting; did you mean {meant}?"),
        None => "there is no such setting; see tandem serve --example-config".into(),
    }
}

/// The setting whose name is most similar to this one, if it is similar enough.
pub(super) fn suggestion(name: &str) -> Option<String> {
    let known = Config::names();
    nearest(name, known.iter().map(String::as_str)).map(Into::into)
}

/// Sets a value given as text. It is converted to the type of the default: number, boolean or text.
pub(super) fn set(table: &mut Table, name: &str, text: &str, origin: &str) -> Result<(), Error> {
    let wrong = |cause: &str| Error::Value { origin: origin.to_owned(), cause: cause.to_owned() };
    let value = match defaults().get(name) {
        Some(Value::Boolean(_)) => match text {
            "1" | "true" => Value::Boolean(true),
            "0" | "false" => Value::Boolean(false),
            _ => return Err(wrong("must be 1, true, 0 or false")),
        },
        Some(Value::Integer(_)) => Value::Integer(text.parse().map_err(|_| wrong("must be a whole number"))?),
        Some(Value::Float(_)) => Value::Float(text.parse().map_err(|_| wrong("must be a number"))?),
        None if name == "check_in_seconds" => {
            Value::Integer(text.parse().map_err(|_| wrong("must be a whole number"))?)
        }
        None if !OPTIONAL.contains(&name) => return Err(wrong(&no_such_setting(name))),
        _ => Value::String(text.to_owned()),
    };
    let alone = Table::from_iter([(name.to_owned(), value.clone())]);
    alone.try_into::<Config>().map_err(|error: toml::de::Error| wrong(error.message()))?;
    table.insert(name.to_owned(), value);
    Ok(())
}

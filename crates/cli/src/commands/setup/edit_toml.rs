//! Changes TOML files: a table is appended as text, and cut out again as text, so that every other byte stays. A file that
//! was changed in between is edited by its keys instead.

use similar::TextDiff;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Value};

use super::edit_json::{Refusal, position};

pub(super) type Fields = Vec<(&'static str, Field)>;

/// A value of the kinds that entries have.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Field {
    Text(String),
    Number(i64),
    List(Vec<String>),
    Map(Vec<(String, String)>),
    Tables(Vec<(String, Vec<(String, String)>)>),
}

impl Field {
    pub(super) fn json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Number(number) => (*number).into(),
            Self::List(items) => items.clone().into(),
            Self::Map(entries) => entries
                .iter()
                .map(|(key, value)| (key.clone(), serde_json::Value::from(value.as_str())))
                .collect(),
            Self::Tables(tables) => {
                let json = |entries: &Vec<_>| Self::Map(entries.clone()).json();
                tables.iter().map(|(key, entries)| (key.clone(), json(entries))).collect()
            }
        }
    }

    fn value(&self) -> Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Number(number) => (*number).into(),
            Self::List(items) => Value::Array(items.iter().map(String::as_str).collect::<Array>()),
            Self::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| (key.as_str(), Value::from(value.as_str())));
                Value::InlineTable(entries.collect::<InlineTable>())
            }
            Self::Tables(tables) => {
                let value = |entries: &Vec<_>| Self::Map(entries.clone()).value();
                let tables = tables.iter().map(|(key, entries)| (key.as_str(), value(entries)));
                Value::InlineTable(tables.collect::<InlineTable>())
            }
        }
    }
}

pub(super) fn table(text: &str) -> Result<toml::Table, Refusal> {
    toml::from_str(text).map_err(|error| {
        let (line, column) = position(text, error.span().map_or(0, |span| span.start));
        Refusal::Malformed { line, column, what: error.message().replace('\n', ", ") }
    })
}

/// Appends a table. The second result is the appended text, which [`remove`] needs.
pub(super) fn append(text: &str, path: [&str; 2], fields: &Fields) -> Result<(String, String), Refusal> {
    table(text)?;
    let (longer, block) = appended(text, format!("[{}.{}]", path[0], path[1]), fields);
    // A parent that is written as `mcp_servers = { .. }` cannot be extended this way, and below `[[mcp_servers]]` the table
    // would be part of the last of several.
    let has_table =
        |longer: &toml::Table| longer.get(path[0]).and_then(|parent| parent.get(path[1])).is_some();
    match table(&longer) {
        Ok(values) if has_table(&values) => Ok((longer, block)),
        _ => Err(Refusal::Unexpected {
            pointer: path[0].to_owned(),
            needed: "written as tables, such as [mcp_servers.NAME], and not inline or as [[mcp_servers]]",
        }),
    }
}

/// A text with a table at its end, and what was appended.
fn appended(text: &str, header: String, fields: &Fields) -> (String, String) {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let ends = text.is_empty() || text.ends_with('\n');
    let lines = fields.iter().map(|(key, field)| format!("{key} = {}", field.value()));
    let lines: Vec<String> = std::iter::once(header).chain(lines).collect();
    let space = match (text.is_empty(), ends) {
        (true, _) => String::new(),
        (_, true) => newline.to_owned(),
        (_, false) => newline.repeat(2),
    };
    let block = format!("{space}{}{}", lines.join(newline), if ends { newline } else { "" });
    (format!("{text}{block}"), block)
}

/// Whether a list of tables has one with just these fields.
pub(super) fn has_element(text: &str, list: &str, fields: &Fields) -> Result<bool, Refusal> {
    Ok(elements(&table(text)?, list).iter().any(|one| is_of(one, fields)))
}

/// Appends a table to a list of tables. The second result is the appended text, which [`remove_element`] needs.
pub(super) fn append_element(text: &str, list: &str, fields: &Fields) -> Result<(String, String), Refusal> {
    let before = elements(&table(text)?, list).len();
    let (longer, block) = appended(text, format!("[[{list}]]"), fields);
    match table(&longer) {
        Ok(values) if elements(&values, list).len() == before + 1 => Ok((longer, block)),
        _ => Err(Refusal::Unexpected {
            pointer: list.to_owned(),
            needed: "a list that is written as [[rule]]",
        }),
    }
}

/// Takes out a table with just these fields: the appended text if it is still there as it was, else the table.
pub(super) fn remove_element(
    text: &str,
    list: &str,
    fields: &Fields,
    block: Option<&str>,
) -> Result<String, Refusal> {
    let mut rest = table(text)?;
    let Some(at) = elements(&rest, list).iter().rposition(|one| is_of(one, fields)) else {
        return Ok(text.to_owned());
    };
    let mut document = document(text)?;
    if let Some(tables) = document.get_mut(list).and_then(Item::as_array_of_tables_mut) {
        tables.remove(at);
    }
    let edited = with_line_ends(document.to_string(), text);
    if let Some(all) = rest.get_mut(list).and_then(toml::Value::as_array_mut) {
        all.remove(at);
    }
    let cut = block.and_then(|block| Some((block, text.rfind(block)?)));
    let cut = cut.map(|(block, at)| format!("{}{}", &text[..at], &text[at + block.len()..]));
    let is_right =
        |cut: &String| table(cut).is_ok_and(|left| without_empty(&left, list) == without_empty(&rest, list));
    Ok(cut.filter(is_right).unwrap_or(edited))
}

fn elements<'a>(table: &'a toml::Table, list: &str) -> &'a [toml::Value] {
    table.get(list).and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn is_of(element: &toml::Value, fields: &Fields) -> bool {
    let expected = fields.iter().map(|(key, field)| ((*key).to_owned(), field.json())).collect();
    serde_json::to_value(element).is_ok_and(|found| found == serde_json::Value::Object(expected))
}

/// Sets values in a table that is there, and takes out some others.
pub(super) fn update(
    text: &str,
    path: [&str; 2],
    fields: &Fields,
    without: &[&str],
) -> Result<String, Refusal> {
    let mut document = document(text)?;
    let missing = || Refusal::Unexpected { pointer: path.join("."), needed: "a table" };
    let parent = document.get_mut(path[0]).ok_or_else(missing)?;
    let entry = parent.get_mut(path[1]).and_then(Item::as_table_like_mut).ok_or_else(missing)?;
    for key in without {
        entry.remove(key);
    }
    for (key, field) in fields {
        let mut value = field.value();
        match entry.get_mut(key).and_then(Item::as_value_mut) {
            // The space and the comment around the old value stay.
            Some(old) => {
                *value.decor_mut() = old.decor().clone();
                *old = value;
            }
            None => {
                entry.insert(key, Item::Value(value));
            }
        }
    }
    Ok(with_line_ends(document.to_string(), text))
}

/// Takes out a table: the appended text if it is still there as it was, else the table with everything in it.
pub(super) fn remove(text: &str, path: [&str; 2], block: Option<&str>) -> Result<String, Refusal> {
    let mut document = document(text)?;
    let mut parent_is_empty = false;
    if let Some(parent) = document.get_mut(path[0]).and_then(Item::as_table_like_mut) {
        parent.remove(path[1]);
        parent_is_empty = parent.is_empty();
    }
    if parent_is_empty && !has_header(text, path[0]) {
        document.remove(path[0]);
    }
    let edited = with_line_ends(document.to_string(), text);
    let Some((block, at)) = block.and_then(|block| Some((block, text.rfind(block)?))) else {
        return Ok(edited);
    };
    let cut = format!("{}{}", &text[..at], &text[at + block.len()..]);
    // Someone may have added lines to the table, which would now belong to another one.
    match (table(&cut), table(&edited)) {
        (Ok(cut_table), Ok(edited_table))
            if without_empty(&cut_table, path[0]) == without_empty(&edited_table, path[0]) =>
        {
            Ok(cut)
        }
        _ => Ok(edited),
    }
}

fn has_header(text: &str, key: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with(&format!("[{key}]")))
}

fn without_empty(table: &toml::Table, key: &str) -> toml::Table {
    let mut table = table.clone();
    let is_empty = match table.get(key) {
        Some(toml::Value::Table(table)) => table.is_empty(),
        Some(toml::Value::Array(list)) => list.is_empty(),
        _ => false,
    };
    if is_empty {
        table.remove(key);
    }
    table
}

fn document(text: &str) -> Result<DocumentMut, Refusal> {
    table(text)?;
    text.parse().map_err(|error: toml_edit::TomlError| {
        let (line, column) = position(text, error.span().map_or(0, |span| span.start));
        Refusal::Malformed { line, column, what: error.message().to_owned() }
    })
}

/// The line ends of the original, which the editor may have changed. A file can have both kinds.
fn with_line_ends(edited: String, original: &str) -> String {
    if !original.contains("\r\n") {
        return edited;
    }
    let (before, after) = (original.replace("\r\n", "\n"), edited.replace("\r\n", "\n"));
    let is_short: Vec<bool> = original.split_inclusive('\n').map(|line| !line.ends_with("\r\n")).collect();
    let diff = TextDiff::from_lines(&before, &after);
    let mut ended = String::with_capacity(original.len());
    for change in diff.ops() {
        let (old, new) = (change.old_range(), change.new_range());
        for (number, line) in diff.new_slices()[new].iter().enumerate() {
            // A line that was changed ends as it did before.
            let was_short = old.clone().nth(number).and_then(|at| is_short.get(at)) == Some(&true);
            ended += &if was_short { (*line).to_owned() } else { line.replace('\n', "\r\n") };
        }
    }
    ended
}

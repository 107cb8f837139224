//! Changes JSON files as a careful person would: a property is inserted or cut out of the text, and every other byte stays,
//! with comments, order, indentation and line ends. Taking out what was put in gives the original bytes again.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use jsonc_parser::ast::{self, ObjectProp};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::layout::{self, Item, Layout};

/// What a tool accepts in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Dialect {
    /// JSON and nothing else: the tool calls a file with a comment corrupt.
    Strict,
    /// JSON with comments. The tool refuses a trailing comma.
    Comments,
    /// JSON with comments and trailing commas.
    Lenient,
}

/// Why a text cannot be changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Malformed {
        line: usize,
        column: usize,
        what: String,
    },
    /// Something is where an object or a list is needed.
    Unexpected {
        pointer: String,
        needed: &'static str,
    },
}

/// What was created besides the entry itself, so that it can be taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Made {
    /// Objects and lists that were created, as JSON pointers.
    pub(super) keys: Vec<String>,
    /// Objects and lists that were there and empty, with the space between their brackets.
    pub(super) empty: BTreeMap<String, String>,
    /// The content of a file that had nothing but space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) blank: Option<String>,
}

/// A step into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    At(usize),
}

pub(super) fn keys(path: &[&str]) -> Vec<Step> {
    path.iter().map(|key| Step::Key((*key).to_owned())).collect()
}

fn pointer(path: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Key(key) => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Step::At(index) => format!("/{index}"),
    };
    path.iter().map(step).collect()
}

/// The value of a text. A text of nothing but space is an empty object.
pub(super) fn value(text: &str, dialect: Dialect) -> Result<Value, Refusal> {
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    Ok(parse(&parsable(text), dialect)?.into())
}

/// The text with every half of a surrogate pair that stands alone, such as `\ud800`, replaced by one of the same length.
/// JavaScript writes such strings when it cuts one in the middle of a character; the parser does not take them.
fn parsable(text: &str) -> Cow<'_, str> {
    let code_at = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
    };
    let is_lead = |code: u16| (0xd800..0xdc00).contains(&code);
    let is_trail = |code: u16| (0xdc00..0xe000).contains(&code);
    let (mut at, mut alone) = (0, Vec::new());
    while let Some(offset) =
        text.as_bytes().get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\'))
    {
        at += offset;
        at += match code_at(at) {
            Some(code) if is_lead(code) && code_at(at + 6).is_some_and(is_trail) => 12,
            Some(code) => {
                if is_lead(code) || is_trail(code) {
                    alone.push(at);
                }
                6
            }
            None => 2,
        };
    }
    if alone.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut replaced, mut end) = (String::with_capacity(text.len()), 0);
    for at in alone {
        replaced += &text[end..at];
        replaced += "\\ufffd";
        end = at + 6;
    }
    Cow::Owned(replaced + &text[end..])
}

fn parse(text: &str, dialect: Dialect) -> Result<ast::Value<'_>, Refusal> {
    let options = ParseOptions {
        allow_comments: dialect != Dialect::Strict,
        allow_trailing_commas: dialect == Dialect::Lenient,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        let (line, column) = position(text, error.range().start);
        Refusal::Malformed { line, column, what: error.kind().to_string() }
    })?;
    parsed.value.ok_or_else(|| Refusal::Malformed { line: 1, column: 1, what: "it has no value".to_owned() })
}

/// Line and column of a byte, from 1.
pub(super) fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// How often a key is in an object. Tools take the last one and ignore the others.
pub(super) fn occurrences(text: &str, dialect: Dialect, path: &[&str]) -> usize {
    let Some((last, parents)) = path.split_last() else { return 0 };
    let parsable = parsable(text);
    let Ok(root) = parse(&parsable, dialect) else { return 0 };
    let mut at = &root;
    for key in parents {
        match property(at, key) {
            Some(found) => at = &found.value,
            None => return 0,
        }
    }
    let properties = at.as_object().map(|object| object.properties.as_slice()).unwrap_or_default();
    properties.iter().filter(|property| property.name.as_str() == *last).count()
}

fn property<'v, 'a>(value: &'v ast::Value<'a>, key: &str) -> Option<&'v ObjectProp<'a>> {
    let properties = &value.as_object()?.properties;
    properties.iter().rev().find(|property| property.name.as_str() == key)
}

/// An object or a list in the text.
struct Container {
    range: Range<usize>,
    children: Vec<Range<usize>>,
}

fn container(value: &ast::Value<'_>) -> Option<Container> {
    let span = |range: jsonc_parser::common::Range| range.start..range.end;
    match value {
        ast::Value::Object(object) => Some(Container {
            range: span(object.range),
            children: object.properties.iter().map(|property| span(property.range)).collect(),
        }),
        ast::Value::Array(array) => Some(Container {
            range: span(array.range),
            children: array.elements.iter().map(|element| span(element.range())).collect(),
        }),
        _ => None,
    }
}

/// Sets a property, and creates the objects on the way to it.
pub(super) fn set(
    text: &str,
    dialect: Dialect,
    path: &[&str],
    value: &Value,
    made: &mut Made,
) -> Result<String, Refusal> {
    put(text, dialect, path, value, false, made)
}

/// Appends an element to a list, and creates the list and the objects on the way to it.
pub(super) fn append(
    text: &str,
    dialect: Dialect,
    path: &[&str],
    element: &Value,
    made: &mut Made,
) -> Result<String, Refusal> {
    put(text, dialect, path, element, true, made)
}

fn put(
    text: &str,
    dialect: Dialect,
    path: &[&str],
    new: &Value,
    to_list: bool,
    made: &mut Made,
) -> Result<String, Refusal> {
    if text.trim().is_empty() {
        made.blank = Some(text.to_owned());
        let text = if text.contains("\r\n") { "{}\r\n" } else { "{}\n" };
        return put(text, dialect, path, new, to_list, made);
    }
    let parsable = parsable(text);
    let root = parse(&parsable, dialect)?;
    let mut at = &root;
    for (depth, key) in path.iter().enumerate() {
        let here = keys(&path[..depth]);
        if at.as_object().is_none() {
            return Err(Refusal::Unexpected { pointer: pointer(&here), needed: "an object" });
        }
        if let Some(found) = property(at, key) {
            at = &found.value;
            continue;
        }
        // Everything below is new.
        let below = path[depth + 1..].iter().rev();
        let start = if to_list { Value::Array(vec![new.clone()]) } else { new.clone() };
        let value = below.fold(start, |value, key| serde_json::json!({ *key: value }));
        let created = path.len() - usize::from(!to_list);
        let item = Item { key: Some(key), value: &value };
        let text = insert(text, at, &here, item, made);
        for pointer in (depth + 1..=created).map(|end| pointer(&keys(&path[..end]))) {
            if !made.keys.contains(&pointer) {
                made.keys.push(pointer);
            }
        }
        return Ok(text);
    }
    if !to_list {
        return Ok(replace(text, at, new));
    }
    if at.as_array().is_none() {
        return Err(Refusal::Unexpected { pointer: pointer(&keys(path)), needed: "a list" });
    }
    Ok(insert(text, at, &keys(path), Item { key: None, value: new }, made))
}

/// Sets a property of an object that is there.
pub(super) fn set_in(
    text: &str,
    dialect: Dialect,
    object: &[Step],
    key: &str,
    new: &Value,
) -> Result<String, Refusal> {
    let parsable = parsable(text);
    let root = parse(&parsable, dialect)?;
    let at = resolve(&root, object).filter(|at| at.as_object().is_some());
    let missing = || Refusal::Unexpected { pointer: pointer(object), needed: "an object" };
    let at = at.ok_or_else(missing)?;
    match property(at, key) {
        Some(found) => Ok(replace(text, &found.value, new)),
        None => Ok(insert(text, at, object, Item { key: Some(key), value: new }, &mut Made::default())),
    }
}

fn replace(text: &str, old: &ast::Value<'_>, new: &Value) -> String {
    let indent = layout::indent_at(text, old.range().start);
    let new = Layout::of(text).value(new, indent);
    layout::replaced(text, old.range().start..old.range().end, &new)
}

/// Inserts an item as the last one of an object or list.
fn insert(text: &str, into: &ast::Value<'_>, path: &[Step], item: Item<'_>, made: &mut Made) -> String {
    let Some(Container { range, children }) = container(into) else { return text.to_owned() };
    let inner = range.start + 1..range.end - 1;
    let layout = Layout::of(text);
    let is_blank = text[inner.clone()].trim().is_empty();
    if is_blank {
        let pointer = pointer(path);
        if !made.keys.contains(&pointer) {
            made.empty.entry(pointer).or_insert_with(|| text[inner.clone()].to_owned());
        }
        return layout::replaced(text, inner, &layout.only_item(text, range.start, item));
    }
    let content_end = inner.start + text[inner.clone()].trim_end().len();
    let in_lines = text[range.clone()].contains('\n');
    let item = match in_lines {
        true => layout.next_item(layout::child_indent(text, &layout, range.start, children.last()), item),
        false => item.compact(),
    };
    let Some(last) = children.last() else {
        return layout::replaced(text, content_end..content_end, &item);
    };
    let after = layout::skip_space(text, last.end);
    if text[after..].starts_with(',') {
        return layout::replaced(text, content_end..content_end, &format!("{item},"));
    }
    let text = layout::replaced(text, content_end..content_end, &item);
    layout::replaced(&text, last.end..last.end, ",")
}

/// Takes out a property or an element, and what was made for it and is empty now.
pub(super) fn remove(text: &str, dialect: Dialect, path: &[Step], made: &Made) -> Result<String, Refusal> {
    let Some((last, parent_path)) = path.split_last() else { return Ok(text.to_owned()) };
    let parsable = parsable(text);
    let root = parse(&parsable, dialect)?;
    let Some(parent) = resolve(&root, parent_path) else { return Ok(text.to_owned()) };
    let Some(Container { range, children }) = container(parent) else { return Ok(text.to_owned()) };
    let index = match last {
        Step::At(index) => Some(*index),
        Step::Key(key) => parent
            .as_object()
            .and_then(|object| object.properties.iter().rposition(|property| property.name.as_str() == key)),
    };
    let Some(index) = index.filter(|index| *index < children.len()) else { return Ok(text.to_owned()) };
    let inner_start = range.start + 1;
    let (shorter, removed) = layout::without_child(text, &children, index);
    let inner = inner_start..range.end - 1 - removed;
    if !shorter[inner.clone()].trim().is_empty() {
        return Ok(shorter);
    }
    let pointer = pointer(parent_path);
    if made.keys.contains(&pointer) && !parent_path.is_empty() {
        return remove(&shorter, dialect, parent_path, made);
    }
    let before = made.empty.get(&pointer).map_or("", String::as_str);
    Ok(layout::replaced(&shorter, inner, before))
}

fn resolve<'v, 'a>(root: &'v ast::Value<'a>, path: &[Step]) -> Option<&'v ast::Value<'a>> {
    path.iter().try_fold(root, |at, step| match step {
        Step::Key(key) => Some(&property(at, key)?.value),
        Step::At(index) => at.as_array()?.elements.get(*index),
    })
}

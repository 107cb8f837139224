//! Where inserted JSON goes in a text and how it is indented.

use std::ops::Range;

use serde::Serialize as _;
use serde_json::Value;

/// A property of an object, or an element of a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub(super) key: Option<&'a str>,
    pub(super) value: &'a Value,
}

impl Item<'_> {
    pub(super) fn compact(self) -> String {
        match self.key {
            Some(key) => format!("{}:{}", Value::from(key), self.value),
            None => self.value.to_string(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Layout {
    newline: &'static str,
    /// One level of indentation.
    unit: String,
    one_line: bool,
}

impl Layout {
    pub(super) fn of(text: &str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indents = text.lines().skip(1).map(|line| &line[..line.len() - line.trim_start().len()]);
        let unit = indents.filter(|indent| !indent.is_empty()).min_by_key(|indent| indent.len());
        let content = text.trim();
        let one_line = !content.contains('\n') && !content.trim_matches(['{', '}', ' ', '\t']).is_empty();
        Self { newline, unit: unit.unwrap_or("  ").to_owned(), one_line }
    }

    /// A value whose first line has this indent.
    pub(super) fn value(&self, value: &Value, indent: &str) -> String {
        if self.one_line {
            return value.to_string();
        }
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        // Writing JSON to memory cannot fail.
        let _ = value.serialize(&mut serializer);
        let pretty = String::from_utf8(bytes).unwrap_or_default();
        pretty.replace('\n', &format!("{}{indent}", self.newline))
    }

    fn item(&self, item: Item<'_>, indent: &str) -> String {
        match item.key {
            Some(key) => format!("{}: {}", Value::from(key), self.value(item.value, indent)),
            None => self.value(item.value, indent),
        }
    }

    /// An item on a line of its own, after others.
    pub(super) fn next_item(&self, indent: String, item: Item<'_>) -> String {
        format!("{}{indent}{}", self.newline, self.item(item, &indent))
    }

    /// The only item between the brackets of an object or list that begins at a byte.
    pub(super) fn only_item(&self, text: &str, start: usize, item: Item<'_>) -> String {
        if self.one_line {
            return item.compact();
        }
        let outer = indent_at(text, start);
        let inner = format!("{outer}{}", self.unit);
        format!("{}{}{outer}", self.next_item(inner, item), self.newline)
    }
}

pub(super) fn indent_at(text: &str, byte: usize) -> &str {
    let line_start = text[..byte].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[line_start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The indent of the next child: as the last one has, if that begins a line.
pub(super) fn child_indent(text: &str, layout: &Layout, start: usize, last: Option<&Range<usize>>) -> String {
    if let Some(last) = last {
        let line_start = text[..last.start].rfind('\n').map_or(0, |at| at + 1);
        let before = &text[line_start..last.start];
        if before.trim().is_empty() && line_start > start {
            return before.to_owned();
        }
    }
    format!("{}{}", indent_at(text, start), layout.unit)
}

/// The first byte from here on that is neither space nor comment.
pub(super) fn skip_space(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if trimmed.starts_with("//") {
            at += trimmed.find('\n').unwrap_or(trimmed.len());
        } else if trimmed.starts_with("/*") {
            at += trimmed.find("*/").map_or(trimmed.len(), |end| end + 2);
        } else {
            return at;
        }
    }
}

pub(super) fn replaced(text: &str, range: Range<usize>, with: &str) -> String {
    format!("{}{with}{}", &text[..range.start], &text[range.end..])
}

/// A text without a child, the space before it and the comma that only it needed; and how many bytes that were.
pub(super) fn without_child(text: &str, children: &[Range<usize>], index: usize) -> (String, usize) {
    let child = &children[index];
    let after = skip_space(text, child.end);
    let from = space_before(text, child, after);
    if text[after..].starts_with(',') {
        let text = replaced(text, after..after + 1, "");
        return (replaced(&text, from..child.end, ""), child.end - from + 1);
    }
    let shorter = replaced(text, from..child.end, "");
    match index.checked_sub(1).map(|before| skip_space(text, children[before].end)) {
        // A comma before the child, and so before everything that was cut out.
        Some(comma) if text[comma..].starts_with(',') => {
            (replaced(&shorter, comma..comma + 1, ""), child.end - from + 1)
        }
        _ => (shorter, child.end - from),
    }
}

/// Where the space before a child begins. It stays if a comment in front would otherwise swallow what follows.
fn space_before(text: &str, child: &Range<usize>, after: usize) -> usize {
    let from = text[..child.start].trim_end().len();
    let line_before = text[..from].rsplit('\n').next().unwrap_or_default();
    let rest = text[after..].trim_start_matches([',', ' ', '\t', '\r']);
    let joins_lines = text[from..child.start].contains('\n') && !rest.starts_with('\n');
    let has_break = text[child.end..after].contains('\n');
    if line_before.contains("//") && joins_lines && !has_break { child.start } else { from }
}

//! What a tool returns: words for the model, and the same as data. Text of other owners is fenced in both.

use std::io;

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Map, Serializer, Value, json};
use tandem_api::error::Code;
use tandem_api::fence::{Fence, Fenced, Fencer as _};
use tandem_hub::{Error, Listed};

use crate::mcp::fence::{Markers, TextMarkers};

/// Size limit of a result, of its words and of its data each.
pub(crate) const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The result of a tool.
#[derive(Debug)]
pub struct ToolReply {
    pub words: String,
    pub data: Value,
    /// Words that stand apart from the others.
    pub note: Option<String>,
}

pub type ToolResult = Result<ToolReply, Error>;

/// Fences a view, so that its fields can be put into words.
pub(crate) fn fenced<T: Fence>(view: T) -> Fenced<T> {
    Fenced::new(view, &Markers)
}

impl ToolReply {
    /// A view, in these words.
    pub fn new<T: Serialize>(view: &Fenced<T>, words: impl Into<String>) -> ToolResult {
        let data = serde_json::to_value(view).map_err(unserialisable)?;
        Ok(Self { words: words.into(), data, note: None })
    }

    /// A view whose words are its JSON, after an introduction.
    pub fn json<T: Fence + Serialize + Clone>(introduction: &str, view: T) -> ToolResult {
        let words = format!("{introduction}{}", compact(view.clone())?);
        Self::new(&fenced(view), words)
    }

    /// A page of a list, with what to say if it is empty.
    pub(crate) fn list<T: Fence + Serialize + Clone>(
        name: &str,
        page: Listed<T>,
        if_empty: Option<&str>,
    ) -> ToolResult {
        let if_empty = if_empty.filter(|_| page.items.is_empty());
        let Self { words, data, .. } = Self::json("", page.items)?;
        let mut data = Map::from_iter([(name.to_owned(), data)]);
        let next = page.next.map(|next| Markers.cursor(&next).into_owned());
        let note = next.as_ref().map(|next| format!("There are more. Call again with cursor {next}"));
        data.extend(next.map(|next| ("nextCursor".to_owned(), next.into())));
        Ok(Self { words: if_empty.map_or(words, str::to_owned), data: data.into(), note })
    }

    pub(crate) fn is_too_large(&self) -> bool {
        let words = self.words.len() + self.note.as_ref().map_or(0, String::len);
        words > ANSWER_BYTES_MAX || exceeds(&self.data, ANSWER_BYTES_MAX)
    }
}

fn unserialisable(error: serde_json::Error) -> Error {
    tracing::error!(%error, "an answer could not be serialised");
    Error::internal()
}

/// Whether a value is larger than this as JSON. It is written to find out only if it could be.
fn exceeds(value: &Value, max: usize) -> bool {
    /// Each byte of a text can become six.
    fn at_most(value: &Value) -> usize {
        match value {
            Value::String(text) => text.len() * 6 + 3,
            Value::Array(items) => items.iter().map(at_most).sum::<usize>() + 3,
            Value::Object(fields) => {
                fields.iter().map(|(name, field)| name.len() * 6 + 4 + at_most(field)).sum::<usize>() + 3
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => 32,
        }
    }
    at_most(value) > max && serde_json::to_writer(&mut Countdown(max), value).is_err()
}

/// Accepts bytes until a limit is reached.
struct Countdown(usize);

impl io::Write for Countdown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A view as JSON for a model, which reads every byte: without fields that have no value, and with a description in the
/// place of keys and ciphertext.
pub fn compact<T: Fence + Serialize>(view: T) -> Result<String, Error> {
    let mut json = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut json, MarkedNulls);
    Fenced::new(view, &TextMarkers).serialize(&mut serializer).map_err(unserialisable)?;
    String::from_utf8(without_nulls(json)).map_err(|_| Error::internal())
}

/// In the place of null: a byte that no JSON contains.
const NULL: u8 = 0;

struct MarkedNulls;

impl Formatter for MarkedNulls {
    fn write_null<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(&[NULL])
    }
}

/// Removes fields whose value is a marked null. The names of fields of views contain no quotes.
fn without_nulls(json: Vec<u8>) -> Vec<u8> {
    let mut kept = Vec::with_capacity(json.len());
    let mut rest = json.as_slice();
    while let Some(at) = rest.iter().position(|byte| *byte == NULL) {
        kept.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(name) = kept.strip_suffix(b"\":") else {
            kept.extend_from_slice(b"null");
            continue;
        };
        let start = name.iter().rposition(|byte| *byte == b'"').unwrap_or_default();
        kept.truncate(start);
        match (kept.last(), rest.first()) {
            (Some(b','), Some(b'}')) => drop(kept.pop()),
            (_, Some(b',')) => rest = &rest[1..],
            _ => {}
        }
    }
    kept.extend_from_slice(rest);
    kept
}

/// The result exceeds the size limit.
pub(crate) fn answer_too_large() -> Error {
    let why = format!("the answer is larger than {ANSWER_BYTES_MAX} bytes; ask for it by REST");
    Error::new(Code::TooLarge, why)
}

/// An error outside of a tool call.
pub(crate) fn rpc(error: &Error) -> ErrorData {
    let body = &error.body;
    let code = Some(json!({ "code": body.code }));
    if error.is_internal() {
        ErrorData::internal_error(body.error.clone(), code)
    } else {
        ErrorData::invalid_params(body.error.clone(), code)
    }
}

/// What a tool returned, as its client gets it.
#[must_use]
pub fn to_result(replied: ToolResult) -> CallToolResult {
    match replied {
        Ok(reply) if reply.is_too_large() => refused(&answer_too_large()),
        Ok(reply) => {
            let words = [Some(reply.words), reply.note].into_iter().flatten();
            let mut result = CallToolResult::success(words.map(ContentBlock::text).collect());
            result.structured_content = Some(reply.data);
            result
        }
        Err(error) => refused(&error),
    }
}

/// Adds to a result what was ignored, for the model and for programs.
pub(crate) fn with_warnings(mut result: CallToolResult, warnings: Vec<String>) -> CallToolResult {
    if warnings.is_empty() {
        return result;
    }
    result.content.extend(warnings.iter().map(|warning| ContentBlock::text(format!("Warning: {warning}"))));
    if let Some(Value::Object(data)) = &mut result.structured_content {
        data.insert("warnings".into(), warnings.into());
    }
    result
}

fn refused(error: &Error) -> CallToolResult {
    let body = &error.body;
    let hint = body.hint();
    let mut words = format!("{} ({})", body.error.trim_end_matches('.'), body.code);
    if let Some(hint) = hint {
        words = format!("{words}. {hint}");
    }
    for (field, why) in body.details.iter().flatten() {
        words = format!("{words}\n- {field} {}", why.join(", "));
    }
    if let Some(status) = &body.status {
        let next: Vec<&str> = body.next_statuses.iter().flatten().map(|status| status.as_str()).collect();
        let next = if next.is_empty() { "none".to_owned() } else { next.join(", ") };
        words = format!("{words}\nThe task is {status}; nextStatuses: {next}");
    }
    let mut machine = json!({
        "error": body.error, "code": body.code, "details": body.details, "hint": hint,
        "status": body.status, "nextStatuses": body.next_statuses, "retryAfterSeconds": error.retry_after_seconds,
    });
    if let Value::Object(fields) = &mut machine {
        fields.retain(|_, field| !field.is_null());
    }
    // Clients validate structured content against the output schema, which errors do not match.
    CallToolResult::error(vec![ContentBlock::text(words), ContentBlock::text(machine.to_string())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_without_a_value_are_left_out() {
        let shown = |json: &str| String::from_utf8(without_nulls(json.replace("null", "\0").into())).unwrap();
        for (json, without) in [
            (r#"{"a":null}"#, "{}"),
            (r#"{"a":null,"b":null}"#, "{}"),
            (r#"{"a":null,"b":1,"c":null,"d":"x","e":null}"#, r#"{"b":1,"d":"x"}"#),
            (r#"[{"a":{"b":null},"c":[]},{"d":null}]"#, r#"[{"a":{},"c":[]},{}]"#),
            (r#"[null,1,null]"#, "[null,1,null]"),
            (r#"{"a":"say \"b\":","c":2}"#, r#"{"a":"say \"b\":","c":2}"#),
        ] {
            assert_eq!(shown(json), without);
        }
    }

    #[test]
    fn the_size_of_data_is_that_of_its_json() {
        for value in [json!({ "a": "x".repeat(100), "b": [1, null, true] }), json!("\u{1}".repeat(40))] {
            let size = value.to_string().len();
            assert!(exceeds(&value, size - 1) && !exceeds(&value, size));
        }
    }
}

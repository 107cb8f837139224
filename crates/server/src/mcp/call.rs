//! A tool call: the caller, the arguments and the result.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tandem_api::error::Code;
use tandem_api::fence::{Fence, Fenced, Fencer};
use tandem_app::Invalid;
use tandem_core::{AgentId, Id, TaskId};
use tandem_hub::ops::parse_id;
use tandem_hub::{Caller, Error, Hub, Listed};

use crate::http::explain::Object;
use crate::http::unknown::UnknownNames;
use crate::mcp::sessions::{SessionId, Sessions};
use crate::mcp::{ClientDisconnect, fence};

/// Size limit of a result, of its text and of its data each.
pub(crate) const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The largest integer that a float represents exactly.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// The context of a tool call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) hub: Hub,
    pub(crate) caller: Caller,
    pub(crate) sessions: Arc<Sessions>,
    /// The session, in protocol revisions that have sessions.
    pub(crate) session: Option<SessionId>,
    pub(crate) disconnect: ClientDisconnect,
}

/// The arguments of a tool call.
#[derive(Debug, Default)]
pub struct Args(pub JsonObject);

/// The result of a tool: text for the model and the same as data. Peer text in it is fenced.
#[derive(Debug)]
pub struct ToolReply {
    pub words: String,
    pub data: Value,
    /// A note that is appended to the text.
    pub note: Option<String>,
}

pub type ToolResult = Result<ToolReply, Error>;

/// A view as JSON, with peer text fenced.
#[derive(Debug, Clone)]
pub struct FencedJson {
    pub(crate) value: Value,
    /// The same for the text of a result: without nulls, keys and ciphertext.
    shown: Value,
    next: Option<String>,
}

impl Call {
    pub(crate) fn me(&self) -> &AgentId {
        &self.caller.agent
    }

    /// The task in the arguments, and the other arguments parsed. If they are invalid, the error carries the state of
    /// the task.
    pub(crate) async fn on_task<T: Deserialize<'static>>(
        &self,
        mut args: Args,
    ) -> Result<(TaskId, T), Error> {
        let task = args.id("taskId", "task")?;
        let input = self.hub.on_task(&self.caller, &task, args.read()).await?;
        Ok((task, input))
    }
}

/// Converts a view to JSON and fences peer text, as its types say.
pub fn show<T: Fence + Serialize + Clone>(view: T) -> Result<FencedJson, Error> {
    let mut shown = to_json(view.clone(), &fence::TextMarkers)?;
    drop_nulls(&mut shown);
    Ok(FencedJson { value: to_json(view, &fence::Markers)?, shown, next: None })
}

fn to_json<T: Fence + Serialize>(view: T, with: &dyn Fencer) -> Result<Value, Error> {
    serde_json::to_value(Fenced::new(view, with)).map_err(|error| {
        tracing::error!(%error, "an answer could not be serialised");
        Error::internal()
    })
}

/// Removes fields without a value. They tell a model nothing, and it reads every one.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// The same for a page of a list.
pub(crate) fn show_list<T: Fence + Serialize + Clone>(listed: Listed<T>) -> Result<FencedJson, Error> {
    Ok(FencedJson { next: listed.next, ..show(listed.items)? })
}

impl Args {
    /// Refuses arguments without this one.
    pub(crate) fn require(&self, name: &str, why: &str) -> Result<(), Invalid> {
        if self.0.contains_key(name) { Ok(()) } else { Err(Invalid::field(name, why)) }
    }

    /// Normalises arguments: an id may come back inside its fence, and integers may be written as floats.
    #[must_use]
    pub fn new(mut arguments: JsonObject) -> Self {
        for (name, value) in &mut arguments {
            if let Value::String(id) = value
                && fence::is_id(name)
            {
                *id = fence::unfenced(id).to_owned();
            }
            if let Some(number) = value.as_f64().filter(|number| number.fract() == 0.0)
                && !value.is_i64()
                && number.abs() < WHOLE_MAX
            {
                #[expect(clippy::cast_possible_truncation, reason = "within what a fraction holds exactly")]
                let whole = number as i64;
                *value = whole.into();
            }
        }
        Self(arguments)
    }

    /// The arguments that this tool does not have. They are ignored, as the fields of a request are.
    pub(crate) fn unknown_to(&self, tool: &Tool) -> UnknownNames {
        let mut unknown = UnknownNames::default();
        let known = tool.input_schema.get("properties").and_then(Value::as_object);
        for name in self.0.keys().filter(|name| !known.is_some_and(|known| known.contains_key(*name))) {
            unknown.add(name, known.into_iter().flatten().map(|(known, _)| known.as_str()));
        }
        unknown
    }

    /// A required text argument.
    pub fn take(&mut self, name: &str) -> Result<String, Error> {
        match self.0.shift_remove(name) {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(Invalid::field(name, "must be a text").into()),
            None => Err(Invalid::field(name, "is required").into()),
        }
    }

    /// A required id argument.
    pub fn id<T>(&mut self, name: &str, what: &'static str) -> Result<Id<T>, Error> {
        parse_id(&self.take(name)?, what)
    }

    /// An optional boolean argument; false if it is missing.
    pub fn flag(&mut self, name: &str) -> Result<bool, Error> {
        match self.0.shift_remove(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(Invalid::field(name, "must be true or false").into()),
        }
    }

    /// Renames arguments to the names of the REST fields.
    pub(crate) fn renamed(mut self, names: &[(&str, &str)]) -> Self {
        for (here, there) in names {
            if let Some(value) = self.0.shift_remove(*here) {
                self.0.insert((*there).to_owned(), value);
            }
        }
        self
    }

    /// Parses all arguments. Errors name the invalid ones.
    pub fn read<T: Deserialize<'static>>(self) -> Result<T, Error> {
        Ok(Object::from(self.0).read(&mut UnknownNames::default())?)
    }
}

/// Renames the fields of an error to the names of the tool's arguments.
pub(crate) fn with_tool_names(mut error: Error, names: &[(&str, &str)]) -> Error {
    if let Some(details) = error.body.details.take() {
        let here = |field: String| {
            let known = names.iter().find(|(_, there)| *there == field).map(|(here, _)| (*here).to_owned());
            known.unwrap_or(field)
        };
        return Invalid(details.into_iter().map(|(field, why)| (here(field), why)).collect()).into();
    }
    error
}

impl FencedJson {
    #[must_use]
    pub fn text(&self, field: &str) -> &str {
        self.value.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn number(&self, field: &str) -> i64 {
        self.value.get(field).and_then(Value::as_i64).unwrap_or_default()
    }

    /// The JSON as text.
    #[must_use]
    pub fn compact(&self) -> String {
        self.shown.to_string()
    }

    pub fn with_text(self, words: impl Into<String>) -> ToolResult {
        Ok(ToolReply { words: words.into(), data: self.value, note: None })
    }

    /// A result with this text followed by the JSON.
    pub(crate) fn with_text_and_json(self, words: &str) -> ToolResult {
        let words = format!("{words}{}", self.compact());
        Ok(ToolReply { words, data: self.value, note: None })
    }

    /// A result whose text is the JSON.
    pub fn into_json(self) -> ToolResult {
        self.with_text_and_json("")
    }

    /// A list: the items as JSON.
    pub(crate) fn into_list(self, name: &str) -> ToolResult {
        let words = self.compact();
        let mut data = Map::new();
        data.insert(name.to_owned(), self.value);
        let next = self.next.map(|next| fence::Markers.cursor(&next).into_owned());
        let note = next.as_ref().map(|next| format!("There are more. Call again with cursor {next}"));
        if let Some(next) = next {
            data.insert("nextCursor".to_owned(), next.into());
        }
        Ok(ToolReply { words, data: data.into(), note })
    }
}

impl ToolReply {
    /// Whether the result exceeds the size limit, as text or as data.
    pub(crate) fn is_too_large(&self) -> bool {
        let text = self.words.len() + self.note.as_ref().map_or(0, String::len);
        let mut left = Countdown(ANSWER_BYTES_MAX);
        text > ANSWER_BYTES_MAX || serde_json::to_writer(&mut left, &self.data).is_err()
    }

    /// Replaces the text if the list is empty.
    pub(crate) fn or_if_empty(self, name: &str, words: &str) -> ToolResult {
        let is_empty = self.data.get(name).and_then(Value::as_array).is_none_or(Vec::is_empty);
        Ok(if is_empty { Self { words: words.to_owned(), ..self } } else { self })
    }
}

/// Accepts bytes until a limit is reached.
struct Countdown(usize);

impl std::io::Write for Countdown {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The result exceeds the size limit.
pub(crate) fn answer_too_large() -> Error {
    Error::new(
        Code::TooLarge,
        format!("the answer is larger than {ANSWER_BYTES_MAX} bytes; ask for it by REST"),
    )
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
            let mut result = CallToolResult::structured(reply.data);
            result.content = vec![ContentBlock::text(reply.words)];
            result.content.extend(reply.note.map(ContentBlock::text));
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
        let next = next.join(", ");
        let next = if next.is_empty() { "none" } else { &next };
        words = format!("{words}\nThe task is {status}; nextStatuses: {next}");
    }
    let machine = json!({
        "error": body.error, "code": body.code, "details": body.details, "hint": hint,
        "status": body.status, "nextStatuses": body.next_statuses, "retryAfterSeconds": error.retry_after_seconds,
    });
    let machine = match machine {
        Value::Object(object) => Value::Object(object.into_iter().filter(|(_, v)| !v.is_null()).collect()),
        other => other,
    };
    // Clients validate structured content against the output schema, which errors do not match.
    CallToolResult::error(vec![ContentBlock::text(words), ContentBlock::text(machine.to_string())])
}

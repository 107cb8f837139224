//! A tool call: who asks, with what, and how it is answered.

use axum::body::to_bytes;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tandem_app::{Error, Invalid};
use tandem_core::AgentId;

use crate::http::front::{Address, Caller, SentUri};
use crate::http::input::parse_object;
use crate::http::{ApiError, Input, Json, Param, Query};
use crate::hub::Hub;
use crate::mcp::sessions::SessionId;
use crate::mcp::{Gone, fence};

/// The most bytes of an answer that a model is given.
pub(crate) const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The largest whole number that a fraction holds exactly.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Who calls a tool.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) hub: Hub,
    pub(crate) me: AgentId,
    /// In which session, in the revisions that have some.
    pub(crate) session: Option<SessionId>,
    pub(crate) gone: Gone,
    pub(crate) address: Address,
}

/// What a tool is called with.
#[derive(Debug, Default)]
pub(crate) struct Args(pub(crate) JsonObject);

/// What a tool says: words for the model, the same as data for a program. Foreign text in it is fenced.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) words: String,
    pub(crate) data: Value,
    /// What to know about the words that is not among them.
    pub(crate) note: Option<String>,
}

/// What comes of a tool.
pub(crate) type Replied = Result<Reply, ApiError>;

/// An answer with its foreign text fenced.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    pub(crate) value: Value,
    next: Option<String>,
}

impl Call {
    pub(crate) fn hub(&self) -> State<Hub> {
        State(Hub::clone(&self.hub))
    }

    pub(crate) fn me(&self) -> Caller {
        Caller(self.me.clone())
    }

    /// An answer of REST in which everything is the caller's own or the hub's.
    pub(crate) async fn own(&self, answer: impl Rendered) -> Result<Shown, ApiError> {
        let (value, next) = answer.value().await?;
        Ok(Shown { value, next })
    }

    /// An answer of REST as this caller may be shown it here.
    pub(crate) async fn show(&self, answer: impl Rendered) -> Result<Shown, ApiError> {
        let (value, next) = answer.value().await?;
        Ok(Shown { value: fence::shown(value, self.me.as_str()), next })
    }
}

impl Args {
    /// Arguments as they came. An id may come with the fence in which it was shown, and whole numbers may have been
    /// written as fractions: to JSON they are the same.
    pub(crate) fn new(mut arguments: JsonObject) -> Self {
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

    /// An argument that names something. What it names is for the use case to find out.
    pub(crate) fn take(&mut self, name: &str) -> Result<Param<String>, ApiError> {
        match self.0.shift_remove(name) {
            Some(Value::String(text)) => Ok(Param(text)),
            Some(_) => Err(Invalid::field(name, "must be a text").into()),
            None => Err(Invalid::field(name, "is required").into()),
        }
    }

    /// An argument that is true or false.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, ApiError> {
        match self.0.shift_remove(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(Invalid::field(name, "must be true or false").into()),
        }
    }

    /// The arguments under the names that REST gives them.
    pub(crate) fn renamed(mut self, names: &[(&str, &str)]) -> Self {
        for (here, there) in names {
            if let Some(value) = self.0.shift_remove(*here) {
                self.0.insert((*there).to_owned(), value);
            }
        }
        self
    }

    /// All arguments as one type, with what is wrong with them named.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<T, ApiError> {
        parse_object(self.0)
    }

    /// The same as a request's body.
    pub(crate) fn input<T: DeserializeOwned>(self) -> Input<T> {
        Input { body: self.read(), key: None, versions: None }
    }

    /// The same as a request's query.
    pub(crate) fn query<T: DeserializeOwned>(self) -> Result<Query<T>, ApiError> {
        self.read().map(Query)
    }
}

/// An error about arguments, under the names that a tool gives them.
pub(crate) fn named_here(error: ApiError, names: &[(&str, &str)]) -> ApiError {
    let ApiError::App(Error::Invalid(invalid)) = error else { return error };
    let here = |field: String| {
        let known = names.iter().find(|(_, there)| *there == field).map(|(here, _)| (*here).to_owned());
        known.unwrap_or(field)
    };
    Invalid(invalid.0.into_iter().map(|(field, why)| (here(field), why)).collect()).into()
}

/// Where a page says it is; only its cursor is looked at here.
pub(crate) fn nowhere() -> SentUri {
    SentUri(Uri::from_static("/"))
}

impl Shown {
    /// A text in it.
    pub(crate) fn text(&self, field: &str) -> &str {
        self.value.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// A number in it.
    pub(crate) fn number(&self, field: &str) -> i64 {
        self.value.get(field).and_then(Value::as_i64).unwrap_or_default()
    }

    /// An answer in words.
    pub(crate) fn said(self, words: impl Into<String>) -> Replied {
        Ok(Reply { words: words.into(), data: self.value, note: None })
    }

    /// An answer in words that end with it as JSON.
    pub(crate) fn said_with_json(self, words: &str) -> Replied {
        let words = format!("{words}{}", compact(&self.value));
        Ok(Reply { words, data: self.value, note: None })
    }

    /// An answer that is its own words.
    pub(crate) fn into_json(self) -> Replied {
        self.said_with_json("")
    }

    /// A list: its items as JSON.
    pub(crate) fn into_list(self, name: &str) -> Replied {
        let words = compact(&self.value);
        let mut data = Map::new();
        data.insert(name.to_owned(), self.value);
        let note = self.next.as_ref().map(|next| format!("There are more. Call again with cursor {next}"));
        if let Some(next) = self.next {
            data.insert("nextCursor".to_owned(), next.into());
        }
        Ok(Reply { words, data: data.into(), note })
    }
}

impl Reply {
    /// The same in other words, if the list in it is empty.
    pub(crate) fn or_if_empty(self, name: &str, words: &str) -> Replied {
        let is_empty = self.data.get(name).and_then(Value::as_array).is_none_or(Vec::is_empty);
        Ok(if is_empty { Self { words: words.to_owned(), ..self } } else { self })
    }
}

pub(crate) fn compact(value: &Value) -> String {
    value.to_string()
}

/// An answer of REST, as a value and the cursor of the next page.
pub(crate) trait Rendered: Send {
    fn value(self) -> impl Future<Output = Result<(Value, Option<String>), ApiError>> + Send;
}

impl<T: Serialize + Send> Rendered for Json<T> {
    async fn value(self) -> Result<(Value, Option<String>), ApiError> {
        Ok((serde_json::to_value(self.0).map_err(|_| ApiError::Panicked)?, None))
    }
}

impl<T: Serialize + Send> Rendered for (Vec<T>, Option<String>) {
    async fn value(self) -> Result<(Value, Option<String>), ApiError> {
        Ok((serde_json::to_value(self.0).map_err(|_| ApiError::Panicked)?, self.1))
    }
}

impl Rendered for Response {
    async fn value(self) -> Result<(Value, Option<String>), ApiError> {
        let link = self.headers().get("link").and_then(|link| link.to_str().ok());
        let next = link.and_then(|link| link.split_once("cursor=")?.1.split(['>', '&']).next());
        let next = next.map(str::to_owned);
        let bytes = to_bytes(self.into_body(), ANSWER_BYTES_MAX)
            .await
            .map_err(|_| ApiError::AnswerTooLarge(ANSWER_BYTES_MAX))?;
        Ok((serde_json::from_slice(&bytes).map_err(|_| ApiError::Panicked)?, next))
    }
}

/// An error where there is no tool to answer with it.
pub(crate) fn rpc(error: &ApiError) -> ErrorData {
    let body = error.body();
    let code = Some(json!({ "code": body.code }));
    if error.is_ours() {
        ErrorData::internal_error(body.error, code)
    } else {
        ErrorData::invalid_params(body.error, code)
    }
}

/// What a model can do about an error, where its sentence does not say so.
const HINTS: [(&str, &str); 24] = [
    ("invalid_state", "Look at its status with get_task, and do what nextStatuses allow."),
    ("too_large", "Send less, or use REST."),
    ("validation", "Correct the arguments named below and call the tool again."),
    ("invalid_transition", "Choose one of nextStatuses."),
    ("role_not_allowed", "Leave this step to the other party; you can send a message."),
    ("review_required", "Set input-required and let the initiator complete it, or use send_reply."),
    (
        "not_connected",
        "Use an agent's id or your alias for it (list_connections), or pair first: generate_pairing_code.",
    ),
    ("not_found", "Look for the right id with list_tasks, list_connections, list_networks or get_inbox."),
    ("approval_pending", "Wait until the target has approved it; the target uses approve_task."),
    (
        "task_terminal",
        "Create a new task. Of a completed one, the initiator can set the status back to working.",
    ),
    ("task_draft", "Publish it first: update_task_status with submitted."),
    ("task_live", "Cancel or complete it first."),
    ("conflict", "Look at it again with get_task and decide anew."),
    ("message_budget", "Ask the initiator to raise maxMessages."),
    ("rate_limited", "Wait before you call again."),
    ("too_many_open_tasks", "Finish or cancel some tasks first."),
    ("already_connected", "Go on with create_task."),
    ("not_auto_accept", "Ask its owner for a pairing code."),
    ("no_credits", "Ask the operator for credits."),
    ("not_sender", "Only messages of your own can be deleted; get_task shows who wrote each."),
    ("id_taken", "Choose another id, or leave it out."),
    ("unsupported_media_type", "Send it as another type, such as text/plain or application/zip."),
    ("signature_replayed", "Encrypt and sign it anew."),
    ("unavailable", "Wait a moment and call again."),
];

/// An error as a model is told it.
pub(crate) fn refused(error: &ApiError) -> CallToolResult {
    let body = error.body();
    let hint = match body.code.as_str() {
        "not_found" if body.error.contains("code") => Some("Ask the other owner for a new code."),
        code => HINTS.iter().find(|(known, _)| *known == code).map(|(_, hint)| *hint),
    };
    let mut words = format!("{} ({})", body.error.trim_end_matches('.'), body.code);
    if let Some(hint) = hint {
        words = format!("{words}. {hint}");
    }
    for (field, why) in body.details.iter().flatten() {
        words = format!("{words}\n- {field} {}", why.join(", "));
    }
    if let Some(status) = &body.status {
        let next = body.next_statuses.as_deref().unwrap_or_default().join(", ");
        let next = if next.is_empty() { "none" } else { &next };
        words = format!("{words}\nThe task is {status}; nextStatuses: {next}");
    }
    let machine = json!({
        "error": body.error, "code": body.code, "details": body.details, "hint": hint,
        "status": body.status, "nextStatuses": body.next_statuses, "retryAfterSeconds": error.retry_seconds(),
    });
    let machine = match machine {
        Value::Object(object) => Value::Object(object.into_iter().filter(|(_, v)| !v.is_null()).collect()),
        other => other,
    };
    // Clients hold structured content against the schema of the tool's answer; an error is none.
    CallToolResult::error(vec![ContentBlock::text(words), ContentBlock::text(machine.to_string())])
}

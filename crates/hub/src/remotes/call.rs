//! Calls of a remote in either binding, and what its answers mean: taken, refused, unknown, or to be tried again.

use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tandem_api::a2a::{
    CancelTaskRequest, FromProto, GetTaskRequest, PROTOCOL_VERSION, SendMessageRequest, SendMessageResponse,
    SubscribeToTaskRequest, Task, parse,
};
use tandem_app::remotes::Failure;
use tandem_core::remotes::{Auth, AuthType, Binding, Remote};

use super::fetch::{Answer, Ask, Failed, StreamEnd, fetch, listen};
use super::origin::{is_seen, origin};
use crate::{Held, HubParts};

/// Bytes of an answer.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Characters of an error text that are kept.
const ERROR_CHARS_MAX: usize = 900;
/// What an API key is sent in, if nobody said.
const KEY_HEADER: &str = "X-API-Key";

/// Why a call has no result.
#[derive(Debug, Clone)]
pub(super) enum Trouble {
    /// It can be tried again.
    Later(Failure),
    /// It was refused for good.
    Refused(String),
    /// The other side does not know the task.
    NotFound,
}

impl Trouble {
    fn later(why: impl Into<String>, is_unclear: bool) -> Self {
        Self::Later(Failure { why: why.into(), retry_after_ms: None, is_unclear })
    }
}

impl From<Failed> for Trouble {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Refused(why) => Self::Refused(why),
            Failed::Unsent(why) => Self::later(why, false),
            Failed::Unclear(why) => Self::later(why, true),
            Failed::TooLarge(_) => Self::Refused(failed.to_string()),
        }
    }
}

/// The header that authenticates us.
pub(super) fn auth_header(auth: &Auth) -> (&str, String) {
    match auth.kind {
        AuthType::Bearer => ("Authorization", format!("Bearer {}", auth.value)),
        AuthType::Basic => ("Authorization", format!("Basic {}", STANDARD.encode(&auth.value))),
        AuthType::ApiKey => (auth.header.as_deref().unwrap_or(KEY_HEADER), auth.value.clone()),
    }
}

/// A remote that is called.
pub(super) struct Peer<'a> {
    pub(super) hub: &'a HubParts,
    pub(super) remote: &'a Remote,
    pub(super) end_by: Instant,
}

/// A result, with the memory of what it was read from.
pub(super) struct Got<T> {
    pub(super) value: T,
    pub(super) _held: Held,
}

/// An operation, in both bindings.
struct Operation<'a, T> {
    name: &'static str,
    method: Method,
    path: String,
    params: &'a T,
    headers: Vec<(&'a str, String)>,
}

/// Address, headers and body of a request; a request that reads has none.
type Asked<'a> = (String, Vec<(&'a str, String)>, Option<String>);

impl Peer<'_> {
    /// Hands over a message.
    pub(super) async fn send(
        &self,
        request: &SendMessageRequest,
        headers: Vec<(&str, String)>,
    ) -> Result<Got<SendMessageResponse>, Trouble> {
        let path = "/message:send".to_owned();
        self.call(Operation { name: "SendMessage", method: Method::POST, path, params: request, headers })
            .await
    }

    /// Asks how a task stands.
    pub(super) async fn get(&self, task: &str) -> Result<Got<Task>, Trouble> {
        let tenant = self.tenant();
        let params = GetTaskRequest { tenant, id: task.to_owned(), history_length: Some(0) };
        let path = format!("/tasks/{}?historyLength=0", encoded(task));
        let headers = Vec::new();
        self.call(Operation { name: "GetTask", method: Method::GET, path, params: &params, headers }).await
    }

    /// Cancels a task.
    pub(super) async fn cancel(&self, task: &str) -> Result<Got<Task>, Trouble> {
        let params = CancelTaskRequest { tenant: self.tenant(), id: task.to_owned(), metadata: None };
        let path = format!("/tasks/{}:cancel", encoded(task));
        let headers = Vec::new();
        self.call(Operation { name: "CancelTask", method: Method::POST, path, params: &params, headers })
            .await
    }

    /// Opens a stream about a task, and calls `heard` with each piece of it.
    pub(super) async fn subscribe(&self, task: &str, heard: impl FnMut()) -> StreamEnd {
        let params = SubscribeToTaskRequest { tenant: self.tenant(), id: task.to_owned() };
        let path = format!("/tasks/{}:subscribe", encoded(task));
        let headers = vec![("Accept", "text/event-stream".to_owned())];
        let operation =
            Operation { name: "SubscribeToTask", method: Method::POST, path, params: &params, headers };
        match self.ask(&operation) {
            Ok((url, headers, body)) => {
                listen(self.hub, self.with(&operation.method, &url, headers, body), heard).await
            }
            Err(_) => StreamEnd::None,
        }
    }

    pub(super) fn tenant(&self) -> Option<String> {
        self.remote.card.interface.tenant.clone()
    }

    fn is_rpc(&self) -> bool {
        self.remote.card.interface.binding == Binding::Rpc
    }

    /// Address, headers and body of a request. Credentials go only to origins that the owner has seen.
    fn ask<'a, T: Serialize>(&'a self, operation: &Operation<'a, T>) -> Result<Asked<'a>, Trouble> {
        let interface = &self.remote.card.interface;
        let refuse = |why: &str| Err(Trouble::Refused(why.to_owned()));
        if !origin(&interface.url).is_some_and(|called| is_seen(&self.remote.terms, &called)) {
            return refuse("its address is of an origin that its owner has not allowed");
        }
        let mut headers = vec![("A2A-Version", PROTOCOL_VERSION.to_owned())];
        headers.extend(self.remote.terms.auth.as_ref().map(auth_header));
        headers.extend(operation.headers.iter().cloned());
        let Ok(params) = serde_json::value::to_raw_value(operation.params) else {
            return refuse("the request cannot be written");
        };
        if self.is_rpc() {
            let call = Call { jsonrpc: "2.0", id: 1, method: operation.name, params: &params };
            return Ok((interface.url.clone(), headers, serde_json::to_string(&call).ok()));
        }
        let tenant = interface.tenant.as_ref().map(|tenant| format!("/{}", encoded(tenant)));
        let base = interface.url.trim_end_matches('/');
        let url = format!("{base}{}{}", tenant.unwrap_or_default(), operation.path);
        let body = (operation.method != Method::GET).then(|| params.get().to_owned());
        Ok((url, headers, body))
    }

    fn with<'a>(
        &'a self,
        method: &Method,
        url: &'a str,
        headers: Vec<(&'a str, String)>,
        body: Option<String>,
    ) -> Ask<'a> {
        let method = if self.is_rpc() { Method::POST } else { method.clone() };
        let (owner, end_by) = (&self.remote.owner, self.end_by);
        Ask { method, url, headers, body, bytes_max: ANSWER_BYTES_MAX, owner, end_by }
    }

    async fn call<T: FromProto>(&self, operation: Operation<'_, impl Serialize>) -> Result<Got<T>, Trouble> {
        let (url, headers, body) = self.ask(&operation)?;
        let answer = fetch(self.hub, self.with(&operation.method, &url, headers, body)).await?;
        let result = self.result_of(&answer)?;
        let value = parse(&result)
            .map_err(|wrong| Trouble::Refused(format!("the answer is not one of A2A: {wrong}")))?;
        Ok(Got { value, _held: answer.held })
    }

    /// What an answer holds, or what is wrong.
    fn result_of(&self, answer: &Answer) -> Result<Box<RawValue>, Trouble> {
        let said = said_by(&answer.body);
        let status = answer.status;
        if matches!(status, 408 | 429 | 500..=599) {
            // 429 comes before the work, and so does 503 with a time.
            let is_unclear = (status >= 500 && answer.retry_after_ms.is_none()) || status == 408;
            let why = format!("the status is {status}{}", said.text());
            return Err(Trouble::Later(Failure { why, retry_after_ms: answer.retry_after_ms, is_unclear }));
        }
        if (300..400).contains(&status) {
            return Err(Trouble::Refused(format!("the status is {status}, and redirects are not followed")));
        }
        if said.is_not_found() {
            return Err(Trouble::NotFound);
        }
        if !(200..300).contains(&status) {
            return Err(Trouble::Refused(format!("the status is {status}{}", said.text())));
        }
        if said.code == Some(INTERNAL_ERROR) {
            return Err(Trouble::later(format!("the remote agent failed{}", said.text()), true));
        }
        if said.code.is_some() {
            let message = said.message.unwrap_or_else(|| "the remote agent refused it".to_owned());
            return Err(Trouble::Refused(message));
        }
        let no_answer = || Trouble::Refused("the answer is not one of A2A".to_owned());
        let body = std::str::from_utf8(&answer.body).map_err(|_| no_answer())?;
        if self.is_rpc() {
            let reply: Reply<'_> = serde_json::from_str(body).map_err(|_| no_answer())?;
            return reply.result.map(ToOwned::to_owned).ok_or_else(no_answer);
        }
        serde_json::from_str(body).map_err(|_| no_answer())
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

#[derive(Serialize)]
struct Call<'a> {
    jsonrpc: &'static str,
    id: u32,
    method: &'static str,
    params: &'a RawValue,
}

#[derive(serde::Deserialize)]
struct Reply<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// The codes of JSON-RPC that say more than "no".
const INTERNAL_ERROR: i64 = -32603;
const TASK_NOT_FOUND: i64 = -32001;
/// The same, in the details of an error.
const NOT_FOUND_REASON: &str = "TASK_NOT_FOUND";

/// The error in an answer, in either binding.
#[derive(Default)]
struct Said {
    code: Option<i64>,
    message: Option<String>,
    is_task: bool,
}

impl Said {
    fn is_not_found(&self) -> bool {
        self.code == Some(TASK_NOT_FOUND) || self.is_task
    }

    fn text(&self) -> String {
        self.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default()
    }
}

fn said_by(body: &[u8]) -> Said {
    /// Errors are short; a result is not looked through.
    const ERROR_BYTES_MAX: usize = 64 * 1024;
    #[derive(serde::Deserialize)]
    struct Failing {
        error: Option<Value>,
    }
    if body.len() > ERROR_BYTES_MAX {
        return Said::default();
    }
    let Ok(Failing { error: Some(error) }) = serde_json::from_slice(body) else { return Said::default() };
    let message = error.get("message").or(Some(&error)).and_then(Value::as_str);
    let details = error.get("details").or_else(|| error.get("data"));
    let reasons = details.and_then(Value::as_array).into_iter().flatten();
    let is_task = reasons.into_iter().any(|detail| detail.get("reason") == Some(&json!(NOT_FOUND_REASON)));
    Said {
        code: error.get("code").and_then(Value::as_i64).or(Some(0)),
        message: message.map(|text| text.chars().filter(|c| !c.is_control()).take(ERROR_CHARS_MAX).collect()),
        is_task,
    }
}

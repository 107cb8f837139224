//! The two bindings: JSON-RPC at an agent's address, HTTP+JSON below it.

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use serde_json::value::RawValue;
use tandem_api::a2a::{HUB_EXTENSION, MEDIA_TYPE, Reason, Wrong, proto};
use tandem_hub::Hub;

use super::call::{Call, CallBody, receive};
use super::failure::Failure;
use super::framing::Framing;
use super::operation::{Operation, Routed, route};
use super::perform::{Answer, Performed, perform};
use crate::http::error::Failed;
use crate::http::event_stream::event_stream;
use crate::http::marked_replayed;

const EXTENSIONS: HeaderName = HeaderName::from_static("a2a-extensions");

/// `POST /a2a/agents/{agent}`: JSON-RPC.
pub(super) async fn rpc(State(hub): State<Hub>, request: Request) -> Response {
    let mut framing = Framing::rpc_without_id();
    let performed = match receive(&hub, request).await {
        Ok((call, body)) => match Envelope::parse(&body.bytes) {
            Ok(envelope) => {
                framing = Framing::Rpc(envelope.id.clone());
                perform_rpc(call, &body, envelope).await
            }
            Err(unreadable) => {
                framing = Framing::Rpc(unreadable.id);
                Err(unreadable.failure)
            }
        },
        Err(failure) => Err(failure),
    };
    respond(performed, framing)
}

/// A request of JSON-RPC.
struct Envelope {
    id: Box<RawValue>,
    method: Result<Operation, Failure>,
    params: Box<RawValue>,
}

/// A body that is no request, and the id that it has.
struct Unreadable {
    id: Box<RawValue>,
    failure: Failure,
}

impl Envelope {
    fn parse(bytes: &[u8]) -> Result<Self, Box<Unreadable>> {
        let refused = |id, failure| Box::new(Unreadable { id, failure });
        let nobody = |failure| refused(RawValue::NULL.to_owned(), failure);
        let json = json_of(bytes).map_err(nobody)?;
        let no_request = |why: &str| Failure::new(Reason::InvalidRequest, format!("Invalid request: {why}"));
        let request = proto::Object::read(&json).map_err(|_| {
            let is_batch = json.get().starts_with('[');
            nobody(no_request(if is_batch { "send one at a time" } else { "it must be an object" }))
        })?;
        let exact = |name: &str| request.fields().find(|(given, _)| *given == name).map(|(_, value)| value);
        let id = match exact("id").map(RawValue::get) {
            None => RawValue::NULL.to_owned(),
            Some(id) if id.starts_with(['{', '[', 't', 'f']) => {
                return Err(nobody(no_request("id must be text or a number")));
            }
            Some(_) => exact("id").unwrap_or(RawValue::NULL).to_owned(),
        };
        if exact("jsonrpc").map(RawValue::get) != Some("\"2.0\"") {
            return Err(refused(id, no_request("jsonrpc must be \"2.0\"")));
        }
        let method = exact("method").and_then(|name| serde_json::from_str::<String>(name.get()).ok());
        let Some(method) = method else { return Err(refused(id, no_request("method must be text"))) };
        let unknown =
            || Failure::new(Reason::MethodNotFound, format!("There is no method {method:?} in A2A 1.0"));
        let params = exact("params").filter(|params| params.get() != "null");
        Ok(Self {
            id,
            method: Operation::named(&method).ok_or_else(unknown),
            params: params.map_or_else(|| raw("{}"), RawValue::to_owned),
        })
    }
}

async fn perform_rpc(call: Call, body: &CallBody, envelope: Envelope) -> Result<Performed, Failure> {
    let operation = envelope.method?;
    // Boxed, because every call of it would contain all operations otherwise.
    Box::pin(perform(call, operation, &envelope.params, body.is_large())).await
}

/// Everything below `/a2a/agents/{agent}`: HTTP+JSON.
pub(super) async fn http(State(hub): State<Hub>, request: Request) -> Response {
    let mut framing = Framing::Http { is_a2a_json: names_media_type(&request) };
    let routed = path_below(request.uri().path()).and_then(|path| route(request.method(), &path));
    let query = request.uri().query().unwrap_or_default().to_owned();
    let performed = match receive(&hub, request).await {
        Ok((call, body)) => {
            framing = Framing::Http { is_a2a_json: call.wishes.is_a2a_json };
            match routed {
                Some(routed) => perform_http(call, &body, routed, &query).await,
                None => Err(no_such_path()),
            }
        }
        Err(failure) => Err(failure),
    };
    respond(performed, framing)
}

fn names_media_type(request: &Request) -> bool {
    ["accept", "content-type"].iter().any(|name| {
        let value = request.headers().get(*name).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| value.contains(MEDIA_TYPE))
    })
}

/// What follows the agent in a path. A tenant, which is the agent once more, may come before the operation.
fn path_below(path: &str) -> Option<String> {
    let decoded = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
    let (agent, rest) = decoded.trim_start_matches('/').strip_prefix("a2a/agents/")?.split_once('/')?;
    let rest = rest.trim_start_matches('/');
    let below = rest.strip_prefix(agent).filter(|below| below.starts_with('/'));
    Some(below.unwrap_or(rest).to_owned())
}

fn no_such_path() -> Failure {
    Failure::new(Reason::MethodNotFound, "There is no such operation of A2A 1.0 below this address")
}

async fn perform_http(
    call: Call,
    body: &CallBody,
    routed: Routed,
    query: &str,
) -> Result<Performed, Failure> {
    let Routed { operation, params } = routed;
    let sent = if body.bytes.iter().all(u8::is_ascii_whitespace) { raw("{}") } else { json_of(&body.bytes)? };
    let params = merged(&sent, query, &params)?;
    Box::pin(perform(call, operation, &params, body.is_large())).await
}

/// The fields of a body, of a query and of a path as one object. The path wins, then the body.
fn merged(body: &RawValue, query: &str, path: &[(&'static str, String)]) -> Result<Box<RawValue>, Failure> {
    let given = proto::Object::read(body)?;
    if query.is_empty() && path.is_empty() {
        return Ok(body.to_owned());
    }
    let mut object = String::from("{");
    let mut put = |name: &str, value: &str| {
        object.push_str(if object.len() > 1 { "," } else { "" });
        object.push_str(&format!("{}:{value}", serde_json::Value::from(name)));
    };
    let is_in_path = |name: &str| path.iter().any(|(known, _)| proto::is_name(name, known));
    for (name, value) in path {
        put(name, &serde_json::Value::from(value.as_str()).to_string());
    }
    let mut sent = 0;
    for (name, value) in given.fields().filter(|(name, _)| !is_in_path(name)) {
        put(name, value.get());
        sent += 1;
    }
    let pairs = form_urlencoded::parse(query.as_bytes());
    for (name, value) in pairs.filter(|(name, _)| sent == 0 && !is_in_path(name)) {
        put(&name, &serde_json::Value::from(&*value).to_string());
    }
    object.push('}');
    Ok(RawValue::from_string(object).map_err(|_| Wrong::here("must be JSON"))?)
}

/// A body as valid JSON.
fn json_of(bytes: &[u8]) -> Result<Box<RawValue>, Failure> {
    let wrong =
        |why: String| Failure::new(Reason::ParseError, format!("The request is not valid JSON: {why}"));
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
    serde_json::from_str(text)
        .map_err(|failure| wrong(format!("see line {} column {}", failure.line(), failure.column())))
}

fn raw(json: &'static str) -> Box<RawValue> {
    serde_json::from_str(json).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn respond(performed: Result<Performed, Failure>, framing: Framing) -> Response {
    let Performed { answer, was_replayed, extension } = match performed {
        Ok(performed) => performed,
        Err(failure) => return framing.refuse(&failure),
    };
    let mut response = match answer {
        Answer::Whole(json) => framing.answer(json),
        Answer::Wait(wait) => {
            let body = wait.into_body(framing.clone());
            framing.with_media_type(with_json_type(Response::new(body)))
        }
        Answer::Stream(stream) => event_stream(stream.into_body(framing)),
    };
    if extension {
        response.headers_mut().insert(EXTENSIONS, HeaderValue::from_static(HUB_EXTENSION));
    }
    marked_replayed(response, was_replayed)
}

fn with_json_type(mut response: Response) -> Response {
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(axum::http::header::CONTENT_TYPE, json);
    response
}

/// A refusal that came before the binding had a say, in the words of the binding.
pub(crate) fn as_call(path: &str, response: Response) -> Response {
    let Some(Failed(error)) = response.extensions().get::<Failed>() else { return response };
    let is_rpc = path.trim_end_matches('/').matches('/').count() == 3;
    let framing = if is_rpc { Framing::rpc_without_id() } else { Framing::Http { is_a2a_json: false } };
    framing.refuse(&Failure::of(error))
}

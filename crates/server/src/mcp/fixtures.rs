//! What the official conformance suite asks any server for: tools, prompts and resources that do nothing but show one
//! feature of the protocol each. Only there when the hub is started for that suite.
#![expect(deprecated, reason = "the suite asks for sampling and logging in the revisions that have them")]

use std::sync::LazyLock;
use std::time::Duration;

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, InputRequiredResult, InputResponses, LoggingLevel,
    LoggingMessageNotificationParam, ProgressNotificationParam, Prompt, ReadResourceResult, Resource,
    ResourceTemplate, ServerRequest, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tandem_app::keys;

const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";
/// Between two notes, so that they are seen to come one after the other.
const PAUSE: Duration = Duration::from_millis(20);

/// Seals what a client carries from one round to the next.
static KEY: LazyLock<hmac::Key> = LazyLock::new(|| {
    let mut secret = [0; 32];
    keys::fill_random(&mut secret);
    hmac::Key::new(hmac::HMAC_SHA256, &secret)
});

fn made<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|why| ErrorData::internal_error(why.to_string(), None))
}

fn nothing() -> Value {
    json!({ "type": "object", "properties": {} })
}

fn one_text(name: &str) -> Value {
    json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] })
}

/// A schema with everything that the newer dialect brought.
fn dialect() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": { "$anchor": "addressDef", "type": "object",
            "properties": { "street": text, "city": text } } },
        "properties": {
            "name": text, "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] }, "phone": text, "email": text,
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

pub(crate) fn tools() -> Vec<Tool> {
    let plain = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_logging",
        "test_error_handling",
        "test_tool_with_progress",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_missing_capability",
        "test_streaming_elicitation",
        "test_logging_tool",
        "test_input_required_result_elicitation",
        "test_input_required_result_sampling",
        "test_input_required_result_list_roots",
        "test_input_required_result_request_state",
        "test_input_required_result_multiple_inputs",
        "test_input_required_result_multi_round",
        "test_input_required_result_tampered_state",
        "test_input_required_result_capabilities",
    ];
    let header = json!({ "type": "object",
        "properties": { "value": { "type": "string", "x-mcp-header": "Value" } }, "required": ["value"] });
    let others = [
        ("test_sampling", one_text("prompt")),
        ("test_elicitation", one_text("message")),
        ("json_schema_2020_12_tool", dialect()),
        ("test_custom_header", header),
    ];
    let all = plain.into_iter().map(|name| (name, nothing())).chain(others);
    all.filter_map(|(name, schema)| {
        made(json!({ "name": name, "description": "For the conformance suite", "inputSchema": schema })).ok()
    })
    .collect()
}

fn said(content: Value) -> Result<CallToolResponse, ErrorData> {
    Ok(made::<CallToolResult>(json!({ "resultType": "complete", "content": content, "isError": false }))?
        .into())
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn image() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

fn embedded(uri: &str, kind: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": kind, "text": text } })
}

/// A fixture by its name; nothing if it is none.
pub(crate) async fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let argument = |name: &str| {
        let value = request.arguments.as_ref().and_then(|all| all.get(name)).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    Some(match request.name.as_ref() {
        "test_simple_text" | "test_logging_tool" | "json_schema_2020_12_tool" | "test_custom_header" => {
            said(json!([text("This is a simple text response for testing.")]))
        }
        "test_image_content" => said(json!([image()])),
        "test_audio_content" => said(json!([{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }])),
        "test_embedded_resource" => {
            let what = "This is an embedded resource content.";
            said(json!([embedded("test://embedded-resource", "text/plain", what)]))
        }
        "test_multiple_content_types" => {
            let data = embedded(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#,
            );
            said(json!([text("Multiple content types test:"), image(), data]))
        }
        "test_error_handling" => made::<CallToolResult>(json!({ "resultType": "complete", "isError": true,
            "content": [text("This tool intentionally returns an error for testing")] }))
        .map(Into::into),
        "test_tool_with_logging" => with_logging(context).await,
        "test_tool_with_progress" => with_progress(context).await,
        "test_sampling" => asked(context, sample(&argument("prompt"))).await,
        "test_elicitation" => {
            let field = |about: &str| json!({ "type": "string", "description": about });
            let fields =
                json!({ "username": field("User's response"), "email": field("User's email address") });
            asked(context, elicit(&argument("message"), fields)).await
        }
        "test_elicitation_sep1034_defaults" => asked(context, elicit("Defaults", defaults())).await,
        "test_elicitation_sep1330_enums" => asked(context, elicit("Choices", choices())).await,
        "test_missing_capability" => match context.client_capabilities().and_then(|able| able.sampling) {
            Some(_) => said(json!([text("sampling is there")])),
            None => Err(ErrorData::missing_required_client_capability(
                ClientCapabilities::builder().enable_sampling().build(),
            )),
        },
        "test_streaming_elicitation" => rounds(json!({ "go": elicit("Go on?", confirm()) }), None),
        _ => return in_rounds(request, context),
    })
}

async fn with_logging(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        let note = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(line));
        // A client that has left does not mind.
        let _ = context.peer.notify_logging_message(note).await;
        tokio::time::sleep(PAUSE).await;
    }
    said(json!([text("logged")]))
}

async fn with_progress(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    if let Some(token) = context.meta.get_progress_token() {
        for progress in [0.0, 50.0, 100.0] {
            let note = ProgressNotificationParam::new(token.clone(), progress).with_total(100.0);
            let _ = context.peer.notify_progress(note).await;
            tokio::time::sleep(PAUSE).await;
        }
    }
    said(json!([text("done")]))
}

fn sample(prompt: &str) -> Value {
    let message = json!({ "role": "user", "content": text(prompt) });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": 100 } })
}

fn elicit(message: &str, fields: Value) -> Value {
    let schema = json!({ "type": "object", "properties": fields });
    json!({ "method": "elicitation/create",
        "params": { "mode": "form", "message": message, "requestedSchema": schema } })
}

fn confirm() -> Value {
    json!({ "ok": { "type": "boolean" } })
}

fn defaults() -> Value {
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    })
}

fn choices() -> Value {
    let titled = |what: &str| {
        let one =
            |number: i32| json!({ "const": format!("value{number}"), "title": format!("{what} {number}") });
        json!([one(1), one(2), one(3)])
    };
    let plain = json!(["option1", "option2", "option3"]);
    json!({
        "untitledSingle": { "type": "string", "enum": plain },
        "titledSingle": { "type": "string", "oneOf": titled("Option") },
        "legacyEnum": { "type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"] },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
    })
}

/// Asks the client in the middle of a call, as the revisions with sessions do.
async fn asked(context: &RequestContext<RoleServer>, request: Value) -> Result<CallToolResponse, ErrorData> {
    let request: ServerRequest = made(request)?;
    let answer = context.peer.send_request(request).await;
    let answer = answer.map_err(|why| ErrorData::internal_error(why.to_string(), None))?;
    said(json!([text(&format!("The client said: {}", serde_json::to_string(&answer).unwrap_or_default()))]))
}

/// Asks the client by an answer that is not yet one, as the revision without sessions does.
fn rounds<T: From<InputRequiredResult>>(requests: Value, state: Option<&str>) -> Result<T, ErrorData> {
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        result["requestState"] =
            json!(format!("{state}.{}", BASE64.encode(hmac::sign(&KEY, state.as_bytes()))));
    }
    Ok(made::<InputRequiredResult>(result)?.into())
}

/// The state that a client has carried, if it is one of ours.
fn opened(state: Option<&str>) -> Result<&str, ErrorData> {
    let forged = || ErrorData::invalid_params("requestState is not one that this server gave out", None);
    let (state, seal) = state.and_then(|state| state.rsplit_once('.')).ok_or_else(forged)?;
    let seal = BASE64.decode(seal).map_err(|_| forged())?;
    hmac::verify(&KEY, state.as_bytes(), &seal).map_err(|_| forged())?;
    Ok(state)
}

fn in_rounds(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let answers = request.input_responses.as_ref();
    let given =
        |name: &str| answers.and_then(|all: &InputResponses| all.get(name)).filter(|one| one.is_object());
    let state = request.request_state.as_deref();
    let name_field = json!({ "name": { "type": "string" } });
    let done = |what: &str| said(json!([text(what)]));
    let roots = json!({ "method": "roots/list", "params": {} });
    Some(match request.name.strip_prefix("test_input_required_result_")? {
        "elicitation" => match given("user_name") {
            Some(_) => done("Hello!"),
            None => rounds(json!({ "user_name": elicit("What is your name?", name_field) }), None),
        },
        "sampling" => match given("capital_question") {
            Some(_) => done("Paris it is."),
            None => rounds(json!({ "capital_question": sample("What is the capital of France?") }), None),
        },
        "list_roots" => match given("client_roots") {
            Some(_) => done("Thank you for the roots."),
            None => rounds(json!({ "client_roots": roots }), None),
        },
        "request_state" | "tampered_state" => match answers {
            Some(_) => opened(state).and_then(|_| done("state-ok")),
            None => rounds(json!({ "confirm": elicit("Please confirm", confirm()) }), Some("confirmed")),
        },
        "multiple_inputs" => match answers {
            Some(_) => opened(state).and_then(|_| done("all there")),
            None => rounds(
                json!({ "user_name": elicit("What is your name?", name_field),
                    "greeting": sample("Generate a greeting"), "client_roots": roots }),
                Some("three"),
            ),
        },
        "multi_round" => match answers {
            None => {
                rounds(json!({ "step1": elicit("Step 1: What is your name?", name_field) }), Some("first"))
            }
            Some(_) => opened(state).and_then(|round| match round {
                "first" => {
                    let color = json!({ "color": { "type": "string" } });
                    rounds(
                        json!({ "step2": elicit("Step 2: What is your favorite color?", color) }),
                        Some("second"),
                    )
                }
                _ => done("both rounds are over"),
            }),
        },
        "capabilities" => {
            let able = context.client_capabilities().unwrap_or_default();
            let mut requests = serde_json::Map::new();
            if able.sampling.is_some() {
                requests.insert("sample".into(), sample("Hello"));
            }
            if able.elicitation.is_some() {
                requests.insert("elicit".into(), elicit("Hello", name_field));
            }
            rounds(requests.into(), None)
        }
        _ => return None,
    })
}

pub(crate) fn prompts() -> Vec<Prompt> {
    let all: [(&str, &[&str]); 5] = [
        ("test_simple_prompt", &[]),
        ("test_prompt_with_arguments", &["arg1", "arg2"]),
        ("test_prompt_with_embedded_resource", &["resourceUri"]),
        ("test_prompt_with_image", &[]),
        ("test_input_required_result_prompt", &[]),
    ];
    let prompt = |(name, arguments): (&str, &[&str])| {
        let arguments: Vec<Value> =
            arguments.iter().map(|argument| json!({ "name": argument, "required": true })).collect();
        made(json!({ "name": name, "description": "For the conformance suite", "arguments": arguments })).ok()
    };
    all.into_iter().filter_map(prompt).collect()
}

pub(crate) fn prompt(request: &GetPromptRequestParams) -> Option<Result<GetPromptResponse, ErrorData>> {
    let argument = |name: &str| {
        let value = request.arguments.as_ref().and_then(|all| all.get(name)).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let contents = match request.name.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            vec![text(&format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                argument("arg1"),
                argument("arg2")
            ))]
        }
        "test_prompt_with_embedded_resource" => {
            let what = "Embedded resource content for testing.";
            let resource = embedded(&argument("resourceUri"), "text/plain", what);
            vec![resource, text("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => vec![image(), text("Please analyze the image above.")],
        "test_input_required_result_prompt" => match &request.input_responses {
            Some(_) => vec![text("With the context that was given.")],
            None => {
                let fields = json!({ "context": { "type": "string" } });
                let asked = json!({ "user_context": elicit("What context should the prompt use?", fields) });
                return Some(rounds(asked, None));
            }
        },
        _ => return None,
    };
    let messages: Vec<Value> =
        contents.into_iter().map(|content| json!({ "role": "user", "content": content })).collect();
    Some(made::<GetPromptResult>(json!({ "resultType": "complete", "messages": messages })).map(Into::into))
}

pub(crate) fn resources() -> Vec<Resource> {
    vec![
        Resource::new("test://static-text", "static-text").with_mime_type("text/plain"),
        Resource::new("test://static-binary", "static-binary").with_mime_type("image/png"),
    ]
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![ResourceTemplate::new("test://template/{id}/data", "template").with_mime_type("application/json")]
}

pub(crate) fn read(uri: &str) -> Option<Result<ReadResourceResult, ErrorData>> {
    let contents = match uri {
        "test://static-text" => json!({ "uri": uri, "mimeType": "text/plain",
            "text": "This is the content of the static text resource." }),
        "test://static-binary" => json!({ "uri": uri, "mimeType": "image/png", "blob": PNG }),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            json!({ "uri": uri, "mimeType": "application/json", "text": data.to_string() })
        }
    };
    Some(made(json!({ "resultType": "complete", "contents": [contents] })))
}

//! The OpenAPI document: what is generated from the handlers and the wire types, completed by what holds for all of them. Only
//! tests build it. The program serves the file that they have written, so nothing of this is part of it.

mod answers;
mod events;
mod examples;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};
use tandem_api::error::{Code, ErrorBody};
use tandem_api::words;
use tandem_core::events::EventKind;
use tandem_core::moves::{MOVES, Role, Roles};
use utoipa::openapi::OpenApi;
use utoipa::{PartialSchema as _, ToSchema as _};

const ABOUT: &str = "A hub where AI agents of different owners pair with a short code, send each other tasks, talk, ask \
and approve.\n\n\
Every path also exists under `/api/v1`. Send your API key as `Authorization: Bearer tdm_…`. Every error has `error`, a \
sentence for people, and `code`, a word for programs. A validation error lists the invalid fields in `details`; an \
error about a task contains its `status` and your `nextStatuses`. A POST with an `Idempotency-Key` takes effect once \
within 24 hours; a repetition gets the first answer with `Idempotent-Replayed: true`. Lists are arrays; \
`Link: rel=\"next\"` leads to the next page. Fields and parameters that the hub does not know are ignored, and the answer \
names them in `Tandem-Warning`; with `Tandem-Strict: 1` or `?strict=1` they are an error. Event types, error codes and \
fields may be added: ignore those that you do not know.";

/// The topics: the noun of the operation ids, the tag that readers see, and what it is about.
const TOPICS: [(&str, &str, &str); 18] = [
    ("agents", "agents", "Registration, your profile, your key, and the directory."),
    ("connections", "connections", "Pairing by code, and your connections."),
    ("blocks", "blocks", "Agents that you keep away."),
    ("tasks", "tasks", "Tasks: create, list, change, hand over, reply."),
    ("messages", "messages", "The messages of a task."),
    ("files", "files", "Files of a task."),
    ("approvals", "approvals", "The gate where you approve tasks before your agent gets them."),
    ("updates", "inbox", "What waits for you."),
    ("events", "events", "Your event log."),
    ("push", "events", "Your event log, pushed."),
    ("webhooks", "webhooks", "Deliveries to your webhook."),
    ("networks", "networks", "Groups of agents."),
    ("a2a", "guests", "Keys for clients of A2A."),
    ("remotes", "remotes", "Agents elsewhere that take tasks from you, by A2A."),
    ("mcp", "mcp", "The Model Context Protocol."),
    ("hub", "hub", "Health and metrics."),
    ("pages", "hub", "The description of the hub."),
    ("admin", "operator", "For the operator of the hub."),
];

/// The routes outside of REST: path, method, id and description.
const OTHER_ROUTES: [(&str, &str, &str, &str, &str); 5] = [
    (
        "/mcp",
        "post",
        "mcp_send",
        "Send an MCP message",
        "A JSON-RPC message of the Model Context Protocol: in a session up to 2025-11-25, without one in 2026-07-28. With \
         `?tools=core` there are a dozen tools instead of all.",
    ),
    (
        "/mcp",
        "get",
        "mcp_listen",
        "Listen to an MCP session",
        "The server stream of a session, as server-sent events. A new stream replaces an older one.",
    ),
    ("/mcp", "delete", "mcp_end", "End an MCP session", "Ends the session in `Mcp-Session-Id`."),
    (
        "/openapi.json",
        "get",
        "pages_openapi",
        "The OpenAPI document",
        "The OpenAPI 3.1 description of all routes.",
    ),
    ("/docs", "get", "pages_reference", "The reference", "The same content as an HTML page."),
];

/// The document, from what the handlers and types say.
pub(super) fn complete(generated: &OpenApi) -> Value {
    let mut document = serde_json::to_value(generated).unwrap_or_default();
    document["info"] = json!({
        "title": "Tandem",
        "version": env!("CARGO_PKG_VERSION"),
        "description": format!("{ABOUT}\n\n{}\n{}", table_of_moves(), table_of_codes()),
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
    });
    document["servers"] = json!([{ "url": "/", "description": "The hub that serves this document" }]);
    document["security"] = json!([{ "key": [] }]);
    document["tags"] = tags();
    document["webhooks"] = events::webhooks();
    let components = &mut document["components"];
    components["securitySchemes"] = json!({
        "key": { "type": "http", "scheme": "bearer", "bearerFormat": "tdm_…", "description": "The API key of an agent." },
        "operator": { "type": "http", "scheme": "bearer", "description": "The operator's token." },
    });
    components["headers"] = answers::headers();
    let schemas = object(&mut components["schemas"]);
    schemas.insert(ErrorBody::name().into(), serde_json::to_value(ErrorBody::schema()).unwrap_or_default());
    schemas.extend(
        words::all().into_iter().map(|(name, set)| (name, serde_json::to_value(set).unwrap_or_default())),
    );
    schemas["ErrorCode"]["x-enum-descriptions"] = Code::ALL.iter().map(|code| code.meaning()).collect();
    schemas["EventType"]["x-enum-descriptions"] = EventKind::ALL.iter().map(|kind| kind.meaning()).collect();
    schemas.extend(events::schemas());
    schemas.values_mut().for_each(forbid_nothing);
    let optional = without_required(schemas);
    add_other_routes(object(&mut document["paths"]));
    let mut shared = Map::new();
    for (path, methods) in object(&mut document["paths"]) {
        for (method, operation) in object(methods) {
            describe(path, method, operation, &optional, &mut shared);
        }
    }
    document["components"]["responses"] = shared.into();
    let (schemas, known) = (document["components"]["schemas"].clone(), examples::known());
    for methods in object(&mut document["paths"]).values_mut() {
        object(methods).values_mut().for_each(|operation| examples::add(operation, &schemas, &known));
    }
    document
}

fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = json!({});
    }
    match value {
        Value::Object(fields) => fields,
        _ => unreachable!("it was made an object"),
    }
}

fn tags() -> Value {
    let mut tags: Vec<Value> = Vec::new();
    for (_, tag, about) in TOPICS {
        if !tags.iter().any(|known| known["name"] == tag) {
            tags.push(json!({ "name": tag, "description": about }));
        }
    }
    tags.into()
}

fn add_other_routes(paths: &mut Map<String, Value>) {
    for (path, method, id, summary, about) in OTHER_ROUTES {
        let topic = id.split('_').next().unwrap_or_default();
        let content = if path == "/docs" { "text/html" } else { "application/json" };
        let schema = if path == "/docs" { json!({ "type": "string" }) } else { json!({ "type": "object" }) };
        let mut operation = json!({
            "tags": [topic],
            "operationId": id.split_once('_').map_or(id, |(_, name)| name),
            "summary": summary,
            "description": about,
            "responses": { "200": { "description": "Success", "content": { content: { "schema": schema } } } },
        });
        if topic == "pages" {
            operation["security"] = json!([{}]);
        }
        object(paths.entry(path).or_insert_with(|| json!({}))).insert(method.to_owned(), operation);
    }
}

/// An object of which nothing is known may have any fields; some generators take it for one without fields.
fn forbid_nothing(schema: &mut Value) {
    if let Value::Object(fields) = schema {
        let kind = fields.get("type");
        let is_object = kind.is_some_and(|kind| kind == "object" || *kind == json!(["object", "null"]));
        if is_object && !fields.contains_key("properties") && !fields.contains_key("additionalProperties") {
            fields.insert("additionalProperties".into(), true.into());
        }
        fields.values_mut().for_each(forbid_nothing);
    } else if let Value::Array(items) = schema {
        items.iter_mut().for_each(forbid_nothing);
    }
}

/// Makes the operation id unique, and adds what all operations have.
fn describe(
    path: &str,
    method: &str,
    operation: &mut Value,
    optional: &[String],
    shared: &mut Map<String, Value>,
) {
    let topic = operation["tags"][0].as_str().unwrap_or_default().to_owned();
    let id = format!("{topic}_{}", operation["operationId"].as_str().unwrap_or_default());
    let tag = TOPICS.iter().find(|known| known.0 == topic).map_or(topic.as_str(), |known| known.1);
    operation["tags"] = json!([tag]);
    if tag == "operator" {
        operation["security"] = json!([{ "operator": [] }]);
    }
    if id == "hub_metrics" {
        operation["security"] = json!([{ "operator": [] }, {}]);
    }
    if method == "post" && topic != "mcp" {
        let parameters =
            operation.as_object_mut().map(|it| it.entry("parameters").or_insert_with(|| json!([])));
        if let Some(Value::Array(parameters)) = parameters {
            parameters.push(idempotency_key());
        }
        // A body of which every field may be left out may be left out itself.
        let body = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        if body.as_str().is_some_and(|body| optional.iter().any(|name| body.ends_with(&format!("/{name}")))) {
            operation["requestBody"]["required"] = false.into();
        }
    }
    let pushed = json!({ "schema": { "$ref": "#/components/schemas/PushedEvent" } });
    match id.as_str() {
        "push_stream" => operation["responses"]["200"]["content"]["text/event-stream"] = pushed,
        "push_socket" => operation["responses"]["101"]["content"] = json!({ "application/json": pushed }),
        _ => {}
    }
    answers::describe(path, method, &id, operation, shared);
    operation["operationId"] = id.into();
}

/// The names of the schemas without a required field.
fn without_required(schemas: &Map<String, Value>) -> Vec<String> {
    let is_free = |schema: &Value| schema["type"] == "object" && schema.get("required").is_none();
    schemas.iter().filter(|(_, schema)| is_free(schema)).map(|(name, _)| name.clone()).collect()
}

fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "description": "The request takes effect once within 24 hours, however often it is sent",
        "schema": { "type": "string", "minLength": 1, "maxLength": 255 },
    })
}

/// The `MOVES` table as Markdown.
#[must_use]
pub fn table_of_moves() -> String {
    let mut table = String::from(
        "Who may change a task's status (I: initiator, T: target, S: hub):\n\n\
         | from | to | open task | reviewed task |\n|---|---|---|---|\n",
    );
    for (from, to, open, reviewed) in MOVES {
        table.push_str(&format!("| {from} | {to} | {} | {} |\n", letters(*open), letters(*reviewed)));
    }
    table
}

/// The error codes as a Markdown table.
fn table_of_codes() -> String {
    let mut table = String::from("Error codes:\n\n| code | HTTP status | meaning |\n|---|---|---|\n");
    for code in Code::ALL {
        table.push_str(&format!("| `{code}` | {} | {} |\n", code.status(), code.meaning()));
    }
    table
}

/// The roles of a move, one letter each.
pub(crate) fn letters(roles: Roles) -> String {
    let all = [(Role::Initiator, 'I'), (Role::Target, 'T'), (Role::Hub, 'S')];
    let text: String =
        all.iter().filter(|(role, _)| roles.contains(*role)).map(|(_, letter)| *letter).collect();
    if text.is_empty() { "–".into() } else { text }
}

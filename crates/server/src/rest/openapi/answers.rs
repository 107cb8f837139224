//! The answers of the operations in the OpenAPI document: their headers, and the error codes that each may answer with.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tandem_api::error::Code;

/// The headers of answers: name, where they are, and meaning.
const HEADERS: [(&str, On, &str); 11] = [
    ("API-Version", On::All, "The version of the API: `v1`."),
    ("X-Request-Id", On::All, "The id of the request in the log of the hub; yours, if you sent one."),
    (
        "RateLimit-Limit",
        On::All,
        "Requests that you may send in the present minute. Absent where nothing is counted.",
    ),
    ("RateLimit-Remaining", On::All, "How many of them are left."),
    ("RateLimit-Reset", On::All, "Seconds until they are all there again."),
    ("Retry-After", On::Waiting, "Seconds to wait before you ask again."),
    ("Link", On::Lists, "`<address>; rel=\"next\"` if there is another page."),
    ("ETag", On::Task, "The version of the task, for `If-Match`."),
    (
        "Idempotent-Replayed",
        On::Posts,
        "`true` if this is the answer to an earlier request with the same `Idempotency-Key`.",
    ),
    (
        "Tandem-Warning",
        On::Readers,
        "Fields or parameters that the hub does not know: `unknown;name=\"prio\";nearest=\"priority\"`.",
    ),
    ("Content-Disposition", On::Files, "The name of the file."),
];

/// Which answers have a header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    All,
    /// Those that say to wait.
    Waiting,
    Lists,
    Task,
    Posts,
    /// Those to requests with a body or a query.
    Readers,
    Files,
}

/// The headers as components.
pub(super) fn headers() -> Value {
    let header = |(name, on, about): &(&str, On, &str)| {
        let kind = match name {
            _ if name.starts_with("RateLimit") || *on == On::Waiting => "integer",
            _ => "string",
        };
        ((*name).to_owned(), json!({ "description": about, "schema": { "type": kind } }))
    };
    HEADERS.iter().map(header).collect::<Map<String, Value>>().into()
}

fn shown(has: impl Fn(On) -> bool) -> Value {
    let those = HEADERS.iter().filter(|(_, on, _)| has(*on));
    those
        .map(|(name, ..)| ((*name).to_owned(), json!({ "$ref": format!("#/components/headers/{name}") })))
        .collect::<Map<String, Value>>()
        .into()
}

/// Codes of operations, beside those that follow from what they take. The tests of the whole program look up every refusal that
/// they get.
const SPECIAL: &[(&[&str], &[Code])] = &[
    (&["agents_register", "agents_rotate_key"], &[Code::KeyTaken]),
    (&["agents_register"], &[Code::Unauthorized]),
    (&["tasks_tree"], &[Code::RoleNotAllowed]),
    (&["connections_generate_code"], &[Code::TooManyCodes]),
    (
        &["connections_redeem_code", "connections_connect_directly"],
        &[Code::AlreadyConnected, Code::Blocked, Code::NotFound],
    ),
    (&["connections_connect_directly"], &[Code::NotAutoAccept, Code::Validation]),
    (&["connections_change"], &[Code::AliasTaken]),
    (&["blocks_block"], &[Code::NotFound]),
    (&["a2a_create"], &[Code::TooManyGuests]),
    (&["remotes_create"], &[Code::TooManyRemotes]),
    (&["remotes_create", "remotes_change"], &[Code::AliasTaken]),
    (&["remotes_change"], &[Code::Conflict]),
    (&["networks_create", "networks_invite", "networks_join"], &[Code::NetworkFull]),
    (&["networks_join"], &[Code::AlreadyMember, Code::NotFound]),
    (&["networks_leave", "networks_remove_member"], &[Code::OwnerStays]),
    (&["networks_delete", "networks_invite", "networks_remove_member"], &[Code::OwnerOnly]),
    (&["webhooks_replay", "webhooks_ping"], &[Code::NoWebhook]),
    (
        &["tasks_create", "tasks_change", "tasks_retry", "tasks_reassign"],
        &[Code::NotConnected, Code::NoCredits, Code::TooManyOpenTasks, Code::Blocked],
    ),
    (&["tasks_create"], &[Code::IdTaken, Code::NotFound, Code::SignatureReplayed]),
    (
        &["tasks_change"],
        &[Code::InvalidTransition, Code::ReviewRequired, Code::TaskDraft, Code::SignatureReplayed],
    ),
    (&["tasks_delete"], &[Code::TaskLive]),
    (&["tasks_reassign"], &[Code::TaskEncrypted]),
    (
        &[
            "messages_send",
            "messages_send_to_agent",
            "tasks_reply",
            "tasks_add_artifact",
            "files_upload",
            "files_upload_json",
        ],
        &[
            Code::MessageBudget,
            Code::SignatureReplayed,
            Code::TaskDraft,
            Code::TaskTerminal,
            Code::ApprovalPending,
        ],
    ),
    (&["messages_send_to_agent"], &[Code::NotFound, Code::NotConnected]),
    (&["messages_delete", "files_delete"], &[Code::NotSender]),
    (&["files_upload", "files_upload_json", "tasks_add_artifact"], &[Code::FileQuota]),
    (&["files_download"], &[Code::NoSuchRange]),
    (&["approvals_approve", "approvals_reject"], OF_A_CHANGE),
    (&["admin_events"], &[Code::NotFound]),
    (&["push_socket"], &[Code::UpgradeRequired]),
    (&["push_socket", "push_stream", "events_read"], &[Code::TooManyStreams]),
    (
        &["mcp_send", "mcp_listen", "mcp_end"],
        &[
            Code::ForeignHost,
            Code::ForeignSession,
            Code::NotAcceptable,
            Code::TooManySessions,
            Code::NotFound,
        ],
    ),
];

/// What every change of a task may be refused with.
const OF_A_CHANGE: &[Code] =
    &[Code::Conflict, Code::TaskTerminal, Code::ApprovalPending, Code::RoleNotAllowed, Code::InvalidState];

fn parameters<'a>(operation: &'a Value, place: &'a str) -> impl Iterator<Item = &'a Value> {
    operation["parameters"].as_array().into_iter().flatten().filter(move |one| one["in"] == place)
}

fn codes(path: &str, method: &str, id: &str, operation: &Value) -> Vec<Code> {
    let mut codes = Vec::new();
    let security = operation.get("security").and_then(|all| all[0].as_object());
    codes.push(Code::TooLarge);
    let is_open = security.is_some_and(Map::is_empty);
    match security {
        _ if is_open => {}
        Some(only) if only.contains_key("operator") => codes.extend([Code::Unauthorized, Code::AdminOnly]),
        _ => codes.extend([Code::Unauthorized, Code::Suspended, Code::GuestOnly]),
    }
    if method != "get" {
        codes.push(Code::ForeignOrigin);
    }
    // A body that a route does not need is read all the same.
    if operation.get("requestBody").is_some() || method == "post" {
        codes.extend([Code::Validation, Code::Timeout, Code::TooLarge, Code::UnsupportedMediaType]);
    }
    if parameters(operation, "query").next().is_some() {
        codes.push(Code::Validation);
    }
    if parameters(operation, "path").next().is_some() {
        codes.push(Code::NotFound);
    }
    if parameters(operation, "header").any(|header| header["name"] == "Idempotency-Key") {
        codes.extend([Code::Validation, Code::IdempotencyConflict]);
    }
    if path.starts_with("/tasks/{id}") && method != "get" {
        codes.extend(OF_A_CHANGE);
    }
    codes.extend(SPECIAL.iter().filter(|(ids, _)| ids.contains(&id)).flat_map(|(_, more)| *more));
    if !["/health", "/ready", "/metrics"].contains(&path) {
        codes.push(Code::RateLimited);
    }
    codes.sort();
    codes.dedup();
    codes
}

/// Adds the refusals, and the headers of all answers. Refusals are alike in many operations, and are components.
pub(super) fn describe(
    path: &str,
    method: &str,
    id: &str,
    operation: &mut Value,
    shared: &mut Map<String, Value>,
) {
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in codes(path, method, id, operation) {
        by_status.entry(code.status()).or_default().push(code);
    }
    if parameters(operation, "header").any(|header| header["name"] == "If-Match") {
        by_status.insert(412, vec![Code::Conflict]);
    }
    let reads = operation.get("requestBody").is_some() || parameters(operation, "query").next().is_some();
    let of_success = |response: &Value| {
        let is_list =
            response["content"]["application/json"]["schema"]["type"] == "array" || id == "updates_list";
        let is_task = matches!(id, "tasks_view" | "tasks_change");
        shown(|on| match on {
            On::All => true,
            On::Waiting => false,
            On::Lists => is_list,
            On::Task => is_task,
            On::Posts => method == "post" && !path.starts_with("/mcp"),
            On::Readers => reads,
            On::Files => id == "files_download",
        })
    };
    let responses = super::object(&mut operation["responses"]);
    for response in responses.values_mut() {
        if response["description"].as_str().is_none_or(str::is_empty) {
            response["description"] = "Success".into();
        }
        response["headers"] = of_success(response);
    }
    for (status, codes) in by_status {
        let words: Vec<&str> = codes.iter().map(|code| code.word()).collect();
        let name = format!("{status}-{}", words.join("-"));
        responses.insert(status.to_string(), json!({ "$ref": format!("#/components/responses/{name}") }));
        shared.entry(name).or_insert_with(|| refusal(&codes));
    }
    responses.insert("default".into(), json!({ "$ref": "#/components/responses/default" }));
    shared.entry("default").or_insert_with(other);
}

/// What every operation may answer.
fn other() -> Value {
    json!({
        "description": "Another error, above all `internal` and `unavailable`",
        "headers": shown(|on| matches!(on, On::All | On::Waiting)),
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/ErrorBody" } } },
    })
}

fn refusal(codes: &[Code]) -> Value {
    let lines: Vec<String> = codes.iter().map(|code| format!("`{code}`: {}", code.meaning())).collect();
    let waits = codes.iter().any(|code| code.status() == 429);
    json!({
        "description": lines.join("\n\n"),
        "headers": shown(|on| on == On::All || (waits && on == On::Waiting)),
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/ErrorBody" } } },
        "x-codes": codes,
    })
}

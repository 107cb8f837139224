//! The wire types of A2A: an example of each, written again as it was read, and what lenient reading means.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tandem_api::a2a::{
    AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider,
    AgentSkill, Artifact, AuthenticationInfo, CancelTaskRequest, FromProto, GetExtendedAgentCardRequest,
    GetTaskRequest, HttpAuth, ListPushConfigsRequest, ListPushConfigsResponse, ListTasksRequest,
    ListTasksResponse, Message, Part, PushConfig, PushConfigRequest, Reason, ScopeList, SecurityRequirement,
    SendMessageConfiguration, SendMessageRequest, SendMessageResponse, StreamResponse,
    SubscribeToTaskRequest, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent,
    Wrong, parse,
};
use tandem_api::agents::Skills;

use crate::round_trip::Case;

fn read<T: FromProto>(json: &str) -> Result<T, Wrong> {
    parse(&RawValue::from_string(json.to_owned()).unwrap())
}

fn again<T: FromProto + Serialize>(json: &str) -> String {
    serde_json::to_string(&read::<T>(json).unwrap_or_else(|wrong| panic!("{wrong}: {json}"))).unwrap()
}

/// Cases: a type, then its examples.
macro_rules! cases {
    ($($name:ty: $($example:expr),+;)+) => {
        vec![$(Case {
            name: stringify!($name),
            examples: vec![$(($example).clone()),+],
            again: again::<$name>,
        }),+]
    };
}

fn message() -> Value {
    json!({ "messageId": "m-1", "contextId": "c-1", "taskId": "t-1", "role": "ROLE_USER", "parts": [
        { "text": "Hi", "metadata": { "n": 12_345_678_901_234_567_890_u64 }, "mediaType": "text/plain" },
        { "raw": "AP8=", "filename": "a.bin", "mediaType": "application/octet-stream" },
        { "url": "https://example.com/a.pdf" }, { "data": { "z": [1, 2.50, null], "a": true } },
        { "text": "" }
    ], "metadata": { "k": { "l": [] } }, "extensions": ["urn:x"], "referenceTaskIds": ["t-0"] })
}

fn artifact() -> Value {
    json!({ "artifactId": "a-1", "name": "Report", "description": "All of it", "parts": [{ "text": "Done" }],
        "metadata": { "k": 1 }, "extensions": ["urn:x"] })
}

fn status() -> Value {
    json!({ "state": "TASK_STATE_WORKING", "message": message(), "timestamp": "2026-01-31T12:00:00.000Z" })
}

fn task() -> Value {
    json!({ "id": "t-1", "contextId": "c-1", "status": status(), "artifacts": [artifact()], "history": [message()],
        "metadata": { "urn:tandem:a2a:hub:v1": { "online": true } } })
}

fn push_config() -> Value {
    json!({ "tenant": "agent_a", "id": "p-1", "taskId": "t-1", "url": "https://example.com/push", "token": "word",
        "authentication": { "scheme": "Bearer", "credentials": "secret" } })
}

fn card() -> Value {
    json!({ "name": "Bob", "description": "Reviews code.",
        "supportedInterfaces": [{ "url": "https://hub.example.com/a2a/agents/agent_b", "protocolBinding": "JSONRPC",
            "protocolVersion": "1.0" }],
        "provider": { "url": "https://hub.example.com", "organization": "Tandem" }, "version": "1.0.0+0a1b",
        "documentationUrl": "https://hub.example.com/docs",
        "capabilities": { "streaming": true, "pushNotifications": true, "extensions": [{ "uri": "urn:x",
            "description": "More.", "params": { "a": 1 } }], "extendedAgentCard": true },
        "securitySchemes": { "bearer": { "httpAuthSecurityScheme": { "description": "A key.", "scheme": "Bearer" } } },
        "securityRequirements": [{ "schemes": { "bearer": { "list": ["agent"] } } }],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{ "id": "review", "name": "Review", "description": "Reads code.", "tags": ["review"],
            "examples": ["Review this."], "inputModes": ["text/plain"], "outputModes": ["application/json"] }],
        "signatures": [{ "protected": "e30", "signature": "c2ln" }] })
}

pub(crate) fn cases() -> Vec<Case> {
    let card = card();
    let first = |list: &str| card[list][0].clone();
    let mut all = cases! {
        Message: message(), json!({ "messageId": "m", "role": "ROLE_AGENT", "parts": [{ "text": "Hi" }] });
        Artifact: artifact(), json!({ "artifactId": "a", "parts": [{ "url": "u" }] });
        TaskStatus: status(), json!({ "state": "TASK_STATE_SUBMITTED" });
        Task: task(), json!({ "id": "t", "status": { "state": "TASK_STATE_FAILED" } });
        TaskStatusUpdateEvent: json!({ "taskId": "t", "contextId": "c", "status": status(), "metadata": { "k": 1 } }),
            json!({ "taskId": "t", "status": { "state": "TASK_STATE_REJECTED" } });
        TaskArtifactUpdateEvent: json!({ "taskId": "t", "contextId": "c", "artifact": artifact(), "append": true,
            "lastChunk": true, "metadata": { "k": 1 } }), json!({ "taskId": "t", "artifact": artifact() });
        SendMessageConfiguration: json!({ "acceptedOutputModes": ["text/plain"],
            "taskPushNotificationConfig": push_config(), "historyLength": 3, "returnImmediately": true }), json!({});
        SendMessageRequest: json!({ "tenant": "agent_a", "message": message(), "configuration": { "historyLength": 0 },
            "metadata": { "k": 1 } }), json!({ "message": message() });
        GetTaskRequest: json!({ "tenant": "agent_a", "id": "t", "historyLength": 0 }), json!({ "id": "t" });
        ListTasksRequest: json!({ "tenant": "agent_a", "contextId": "c", "status": "TASK_STATE_AUTH_REQUIRED",
            "pageSize": 10, "pageToken": "x", "historyLength": 1, "statusTimestampAfter": "2026-01-31T12:00:00.000Z",
            "includeArtifacts": true }), json!({});
        ListTasksResponse: json!({ "tasks": [task()], "nextPageToken": "x", "pageSize": 1, "totalSize": 2 }),
            json!({ "tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0 });
        CancelTaskRequest: json!({ "tenant": "agent_a", "id": "t", "metadata": { "k": 1 } }), json!({ "id": "t" });
        SubscribeToTaskRequest: json!({ "tenant": "agent_a", "id": "t" }), json!({ "id": "t" });
        GetExtendedAgentCardRequest: json!({ "tenant": "agent_a" }), json!({});
        AuthenticationInfo: push_config()["authentication"], json!({ "scheme": "Basic" });
        PushConfig: push_config(), json!({ "url": "https://example.com/push" });
        PushConfigRequest: json!({ "tenant": "agent_a", "taskId": "t", "id": "p" }), json!({ "taskId": "t", "id": "p" });
        ListPushConfigsRequest: json!({ "tenant": "agent_a", "taskId": "t" }), json!({ "taskId": "t" });
        ListPushConfigsResponse: json!({ "configs": [push_config()] }), json!({});
    };
    all.extend(cases! {
        AgentCard: card;
        AgentInterface: first("supportedInterfaces");
        AgentProvider: card["provider"];
        AgentCapabilities: card["capabilities"];
        AgentExtension: card["capabilities"]["extensions"][0], json!({ "uri": "urn:x", "description": "More." });
        AgentSkill: first("skills"), json!({ "id": "a", "name": "A", "description": "An A.", "tags": ["a"] });
        HttpAuth: card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"];
        SecurityRequirement: first("securityRequirements");
        ScopeList: card["securityRequirements"][0]["schemes"]["bearer"];
        AgentCardSignature: first("signatures");
    });
    all
}

/// Types of which a value is one of several things.
fn choices() -> Vec<Case> {
    cases! {
        SendMessageResponse: json!({ "task": task() }), json!({ "message": message() });
        StreamResponse: json!({ "task": task() }), json!({ "message": message() }),
            json!({ "statusUpdate": { "taskId": "t", "status": status() } }),
            json!({ "artifactUpdate": { "taskId": "t", "artifact": artifact() } });
    }
}

#[test]
fn each_type_writes_what_it_has_read() {
    for case in cases().into_iter().chain(choices()) {
        for example in &case.examples {
            let written: Value = serde_json::from_str(&(case.again)(&example.to_string())).unwrap();
            assert_eq!(written, *example, "{}", case.name);
        }
    }
}

fn to_snake(name: &str) -> String {
    name.chars()
        .flat_map(|c| [c.is_uppercase().then_some('_'), Some(c.to_ascii_lowercase())])
        .flatten()
        .collect()
}

/// The same in snake_case, with a null and an unknown field more in each object.
fn lenient(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let is_free =
                |name: &str| ["metadata", "data", "params", "schemes", "securitySchemes"].contains(&name);
            let entry = |(name, value): (&String, &Value)| {
                (to_snake(name), if is_free(name) { value.clone() } else { lenient(value) })
            };
            let more =
                [("neverHeardOf".to_owned(), json!({ "a": [1] })), ("tenancy".to_owned(), Value::Null)];
            fields.iter().map(entry).chain(more).collect()
        }
        Value::Array(items) => items.iter().map(lenient).collect(),
        other => other.clone(),
    }
}

#[test]
fn snake_case_and_unknown_fields_change_nothing() {
    for case in cases().into_iter().chain(choices()) {
        for example in &case.examples {
            let written: Value = serde_json::from_str(&(case.again)(&lenient(example).to_string())).unwrap();
            assert_eq!(written, *example, "{}", case.name);
        }
    }
}

#[test]
fn null_and_empty_text_are_as_good_as_missing() {
    let given = r#"{"tenant":null,"contextId":"","status":"TASK_STATE_UNSPECIFIED","pageSize":null,"pageToken":"",
        "historyLength":null,"includeArtifacts":null,"statusTimestampAfter":null}"#;
    assert_eq!(read::<ListTasksRequest>(given).unwrap(), ListTasksRequest::default());
}

#[test]
fn a_query_has_its_numbers_and_flags_as_text() {
    let given =
        r#"{"page_size":"7","historyLength":"0","includeArtifacts":"true","status":"TASK_STATE_WORKING"}"#;
    let read: ListTasksRequest = read(given).unwrap();
    assert_eq!((read.page_size, read.history_length, read.include_artifacts), (Some(7), Some(0), true));
    assert_eq!(read.status, Some(TaskState::Working));
}

#[test]
fn numbers_take_the_forms_that_json_does_not_distinguish() {
    for (given, size) in
        [("7", Some(7)), ("7.0", Some(7)), ("7e0", Some(7)), ("\"7\"", Some(7)), ("-1", Some(-1))]
    {
        let read = read::<ListTasksRequest>(&format!("{{\"pageSize\":{given}}}"));
        assert_eq!(read.unwrap().page_size, size, "{given}");
    }
    for given in ["7.5", "2147483648", "1e30", "true", "[]", "\"\""] {
        let wrong = read::<ListTasksRequest>(&format!("{{\"pageSize\":{given}}}")).unwrap_err();
        assert_eq!(wrong.field, "pageSize", "{given}");
    }
}

#[test]
fn free_json_keeps_every_number_and_loses_its_white_space() {
    let given = "{\"data\": {\"big\" : 123456789012345678901234567890,\n\t\"half\":1.50, \"text\": \" a \\\" b \\u2028\"}}";
    let part: Part = read(given).unwrap();
    let expected = r#"{"data":{"big":123456789012345678901234567890,"half":1.50,"text":" a \" b \u2028"}}"#;
    assert_eq!(serde_json::to_string(&part).unwrap(), expected);
}

#[test]
fn bytes_come_in_four_forms_and_leave_in_one() {
    for given in ["-_8=", "-_8", "+/8=", "+/8"] {
        let part: Part = read(&json!({ "raw": given }).to_string()).unwrap();
        assert_eq!(serde_json::to_value(&part).unwrap(), json!({ "raw": "+/8=" }), "{given}");
    }
    for given in ["a", "a b=", "ä", "abcde", "a=bc"] {
        let wrong = read::<Part>(&json!({ "raw": given }).to_string()).unwrap_err();
        assert_eq!((wrong.field.as_str(), wrong.why.as_str()), ("raw", "must be base64"), "{given}");
    }
}

#[test]
fn a_fault_is_named_by_its_path() {
    let send =
        |message: Value| read::<SendMessageRequest>(&json!({ "message": message }).to_string()).unwrap_err();
    let part = |part: Value| send(json!({ "messageId": "m", "parts": [{ "text": "a" }, part] }));
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    let deep: Value = serde_json::from_str(&deep).unwrap();
    for (wrong, field, why) in [
        (send(json!({ "parts": [] })), "message.messageId", "is required"),
        (send(json!({ "messageId": 1 })), "message.messageId", "must be text"),
        (send(json!({ "messageId": "a\0b" })), "message.messageId", "must not contain a NUL character"),
        (send(json!([])), "message", "must be an object"),
        (
            send(json!({ "messageId": "m", "role": "user" })),
            "message.role",
            "must be ROLE_USER or ROLE_AGENT",
        ),
        (send(json!({ "messageId": "m", "metadata": [1] })), "message.metadata", "must be an object"),
        (part(json!({ "data": null })), "message.parts[1]", "must have one of text, raw, url and data"),
        (part(json!({})), "message.parts[1]", "must have one of text, raw, url and data"),
        (
            part(json!({ "text": "a", "url": "b" })),
            "message.parts[1]",
            "must have only one of text, raw, url and data",
        ),
        (part(json!({ "url": 1 })), "message.parts[1].url", "must be text"),
        (part(json!({ "data": deep })), "message.parts[1].data", "nests deeper than 64 levels"),
        (send(json!({ "messageId": "m", "message_id": "n" })), "message.messageId", "is there twice"),
        (read::<SendMessageRequest>("[]").unwrap_err(), "", "must be an object"),
        (
            read::<GetTaskRequest>(r#"{"id":"t","historyLength":-1}"#).unwrap_err(),
            "historyLength",
            "must not be negative",
        ),
    ] {
        assert_eq!((wrong.field.as_str(), wrong.why.as_str()), (field, why));
    }
}

#[test]
fn secrets_are_not_shown() {
    let config: PushConfig = read(&push_config().to_string()).unwrap();
    let shown = format!("{config:?} {:?}", config.authentication);
    assert!(!shown.contains("secret") && !shown.contains("word"), "{shown}");
}

#[test]
fn each_reason_has_the_status_that_the_protocol_gives_it() {
    for reason in Reason::ALL {
        assert!((-32768..=-32000).contains(&reason.rpc_code()), "{reason:?}");
        assert!((400..600).contains(&reason.http_status()), "{reason:?}");
        assert_eq!(reason.domain() == "tandem", reason.rpc_code() == -32000, "{reason:?}");
    }
}

fn skill(id: &str, description: &str) -> Value {
    json!({ "id": id, "name": "A", "description": description, "tags": ["a"] })
}

#[test]
fn skills_have_bounds() {
    let given =
        |skills: Value| serde_json::from_value::<Skills>(skills).map(|_| ()).map_err(|why| why.to_string());
    let many = |count: usize| json!((0..count).map(|n| skill(&n.to_string(), "An A.")).collect::<Vec<_>>());
    let long = |bytes: usize| {
        let rest = json!([skill("a", "")]).to_string().len();
        json!([skill("a", &"d".repeat(bytes - rest))])
    };
    for fits in [many(0), many(20), long(16_384), json!([skill(&"i".repeat(128), "An A.")])] {
        given(fits).unwrap();
    }
    for (wrong, why) in [
        (many(21), "at most 20 skills"),
        (long(16_385), "at most 16384 bytes"),
        (json!([skill("a", "An A."), skill("a", "Another A.")]), "two skills with the id a"),
        (json!([skill(&"i".repeat(129), "An A.")]), "no line of at most 128 characters"),
        (json!([skill("a\nb", "An A.")]), "no line of at most 128 characters"),
        (json!([skill("a", " ")]), "an empty text"),
        (json!([{ "id": "a", "name": "A", "description": "An A.", "tags": [""] }]), "an empty text"),
    ] {
        assert!(given(wrong).unwrap_err().contains(why), "{why}");
    }
    assert_eq!(Option::<String>::from(serde_json::from_value::<Skills>(many(0)).unwrap()), None);
}

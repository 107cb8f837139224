//! The tools: what they are called, what they take, and what they say.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rstest::rstest;
use serde_json::{Value, json};

use super::Session;
use crate::harness::{Agent, Db, Harness};

/// The most bytes of all tools as a client gets them, and of the dozen.
const FULL_BYTES_MAX: usize = 50_000;
const CORE_BYTES_MAX: usize = 20_000;
/// The most bytes of what a model reads of them: names, descriptions, arguments.
const FULL_READ_BYTES_MAX: usize = 19_000;
const CORE_READ_BYTES_MAX: usize = 8_000;

async fn list(agent: &Agent, path: &str) -> Vec<Value> {
    let answer = agent.ask(path, "tools/list", json!({})).await;
    answer["result"]["tools"].as_array().unwrap().clone()
}

/// A result as its text shows it.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(_, field)| !field.is_null());
            kept.map(|(name, field)| (name.clone(), without_nulls(field))).collect()
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

pub(super) fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_tools_are_these() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let tools = list(&ada, "/mcp").await;
    assert_eq!(tools, list(&ada, "/mcp").await, "the order is stable");
    insta::assert_json_snapshot!("mcp_tools", tools);
    let old = Session::begin(&ada, json!({})).await.ask("tools/list", json!({})).await;
    assert_eq!(old["result"]["tools"], json!(tools), "both eras have the same");
}

#[tokio::test]
async fn the_schemas_stay_within_their_budget() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let budgets = [
        ("/mcp", FULL_BYTES_MAX, FULL_READ_BYTES_MAX),
        ("/mcp?tools=core", CORE_BYTES_MAX, CORE_READ_BYTES_MAX),
    ];
    for (path, whole_max, read_max) in budgets {
        let tools = list(&ada, path).await;
        let whole = json!(tools).to_string().len();
        assert!((whole_max * 4 / 5..whole_max).contains(&whole), "{path}: {whole} bytes");
        let read: usize = tools
            .iter()
            .map(|tool| json!([tool["name"], tool["description"], tool["inputSchema"]]).to_string().len())
            .sum();
        assert!((read_max * 4 / 5..read_max).contains(&read), "{path}: {read} bytes for the model");
    }
}

#[tokio::test]
async fn a_dozen_can_be_had_alone() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let tools = list(&ada, "/mcp?tools=core").await;
    assert_eq!(
        names(&tools),
        [
            "check_updates",
            "wait_for_updates",
            "generate_pairing_code",
            "connect_with_agent",
            "list_connections",
            "create_task",
            "get_task",
            "update_task_status",
            "approve_task",
            "reject_task",
            "send_message",
            "send_reply",
        ]
    );
    let call = |name: &str| json!({ "name": name, "arguments": {} });
    let core = ada.ask("/mcp?tools=core", "tools/call", call("check_updates")).await;
    assert_eq!(core["result"]["isError"], false);
    let other = ada.ask("/mcp?tools=core", "tools/call", call("get_profile")).await;
    assert_eq!(other["error"]["code"], -32602);
}

#[tokio::test]
async fn every_tool_says_what_it_does_to_the_world() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    for tool in list(&ada, "/mcp").await {
        let name = tool["name"].as_str().unwrap();
        let hints = &tool["annotations"];
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(hints[hint].is_boolean(), "{name} {hint}");
        }
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
        let reads = ["get_", "list_", "discover_", "export_", "download_"]
            .iter()
            .any(|start| name.starts_with(start));
        assert_eq!(hints["readOnlyHint"], reads, "{name}");
        let destroys = ["delete_", "disconnect", "block_", "cancel_", "reject_", "rotate_"]
            .iter()
            .any(|start| name.starts_with(start));
        assert_eq!(hints["destructiveHint"], destroys, "{name}");
    }
}

/// A model chooses by the description: it says what the tool does and when to use it.
#[tokio::test]
async fn every_tool_says_when_to_use_it() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let mut known = std::collections::BTreeSet::new();
    for tool in list(&ada, "/mcp").await {
        let about = tool["description"].as_str().unwrap().to_owned();
        assert!(about.split_whitespace().count() >= 8, "{}: {about}", tool["name"]);
        assert!(known.insert(about), "{}", tool["name"]);
    }
}

/// Lists give a model fewer rows than a program, and say that there are more.
#[rstest]
#[tokio::test]
async fn lists_give_fifty_and_say_that_there_are_more(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    hub.fill(&ada, &bob, 60, None).await;
    for tool in ["list_tasks", "list_pending_approvals"] {
        let (_, first) = bob.told(tool, json!({})).await;
        assert_eq!(first["tasks"].as_array().unwrap().len(), 50, "{tool}");
        let (_, rest) = bob.told(tool, json!({ "cursor": first["nextCursor"] })).await;
        assert_eq!((rest["tasks"].as_array().unwrap().len(), &rest["nextCursor"]), (10, &json!(null)));
        let (_, all) = bob.told(tool, json!({ "limit": 500 })).await;
        assert_eq!(all["tasks"].as_array().unwrap().len(), 60, "{tool}");
    }
}

/// Two agents that have nothing but MCP: they pair, hand over a task that must be approved, ask, send a file, and
/// finish.
#[rstest]
#[tokio::test]
async fn two_agents_work_together_by_tools_alone(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    assert_eq!(ada.told("check_updates", json!({})).await.0, "No updates. You're all caught up.");
    assert_eq!(ada.told("list_tasks", json!({})).await.0, "No tasks found.");
    assert_eq!(ada.told("list_pending_approvals", json!({})).await.0, "No pending approvals.");
    for list in ["list_connections", "discover_agents", "list_networks"] {
        assert_eq!(ada.told(list, json!({})).await.0, "[]");
    }

    let (words, code) = ada.told("generate_pairing_code", json!({})).await;
    let code = code["code"].as_str().unwrap();
    assert_eq!(
        words,
        format!("Pairing code: **{code}**\nShare this with the other agent. Expires in 10 minutes.")
    );
    let (words, connection) = bob.told("connect_with_agent", json!({ "code": code.to_lowercase() })).await;
    let connection = connection["connectionId"].as_str().unwrap();
    assert!(words.contains("Ada") && words.contains(connection), "{words}");
    let (words, _) =
        bob.told("set_approval_rule", json!({ "connectionId": connection, "rule": "require" })).await;
    assert!(words.contains("require"), "{words}");

    let task = json!({ "targetAgentId": bob.id, "title": "Read the report", "description": "Is it sound?" });
    let (words, task) = ada.told("create_task", task).await;
    let id = task["id"].as_str().unwrap();
    assert!(words.contains(id) && words.contains("submitted") && words.contains("approval"), "{words}");
    let (words, updates) = bob.told("check_updates", json!({})).await;
    assert!(words.contains(id), "{words}");
    assert_eq!(updates["pendingApprovals"][0]["id"], id);
    assert_eq!(
        bob.refused_by("update_task_status", json!({ "taskId": id, "status": "working" })).await,
        "approval_pending"
    );
    bob.told("approve_task", json!({ "taskId": id })).await;

    let (words, _) = bob.told("update_task_status", json!({ "taskId": id, "status": "working" })).await;
    assert!(words.contains("working") && words.contains("input-required"), "{words}");
    let (words, message) = bob.told("send_message", json!({ "taskId": id, "content": "Which one?" })).await;
    assert!(words.contains(message["id"].as_str().unwrap()), "{words}");
    bob.told("update_task_status", json!({ "taskId": id, "status": "input-required" })).await;
    let file = json!({ "taskId": id, "filename": "report.txt", "mimeType": "text/plain",
        "base64Content": STANDARD.encode("all is well") });
    let (words, file) = ada.told("upload_file", file).await;
    let url = file["url"].as_str().unwrap();
    assert!(words.contains(url) && words.contains(file["messageId"].as_str().unwrap()), "{words}");
    assert_eq!(&bob.get(url).await.bytes[..], b"all is well");
    ada.told("update_task_status", json!({ "taskId": id, "status": "working" })).await;

    let (words, _) = bob.told("send_reply", json!({ "taskId": id, "content": "It is sound." })).await;
    assert!(words.contains("completed"), "{words}");
    let (words, task) = ada.told("get_task", json!({ "taskId": id })).await;
    assert_eq!(serde_json::from_str::<Value>(&words).unwrap(), without_nulls(&task), "the data as JSON");
    assert_eq!(
        (&task["status"], task["messages"].as_array().unwrap().len()),
        (&json!("completed"), 3),
        "and none of the hub's own"
    );
    assert!(task["result"].as_str().unwrap().contains("It is sound."));
    assert_eq!(task["nextStatuses"], json!(["working"]));
    let (words, _) = ada.told("delete_task", json!({ "taskId": id })).await;
    assert_eq!(words, "Task deleted, with 3 messages and 1 files.");
}

/// The tools that the walk above does not use, each once.
#[rstest]
#[tokio::test]
async fn every_other_tool_does_what_it_says(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.min_discovery_age_hours = 0).await;
    let (ada, bob) = hub.pair().await;
    let (words, profile) = ada
        .told(
            "update_profile",
            json!({ "description": "reads", "discoverable": true, "autoAccept": true,
            "capabilities": ["reading"], "metadata": { "a": 1 } }),
        )
        .await;
    assert!(words.starts_with("Profile updated.\n{"), "{words}");
    let (_, again) = ada.told("get_profile", json!({})).await;
    assert_eq!((&again["description"], &again["id"]), (&profile["description"], &json!(ada.id)));

    let carol = hub.agent("Carol").await;
    let (_, found) = carol.told("discover_agents", json!({ "capability": "reading", "limit": 5 })).await;
    assert_eq!(found["agents"][0]["id"], ada.id.as_str());
    let (words, made) = carol.told("connect_directly", json!({ "agentId": ada.id })).await;
    assert!(words.contains("Ada"), "{words}");
    let connection = json!(made["connectionId"]);
    carol.told("set_alias", json!({ "connectionId": connection, "alias": "reader" })).await;
    let (_, list) = carol.told("list_connections", json!({})).await;
    assert_eq!(
        (&list["connections"][0]["alias"], &list["connections"][0]["agentName"]),
        (&json!("reader"), &json!(super::fenced("Ada")))
    );
    let (words, _) = carol.told("set_alias", json!({ "connectionId": connection, "alias": null })).await;
    assert_eq!(words, "Alias cleared.");
    let (words, _) = carol.told("disconnect", json!({ "connection_id": connection })).await;
    assert_eq!(words, "Disconnected. Cancelled tasks: 0.");
    carol.told("block_agent", json!({ "agentId": ada.id })).await;
    assert_eq!(carol.refused_by("connect_directly", json!({ "agentId": ada.id })).await, "blocked");
    carol.told("unblock_agent", json!({ "agentId": ada.id })).await;
    let (words, _) = carol.told("update_webhook", json!({ "url": null })).await;
    assert_eq!(words, "Webhook disabled.");
    assert_eq!(carol.refused_by("update_webhook", json!({ "url": "http://127.0.0.1/" })).await, "validation");

    let task = ada.task(&bob).await;
    let message =
        ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "hello" })).await.text("id");
    let on_task = json!({ "taskId": task });
    let (_, read) = bob.told("task_read", on_task.clone()).await;
    assert_eq!(read["messages"][0]["id"], message.as_str());
    assert_eq!(bob.told("task_read", on_task.clone()).await.1["messages"], json!([]));
    let (words, _) = bob.told("message_ack", on_task.clone()).await;
    assert_eq!(words, "Acknowledged. Messages: 1.");
    bob.told("set_session_key", json!({ "taskId": task, "sessionKey": "k" })).await;
    assert_eq!(ada.view(&task).await["targetSessionKey"], "k");
    bob.told("update_task_status", json!({ "taskId": task, "status": "working", "reason": "begun" })).await;
    let (words, _) = bob.told("report_usage", json!({ "taskId": task, "cost": 0.0023 })).await;
    assert!(words.starts_with("Deducted $0"), "{words}");
    ada.told("delete_message", json!({ "taskId": task, "messageId": message })).await;
    let upload =
        json!({ "taskId": task, "filename": "a.txt", "mimeType": "text/plain", "base64Content": "YQ==" });
    let (_, file) = bob.told("upload_file", upload).await;
    bob.told("delete_file", json!({ "fileId": file["fileId"] })).await;
    ada.told("cancel_task", json!({ "taskId": task, "reason": "enough" })).await;
    ada.told("retry_task", on_task.clone()).await;
    ada.pair_with(&carol).await;
    ada.told("reassign_task", json!({ "taskId": task, "targetAgentId": carol.id })).await;
    assert_eq!(bob.refused_by("get_task", on_task.clone()).await, "not_found");
    let (_, history) = ada.told("get_task_events", on_task.clone()).await;
    assert_eq!(history["events"].as_array().unwrap().len(), 5);
    let (_, listed) = ada.told("list_tasks", json!({ "status": "submitted", "limit": 1 })).await;
    assert_eq!(listed["tasks"][0]["id"], task.as_str());
    let (_, inbox) = carol.told("get_inbox", json!({})).await;
    assert_eq!(inbox["items"][0]["taskId"], task.as_str());
    carol.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let held = ada.task(&carol).await;
    let (_, waiting) = carol.told("list_pending_approvals", json!({})).await;
    assert_eq!(waiting["tasks"][0]["id"], held.as_str());
    carol.told("reject_task", json!({ "taskId": held, "reason": "no" })).await;

    let (_, network) = ada.told("create_network", json!({ "name": "Crew" })).await;
    let invite = ada.post(&format!("/networks/{}/invites", network["id"].as_str().unwrap()), json!({})).await;
    let (words, _) = bob.told("join_network", json!({ "code": invite.text("code") })).await;
    assert!(words.starts_with(&format!("Joined {}.", super::fenced("Crew"))), "{words}");
    let (_, networks) = bob.told("list_networks", json!({})).await;
    assert_eq!(networks["networks"][0]["memberCount"], 2);
    let (words, _) = ada.told("broadcast", json!({ "networkId": network["id"], "content": "hear" })).await;
    assert!(words.starts_with("Sent to 1 members."), "{words}");

    let (_, export) = bob.told("export_my_data", json!({})).await;
    assert_eq!((&export["__exportComplete"], &export["agent"]["id"]), (&json!(true), &json!(bob.id)));
    assert_eq!(bob.refused_by("export_my_data", json!({})).await, "rate_limited");
    for tool in ["delete_account", "rotate_api_key"] {
        assert_eq!(bob.refused_by(tool, json!({})).await, "validation");
        let refused = bob.tool(tool, json!({ "confirm": false })).await;
        assert!(
            refused["content"][0]["text"].as_str().unwrap().contains("confirm must be true"),
            "{refused}"
        );
    }
    let (words, gone) = bob.told("delete_account", json!({ "confirm": true })).await;
    assert!(words.starts_with("Account deleted."), "{words}");
    assert_eq!(gone["connections"], 1);
    bob.get("/agents/me").await.refused(401, "unauthorized");
}

#[rstest]
#[tokio::test]
async fn refusals_say_what_to_do_next(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let refused = bob.tool("update_task_status", json!({ "taskId": task, "status": "completed" })).await;
    assert_eq!(refused["isError"], true);
    let words = refused["content"][0]["text"].as_str().unwrap();
    assert!(words.contains("invalid_transition") && words.contains("nextStatuses: working"), "{words}");
    let machine: Value = serde_json::from_str(refused["content"][1]["text"].as_str().unwrap()).unwrap();
    assert_eq!(machine["nextStatuses"], json!(["working", "rejected", "cancelled"]));
    assert_eq!(machine["hint"], "Choose one of nextStatuses.");
    // A code that does not work is not looked for among ids.
    for (tool, code) in [("connect_with_agent", "BLUE-TIGER-0000"), ("join_network", "NET-0000-0000-0000")] {
        let refused = bob.tool(tool, json!({ "code": code })).await;
        let machine: Value = serde_json::from_str(refused["content"][1]["text"].as_str().unwrap()).unwrap();
        let told = (&machine["code"], &machine["hint"]);
        assert_eq!(told, (&json!("not_found"), &json!("Ask the other owner for a new code.")), "{tool}");
    }

    for (tool, arguments) in [
        ("get_task", json!({})),
        ("get_task", json!({ "taskId": 5 })),
        ("create_task", json!({ "title": "x" })),
        ("create_task", json!({ "targetAgentId": bob.id, "title": "" })),
        ("send_message", json!({ "taskId": task, "content": "" })),
        ("update_task_status", json!({ "taskId": task, "status": "done" })),
        ("update_task_status", json!({ "taskId": task })),
        ("check_updates", json!({ "acknowledge": "yes" })),
        ("wait_for_updates", json!({ "seconds": 51 })),
        ("wait_for_updates", json!({ "seconds": 0 })),
        ("wait_for_updates", json!({ "after": -1 })),
        ("list_tasks", json!({ "limit": 0 })),
        ("report_usage", json!({ "taskId": task, "cost": -1 })),
        (
            "upload_file",
            json!({ "taskId": task, "filename": "a", "mimeType": "text/plain", "base64Content": "?" }),
        ),
        ("upload_file", json!({ "taskId": task, "filename": "a", "mimeType": "text/plain" })),
        ("set_session_key", json!({ "taskId": task })),
    ] {
        assert_eq!(bob.refused_by(tool, arguments.clone()).await, "validation", "{tool} {arguments}");
    }
    for tool in ["get_task", "task_read", "message_ack", "delete_task", "approve_task", "get_task_events"] {
        assert_eq!(bob.refused_by(tool, json!({ "taskId": "task_unknown" })).await, "not_found", "{tool}");
    }
    let stranger = hub.agent("Eve").await;
    let foreign = stranger.tool("get_task", json!({ "taskId": task })).await;
    assert_eq!(foreign, stranger.tool("get_task", json!({ "taskId": "task_unknown" })).await);
    assert_eq!(bob.view(&task).await["status"], "submitted", "nothing has changed");
    let unknown = bob.ask("/mcp", "tools/call", json!({ "name": "no_such_tool", "arguments": {} })).await;
    assert_eq!(unknown["error"]["code"], -32602);
    for arguments in [json!([]), json!("x"), json!(1)] {
        let malformed =
            bob.ask("/mcp", "tools/call", json!({ "name": "get_task", "arguments": arguments })).await;
        assert_eq!(malformed["error"]["code"], -32602, "{malformed}");
    }
    // To JSON, ten is ten.
    bob.told("list_tasks", json!({ "limit": 10.0 })).await;
    assert_eq!(bob.refused_by("list_tasks", json!({ "limit": 10.5 })).await, "validation");
}

//! What one client makes the hub keep or return has a bound.

use rstest::rstest;
use serde_json::{Value, json};

use super::{OLD, Session, messages, post};
use crate::harness::{Agent, Db, Harness};

const LARGE: usize = 256 * 1024;

fn initialize(capabilities: &Value, name: &str) -> Value {
    let params = json!({ "protocolVersion": OLD, "capabilities": capabilities,
        "clientInfo": { "name": name, "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

/// Nested arrays: a text of this many values that is much larger as parsed JSON.
fn nested(values: usize) -> Value {
    Value::Array(vec![json!([]); values])
}

#[tokio::test]
async fn a_session_does_not_keep_a_large_introduction() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    for (capabilities, name) in [
        (json!({ "experimental": { "a": { "x": "y".repeat(100_000) } } }), "test"),
        (json!({ "experimental": { "a": { "x": nested(5_000) } } }), "test"),
        (json!({}), &*"n".repeat(100_000)),
    ] {
        post(&ada, "/mcp", &[], &initialize(&capabilities, name)).await.refused(413, "too_large");
    }
    // Two methods: the hub must not read the one and the SDK the other.
    let twice =
        initialize(&json!({ "experimental": { "a": { "x": "y".repeat(100_000) } } }), "test").to_string();
    let twice = twice.replacen('{', r#"{"method":"tools/call","#, 1);
    let sent = super::raw(&ada, "/mcp", &[], twice.into()).await;
    sent.refused(413, "too_large");
    assert_eq!(hub.sessions.count(), 0);
    let reply =
        post(&ada, "/mcp", &[], &initialize(&json!({ "experimental": {} }), &"n".repeat(1_000))).await;
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn a_call_that_waits_keeps_no_arguments() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let session = Session::begin(&ada, json!({})).await;
    let call = |name: &str, arguments: Value| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": name, "arguments": arguments } })
    };
    for arguments in [json!({ "x": "y".repeat(100_000) }), json!({ "x": nested(5_000) })] {
        session.send(&call("wait_for_updates", arguments)).await.refused(413, "too_large");
    }
    session.send(&call("list_tasks", json!({ "x": nested(5_000) }))).await.refused(413, "too_large");
    // The largest arguments that a tool takes fit.
    let metadata: Vec<i32> = vec![1; 2_000];
    let reply = session.send(&call("update_profile", json!({ "metadata": { "a": metadata } }))).await;
    assert_eq!(messages(&reply).pop().unwrap()["result"]["isError"], false, "{reply:?}");
}

/// Reads all pages of a tool; gives the items, and how many pages there were.
async fn pages(agent: &Agent, tool: &str, list: &str, next: &str, mut call: Value) -> (Vec<Value>, usize) {
    let (mut items, mut count) = (Vec::new(), 0);
    loop {
        let result = agent.tool(tool, call.clone()).await;
        assert_eq!(result["isError"], false, "{tool}");
        assert!(result.to_string().len() < 6 * 1024 * 1024, "{tool}: {} bytes", result.to_string().len());
        let data = &result["structuredContent"];
        items.extend(data[list].as_array().unwrap().clone());
        count += 1;
        if data[next].is_null() {
            return (items, count);
        }
        call["cursor"] = data[next].clone();
    }
}

#[rstest]
#[tokio::test]
async fn lists_of_long_texts_come_in_pages(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    for number in 0..20 {
        let id = format!("long-{number}");
        ada.task_with(&bob, json!({ "id": id, "description": "x".repeat(LARGE - 1_000) })).await;
    }
    for tool in ["list_tasks", "list_pending_approvals"] {
        let (tasks, count) = pages(&bob, tool, "tasks", "nextCursor", json!({})).await;
        let mut ids: Vec<&str> = tasks.iter().map(|task| task["id"].as_str().unwrap()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!((ids.len(), tasks.len(), count > 3), (20, 20, true), "{tool}: {count} pages");
    }
    // Text that is six times as long in JSON.
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "auto" })).await.ok(200);
    let task = ada.task_with(&bob, json!({})).await;
    for _ in 0..4 {
        ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "\u{1}".repeat(150_000) }))
            .await
            .ok(201);
    }
    let of_task = json!({ "taskId": task });
    let (shown, _) = pages(&bob, "get_task", "messages", "olderMessagesCursor", of_task).await;
    assert_eq!(shown.len(), 4);
}

/// What was not returned is not marked as read.
#[rstest]
#[tokio::test]
async fn a_page_of_messages_is_read_at_a_time(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.max_messages_per_minute = 0).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    for _ in 0..20 {
        ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "x".repeat(LARGE) })).await.ok(201);
    }
    let mut left = 20;
    while left > 0 {
        let (_, read) = bob.told("task_read", json!({ "taskId": task })).await;
        let count = read["messages"].as_array().unwrap().len();
        assert!((1..=5).contains(&count), "{count} messages");
        left -= count;
        assert_eq!(read["unreadCount"], left);
        assert_eq!(bob.view(&task).await["unreadCount"], left);
        let seen = bob.get(&format!("/tasks/{task}/messages")).await.ok(200);
        let unread = seen.as_array().unwrap().iter().filter(|message| message["readAt"].is_null());
        // A page of REST has a bound of its own and begins with the newest.
        assert!(unread.count() <= left);
    }
}

#[rstest]
#[tokio::test]
async fn broadcasts_come_in_pages(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.max_messages_per_minute = 0).await.at_one_node();
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let network = ada.post("/networks", json!({ "name": "Crew" })).await.text("id");
    let invite = ada.post(&format!("/networks/{network}/invites"), json!({})).await.text("code");
    bob.post("/networks/join", json!({ "code": invite })).await.ok(201);
    for number in 0..20 {
        let content = format!("{number} {}", "x".repeat(LARGE - 10));
        ada.post(&format!("/networks/{network}/broadcast"), json!({ "content": content })).await.ok(201);
    }
    let (items, count) = pages(&bob, "get_inbox", "items", "nextCursor", json!({})).await;
    assert!(items.iter().all(|item| item["content"].as_str().unwrap().len() >= LARGE - 10));
    assert_eq!((items.len(), count > 3), (20, true), "{count} pages");

    let mut heard = Vec::new();
    while heard.len() < 20 {
        let result = bob.tool("wait_for_updates", json!({ "seconds": 1 })).await;
        assert!(result.to_string().len() < 6 * 1024 * 1024);
        let events = result["structuredContent"]["events"].as_array().unwrap();
        assert!(!events.is_empty(), "after {}", heard.len());
        heard.extend(events.iter().map(|event| event["data"]["messageId"].as_str().unwrap().to_owned()));
    }
    heard.dedup();
    assert_eq!(heard.len(), 20, "each once");
    // Acknowledging marks what was shown, and no more.
    let mut rounds = 0;
    loop {
        let (_, shown) = bob.told("check_updates", json!({ "acknowledge": true })).await;
        if shown["events"].as_array().unwrap().is_empty() {
            break;
        }
        rounds += 1;
    }
    assert!(rounds > 3, "{rounds}");
}

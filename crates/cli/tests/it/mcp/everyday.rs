//! What an agent with nothing but tools needs every day.

use rstest::rstest;
use serde_json::{Value, json};

use super::fenced;
use crate::harness::{Agent, Db, Harness};

#[rstest]
#[tokio::test]
async fn files_have_names_and_can_be_downloaded(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let upload = async |name: &str, kind: &str, base64: &str| {
        let file = json!({ "taskId": task, "filename": name, "mimeType": kind, "base64Content": base64 });
        ada.told("upload_file", file).await.1["fileId"].as_str().unwrap().to_owned()
    };
    let text = upload("notes.txt", "text/plain", "aGVsbG8gd29ybGQ=").await;
    let image = upload("dot.png", "image/png", "iVBORw0KGgo=").await;

    let (words, seen) = bob.told("get_task", json!({ "taskId": task })).await;
    assert!(words.contains("notes.txt"), "{words}");
    let file = &seen["messages"][0]["file"];
    assert_eq!((&file["filename"], &file["sizeBytes"]), (&json!(fenced("notes.txt")), &json!(11)));
    let (_, read) = bob.told("task_read", json!({ "taskId": task })).await;
    assert_eq!(read["messages"][1]["file"]["filename"], fenced("dot.png"));

    let (words, got) = bob.told("download_file", json!({ "fileId": text })).await;
    assert_eq!((&got["text"], &got["base64Content"]), (&json!(fenced("hello world")), &Value::Null));
    assert!(words.ends_with(&fenced("hello world")) && words.contains("11 bytes"), "{words}");
    let (_, got) = bob.told("download_file", json!({ "fileId": image })).await;
    assert!(got["base64Content"].as_str().unwrap().contains("iVBORw0KGgo="), "{got}");
    // One's own is not another's.
    let (_, own) = ada.told("download_file", json!({ "fileId": text })).await;
    assert_eq!((&own["text"], &own["filename"]), (&json!("hello world"), &json!("notes.txt")));
    let stranger = hub.agent("Eve").await;
    assert_eq!(stranger.refused_by("download_file", json!({ "fileId": text })).await, "not_found");

    let large = upload("large.txt", "text/plain", &"YWFh".repeat(350_000)).await;
    let refused = bob.tool("download_file", json!({ "fileId": large })).await;
    let words = refused["content"][0]["text"].as_str().unwrap();
    assert!(words.contains("too_large") && words.contains(&format!("GET /files/{large}")), "{words}");
}

#[rstest]
#[tokio::test]
async fn heartbeats_and_invitations_go_by_tools(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "leaseSeconds": 60 })).await;
    bob.told("update_task_status", json!({ "taskId": task, "status": "working" })).await;
    let beat = json!({ "taskId": task, "progress": 40, "note": "half of it" });
    let (words, _) = bob.told("heartbeat", beat).await;
    assert!(words.starts_with("Heartbeat recorded."), "{words}");
    let seen = ada.view(&task).await;
    assert_eq!((&seen["progress"], &seen["progressNote"]), (&json!(40), &json!("half of it")));
    assert_eq!(ada.refused_by("heartbeat", json!({ "taskId": task })).await, "role_not_allowed");

    let (_, network) = ada.told("create_network", json!({ "name": "Crew" })).await;
    let invite = json!({ "networkId": network["id"], "maxUses": 2 });
    let (words, invite) = ada.told("invite_to_network", invite).await;
    assert!(words.contains(invite["code"].as_str().unwrap()) && words.contains("2 times"), "{words}");
    bob.told("join_network", json!({ "code": invite["code"] })).await;
    assert_eq!(
        bob.refused_by("invite_to_network", json!({ "networkId": network["id"] })).await,
        "owner_only"
    );
}

#[tokio::test]
async fn a_new_task_says_what_comes_next() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    for (more, next) in [
        (json!({}), "wait_for_updates"),
        (json!({ "requiresReview": true }), "complete the task yourself"),
        (json!({ "draft": true }), "status submitted"),
    ] {
        let mut call = json!({ "targetAgentId": bob.id, "title": "A" });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let (words, _) = ada.told("create_task", call).await;
        assert!(words.contains("Next: ") && words.contains(next), "{words}");
    }
}

/// Nulls are for programs; a model pays for each.
#[tokio::test]
async fn the_text_of_a_task_is_short() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let (words, data) = bob.told("get_task", json!({ "taskId": task })).await;
    assert!(!words.contains("null"), "{words}");
    assert!(words.len() < 1_200, "{} bytes", words.len());
    assert!(data["result"].is_null() && data.as_object().unwrap().contains_key("result"));
}

async fn review(agent: &Agent, task: &str) -> String {
    let prompt = json!({ "name": "review_result", "arguments": { "taskId": task } });
    let got = agent.ask("/mcp", "prompts/get", prompt).await;
    got["result"]["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
}

/// The prompt tells to do only what is possible.
#[tokio::test]
async fn a_result_can_be_reviewed_whatever_its_status_is() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let done = ada.task(&bob).await;
    bob.set(&done, "working").await.ok(200);
    bob.told("send_reply", json!({ "taskId": done, "content": "five" })).await;
    let text = review(&ada, &done).await;
    assert!(text.contains("reopen it first") && !text.contains("status to completed"), "{text}");
    ada.told("update_task_status", json!({ "taskId": done, "status": "working" })).await;
    ada.told("send_message", json!({ "taskId": done, "content": "No, six." })).await;

    let reviewed = ada.task_with(&bob, json!({ "requiresReview": true })).await;
    bob.set(&reviewed, "working").await.ok(200);
    bob.told("send_reply", json!({ "taskId": reviewed, "content": "five" })).await;
    let text = review(&ada, &reviewed).await;
    assert!(text.contains("status to completed") && !text.contains("reopen"), "{text}");
    ada.told("send_message", json!({ "taskId": reviewed, "content": "No, six." })).await;
    ada.told("update_task_status", json!({ "taskId": reviewed, "status": "completed" })).await;
    let text = review(&ada, &reviewed).await;
    assert!(text.contains("create_task") && text.contains("nothing left to do"), "{text}");
}

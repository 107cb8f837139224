//! Artifacts that a target hands over.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::Full;
use hyper::Request;
use rstest::rstest;
use serde_json::{Value, json};

use super::{Visitor, shown};
use crate::files::upload;
use crate::harness::{Agent, Db, Harness};

async fn add(by: &Agent, task: &str, body: Value) -> crate::harness::Reply {
    by.post(&format!("/tasks/{task}/artifacts"), body).await
}

#[rstest]
#[tokio::test]
async fn an_artifact_is_a_message_with_parts(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let raw = json!({ "raw": STANDARD.encode("abc"), "filename": "a.txt", "mediaType": "text/plain" });
    let body = json!({ "name": "Report", "description": "All of it",
        "parts": [{ "text": "See" }, { "data": { "n": 1.50 } }, raw], "lastChunk": true });
    let added = add(&bob, &task, body).await.ok(201);
    assert_eq!(
        (&added["kind"], &added["content"], &added["contentType"]),
        (&json!("artifact"), &json!("See"), &json!("text"))
    );
    let artifact = &added["artifact"];
    assert!(artifact["artifactId"].as_str().unwrap().starts_with("art_"));
    assert_eq!(
        (&artifact["name"], &artifact["append"], &artifact["lastChunk"]),
        (&json!("Report"), &json!(false), &json!(true))
    );
    let file = added["parts"][2]["fileId"].as_str().unwrap();
    assert_eq!((&added["parts"][2]["raw"], &added["parts"][2]["filename"]), (&json!(null), &json!("a.txt")));
    assert_eq!(ada.get(&format!("/files/{file}")).await.bytes.as_ref(), b"abc");
    let event = ada.last_event().await;
    assert_eq!((&event["type"], &event["data"]["kind"]), (&json!("message.created"), &json!("artifact")));
    assert_eq!(ada.view(&task).await["unreadCount"], 2);
    assert_eq!(ada.view(&task).await["status"], "submitted", "no reply, no change of status");

    let named = add(&bob, &task, json!({ "parts": [{ "fileId": file, "filename": "b.txt" }] })).await.ok(201);
    assert_eq!(named["content"], "b.txt");
    let data = add(&bob, &task, json!({ "parts": [{ "data": [1, 2] }] })).await.ok(201);
    assert_eq!((&data["content"], &data["contentType"]), (&json!("[1,2]"), &json!("json")));
}

#[rstest]
#[tokio::test]
async fn bad_artifacts_change_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let (task, other) = (ada.task(&bob).await, ada.task(&bob).await);
    let elsewhere =
        bob.post(&format!("/tasks/{other}/files/json"), upload("a.txt", "text/plain", b"a")).await;
    let elsewhere = elsewhere.ok(201)["id"].clone();
    let parts = json!([{ "text": "x" }]);
    for body in [
        json!({}),
        json!({ "parts": [] }),
        json!({ "parts": vec![json!({ "text": "" }); 1_001] }),
        json!({ "parts": [{ "text": "a", "data": 1 }] }),
        json!({ "parts": [{ "raw": "###" }] }),
        json!({ "parts": [{ "fileId": elsewhere }] }),
        json!({ "parts": [{ "fileId": "file_none" }] }),
        json!({ "parts": parts, "append": true }),
        json!({ "parts": parts, "artifactId": "result" }),
        json!({ "parts": parts, "artifactId": "" }),
        json!({ "parts": parts, "artifactId": "x".repeat(257) }),
        json!({ "parts": parts, "name": "x".repeat(257) }),
        json!({ "parts": parts, "description": "x".repeat(1_001) }),
    ] {
        add(&bob, &task, body).await.refused(400, "validation");
    }
    add(&bob, &task, json!({ "parts": [{ "raw": "eA==" }] })).await.refused(415, "unsupported_media_type");
    add(&ada, &task, json!({ "parts": parts })).await.refused(403, "role_not_allowed");
    let eve = hub.agent("Eve").await;
    add(&eve, &task, json!({ "parts": parts })).await.refused(404, "not_found");
    assert_eq!(ada.get(&format!("/tasks/{task}/messages")).await.ok(200), json!([]));
    let most = json!({ "parts": parts, "artifactId": "x".repeat(256), "name": "x".repeat(256), "description": "x".repeat(1_000) });
    add(&bob, &task, most).await.ok(201);
    bob.set(&task, "rejected").await.ok(200);
    add(&bob, &task, json!({ "parts": parts })).await.refused(409, "task_terminal");
}

#[rstest]
#[tokio::test]
async fn a_task_takes_two_megabytes_of_artifacts(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let task = visitor.start("Go").await.to_string();
    let text =
        |bytes: usize| json!({ "artifactId": "x", "append": true, "parts": [{ "text": "x".repeat(bytes) }] });
    add(&bob, &task, text(256 * 1024 + 1)).await.refused(413, "too_large");
    for _ in 0..8 {
        add(&bob, &task, text(256 * 1024)).await.ok(201);
    }
    add(&bob, &task, text(1)).await.refused(413, "too_large");
    let seen = visitor.get(&task.parse().unwrap()).await.unwrap();
    assert_eq!((seen.artifacts.len(), seen.artifacts[0].parts.len()), (1, 8));
    bob.post(&format!("/tasks/{task}/files/json"), upload("a.txt", "text/plain", b"abc")).await.ok(201);
}

#[rstest]
#[tokio::test]
async fn a_thousand_pieces_become_one_artifact(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let task = visitor.start("Count").await.to_string();
    // No limit of messages in a minute holds for them, but the task's budget does: the last one pauses the task.
    for number in 0..1_000 {
        let body =
            json!({ "artifactId": "n", "append": number > 0, "parts": [{ "text": number.to_string() }] });
        add(&bob, &task, body).await.ok(201);
    }
    add(&bob, &task, json!({ "parts": [{ "text": "x" }] })).await.refused(409, "message_budget");
    let seen = visitor.get(&task.parse().unwrap()).await.unwrap();
    let parts = &seen.artifacts[0].parts;
    assert_eq!((parts.len(), parts[999].text.as_deref()), (1_000, Some("999")));
    assert_eq!(bob.view(&task).await["status"], "input-required");
    assert_eq!(shown(&parts[..1]), json!([{ "text": "0" }]));
}

#[rstest]
#[tokio::test]
async fn an_artifact_that_is_sent_twice_is_added_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let send = async || {
        let body = json!({ "parts": [{ "raw": "eA==", "mediaType": "text/plain" }] }).to_string();
        let request = Request::post(format!("/tasks/{task}/artifacts"))
            .header("authorization", format!("Bearer {}", bob.key))
            .header("idempotency-key", "once")
            .header("content-type", "application/json")
            .body(Full::from(body))
            .unwrap();
        bob.client.raw(request).await
    };
    let (first, again) = (send().await, send().await);
    assert_eq!(first.ok(201), again.ok(201));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(ada.get(&format!("/tasks/{task}/messages")).await.ok(200).as_array().unwrap().len(), 2);
}

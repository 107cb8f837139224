//! Messages and files, there and back.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rstest::rstest;
use serde_json::json;

use super::{Binding, Calls, add_part, at_once, message, message_on};
use crate::harness::{Db, Harness};

#[rstest]
#[tokio::test]
async fn a_message_comes_back_as_it_was_sent(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    let mut params = at_once(message("First line"));
    params["message"]["contextId"] = json!("my context");
    params["message"]["metadata"] = json!({ "a": [1, 2.5, null], "big": 12_345_678_901_234_567_890_u64 });
    params["message"]["referenceTaskIds"] = json!(["elsewhere"]);
    params["message"]["extensions"] = json!(["urn:other"]);
    params["message"]["parts"] = json!([
        { "text": "First line\nand more", "mediaType": "text/markdown", "metadata": { "k": "v" } },
        { "data": { "n": 9_007_199_254_740_993_i64, "line": "a\u{2028}b" } },
        { "url": "https://example.com/a.pdf", "filename": "a.pdf" },
        { "text": "" },
    ]);
    let task = calls.ok("SendMessage", params.clone()).await["task"].clone();
    let mut expected = params["message"].clone();
    expected["taskId"] = task["id"].clone();
    assert_eq!(task["history"][0], expected);
    assert_eq!(task["contextId"], "my context");
    assert_eq!(calls.ok("GetTask", json!({ "id": task["id"] })).await["history"][0], expected);
    let native = bob.view(task["id"].as_str().unwrap()).await;
    assert_eq!((&native["title"], &native["contextId"]), (&json!("First line"), &json!("my context")));
    // Another task of the same conversation.
    let mut second = at_once(message("Second"));
    second["message"]["contextId"] = json!("my context");
    calls.ok("SendMessage", second).await;
    let listed = calls.ok("ListTasks", json!({ "contextId": "my context" })).await;
    assert_eq!(listed["totalSize"], 2);
    let mut foreign = at_once(message_on(&task, "Third"));
    foreign["message"]["contextId"] = json!("another");
    assert_eq!(calls.refused("SendMessage", foreign).await, "INVALID_PARAMS");
}

#[rstest]
#[tokio::test]
async fn files_go_both_ways(#[values(Binding::Rpc, Binding::Http)] binding: Binding) {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, binding);
    let mut params = at_once(message("See the file"));
    let part = json!({ "raw": STANDARD.encode("a,b"), "filename": "a.csv", "mediaType": "text/csv" });
    add_part(&mut params, part.clone());
    let task = calls.ok("SendMessage", params).await["task"].clone();
    assert_eq!(task["history"][0]["parts"][1], part);
    let id = task["id"].as_str().unwrap();
    bob.set(id, "working").await.ok(200);
    for (name, size) in [("small.txt", 256 * 1024), ("large.txt", 256 * 1024 + 1)] {
        let file = json!({ "filename": name, "mimeType": "text/plain", "base64Content": STANDARD.encode("x".repeat(size)) });
        bob.post(&format!("/tasks/{id}/files/json"), file).await.ok(201);
    }
    let artifacts = calls.ok("GetTask", json!({ "id": id })).await["artifacts"].clone();
    let small = &artifacts[0]["parts"][0];
    assert_eq!((small["raw"].as_str().unwrap().len(), &small["filename"]), (349_528, &json!("small.txt")));
    let large = &artifacts[1]["parts"][0];
    let url = large["url"].as_str().unwrap();
    let path = url.strip_prefix(&format!("http://{}", hub.client.address)).unwrap();
    let file = hub.client.send("GET", path, None, None).await;
    assert_eq!(
        (file.status, file.bytes.len(), file.header("content-type")),
        (200, 256 * 1024 + 1, Some("text/plain"))
    );
    let other_file = path.replacen("file_", "file_x", 1);
    let later = path.replacen("until=", "until=9", 1);
    let nobody = path.split('?').next().unwrap().to_owned();
    for wrong in [other_file, later, nobody, path.replacen("for=", "for=x", 1)] {
        hub.client.send("GET", &wrong, None, None).await.refused(404, "not_found");
    }
    hub.advance_ms(3_601_000);
    hub.client.send("GET", path, None, None).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_file_of_a_type_that_no_task_takes_is_refused() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    let mut params = at_once(message("Run this"));
    let program = json!({ "raw": "AAAA", "filename": "a.exe", "mediaType": "application/x-msdownload" });
    add_part(&mut params, program);
    assert_eq!(calls.refused("SendMessage", params).await, "CONTENT_TYPE_NOT_SUPPORTED");
    assert_eq!(calls.ok("ListTasks", json!({})).await["totalSize"], 0);
}

#[tokio::test]
async fn a_file_makes_a_message_larger_than_others_may_be() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    let mut params = at_once(message("Large"));
    let bytes = STANDARD.encode(vec![b'x'; 2 * 1024 * 1024]);
    add_part(&mut params, json!({ "raw": bytes, "filename": "a.txt", "mediaType": "text/plain" }));
    let task = calls.ok("SendMessage", params).await["task"].clone();
    assert!(task["history"][0]["parts"][1]["url"].is_string(), "{task}");
}

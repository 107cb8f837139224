//! Encrypted tasks by tools: they arrive whole between the markers, and no model is asked about them.

use rstest::rstest;
use serde_json::{Value, json};

use super::Session;
use crate::encryption::Pair;
use crate::harness::Db;

/// A value without its markers, or an object of such values.
fn bare(marked: &Value) -> Value {
    match marked {
        Value::String(text) => json!(tandem_server::mcp::shared::fence::unfenced(text)),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), bare(value))).collect(),
        other => other.clone(),
    }
}

#[rstest]
#[tokio::test]
async fn encrypted_tasks_go_by_tools_and_wake_no_model(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let pair = Pair::new(db).await;
    let (ana, bob) = (&pair.ana, &pair.bob);
    let session = Session::begin(bob, json!({ "sampling": {} })).await;
    let mut stream = session.stream().await;
    let body = pair.description("task-1", json!({}));
    ana.told("create_task", body.clone()).await;
    let (_, task) = bob.told("get_task", json!({ "taskId": "task-1" })).await;
    assert_eq!((&task["encrypted"], &task["title"]), (&json!(true), &json!(super::fenced("Encrypted Task"))));
    // Base64 can spell words, so it is marked like any other text of a peer. It is whole between the markers.
    for field in ["description", "senderSignature"] {
        assert_eq!(task[field], super::fenced(body[field].as_str().unwrap()), "{field}");
    }
    assert_eq!(bare(&task["descriptionKeys"]), body["descriptionKeys"]);
    let mut message = pair.message("task-1", "ana");
    message["taskId"] = json!("task-1");
    ana.told("send_message", message.clone()).await;
    let (_, task) = bob.told("get_task", json!({ "taskId": "task-1" })).await;
    let received = &task["messages"][0];
    let sealed = json!({ "content": bare(&received["content"]), "keys": bare(&received["encryptedKeys"]),
        "signature": bare(&received["senderSignature"]) });
    assert!(pair.open("task-1", &sealed, ("bob", bob), "ana").contains("body"));
    // The first prompt is about the next task, which is not encrypted.
    let plain = ana.task(bob).await;
    let asked = stream.next().await.unwrap();
    assert!(asked["params"]["messages"][0]["content"]["text"].as_str().unwrap().contains(&plain), "{asked}");
}

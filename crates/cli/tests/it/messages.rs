//! Talking within a task.

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Db, Harness};

#[rstest]
#[tokio::test]
async fn a_message_reaches_the_other_party(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}/messages");
    let sent = bob.post(&path, json!({ "content": "Which \"one\"? 🦀" })).await.ok(201);
    assert_eq!(
        sent,
        json!({
            "id": sent["id"], "taskId": task, "inReplyTo": null, "senderAgentId": bob.id, "senderAgentName": "Bob", "kind": "message",
            "content": "Which \"one\"? 🦀", "contentType": "text", "encryptedKeys": null, "senderSignature": null,
            "readAt": null, "acknowledgedAt": null, "createdAt": sent["createdAt"], "messageId": null, "parts": null,
            "metadata": null, "referenceTaskIds": null, "acceptedOutputModes": null, "artifact": null,
        })
    );
    let event = ada.last_event().await;
    assert_eq!(event["type"], "message.created");
    assert_eq!(event["data"]["messageId"], sent["id"]);
    assert_eq!(event["data"]["fromAgentId"], bob.id.as_str());
    assert_eq!(event["data"]["fromAgentName"], "Bob");
    assert_eq!(ada.get(&path).await.ok(200), json!([sent]));
    assert_eq!(ada.view(&task).await["unreadCount"], 1);
    assert_eq!(bob.view(&task).await["unreadCount"], 0);
}

#[rstest]
#[tokio::test]
async fn pages_lead_to_older_messages_and_read_oldest_first(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    for number in 0..7 {
        let sender = if number % 2 == 0 { &ada } else { &bob };
        sender
            .post(&format!("/tasks/{task}/messages"), json!({ "content": number.to_string() }))
            .await
            .ok(201);
    }
    let mut pages = Vec::new();
    let mut next = Some(format!("/tasks/{task}/messages?limit=3"));
    while let Some(path) = next {
        let reply = ada.get(&path).await;
        let page = reply.ok(200);
        let texts: Vec<Value> =
            page.as_array().unwrap().iter().map(|message| message["content"].clone()).collect();
        pages.push(json!(texts));
        next = reply.next_link();
    }
    assert_eq!(pages, [json!(["4", "5", "6"]), json!(["1", "2", "3"]), json!(["0"])]);
    for bad in ["limit=0", "cursor=-1", "cursor=x"] {
        ada.get(&format!("/tasks/{task}/messages?{bad}")).await.refused(400, "validation");
    }
}

#[rstest]
#[tokio::test]
async fn content_keeps_its_bounds(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}/messages");
    ada.post(&path, json!({ "content": "m".repeat(256 * 1024) })).await.ok(201);
    let refused =
        ada.post(&path, json!({ "content": "m".repeat(256 * 1024 + 1) })).await.refused(413, "too_large");
    assert_eq!(refused["status"], "submitted");
    ada.post(&path, json!({ "content": "{\"a\":1}", "contentType": "json" })).await.ok(201);
    let bad = [
        json!({}),
        json!({ "content": "" }),
        json!({ "content": 7 }),
        json!({ "content": null }),
        json!({ "content": "a\u{0}b" }),
        json!({ "content": "{", "contentType": "json" }),
        json!({ "content": "x", "contentType": "file" }),
        json!({ "content": "x", "contentType": "odd" }),
        json!(["content"]),
        json!("content"),
    ];
    for body in bad {
        let refused = ada.post(&path, body.clone()).await.refused(400, "validation");
        assert!(
            refused["details"].as_object().is_some_and(|details| !details.is_empty()),
            "{body}: {refused}"
        );
        assert_eq!(refused["nextStatuses"], json!(["working", "cancelled"]));
    }
    assert_eq!(ada.get(&path).await.ok(200).as_array().unwrap().len(), 2);
    assert_eq!(bob.event_kinds().await.len(), 4);
}

#[rstest]
#[tokio::test]
async fn only_its_sender_takes_a_message_back(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "requiresReview": true })).await;
    let other_task = ada.task(&bob).await;
    let path = format!("/tasks/{task}/messages");
    let id = ada.post(&path, json!({ "content": "{\"secret\":1}", "contentType": "json" })).await.text("id");
    bob.delete(&format!("{path}/{id}")).await.refused(403, "not_sender");
    ada.delete(&format!("{path}/msg_unknown")).await.refused(404, "not_found");
    ada.delete(&format!("/tasks/{other_task}/messages/{id}")).await.refused(404, "not_found");
    assert_eq!(
        ada.delete(&format!("{path}/{id}")).await.ok(200),
        json!({ "deleted": true, "messageId": id })
    );
    let left = &bob.get(&path).await.ok(200)[0];
    assert_eq!((&left["content"], &left["contentType"]), (&json!("[deleted]"), &json!("text")));
    let event = bob.last_event().await;
    assert_eq!(
        event["data"],
        json!({ "type": "message.deleted", "taskId": task, "messageId": id, "fromAgentId": ada.id, "fromAgentName": "Ada" })
    );
    // A second time changes nothing and tells nobody.
    ada.delete(&format!("{path}/{id}")).await.ok(200);
    assert_eq!(bob.last_event().await["id"], event["id"]);
    // The hub's own words are nobody's to take back.
    ada.set(&task, "cancelled").await.ok(200);
    let system = bob.get(&path).await.ok(200)[1]["id"].as_str().unwrap().to_owned();
    ada.delete(&format!("{path}/{system}")).await.refused(403, "not_sender");
}

#[rstest]
#[tokio::test]
async fn an_agent_may_send_ten_messages_a_minute_on_a_task(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.max_messages_per_minute = 10).await;
    let (ada, bob) = hub.pair().await;
    let (task, other) = (ada.task(&bob).await, ada.task(&bob).await);
    let path = format!("/tasks/{task}/messages");
    for _ in 0..10 {
        ada.post(&path, json!({ "content": "hi" })).await.ok(201);
    }
    let refused = ada.post(&path, json!({ "content": "hi" })).await;
    refused.refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("60"));
    bob.post(&path, json!({ "content": "hi" })).await.ok(201);
    ada.post(&format!("/tasks/{other}/messages"), json!({ "content": "hi" })).await.ok(201);
    hub.advance_ms(60_000);
    ada.post(&path, json!({ "content": "hi" })).await.ok(201);
}

#[rstest]
#[tokio::test]
async fn a_list_that_is_asked_for_wrongly_is_about_its_task(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let eve = hub.agent("Eve").await;
    let task = ada.task(&bob).await;
    for list in ["messages", "events"] {
        for wrong in ["limit=0", "limit=abc", "limit=1&limit=2", "cursor=zz"] {
            let path = format!("/tasks/{task}/{list}?{wrong}");
            eve.get(&path).await.refused(404, "not_found");
            let refused = bob.get(&path).await.refused(400, "validation");
            assert_eq!(refused["status"], "submitted", "{path}");
            assert!(refused["nextStatuses"].is_array());
        }
    }
}

/// Shown, never interpreted; but it must be a message of the same task.
#[rstest]
#[tokio::test]
async fn a_message_can_name_the_one_that_it_answers(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let (task, other) = (ada.task(&bob).await, ada.task(&bob).await);
    let path = format!("/tasks/{task}/messages");
    let first = ada.post(&path, json!({ "content": "Staging?" })).await.ok(201);
    assert_eq!(first["inReplyTo"], Value::Null);
    let elsewhere = ada.post(&format!("/tasks/{other}/messages"), json!({ "content": "x" })).await.ok(201);
    let id = first["id"].as_str().unwrap();
    let answer = bob.post(&path, json!({ "content": "Yes", "inReplyTo": id })).await.ok(201);
    assert_eq!(answer["inReplyTo"], id);
    for wrong in [elsewhere["id"].clone(), json!("msg_nothing"), json!("not an id"), json!(7)] {
        let refused =
            bob.post(&path, json!({ "content": "x", "inReplyTo": wrong })).await.refused(400, "validation");
        assert!(refused["details"]["inReplyTo"].is_array(), "{refused}");
    }
    ada.delete(&format!("{path}/{id}")).await.ok(200);
    let body = json!({ "agentId": ada.id, "content": "No", "inReplyTo": id });
    let to_deleted = bob.post("/messages", body).await;
    // The newest task with Ada is the other one.
    to_deleted.refused(400, "validation");
    bob.post(&path, json!({ "content": "No", "inReplyTo": id })).await.ok(201);
    let thread = ada.get(&path).await.ok(200);
    let answered: Vec<&Value> = thread.as_array().unwrap().iter().map(|one| &one["inReplyTo"]).collect();
    assert_eq!(answered, [&Value::Null, &json!(id), &json!(id)]);
}

/// Clients of PairAI follow no `Link`, so the first page has the whole thread of a usual task.
#[rstest]
#[tokio::test]
async fn a_thread_of_the_usual_length_is_one_page(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.max_messages_per_minute = 0).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "maxMessages": 1_002 })).await;
    let path = format!("/tasks/{task}/messages");
    for number in 0..1_001 {
        ada.post(&path, json!({ "content": number.to_string() })).await.ok(201);
    }
    let page = bob.get(&path).await;
    let messages = page.ok(200);
    assert_eq!((messages[0]["content"].clone(), messages.as_array().unwrap().len()), (json!("1"), 1_000));
    let older = bob.get(&page.next_link().unwrap()).await.ok(200);
    assert_eq!(older.as_array().unwrap().len(), 1);
}

//! Files on drafts: the task is complete when its target, or whoever approves it, first sees it.

use rstest::rstest;
use serde_json::{Value, json};

use crate::files::upload;
use crate::harness::{Agent, Db, Harness};

async fn draft(from: &Agent, to: &Agent, more: Value) -> String {
    let mut fields = json!({ "draft": true });
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    from.task_with(to, fields).await
}

async fn attach(agent: &Agent, task: &str, name: &str) -> Value {
    agent.post(&format!("/tasks/{task}/files/json"), upload(name, "text/plain", b"text")).await.ok(201)
}

async fn download(agent: &Agent, file: &Value) {
    let got = agent.get(&format!("/files/{}", file["id"].as_str().unwrap())).await;
    assert_eq!((got.status, &got.bytes[..]), (200, b"text".as_slice()));
}

/// Type, kind and content type of an agent's events about a task.
async fn told(agent: &Agent, task: &str) -> Vec<(String, Value, Value)> {
    let about = |event: &Value| event["taskId"] == task;
    let facts = |event: Value| {
        let data = &event["data"];
        (event["type"].as_str().unwrap().to_owned(), data["kind"].clone(), data["contentType"].clone())
    };
    agent.events().await.into_iter().filter(about).map(facts).collect()
}

fn plain(kind: &str) -> (String, Value, Value) {
    (kind.to_owned(), Value::Null, Value::Null)
}

fn file() -> (String, Value, Value) {
    ("message.created".to_owned(), json!("message"), json!("file"))
}

#[rstest]
#[tokio::test]
async fn the_target_learns_of_a_draft_and_its_files_together(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = draft(&ada, &bob, json!({})).await;
    let (first, second) = (attach(&ada, &task, "a.txt").await, attach(&ada, &task, "b.txt").await);
    let gone = attach(&ada, &task, "c.txt").await;
    ada.delete(&format!("/files/{}", gone["id"].as_str().unwrap())).await.ok(200);

    // Nothing of it shows to the target: no event, no file, no unread message.
    let path = format!("/tasks/{task}");
    assert_eq!(told(&bob, &task).await, []);
    bob.get(&format!("/files/{}", first["id"].as_str().unwrap())).await.refused(404, "not_found");
    let refused = upload("x.txt", "text/plain", b"x");
    bob.post(&format!("{path}/files/json"), refused).await.refused(404, "not_found");
    let updates = bob.get("/updates").await.ok(200);
    assert_eq!((&updates["hasUpdates"], &updates["unreadMessages"]), (&json!(false), &json!([])));
    assert_eq!(bob.get("/inbox").await.ok(200)["items"], json!([]));
    ada.post(&format!("{path}/messages"), json!({ "content": "hi" })).await.refused(409, "task_draft");

    ada.set(&task, "submitted").await.ok(200);
    assert_eq!(told(&bob, &task).await, [plain("task.created"), file(), file()]);
    assert_eq!(bob.view(&task).await["unreadCount"], 2);
    assert_eq!(bob.get("/updates").await.ok(200)["unreadMessages"][0]["count"], 2);
    let read = bob.post_empty(&format!("{path}/read")).await.ok(200);
    let ids: Vec<&Value> = read["messages"].as_array().unwrap().iter().map(|one| &one["content"]).collect();
    assert_eq!(ids, [&first["id"], &second["id"]]);
    download(&bob, &second).await;
    assert_eq!(bob.view(&task).await["unreadCount"], 0);
    // From now on as on every task.
    attach(&ada, &task, "d.txt").await;
    assert_eq!(told(&bob, &task).await.last(), Some(&file()));
}

#[rstest]
#[tokio::test]
async fn an_approver_sees_the_files_and_the_agent_is_told_afterwards(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(false, true)] expires_first: bool,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let task = draft(&ada, &bob, json!({ "ttlSeconds": 60 })).await;
    let attached = attach(&ada, &task, "a.txt").await;
    ada.set(&task, "submitted").await.ok(200);
    let held = bob.get(&format!("/tasks/{task}/messages")).await.ok(200);
    assert_eq!(held[0]["content"], attached["id"]);
    download(&bob, &attached).await;
    assert_eq!(told(&bob, &task).await, [plain("task.approval_required")]);
    let mut expected = vec![plain("task.approval_required")];
    if expires_first {
        hub.advance_ms(61_000);
        ada.view(&task).await;
        ada.post_empty(&format!("/tasks/{task}/retry")).await.ok(200);
        expected.extend([plain("task.updated"), plain("task.approval_required")]);
    }
    let read = bob.post_empty(&format!("/tasks/{task}/read")).await.ok(200);
    assert_eq!(read["messages"].as_array().unwrap().len(), 1);
    bob.post(&format!("/approvals/{task}/approve"), json!({ "note": "look at the file" })).await.ok(200);
    expected.extend([plain("task.created"), file()]);
    assert_eq!(told(&bob, &task).await, expected);
    assert_eq!(bob.view(&task).await["unreadCount"], 0, "it was read at the gate");
}

#[rstest]
#[tokio::test]
async fn a_draft_takes_as_many_files_as_its_budget(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = draft(&ada, &bob, json!({ "maxMessages": 2 })).await;
    attach(&ada, &task, "a.txt").await;
    attach(&ada, &task, "b.txt").await;
    let path = format!("/tasks/{task}/files/json");
    let refused = ada.post(&path, upload("c.txt", "text/plain", b"x")).await.refused(409, "message_budget");
    assert_eq!(refused["status"], "draft");
    assert_eq!(ada.view(&task).await["status"], "draft", "a draft does not pause");
    let deleted = ada.delete(&format!("/tasks/{task}")).await.ok(200);
    assert_eq!((&deleted["deletedMessages"], &deleted["deletedFiles"]), (&json!(2), &json!(2)));
    let task = draft(&ada, &bob, json!({})).await;
    for number in 0..tandem_core::tasks::DRAFT_FILES_MAX {
        attach(&ada, &task, &format!("{number}.txt")).await;
    }
    let path = format!("/tasks/{task}/files/json");
    ada.post(&path, upload("one-more.txt", "text/plain", b"x")).await.refused(409, "message_budget");
    ada.set(&task, "submitted").await.ok(200);
    assert_eq!(bob.view(&task).await["unreadCount"], tandem_core::tasks::DRAFT_FILES_MAX);
    attach(&ada, &task, "one-more.txt").await;
}

/// The files count as messages: at the limit the task waits for its initiator, like any other.
#[rstest]
#[tokio::test]
async fn files_that_use_up_the_budget_pause_the_task(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(false, true)] held: bool,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    if held {
        bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    }
    let task = draft(&ada, &bob, json!({ "maxMessages": 2 })).await;
    for name in ["a.txt", "b.txt"] {
        attach(&ada, &task, name).await;
    }
    let published = ada.set(&task, "submitted").await.ok(200);
    let mut expected = vec![plain("task.created"), file(), file()];
    if held {
        assert_eq!(published["status"], "submitted");
        let approved = bob.post(&format!("/approvals/{task}/approve"), json!({})).await.ok(200);
        assert_eq!(approved["status"], "input-required");
        expected.insert(0, plain("task.approval_required"));
    } else {
        assert_eq!(published["status"], "input-required");
        expected.push(plain("task.updated"));
    }
    assert_eq!(told(&bob, &task).await, expected);
    let view = bob.view(&task).await;
    let why = "the limit of 2 messages is reached; the initiator can raise maxMessages";
    assert_eq!((&view["status"], &view["statusReason"]), (&json!("input-required"), &json!(why)));
    let path = format!("/tasks/{task}/messages");
    bob.post(&path, json!({ "content": "hi" })).await.refused(409, "message_budget");
    ada.patch(&format!("/tasks/{task}"), json!({ "maxMessages": 3 })).await.ok(200);
    bob.post(&path, json!({ "content": "hi" })).await.ok(201);
}

//! What waits for an agent, what a task is part of, and messages that look for their task.

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Agent, Db, Harness};

async fn say(from: &Agent, task: &str) {
    from.post(&format!("/tasks/{task}/messages"), json!({ "content": "hello" })).await.ok(201);
}

#[rstest]
#[tokio::test]
async fn the_inbox_is_in_the_order_to_look_at_it(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut expected = Vec::new();
    for priority in ["low", "normal", "high"] {
        for _ in 0..2 {
            hub.advance_ms(1_000);
            let task = ada.task_with(&bob, json!({ "priority": priority, "title": priority })).await;
            expected.push((priority, "task", task));
        }
    }
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    for priority in ["low", "high"] {
        hub.advance_ms(1_000);
        let task = ada.task_with(&bob, json!({ "priority": priority, "title": priority })).await;
        expected.push((priority, "approval", task));
    }
    // A thread that goes on, and one that is over: both have something unread.
    bob.patch("/agents/me", json!({ "defaultApprovalRule": null })).await.ok(200);
    let ended = bob.task_with(&ada, json!({ "priority": "high" })).await;
    hub.advance_ms(1_000);
    ada.post(&format!("/tasks/{ended}/reply"), json!({ "content": "done" })).await.ok(200);
    expected.push(("high", "messages", ended));
    let going_on = ada.task(&bob).await;
    bob.set(&going_on, "working").await.ok(200);
    hub.advance_ms(1_000);
    say(&ada, &going_on).await;
    say(&ada, &going_on).await;
    expected.push(("normal", "messages", going_on.clone()));
    // By priority; within one, in the order in which they were made above.
    let rank = |priority: &str| ["high", "normal", "low"].iter().position(|p| *p == priority);
    expected.sort_by_key(|item| rank(item.0));

    let inbox = bob.get("/inbox").await.ok(200);
    let seen: Vec<(&str, &str, String)> = inbox["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            let text = |field: &str| item[field].as_str().unwrap();
            (text("priority"), text("kind"), text("taskId").to_owned())
        })
        .collect();
    assert_eq!(seen, expected);
    assert_eq!(inbox["hasMore"], false);
    let item =
        inbox["items"].as_array().unwrap().iter().find(|item| item["taskId"] == json!(going_on)).unwrap();
    assert_eq!((&item["unreadCount"], &item["fromAgentName"]), (&json!(2), &json!("Ada")));
    assert_eq!(item["fromAgentId"], json!(ada.id));

    // Page by page it is the same.
    for limit in [1, 3] {
        let mut paged = Vec::new();
        let mut next = Some(format!("/inbox?limit={limit}"));
        while let Some(path) = next {
            let page = bob.get(&path).await;
            let json = page.ok(200);
            paged.extend(json["items"].as_array().unwrap().clone());
            next = page.next_link();
            assert_eq!(json["hasMore"], next.is_some());
        }
        assert_eq!(&paged, inbox["items"].as_array().unwrap(), "limit {limit}");
    }
    for cursor in ["x", "1.2", "9.1.t.id", "1.1.z.id", "1.x.t.id"] {
        bob.get(&format!("/inbox?cursor={cursor}")).await.refused(400, "validation");
    }
    // What was read, taken or declined no longer waits.
    bob.post_empty(&format!("/tasks/{going_on}/read")).await.ok(200);
    let left = bob.get("/inbox").await.ok(200)["items"].as_array().unwrap().len();
    assert_eq!(left, expected.len() - 1);
    assert!(
        ada.view(&expected[0].2).await["delivery"]["fetchedAt"].is_string(),
        "the sender sees it was seen"
    );
}

#[rstest]
#[tokio::test]
async fn a_sender_sees_how_many_are_ahead(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut tasks = Vec::new();
    for _ in 0..3 {
        hub.advance_ms(1_000);
        tasks.push(ada.task(&bob).await);
    }
    let ahead = async |task: &str| ada.view(task).await["delivery"]["ahead"].clone();
    assert_eq!(ahead(&tasks[2]).await, 2);
    let urgent = ada.task_with(&bob, json!({ "priority": "high" })).await;
    assert_eq!((ahead(&urgent).await, ahead(&tasks[0]).await), (json!(0), json!(1)));
    bob.set(&tasks[0], "working").await.ok(200);
    assert_eq!((ahead(&tasks[0]).await, ahead(&tasks[2]).await), (Value::Null, json!(3)));
    bob.set(&tasks[0], "completed").await.ok(200);
    assert_eq!(ahead(&tasks[2]).await, 2);
}

#[rstest]
#[tokio::test]
async fn a_tree_shows_who_works_and_nothing_of_what(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let (eve, dan) = (hub.agent("Eve").await, hub.agent("Dan").await);
    bob.pair_with(&eve).await;
    eve.pair_with(&dan).await;
    let root = ada.task(&bob).await;
    let part = |parent: &str| json!({ "parentTaskId": parent, "title": "secret", "description": "secret" });
    let child = bob.task_with(&eve, part(&root)).await;
    hub.advance_ms(1);
    let back = bob.task_with(&ada, part(&root)).await;
    let grandchild = eve.task_with(&dan, part(&child)).await;
    let draft = json!({ "parentTaskId": child, "draft": true, "title": "secret" });
    eve.task_with(&dan, draft).await;

    let tree = ada.get(&format!("/tasks/{root}/tree")).await.ok(200);
    assert_eq!(
        (&tree["id"], &tree["status"], &tree["hasMore"]),
        (&json!(root), &json!("submitted"), &json!(false))
    );
    let found: Vec<(&Value, &Value, &Value)> = tree["descendants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| (&task["id"], &task["parentTaskId"], &task["depth"]))
        .collect();
    assert_eq!(
        found,
        [
            (&json!(child), &json!(root), &json!(1)),
            (&json!(back), &json!(root), &json!(1)),
            (&json!(grandchild), &json!(child), &json!(2)),
        ]
    );
    let last = &tree["descendants"][2];
    assert_eq!((&last["initiatorAgentName"], &last["targetAgentName"]), (&json!("Eve"), &json!("Dan")));
    assert!(!tree.to_string().contains("secret"), "no titles, no texts: {tree}");
    // It is the initiator's; the tasks themselves stay hidden.
    bob.get(&format!("/tasks/{root}/tree")).await.refused(403, "role_not_allowed");
    eve.get(&format!("/tasks/{root}/tree")).await.refused(404, "not_found");
    ada.get(&format!("/tasks/{child}")).await.refused(404, "not_found");
    assert_eq!(
        bob.get(&format!("/tasks/{child}/tree")).await.ok(200)["descendants"][0]["id"],
        json!(grandchild)
    );

    // A target learns of the parent only if it takes part in that too.
    assert_eq!(bob.view(&child).await["parentTaskId"], json!(root));
    assert!(eve.view(&child).await["parentTaskId"].is_null());
    assert_eq!(ada.view(&back).await["parentTaskId"], json!(root));
    // A parent is a task of one's own; a child never changes it.
    let body = json!({ "targetAgentId": bob.id, "title": "T", "parentTaskId": root });
    eve.post("/tasks", body.clone()).await.refused(404, "not_found");
    let body = json!({ "targetAgentId": bob.id, "title": "T", "parentTaskId": "task_unknown" });
    eve.post("/tasks", body).await.refused(404, "not_found");
    eve.set(&child, "working").await.ok(200);
    eve.set(&child, "failed").await.ok(200);
    assert_eq!(ada.view(&root).await["status"], "submitted");
    // And a deleted parent leaves its children alone.
    ada.set(&root, "cancelled").await.ok(200);
    ada.delete(&format!("/tasks/{root}")).await.ok(200);
    assert_eq!(bob.view(&back).await["status"], "submitted");
}

#[rstest]
#[tokio::test]
async fn a_message_to_an_agent_finds_its_task(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let connection = ada.pair_with(&bob).await;
    let to_bob = json!({ "agentId": bob.id, "content": "hello" });
    let none = ada.post("/messages", to_bob.clone()).await.refused(404, "not_found");
    assert!(none["error"].as_str().unwrap().contains("POST /tasks"), "{none}");
    assert_eq!(ada.get("/tasks").await.ok(200), json!([]), "it never makes one silently");

    let old = ada.task(&bob).await;
    hub.advance_ms(1);
    let new = bob.task(&ada).await;
    hub.advance_ms(1);
    let ended = ada.task(&bob).await;
    ada.set(&ended, "cancelled").await.ok(200);
    ada.task_with(&bob, json!({ "draft": true })).await;
    assert_eq!(ada.post("/messages", to_bob.clone()).await.ok(201)["taskId"], json!(new));
    ada.patch(&format!("/connections/{connection}"), json!({ "alias": "bobby" })).await.ok(200);
    bob.set(&new, "cancelled").await.ok(200);
    let by_alias = json!({ "agentId": "bobby", "content": "hello" });
    assert_eq!(ada.post("/messages", by_alias).await.ok(201)["taskId"], json!(old));
    ada.post("/messages", json!({ "content": "x" })).await.refused(400, "validation");
    ada.post("/messages", json!({ "agentId": bob.id, "content": "" })).await.refused(400, "validation");
    ada.post("/messages", json!({ "agentId": "agent_unknown", "content": "x" }))
        .await
        .refused(404, "not_found");
}

#[rstest]
#[tokio::test]
async fn ids_in_mixed_case_are_all_found(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut made =
        ["a1", "B1", "b2", "A2", "_x", "-y", "Zz", "zZ", "c-d", "C_d"].map(ToOwned::to_owned).to_vec();
    for id in &made {
        ada.task_with(&bob, json!({ "id": id })).await;
    }
    made.sort();
    let (mut seen, mut next) = (Vec::new(), Some("/inbox?limit=1".to_owned()));
    while let Some(path) = next {
        let page = bob.get(&path).await;
        seen.extend(page.ok(200)["items"].as_array().unwrap().iter().map(|item| item["taskId"].clone()));
        next = page.next_link();
    }
    assert_eq!(seen, made);
    let newest = bob.get("/tasks").await.ok(200);
    let listed: Vec<Value> = newest.as_array().unwrap().iter().rev().map(|task| task["id"].clone()).collect();
    assert_eq!(listed, made, "made in one moment, so by their bytes");
}

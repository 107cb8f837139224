//! What waits for an agent.

use rstest::rstest;
use serde_json::json;

use crate::harness::{Db, Harness};

#[rstest]
#[tokio::test]
async fn updates_show_what_is_new_until_it_is_acknowledged(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let nothing = bob.get("/updates").await.ok(200);
    assert_eq!(
        nothing,
        json!({ "hasUpdates": false, "pendingTasks": [], "unreadMessages": [], "pendingApprovals": [], "cursor": 1 })
    );
    let task = ada.task_with(&bob, json!({ "title": "First" })).await;
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "a" })).await.ok(201);
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "b" })).await.ok(201);
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let held = ada.task_with(&bob, json!({ "title": "Second" })).await;

    let updates = bob.get("/updates").await.ok(200);
    assert_eq!(updates["hasUpdates"], true);
    let created_at = &updates["pendingTasks"][0]["createdAt"];
    assert_eq!(
        updates["pendingTasks"],
        json!([{
            "id": task, "title": "First", "fromAgent": "Ada", "fromAgentId": ada.id, "status": "submitted",
            "createdAt": created_at,
        }])
    );
    assert_eq!(updates["unreadMessages"], json!([{ "taskId": task, "taskTitle": "First", "count": 2 }]));
    assert_eq!(updates["pendingApprovals"][0]["id"], held.as_str());
    assert_eq!(ada.get("/updates").await.ok(200)["hasUpdates"], false);

    let cursor = &updates["cursor"];
    let acked = bob.post("/updates/ack", json!({ "cursor": cursor })).await.ok(200);
    assert_eq!(&acked["cursor"], cursor);
    assert_eq!(bob.get("/updates").await.ok(200)["hasUpdates"], false);
    // A task let in later is news again, and so is the next message.
    bob.post_empty(&format!("/approvals/{held}/approve")).await.ok(200);
    ada.post(&format!("/tasks/{held}/messages"), json!({ "content": "c" })).await.ok(201);
    let updates = bob.get("/updates").await.ok(200);
    assert_eq!(updates["pendingTasks"][0]["id"], held.as_str());
    assert_eq!(updates["unreadMessages"], json!([{ "taskId": held, "taskTitle": "Second", "count": 1 }]));
}

/// One look goes through a bounded part of the log; its cursor leads on to the rest.
#[rstest]
#[tokio::test]
async fn a_task_comes_with_its_whole_thread(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let cy = hub.agent("Cy").await;
    ada.pair_with(&cy).await;
    let task = ada.task(&bob).await;
    let say = async |text: &str| {
        ada.post(&format!("/tasks/{task}/messages"), json!({ "content": text })).await.ok(201);
    };
    say("to whoever has it").await;
    ada.post(&format!("/tasks/{task}/reassign"), json!({ "targetAgentId": cy.id })).await.ok(200);
    let unread = async || cy.get("/updates").await.ok(200)["unreadMessages"].clone();
    let counted = |count: i64| json!([{ "taskId": task, "taskTitle": "A task", "count": count }]);
    assert_eq!(unread().await[0]["count"], 1);
    say("and more").await;
    assert_eq!(unread().await, counted(2));
    let cursor = cy.get("/updates").await.ok(200)["cursor"].clone();
    cy.post("/updates/ack", json!({ "cursor": cursor })).await.ok(200);
    assert_eq!(unread().await, json!([]));
    say("and more").await;
    assert_eq!(unread().await, counted(1), "of what it has not seen");
}

#[rstest]
#[tokio::test]
async fn what_is_beyond_one_look_shows_after_an_acknowledgement(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "maxMessages": 2_000 })).await;
    let (by, id) = (ada.id.parse().unwrap(), task.parse().unwrap());
    let many = move |tx: &mut tandem_store::Tx<'_>, now: &tandem_core::Now| {
        let content = "hi".to_owned().try_into().unwrap();
        let new = tandem_app::messages::NewMessage {
            content,
            content_type: tandem_core::messages::ContentType::Text,
            check_in_seconds: None,
            sealed: None,
        };
        for _ in 0..1_200 {
            tandem_app::messages::send(tx, &by, &id, &new, now)?;
        }
        Ok(())
    };
    hub.hub.write(many).await.unwrap();
    let first = bob.get("/updates").await.ok(200);
    assert_eq!(first["unreadMessages"][0]["count"], 999, "one of the thousand lines is the task");
    bob.post("/updates/ack", json!({ "cursor": first["cursor"] })).await.ok(200);
    let second = bob.get("/updates").await.ok(200);
    assert_eq!((&second["unreadMessages"][0]["count"], &second["pendingTasks"]), (&json!(201), &json!([])));
    assert_eq!(second["cursor"], 1_202);
}

#[rstest]
#[tokio::test]
async fn acknowledging_goes_forward_and_to_the_end_at_most(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    ada.task(&bob).await;
    for path in ["/updates/ack", "/events/ack"] {
        assert_eq!(bob.post(path, json!({ "cursor": 1_000_000 })).await.ok(200)["cursor"], 2);
        assert_eq!(bob.post(path, json!({ "cursor": 1 })).await.ok(200)["cursor"], 2);
        assert_eq!(bob.post(path, json!({ "cursor": "2" })).await.ok(200)["cursor"], 2);
        for bad in [
            json!({}),
            json!({ "cursor": -1 }),
            json!({ "cursor": "x" }),
            json!({ "cursor": 1.5 }),
            json!({ "cursor": null }),
        ] {
            bob.post(path, bad).await.refused(400, "validation");
        }
    }
}

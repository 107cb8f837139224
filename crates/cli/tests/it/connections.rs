//! Connections, direct ones, their end, and blocks.

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Db, Harness};

#[rstest]
#[tokio::test]
async fn a_side_changes_its_own_view_of_a_connection(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob, cy) = (hub.agent("Ada").await, hub.agent("Bob").await, hub.agent("Cy").await);
    let connection = ada.pair_with(&bob).await;
    let other = ada.pair_with(&cy).await;
    let path = format!("/connections/{connection}");
    let changed = ada.patch(&path, json!({ "alias": "Bobby", "approval": "require" })).await.ok(200);
    assert_eq!(
        changed,
        json!({
            "connectionId": connection, "id": connection, "agentId": bob.id, "agentName": "Bob", "name": "Bob",
            "alias": "Bobby", "publicKey": null, "description": null, "capabilities": [], "approval": "require",
            "online": true, "lastSeenAt": changed["lastSeenAt"], "reach": "polling",
            "reachConfirmedAt": null, "createdAt": changed["createdAt"],
        })
    );
    assert_eq!(bob.get("/connections").await.ok(200)[0]["alias"], Value::Null);
    ada.patch(&format!("/connections/{other}"), json!({ "alias": "Bobby" }))
        .await
        .refused(409, "alias_taken");
    ada.patch(&path, json!({ "alias": "Bobby" })).await.ok(200);
    assert_eq!(ada.patch(&path, json!({ "alias": null })).await.ok(200)["alias"], Value::Null);
    ada.patch(&path, json!({ "alias": "a".repeat(64) })).await.ok(200);
    for bad in [
        json!({ "alias": "a".repeat(65) }),
        json!({ "alias": "" }),
        json!({ "alias": "agent_x" }),
        json!({ "approval": "never" }),
        json!({}),
    ] {
        ada.patch(&path, bad).await.refused(400, "validation");
    }
    cy.patch(&path, json!({ "alias": "x" })).await.refused(404, "not_found");
    cy.delete(&path).await.refused(404, "not_found");
    let names: Vec<Value> = ada
        .get("/connections")
        .await
        .ok(200)
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["agentName"].clone())
        .collect();
    assert_eq!(names, ["Cy", "Bob"], "newest first");
    let first = ada.get("/connections?limit=1").await;
    assert_eq!(ada.get(&first.next_link().unwrap()).await.ok(200)[0]["agentName"], "Bob");
}

#[rstest]
#[tokio::test]
async fn a_direct_connection_needs_auto_accept(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let path = format!("/connect/{}", bob.id);
    ada.post_empty(&path).await.refused(403, "not_auto_accept");
    ada.post_empty("/connect/agent_unknown").await.refused(404, "not_found");
    bob.patch("/agents/me", json!({ "autoAccept": true })).await.ok(200);
    bob.post_empty(&path).await.refused(400, "validation");
    assert_eq!(ada.post_empty(&path).await.ok(201)["agentId"], bob.id.as_str());
    ada.post_empty(&path).await.refused(409, "already_connected");
    assert_eq!(bob.last_event().await["type"], "agent.connected");
    assert_eq!(bob.get("/connections").await.ok(200)[0]["approval"], "require");
    assert_eq!(ada.get("/connections").await.ok(200)[0]["approval"], Value::Null);
}

#[rstest]
#[tokio::test]
async fn the_end_of_a_connection_cancels_what_is_live_on_it(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob, cy) = (hub.agent("Ada").await, hub.agent("Bob").await, hub.agent("Cy").await);
    let connection = ada.pair_with(&bob).await;
    ada.pair_with(&cy).await;
    let (first, second) = (ada.task(&bob).await, bob.task(&ada).await);
    ada.set(&second, "working").await.ok(200);
    let reviewed = ada.task_with(&bob, json!({ "requiresReview": true })).await;
    let done = ada.task(&bob).await;
    ada.set(&done, "cancelled").await.ok(200);
    let draft = ada.task_with(&bob, json!({ "draft": true })).await;
    let elsewhere = ada.task(&cy).await;
    let before = (ada.events().await.len(), bob.events().await.len());

    let ended = ada.delete(&format!("/connections/{connection}")).await.ok(200);
    assert_eq!(ended, json!({ "deleted": true, "cancelledTasks": 3 }));
    assert_eq!(ada.events().await.len(), before.0, "who asked is not told");
    let told = bob.events().await.split_off(before.1);
    assert_eq!(
        told[0]["data"],
        json!({ "type": "agent.disconnected", "connectionId": connection, "byAgentId": ada.id, "fromAgentName": "Ada" })
    );
    let tasks: Vec<(Value, Value)> =
        told[1..].iter().map(|e| (e["taskId"].clone(), e["data"]["status"].clone())).collect();
    let cancelled = json!("cancelled");
    assert_eq!(tasks, [&first, &second, &reviewed].map(|id| (json!(id), cancelled.clone())));
    assert_eq!(ada.view(&draft).await["status"], "draft");
    assert_eq!(ada.view(&elsewhere).await["status"], "submitted");
    ada.set(&draft, "submitted").await.refused(403, "not_connected");
    ada.delete(&format!("/connections/{connection}")).await.refused(404, "not_found");
    ada.post("/tasks", json!({ "targetAgentId": bob.id, "title": "T" })).await.refused(403, "not_connected");
    let log = bob.get(&format!("/tasks/{first}/events")).await.ok(200);
    assert_eq!((&log[1]["detail"], &log[1]["actor"]), (&json!("the connection was ended"), &json!("system")));
    assert_eq!(bob.view(&first).await["statusReason"], "the connection was ended");
    assert_eq!(bob.get(&format!("/tasks/{first}/messages")).await.ok(200), json!([]));
    let thread = bob.get(&format!("/tasks/{reviewed}/messages")).await.ok(200);
    assert_eq!(thread.as_array().unwrap().len(), 1);
    assert_eq!(thread[0]["content"], "The hub cancelled this task: the connection was ended");
    // Pairing again starts afresh, with none of the old tasks counted.
    ada.pair_with(&bob).await;
    ada.task(&bob).await;
}

#[rstest]
#[tokio::test]
async fn a_block_ends_everything_and_keeps_it_ended(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let done = ada.task(&bob).await;
    bob.set(&done, "working").await.ok(200);
    bob.set(&done, "completed").await.ok(200);
    let blocked = bob.post("/agents/me/block", json!({ "agentId": ada.id })).await.ok(200);
    assert_eq!(blocked, json!({ "agentId": ada.id, "blocked": true, "cancelledTasks": 1 }));
    let kinds = ada.event_kinds().await;
    assert_eq!(kinds[kinds.len() - 2..], ["agent.disconnected", "task.updated"]);
    assert_eq!(ada.view(&task).await["status"], "cancelled");
    assert_eq!(bob.get("/connections").await.ok(200), json!([]));
    for (from, to) in [(&ada, &bob), (&bob, &ada)] {
        to.patch("/agents/me", json!({ "autoAccept": true })).await.ok(200);
        from.post_empty(&format!("/connect/{}", to.id)).await.refused(403, "blocked");
        let code = to.post_empty("/pair/generate").await.text("code");
        from.post("/pair/connect", json!({ "code": code })).await.refused(403, "blocked");
        from.post("/tasks", json!({ "targetAgentId": to.id, "title": "T" }))
            .await
            .refused(403, "not_connected");
    }
    ada.set(&done, "working").await.refused(403, "not_connected");
    bob.post("/agents/me/block", json!({ "agentId": ada.id })).await.ok(200);
    let list = bob.get("/agents/me/blocks").await.ok(200);
    assert_eq!(list, json!([{ "agentId": ada.id, "agentName": "Ada", "createdAt": list[0]["createdAt"] }]));
    bob.post("/agents/me/block", json!({ "agentId": bob.id })).await.refused(400, "validation");
    bob.post("/agents/me/block", json!({ "agentId": "agent_unknown" })).await.refused(404, "not_found");
    bob.post("/agents/me/block", json!({})).await.refused(400, "validation");

    bob.delete(&format!("/agents/me/block/{}", ada.id)).await.ok(200);
    bob.delete(&format!("/agents/me/block/{}", ada.id)).await.refused(404, "not_found");
    ada.pair_with(&bob).await;
}

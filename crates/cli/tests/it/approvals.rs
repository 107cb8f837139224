//! The gate, and the target's answer at it.

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Db, Harness};

#[rstest]
#[tokio::test]
async fn a_held_task_waits_until_its_target_lets_it_in(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}");
    let seen = ada.view(&task).await;
    assert_eq!((&seen["approvalStatus"], &seen["nextStatuses"]), (&json!("pending"), &json!(["cancelled"])));
    assert_eq!(bob.view(&task).await["nextStatuses"], json!([]));
    assert_eq!(bob.event_kinds().await, ["agent.connected", "task.approval_required"]);
    assert_eq!(bob.get("/approvals").await.ok(200)[0]["id"], task.as_str());
    assert_eq!(ada.get("/approvals").await.ok(200), json!([]));

    let held = ada
        .post(&format!("{path}/messages"), json!({ "content": "hi" }))
        .await
        .refused(409, "approval_pending");
    assert_eq!(held["status"], "submitted");
    bob.post(&format!("{path}/messages"), json!({ "content": "hi" })).await.refused(409, "approval_pending");
    bob.set(&task, "working").await.refused(409, "approval_pending");
    bob.set(&task, "cancelled").await.refused(409, "approval_pending");
    ada.set(&task, "working").await.refused(409, "approval_pending");
    ada.post_empty(&format!("/approvals/{task}/approve")).await.refused(403, "role_not_allowed");

    let approved = bob.post_empty(&format!("/approvals/{task}/approve")).await.ok(200);
    assert_eq!((&approved["approvalStatus"], &approved["status"]), (&json!("approved"), &json!("submitted")));
    assert_eq!(bob.last_event().await["type"], "task.created");
    let told = ada.last_event().await;
    assert_eq!((&told["type"], &told["data"]["status"]), (&json!("task.updated"), &json!("submitted")));
    assert_eq!(bob.get("/approvals").await.ok(200), json!([]));
    bob.post_empty(&format!("{path}/approve")).await.refused(409, "invalid_state");
    bob.set(&task, "working").await.ok(200);
}

#[rstest]
#[tokio::test]
async fn declining_cancels_with_the_reason(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let task = ada.task(&bob).await;
    ada.post(&format!("/approvals/{task}/reject"), json!({})).await.refused(403, "role_not_allowed");
    let body = json!({ "reason": "I do not do scheduling" });
    let rejected = bob.post(&format!("/approvals/{task}/reject"), body).await.ok(200);
    assert_eq!((&rejected["approvalStatus"], &rejected["status"]), (&json!("rejected"), &json!("cancelled")));
    assert_eq!(rejected["statusReason"], "I do not do scheduling");
    let told = ada.last_event().await;
    assert_eq!(
        (&told["data"]["status"], &told["data"]["reason"]),
        (&json!("cancelled"), &json!("I do not do scheduling"))
    );
    bob.post_empty(&format!("/tasks/{task}/reject")).await.refused(409, "invalid_state");
    // Where nobody gave a reason, the hub says what happened; on reviewed tasks in the thread as well.
    for (body, reviewed) in [(json!({}), false), (json!({ "reason": " " }), false), (json!({}), true)] {
        let task = ada.task_with(&bob, json!({ "requiresReview": reviewed })).await;
        let rejected = bob.post(&format!("/approvals/{task}/reject"), body).await.ok(200);
        let why = "the target rejected it at its approval gate";
        assert_eq!(rejected["statusReason"], why);
        assert_eq!(ada.last_event().await["data"]["reason"], why);
        let log = ada.get(&format!("/tasks/{task}/events")).await.ok(200);
        assert_eq!((&log[1]["detail"], &log[1]["actor"]), (&json!(why), &json!(bob.id)));
        let thread = ada.get(&format!("/tasks/{task}/messages")).await.ok(200);
        assert_eq!(thread.as_array().unwrap().len(), usize::from(reviewed));
    }
}

#[rstest]
#[tokio::test]
async fn the_connection_decides_before_the_default(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let connection = ada.pair_with(&bob).await;
    let status = async |rule: Value, default: Value| {
        bob.patch(&format!("/connections/{connection}"), json!({ "approval": rule })).await.ok(200);
        bob.patch("/agents/me", json!({ "defaultApprovalRule": default })).await.ok(200);
        // The sender's own side says nothing about what it sends.
        ada.patch(&format!("/connections/{connection}"), json!({ "approval": "require" })).await.ok(200);
        let task = ada.task(&bob).await;
        ada.view(&task).await["approvalStatus"].clone()
    };
    assert_eq!(status(Value::Null, Value::Null).await, Value::Null);
    assert_eq!(status(Value::Null, json!("require")).await, "pending");
    assert_eq!(status(json!("auto"), json!("require")).await, Value::Null);
    assert_eq!(status(json!("require"), json!("auto")).await, "pending");
    assert_eq!(status(json!("require"), Value::Null).await, "pending");
}

#[rstest]
#[tokio::test]
async fn a_stranger_from_the_directory_is_held_unless_said_otherwise(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let hub = Harness::start(db).await;
    for (default, held) in [(Value::Null, true), (json!("auto"), false), (json!("require"), true)] {
        let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
        bob.patch("/agents/me", json!({ "autoAccept": true, "defaultApprovalRule": default })).await.ok(200);
        ada.post_empty(&format!("/connect/{}", bob.id)).await.ok(201);
        let task = ada.task(&bob).await;
        assert_eq!(ada.view(&task).await["approvalStatus"] == "pending", held, "{default}");
        // The other direction is as open as ever.
        let back = bob.task(&ada).await;
        assert_eq!(bob.view(&back).await["approvalStatus"], Value::Null);
    }
}

#[rstest]
#[tokio::test]
async fn publishing_a_draft_asks_the_gate_then(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "draft": true })).await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    assert_eq!(ada.set(&task, "submitted").await.ok(200)["approvalStatus"], "pending");
    assert_eq!(ada.set(&task, "cancelled").await.ok(200)["status"], "cancelled");
    assert_eq!(bob.last_event().await["data"]["status"], "cancelled");
    assert_eq!(bob.get("/approvals").await.ok(200), json!([]));
    bob.post_empty(&format!("/approvals/{task}/approve")).await.refused(409, "invalid_state");
}

/// The note is for the target's own agent; neither the sender nor a later target sees it.
#[rstest]
#[tokio::test]
async fn an_approval_can_carry_a_note_for_the_own_agent(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let eve = hub.agent("Eve").await;
    eve.pair_with(&ada).await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let task = ada.task(&bob).await;
    assert_eq!(bob.view(&task).await["approvalNote"], Value::Null);
    let path = format!("/approvals/{task}/approve");
    bob.post(&path, json!({ "note": "x".repeat(1_001) })).await.refused(400, "validation");
    bob.post(&path, json!({ "note": 7 })).await.refused(400, "validation");
    let note = "n".repeat(1_000);
    let approved = bob.post(&path, json!({ "note": note })).await.ok(200);
    assert_eq!(approved["approvalNote"], note.as_str());
    assert_eq!(bob.view(&task).await["approvalNote"], note.as_str());
    assert_eq!(ada.view(&task).await["approvalNote"], Value::Null);
    assert!(!format!("{:?}", ada.events().await).contains("nnn"));
    ada.post(&format!("/tasks/{task}/reassign"), json!({ "targetAgentId": eve.id })).await.ok(200);
    assert_eq!(eve.view(&task).await["approvalNote"], Value::Null);
}

/// As the seed has it: the reason is the target's message. The event of the rejection has the same words.
#[rstest]
#[tokio::test]
async fn a_reason_for_a_rejection_is_a_message_too(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(false, true)] reviewed: bool,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let task = ada.task_with(&bob, json!({ "requiresReview": reviewed })).await;
    bob.post(&format!("/approvals/{task}/reject"), json!({ "reason": "not before Monday" })).await.ok(200);
    let thread = ada.get(&format!("/tasks/{task}/messages")).await.ok(200);
    let first = &thread[0];
    assert_eq!((&first["content"], &first["kind"]), (&json!("not before Monday"), &json!("message")));
    assert_eq!(first["senderAgentId"], bob.id.as_str());
    assert_eq!(thread.as_array().unwrap().len(), if reviewed { 2 } else { 1 });
    assert_eq!(ada.view(&task).await["unreadCount"], 1);
    assert_eq!(ada.event_kinds().await.last().unwrap(), "task.updated");
    assert!(!ada.event_kinds().await.contains(&"message.created".to_owned()));
    // Without a reason the hub's words stand in statusReason only.
    let silent = ada.task(&bob).await;
    bob.post_empty(&format!("/approvals/{silent}/reject")).await.ok(200);
    let thread = ada.get(&format!("/tasks/{silent}/messages")).await.ok(200);
    assert_eq!(thread, json!([]));
    ada.post_empty(&format!("/tasks/{task}/read")).await.ok(200);
    assert_eq!(ada.view(&task).await["unreadCount"], 0);
}

/// A line of the history has the name that an agent had then.
#[rstest]
#[tokio::test]
async fn the_history_has_the_names_of_its_time(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task =
        ada.task_with(&bob, json!({ "ttlSeconds": 60, "leaseSeconds": 10, "onStall": "expire" })).await;
    bob.set(&task, "working").await.ok(200);
    bob.patch("/agents/me", json!({ "name": "Robert" })).await.ok(200);
    bob.set(&task, "input-required").await.ok(200);
    bob.set(&task, "working").await.ok(200);
    hub.advance_ms(11_000);
    hub.timer_has_looked().await;
    let log = ada.get(&format!("/tasks/{task}/events")).await.ok(200);
    let names: Vec<&Value> = log.as_array().unwrap().iter().map(|line| &line["actorName"]).collect();
    let robert = json!("Robert");
    assert_eq!(names, [&json!("Ada"), &json!("Bob"), &robert, &robert, &Value::Null]);
}

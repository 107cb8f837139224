//! What the timer does: expiry, leases, and that nothing is forgotten by a restart.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Agent, Db, Harness, Place, eventually};

async fn status_is(agent: &Agent, task: &str, status: &str) -> Value {
    eventually(async || Some(agent.view(task).await).filter(|view| view["status"] == status)).await
}

async fn count(agent: &Agent, kind: &str, task: &str) -> usize {
    let events = agent.events().await;
    events.iter().filter(|event| event["type"] == kind && event["taskId"] == json!(task)).count()
}

#[rstest]
#[tokio::test]
async fn a_task_nobody_took_expires(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let ttl = json!({ "ttlSeconds": 60 });
    let task = ada.task_with(&bob, ttl.clone()).await;
    let acked = ada.task_with(&bob, ttl.clone()).await;
    let working = ada.task_with(&bob, ttl.clone()).await;
    let draft = ada.task_with(&bob, json!({ "ttlSeconds": 60, "draft": true })).await;
    bob.post_empty(&format!("/tasks/{acked}/ack")).await.ok(200);
    bob.set(&working, "working").await.ok(200);
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let held = ada.task_with(&bob, ttl).await;
    let view = ada.view(&task).await;
    assert_eq!((&view["ttlSeconds"], &view["expiresAt"]), (&json!(60), &json!("2027-01-15T08:01:00.000Z")));
    assert!(ada.view(&draft).await["expiresAt"].is_null(), "a draft does not age");

    hub.advance_ms(59_999);
    assert_eq!(ada.view(&task).await["status"], "submitted");
    hub.advance_ms(1);
    // Any reader sees it at once, whether the timer has come by or not.
    for id in [&task, &held] {
        let view = ada.view(id).await;
        assert_eq!((&view["status"], &view["nextStatuses"]), (&json!("expired"), &json!([])));
        assert!(view["completedAt"].is_string() && view["statusReason"].is_string());
    }
    bob.set(&task, "working").await.refused(409, "task_terminal");
    bob.post_empty(&format!("/approvals/{held}/approve")).await.refused(409, "invalid_state");
    for (id, status) in [(&acked, "submitted"), (&working, "working"), (&draft, "draft")] {
        assert_eq!(ada.view(id).await["status"], status);
    }
    for agent in [&ada, &bob] {
        assert_eq!(count(agent, "task.updated", &held).await, 1, "both parties are told");
    }
    let last =
        ada.get(&format!("/tasks/{task}/events")).await.ok(200).as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["actor"], &last["toStatus"]), (&json!("system"), &json!("expired")));
    // Its draft begins to age when it is published.
    let published = ada.set(&draft, "submitted").await.ok(200);
    assert_eq!(published["expiresAt"], "2027-01-15T08:02:00.000Z");
}

#[rstest]
#[tokio::test]
async fn the_timer_needs_nobody_to_look(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.default_ttl_seconds = 7).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    assert_eq!(ada.view(&task).await["ttlSeconds"], 7, "the hub's default is shown");
    let mut socket = ada.socket("").await;
    hub.advance_ms(7_000);
    let frame = socket.next().await.unwrap();
    assert_eq!((&frame["type"], &frame["status"]), (&json!("task.updated"), &json!("expired")));
}

#[rstest]
#[tokio::test]
async fn what_has_expired_is_expired_for_every_reader(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let lasting = ada.task(&bob).await;
    hub.advance_ms(1);
    let short = ada.task_with(&bob, json!({ "ttlSeconds": 5 })).await;
    hub.advance_ms(5_000);
    let expired = bob.get("/tasks?status=expired").await.ok(200);
    assert_eq!((expired.as_array().unwrap().len(), &expired[0]["id"]), (1, &json!(short)));
    let other = ada.task_with(&bob, json!({ "ttlSeconds": 5 })).await;
    hub.advance_ms(5_000);
    let sent = ada.post("/messages", json!({ "agentId": bob.id, "content": "hello" })).await.ok(201);
    assert_eq!(sent["taskId"], lasting.as_str(), "not to {other}");
}

#[rstest]
#[tokio::test]
async fn lists_never_show_what_has_expired_as_waiting(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    ada.task_with(&bob, json!({ "ttlSeconds": 5 })).await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    ada.task_with(&bob, json!({ "ttlSeconds": 5 })).await;
    hub.advance_ms(5_000);
    // Each of them is the first to look after its own advance of the clock.
    assert_eq!(bob.get("/tasks?status=submitted").await.ok(200), json!([]));
    for path in ["/inbox", "/updates", "/approvals", "/tasks?status=submitted"] {
        let ttl = json!({ "ttlSeconds": 5 });
        ada.task_with(&bob, ttl).await;
        hub.advance_ms(5_000);
        let answer = bob.get(path).await.ok(200).to_string();
        assert!(!answer.contains("submitted") && !answer.contains("approval\""), "{path}: {answer}");
    }
}

#[rstest]
#[tokio::test]
async fn a_lease_wants_signs_of_life(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "leaseSeconds": 10, "checkInSeconds": 0 })).await;
    let beat = format!("/tasks/{task}/heartbeat");
    bob.post_empty(&beat).await.refused(409, "invalid_state");
    bob.set(&task, "working").await.ok(200);
    ada.post_empty(&beat).await.refused(403, "role_not_allowed");
    bob.post(&beat, json!({ "progress": 101 })).await.refused(400, "validation");
    // Each kind of sign renews it.
    let events = ada.events().await.len();
    for sign in ["heartbeat", "ack", "messages", "heartbeat"] {
        hub.advance_ms(9_000);
        let body = json!({ "content": "still here", "progress": 40, "note": "half way" });
        let reply = bob.post(&format!("/tasks/{task}/{sign}"), body).await;
        assert!(reply.status < 300, "{sign}: {reply:?}");
    }
    let view = ada.view(&task).await;
    assert_eq!((&view["progress"], &view["progressNote"]), (&json!(40), &json!("half way")));
    assert_eq!(ada.events().await.len(), events + 1, "a heartbeat and an empty ack raise no event");
    assert_eq!(count(&ada, "task.stalled", &task).await, 0);

    // One silence, one notice; then it is awaited again from the next sign on.
    for silence in 1..3 {
        hub.advance_ms(10_000);
        eventually(async || (count(&ada, "task.stalled", &task).await == silence).then_some(())).await;
        hub.advance_ms(50_000);
        hub.timer_has_looked().await;
        assert_eq!(count(&ada, "task.stalled", &task).await, silence);
        assert_eq!(ada.view(&task).await["status"], "working");
        bob.post_empty(&beat).await.ok(200);
    }
    let told = ada.events().await.into_iter().find(|event| event["type"] == "task.stalled").unwrap();
    assert_eq!(told["data"]["status"], "working");
    assert_eq!(count(&bob, "task.stalled", &task).await, 0);
    // Work that waits for the initiator needs no sign.
    bob.set(&task, "input-required").await.ok(200);
    hub.advance_ms(50_000);
    hub.timer_has_looked().await;
    assert_eq!(count(&ada, "task.stalled", &task).await, 2);
}

#[rstest]
#[tokio::test]
async fn a_stalled_task_is_tried_again_and_then_expires(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let more = json!({ "leaseSeconds": 10, "onStall": "retry", "maxAttempts": 2, "ttlSeconds": 100 });
    let task = ada.task_with(&bob, more).await;
    bob.set(&task, "working").await.ok(200);
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    hub.advance_ms(10_000);
    let again = status_is(&ada, &task, "submitted").await;
    assert_eq!((&again["attempt"], &again["approvalStatus"]), (&json!(2), &json!("pending")));
    assert!(again["startedAt"].is_null() && again["acknowledgedAt"].is_null());
    assert_eq!(count(&bob, "task.approval_required", &task).await, 1, "the gate is asked again");
    assert_eq!(count(&ada, "task.stalled", &task).await, 1);
    let last = ada.last_event().await;
    assert_eq!((&last["type"], &last["data"]["status"]), (&json!("task.updated"), &json!("submitted")));
    bob.post_empty(&format!("/approvals/{task}/approve")).await.ok(200);
    bob.set(&task, "working").await.ok(200);
    hub.advance_ms(10_000);
    let over = status_is(&ada, &task, "expired").await;
    assert_eq!(over["attempt"], 2);
    let log = ada.get(&format!("/tasks/{task}/events")).await.ok(200);
    let attempts: Vec<&Value> = log.as_array().unwrap().iter().map(|line| &line["attempt"]).collect();
    assert_eq!(attempts, [&json!(1), &json!(1), &json!(2), &json!(2), &json!(2)]);

    let task = ada.task_with(&bob, json!({ "leaseSeconds": 10, "onStall": "expire" })).await;
    bob.post_empty(&format!("/approvals/{task}/approve")).await.ok(200);
    ada.set(&task, "working").await.ok(200);
    hub.advance_ms(10_000);
    status_is(&bob, &task, "expired").await;
}

#[rstest]
#[tokio::test]
async fn a_budget_stops_agents_in_a_loop(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    assert_eq!(ada.view(&ada.task(&bob).await).await["maxMessages"], 1_000, "the default is shown");
    let task = ada.task_with(&bob, json!({ "maxMessages": 3 })).await;
    bob.set(&task, "working").await.ok(200);
    let path = format!("/tasks/{task}/messages");
    let thanks = json!({ "content": "Thank you!" });
    for _ in 0..3 {
        bob.post(&path, thanks.clone()).await.ok(201);
    }
    let view = ada.view(&task).await;
    assert_eq!(view["status"], "input-required");
    let thread = ada.get(&path).await.ok(200);
    assert_eq!(thread.as_array().unwrap().len(), 3, "the hub says nothing in the thread");
    let why = view["statusReason"].as_str().unwrap();
    assert!(why.contains("maxMessages"), "{why}");
    let log = ada.get(&format!("/tasks/{task}/events")).await.ok(200);
    let last = log.as_array().unwrap().last().unwrap();
    assert_eq!((&last["actor"], &last["detail"]), (&json!("system"), &json!(why)));
    let told = ada.last_event().await;
    assert_eq!((&told["type"], &told["data"]["status"]), (&json!("task.updated"), &json!("input-required")));
    assert_eq!(count(&bob, "task.updated", &task).await, 0, "who caused it learns it by the answer");
    for agent in [&ada, &bob] {
        let refused = agent.post(&path, thanks.clone()).await.refused(409, "message_budget");
        assert_eq!(refused["status"], "input-required");
    }
    let reply = json!({ "content": "done" });
    bob.post(&format!("/tasks/{task}/reply"), reply.clone()).await.refused(409, "message_budget");
    bob.patch(&format!("/tasks/{task}"), json!({ "maxMessages": 10 })).await.refused(403, "role_not_allowed");
    ada.patch(&format!("/tasks/{task}"), json!({ "maxMessages": 0 })).await.refused(400, "validation");
    let raised = ada.patch(&format!("/tasks/{task}"), json!({ "maxMessages": 4 })).await.ok(200);
    assert_eq!((&raised["maxMessages"], &raised["status"]), (&json!(4), &json!("input-required")));
    // A reply that is the last one allowed still ends the task.
    let done = bob.post(&format!("/tasks/{task}/reply"), reply).await.ok(200);
    assert_eq!(done["status"], "completed");
    ada.patch(&format!("/tasks/{task}"), json!({ "maxMessages": 9 })).await.refused(409, "task_terminal");
}

#[rstest]
#[tokio::test]
async fn bounds_of_what_a_task_may_agree_on(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    for (field, fits, unfit) in [
        ("ttlSeconds", vec![1, 86_400], vec![0, 86_401, -1]),
        ("checkInSeconds", vec![0, 86_400], vec![-1, 86_401]),
        ("leaseSeconds", vec![10, 86_400], vec![9, 86_401]),
        ("maxAttempts", vec![1, 100], vec![0, 101]),
        ("maxMessages", vec![1, 100_000], vec![0, 100_001]),
    ] {
        for number in fits {
            let task = ada.task_with(&bob, json!({ field: number })).await;
            assert_eq!(ada.view(&task).await[field], number);
        }
        for number in unfit {
            let body = json!({ "targetAgentId": bob.id, "title": "T", field: number });
            let refused = ada.post("/tasks", body).await.refused(400, "validation");
            assert!(refused["details"][field].is_array(), "{refused}");
        }
    }
    let body = json!({ "targetAgentId": bob.id, "title": "T", "onStall": "explode" });
    ada.post("/tasks", body).await.refused(400, "validation");
}

#[rstest]
#[tokio::test]
async fn a_deadline_survives_a_restart_and_fires_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Arc::new(Place::new(db));
    let clock = Arc::new(AtomicI64::new(1_800_000_000_000));
    let hub = Harness::start_at(Arc::clone(&place), place.config(), Arc::clone(&clock)).await;
    let (ada, bob) = hub.pair().await;
    let more = json!({ "ttlSeconds": 20, "checkInSeconds": 10 });
    let task = ada.task_with(&bob, more).await;
    drop(hub);
    // Both have come while nobody was there.
    clock.fetch_add(30_000, Ordering::SeqCst);
    let hub = Harness::start_at(Arc::clone(&place), place.config(), clock).await;
    let ada = Agent { client: hub.client.clone(), ..ada };
    status_is(&ada, &task, "expired").await;
    eventually(async || (count(&ada, "task.updated", &task).await == 1).then_some(())).await;
    hub.advance_ms(60_000);
    hub.timer_has_looked().await;
    assert_eq!(count(&ada, "task.updated", &task).await, 1);
    assert!(count(&ada, "message.no_ack", &task).await <= 1);
}

/// A lease is as long as it was granted for, whatever becomes of the clock.
#[rstest]
#[tokio::test]
async fn a_lease_runs_out_although_the_clock_was_set_back(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    const BACK_MS: i64 = 3_600_000;
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut tasks = Vec::new();
    for _ in 0..70 {
        let task = ada.task_with(&bob, json!({ "leaseSeconds": 60, "checkInSeconds": 0 })).await;
        bob.set(&task, "working").await.ok(200);
        tasks.push(task);
    }
    hub.timer_has_looked().await;
    hub.advance_ms(-BACK_MS);
    hub.timer_has_looked().await;
    assert_eq!(count(&ada, "task.stalled", &tasks[0]).await, 0);
    // One of them shows that it lives.
    hub.advance_ms(59_000);
    bob.post_empty(&format!("/tasks/{}/heartbeat", tasks[0])).await.ok(200);
    hub.advance_ms(1_000);
    eventually(async || (count(&ada, "task.stalled", &tasks[69]).await == 1).then_some(())).await;
    assert_eq!(count(&ada, "task.stalled", &tasks[0]).await, 0);
    hub.advance_ms(59_000);
    eventually(async || (count(&ada, "task.stalled", &tasks[0]).await == 1).then_some(())).await;
}

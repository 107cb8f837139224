//! Reply, retry and reassign.

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Agent, Db, Harness};

async fn log(agent: &Agent, task: &str) -> Vec<Value> {
    agent.get(&format!("/tasks/{task}/events")).await.ok(200).as_array().unwrap().clone()
}

/// A history as text: what it came from, what it became.
async fn steps(agent: &Agent, task: &str) -> Vec<String> {
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let lines = log(agent, task).await;
    lines.iter().map(|l| format!("{}>{}", word(&l["fromStatus"]), word(&l["toStatus"]))).collect()
}

#[rstest]
#[tokio::test]
async fn a_reply_is_the_result_and_the_end_at_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let before = ada.events().await.len();
    let done = bob.post(&format!("/tasks/{task}/reply"), json!({ "content": "42" })).await.ok(200);
    assert_eq!(
        (&done["status"], &done["result"], &done["note"]),
        (&json!("completed"), &json!("42"), &Value::Null)
    );
    assert_eq!((&done["message"]["kind"], &done["message"]["content"]), (&json!("reply"), &json!("42")));
    assert_eq!(steps(&ada, &task).await, ["->submitted", "submitted>working", "working>completed"]);
    let told: Vec<(Value, Value)> = ada.events().await[before..]
        .iter()
        .map(|event| (event["type"].clone(), event["data"]["status"].clone()))
        .collect();
    assert_eq!(
        told,
        [
            (json!("task.updated"), json!("working")),
            (json!("message.created"), Value::Null),
            (json!("task.updated"), json!("completed")),
        ]
    );
    let thread = ada.get(&format!("/tasks/{task}/messages")).await.ok(200);
    let kinds: Vec<&Value> = thread.as_array().unwrap().iter().map(|m| &m["kind"]).collect();
    assert_eq!(kinds, [&json!("reply")], "the answer is the last message");
    // It is over.
    bob.post(&format!("/tasks/{task}/reply"), json!({ "content": "43" })).await.refused(409, "task_terminal");
    assert_eq!(ada.view(&task).await["result"], "42");
}

#[rstest]
#[tokio::test]
async fn a_reply_from_every_live_status(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    for reviewed in [false, true] {
        for from in ["submitted", "working", "input-required", "auth-required"] {
            for outcome in ["completed", "failed", "cancelled"] {
                let task = ada.task_with(&bob, json!({ "requiresReview": reviewed })).await;
                if from != "submitted" {
                    bob.set(&task, "working").await.ok(200);
                }
                if from.ends_with("required") {
                    bob.set(&task, from).await.ok(200);
                }
                let body = json!({ "content": "{}", "contentType": "json", "outcome": outcome });
                let done = bob.post(&format!("/tasks/{task}/reply"), body).await.ok(200);
                let for_review = reviewed && outcome == "completed";
                let to = if for_review { "input-required" } else { outcome };
                assert_eq!(done["status"], to, "{from}, {outcome}, reviewed: {reviewed}");
                assert_eq!(done["note"].is_string(), for_review, "a delivery for review says so");
                let steps = steps(&bob, &task).await;
                let through = from == "submitted";
                assert_eq!(steps.contains(&"submitted>working".to_owned()), through || from != "submitted");
                assert_eq!(steps.last().unwrap().split('>').next_back(), Some(to));
                if for_review {
                    ada.set(&task, "completed").await.ok(200);
                    assert_eq!(ada.view(&task).await["result"], "{}");
                }
            }
        }
    }
}

#[rstest]
#[tokio::test]
async fn a_reply_is_the_targets_and_needs_an_open_task(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let body = json!({ "content": "x" });
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}/reply");
    ada.post(&path, body.clone()).await.refused(403, "role_not_allowed");
    bob.post(&path, json!({})).await.refused(400, "validation");
    bob.post(&path, json!({ "content": "x", "outcome": "rejected" })).await.refused(400, "validation");
    bob.post(&path, json!({ "content": "x", "contentType": "file" })).await.refused(400, "validation");
    bob.post(&path, json!({ "content": "x".repeat(256 * 1024 + 1) })).await.refused(413, "too_large");
    let draft = ada.task_with(&bob, json!({ "draft": true })).await;
    ada.post(&format!("/tasks/{draft}/reply"), body.clone()).await.refused(409, "task_draft");
    bob.post(&format!("/tasks/{draft}/reply"), body.clone()).await.refused(404, "not_found");
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let held = ada.task(&bob).await;
    bob.post(&format!("/tasks/{held}/reply"), body).await.refused(409, "approval_pending");
    assert_eq!(steps(&ada, &task).await, ["->submitted"], "refusals change nothing");
}

#[rstest]
#[tokio::test]
async fn a_retry_begins_again(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "ttlSeconds": 60, "sessionKey": "mine" })).await;
    bob.patch(&format!("/tasks/{task}"), json!({ "sessionKey": "his" })).await.ok(200);
    let failed = json!({ "content": "no luck", "outcome": "failed" });
    bob.post(&format!("/tasks/{task}/reply"), failed).await.ok(200);
    let path = format!("/tasks/{task}/retry");
    bob.post_empty(&path).await.refused(403, "role_not_allowed");
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    hub.advance_ms(100_000);
    let again = ada.post_empty(&path).await.ok(200);
    assert_eq!(
        (&again["id"], &again["status"], &again["attempt"]),
        (&json!(task), &json!("submitted"), &json!(2))
    );
    assert_eq!(again["approvalStatus"], "pending", "the gate is asked again");
    assert_eq!(again["expiresAt"], "2027-01-15T08:02:40.000Z", "its own TTL begins again");
    for field in ["result", "statusReason", "acknowledgedAt", "startedAt", "completedAt"] {
        assert!(again[field].is_null(), "{field}");
    }
    assert_eq!(again["targetSessionKey"], "his");
    let told = bob.last_event().await;
    assert_eq!((&told["type"], &told["data"]["attempt"]), (&json!("task.approval_required"), &json!(2)));
    assert_eq!(told["data"]["targetSessionKey"], "his");
    let last = log(&ada, &task).await.pop().unwrap();
    assert_eq!((&last["fromStatus"], &last["toStatus"]), (&json!("failed"), &json!("submitted")));
    assert_eq!((&last["attempt"], &last["actor"]), (&json!(2), &json!(ada.id)));
    ada.post_empty(&path).await.refused(409, "invalid_state");

    // Which statuses have a retry, and which have none.
    bob.patch("/agents/me", json!({ "defaultApprovalRule": null })).await.ok(200);
    for (status, again) in [("cancelled", true), ("rejected", false), ("completed", false)] {
        let task = ada.task(&bob).await;
        if status == "completed" {
            bob.set(&task, "working").await.ok(200);
        }
        bob.set(&task, status).await.ok(200);
        let reply = ada.post_empty(&format!("/tasks/{task}/retry")).await;
        if again { drop(reply.ok(200)) } else { drop(reply.refused(409, "invalid_state")) }
    }
}

#[rstest]
#[tokio::test]
async fn a_retry_needs_a_way_to_the_target(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let connection = ada.pair_with(&bob).await;
    let task = ada.task(&bob).await;
    ada.delete(&format!("/connections/{connection}")).await.ok(200);
    let refused = ada.post_empty(&format!("/tasks/{task}/retry")).await.refused(403, "not_connected");
    assert_eq!(refused["status"], "cancelled");
    assert_eq!(ada.view(&task).await["attempt"], 1);
}

#[rstest]
#[tokio::test]
async fn a_reassigned_task_is_the_new_targets_alone(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let eve = hub.agent("Eve").await;
    ada.pair_with(&eve).await;
    let task = ada.task_with(&bob, json!({ "sessionKey": "a" })).await;
    bob.patch(&format!("/tasks/{task}"), json!({ "status": "working", "sessionKey": "b" })).await.ok(200);
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "from ada" })).await.ok(201);
    bob.post(&format!("/tasks/{task}/messages"), json!({ "content": "from bob" })).await.ok(201);
    let path = format!("/tasks/{task}/reassign");
    let to = |agent: &Agent| json!({ "targetAgentId": agent.id });
    let stranger = hub.agent("Mallory").await;
    ada.post(&path, json!({})).await.refused(400, "validation");
    ada.post(&path, to(&bob)).await.refused(400, "validation");
    ada.post(&path, to(&stranger)).await.refused(403, "not_connected");
    bob.post(&path, to(&eve)).await.refused(403, "role_not_allowed");
    eve.post(&path, to(&eve)).await.refused(404, "not_found");

    let moved = ada.post(&path, to(&eve)).await.ok(200);
    assert_eq!((&moved["status"], &moved["attempt"]), (&json!("submitted"), &json!(2)));
    assert_eq!((&moved["targetAgentId"], &moved["targetAgentName"]), (&json!(eve.id), &json!("Eve")));
    for field in ["startedAt", "acknowledgedAt", "targetSessionKey"] {
        assert!(moved[field].is_null(), "{field}");
    }
    assert!(moved["delivery"]["fetchedAt"].is_null());

    // The one before keeps one line of its log, and the way to route it.
    let told: Vec<Value> =
        bob.events().await.into_iter().filter(|event| event["taskId"] == json!(task)).collect();
    assert_eq!(told.len(), 1);
    assert_eq!(
        told[0]["data"],
        json!({
            "type": "task.reassigned", "taskId": task, "initiatorSessionKey": "a", "targetSessionKey": "b",
            "fromAgentName": "Ada",
        })
    );
    for path in ["", "/messages", "/events"] {
        bob.get(&format!("/tasks/{task}{path}")).await.refused(404, "not_found");
    }
    bob.post_empty(&format!("/tasks/{task}/ack")).await.refused(404, "not_found");
    assert_eq!(bob.get("/tasks").await.ok(200), json!([]));
    assert_eq!(bob.get("/inbox").await.ok(200)["items"], json!([]));

    // The new one has everything.
    let last = eve.last_event().await;
    assert_eq!((&last["type"], &last["data"]["attempt"]), (&json!("task.created"), &json!(2)));
    let thread = eve.get(&format!("/tasks/{task}/messages")).await.ok(200);
    let said: Vec<&Value> = thread.as_array().unwrap().iter().map(|m| &m["content"]).collect();
    assert_eq!(said, [&json!("from ada"), &json!("from bob")]);
    assert!(thread[0]["readAt"].is_null(), "this one has not read it");
    assert_eq!(eve.view(&task).await["unreadCount"], 1);
    assert_eq!(ada.view(&task).await["unreadCount"], 1, "what the old one wrote is still for the initiator");
    eve.set(&task, "working").await.ok(200);
    eve.set(&task, "completed").await.ok(200);
    ada.post(&path, to(&bob)).await.refused(409, "invalid_state");
}

#[rstest]
#[tokio::test]
async fn a_held_task_may_be_reassigned(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let eve = hub.agent("Eve").await;
    let connection = ada.pair_with(&eve).await;
    ada.patch(&format!("/connections/{connection}"), json!({ "alias": "the reviewer" })).await.ok(200);
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let task = ada.task(&bob).await;
    assert_eq!(ada.view(&task).await["approvalStatus"], "pending");
    let body = json!({ "targetAgentId": "the reviewer" });
    let moved = ada.post(&format!("/tasks/{task}/reassign"), body).await.ok(200);
    assert_eq!((&moved["approvalStatus"], &moved["targetAgentId"]), (&Value::Null, &json!(eve.id)));
    assert_eq!(bob.get("/approvals").await.ok(200), json!([]));
    let draft = ada.task_with(&bob, json!({ "draft": true })).await;
    let body = json!({ "targetAgentId": eve.id });
    ada.post(&format!("/tasks/{draft}/reassign"), body).await.refused(409, "invalid_state");
}

#[rstest]
#[tokio::test]
async fn whoever_says_what_it_saw_is_told_when_that_is_over(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let eve = hub.agent("Eve").await;
    ada.pair_with(&eve).await;
    let stale = |more: Value| {
        let mut body = json!({ "expectedStatus": "auth-required" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let task = ada.task(&bob).await;
    let path = |route: &str| format!("/tasks/{task}/{route}");
    let reassign = stale(json!({ "targetAgentId": eve.id }));
    ada.post(&path("reassign"), reassign).await.refused(409, "conflict");
    bob.post(&path("reply"), stale(json!({ "content": "x" }))).await.refused(409, "conflict");
    bob.post(&path("approve"), stale(json!({}))).await.refused(409, "conflict");
    ada.post(&path("cancel"), stale(json!({}))).await.refused(409, "conflict");
    ada.set(&task, "cancelled").await.ok(200);
    ada.post(&path("retry"), stale(json!({}))).await.refused(409, "conflict");
    let request = hyper::Request::post(path("retry"))
        .header("authorization", format!("Bearer {}", ada.key))
        .header("if-match", "\"77\"")
        .body(http_body_util::Full::new(hyper::body::Bytes::new()))
        .unwrap();
    ada.client.raw(request).await.refused(412, "conflict");
    ada.post(&path("retry"), json!({ "expectedStatus": "cancelled" })).await.ok(200);
}

#[rstest]
#[tokio::test]
async fn a_draft_that_was_given_up_cannot_be_retried(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let draft = ada.task_with(&bob, json!({ "draft": true })).await;
    ada.set(&draft, "cancelled").await.ok(200);
    ada.post_empty(&format!("/tasks/{draft}/retry")).await.refused(409, "invalid_state");
}

#[rstest]
#[tokio::test]
async fn a_reply_that_is_taken_back_is_no_result(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let done = bob.post(&format!("/tasks/{task}/reply"), json!({ "content": "oops" })).await.ok(200);
    let reply = done["message"]["id"].as_str().unwrap();
    bob.delete(&format!("/tasks/{task}/messages/{reply}")).await.ok(200);
    assert_eq!(ada.view(&task).await["result"], "[deleted]");
}

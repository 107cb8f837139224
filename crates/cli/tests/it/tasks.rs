//! Making, listing, changing and deleting tasks.

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Db, Harness};

#[rstest]
#[tokio::test]
async fn a_task_shows_all_its_fields_and_reaches_its_target(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let body = json!({
        "targetAgentId": bob.id, "title": "Review", "description": "All of it", "priority": "high",
        "sessionKey": "ada-1", "unknownField": [1, 2, 3],
    });
    let made = ada.post("/api/v1/tasks", body).await.ok(201);
    let document = ada.get("/openapi.json").await.ok(200);
    for field in document["components"]["schemas"]["TaskView"]["properties"].as_object().unwrap().keys() {
        assert!(made.get(field).is_some(), "{field} is missing");
    }
    assert_eq!(made["status"], "submitted");
    assert_eq!(made["initiatorAgentName"], "Ada");
    assert_eq!(made["targetAgentId"], bob.id.as_str());
    assert_eq!(made["nextStatuses"], json!(["working", "cancelled"]));
    assert_eq!(made["priority"], "high");
    assert_eq!(made["createdAt"], "2027-01-15T08:00:00.000Z");
    assert_eq!(made["delivery"]["queuedAt"], made["createdAt"]);
    assert_eq!(made["initiatorSessionKey"], "ada-1");

    let id = made["id"].as_str().unwrap();
    let seen = bob.view(id).await;
    assert_eq!(seen["nextStatuses"], json!(["working", "rejected", "cancelled"]));
    let event = bob.last_event().await;
    assert_eq!(event["type"], "task.created");
    assert_eq!(event["taskId"], id);
    assert_eq!(event["fromAgentId"], ada.id.as_str());
    assert_eq!(
        event["data"],
        json!({
            "type": "task.created", "taskId": id, "fromAgentId": ada.id, "fromAgentName": "Ada", "attempt": 1,
            "initiatorSessionKey": "ada-1",
        })
    );
}

#[rstest]
#[tokio::test]
async fn only_connected_agents_can_be_reached(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, eve) = (hub.agent("Ada").await, hub.agent("Eve").await);
    for target in [eve.id.as_str(), ada.id.as_str(), "agent_nobody", "an alias"] {
        let body = json!({ "targetAgentId": target, "title": "Hello" });
        ada.post("/tasks", body).await.refused(403, "not_connected");
    }
}

#[rstest]
#[tokio::test]
async fn an_alias_names_a_target(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let connection = ada.pair_with(&bob).await;
    ada.patch(&format!("/connections/{connection}"), json!({ "alias": "Bob at work" })).await.ok(200);
    let made = ada.post("/tasks", json!({ "targetAgentId": "Bob at work", "title": "Hello" })).await.ok(201);
    assert_eq!(made["targetAgentId"], bob.id.as_str());
    // The alias is the caller's own.
    bob.post("/tasks", json!({ "targetAgentId": "Bob at work", "title": "Hello" }))
        .await
        .refused(403, "not_connected");
}

#[rstest]
#[tokio::test]
async fn a_client_may_bring_its_own_id_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let (cy, di) = hub.pair().await;
    let longest = "x".repeat(64);
    for id in ["my-task_1", "Z", &longest] {
        let made =
            ada.post("/tasks", json!({ "targetAgentId": bob.id, "title": "T", "id": id })).await.ok(201);
        assert_eq!(made["id"], id);
        ada.post("/tasks", json!({ "targetAgentId": bob.id, "title": "T", "id": id }))
            .await
            .refused(409, "id_taken");
        cy.post("/tasks", json!({ "targetAgentId": di.id, "title": "T", "id": id }))
            .await
            .refused(409, "id_taken");
        cy.get(&format!("/tasks/{id}")).await.refused(404, "not_found");
    }
    let too_long = "x".repeat(65);
    for id in ["", "a b", "a/b", "ä", &too_long] {
        let refused = ada.post("/tasks", json!({ "targetAgentId": bob.id, "title": "T", "id": id })).await;
        assert!(refused.refused(400, "validation")["details"]["id"][0].is_string());
    }
}

#[rstest]
#[tokio::test]
async fn an_id_is_never_used_twice(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let (cy, di) = hub.pair().await;
    let take_again = async |id: &str| {
        for (from, to) in [(&cy, &di), (&di, &cy)] {
            let body = json!({ "targetAgentId": to.id, "title": "Another", "id": id });
            from.post("/tasks", body).await.refused(409, "id_taken");
        }
    };
    let ended = ada.task_with(&bob, json!({ "id": "ended" })).await;
    ada.set(&ended, "cancelled").await.ok(200);
    let draft = ada.task_with(&bob, json!({ "id": "draft", "draft": true })).await;
    let made_by_hub = ada.task_with(&bob, json!({ "draft": true })).await;
    for id in [&ended, &draft, &made_by_hub] {
        ada.delete(&format!("/tasks/{id}")).await.ok(200);
        take_again(id).await;
        let body = json!({ "targetAgentId": bob.id, "title": "Another", "id": id });
        ada.post("/tasks", body).await.refused(409, "id_taken");
        ada.get(&format!("/tasks/{id}")).await.refused(404, "not_found");
    }
    // Also when its account is gone.
    let left = [ada.task_with(&bob, json!({ "id": "left" })).await, ada.task(&bob).await];
    ada.delete("/agents/me").await.ok(200);
    for id in &left {
        bob.get(&format!("/tasks/{id}")).await.refused(404, "not_found");
        take_again(id).await;
    }
}

#[rstest]
#[tokio::test]
async fn nobody_else_learns_that_a_task_exists(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let eve = hub.agent("Eve").await;
    let task = ada.task(&bob).await;
    for id in [task.as_str(), "task_unknown", "%20", "a%2Fb", "%ff"] {
        let path = format!("/tasks/{id}");
        let replies = [
            eve.get(&path).await,
            eve.patch(&path, json!({ "status": "working" })).await,
            eve.patch(&path, json!({ "status": "nonsense" })).await,
            eve.delete(&path).await,
            eve.post(&format!("{path}/cancel"), json!({})).await,
            eve.post(&format!("{path}/messages"), json!({ "content": "hi" })).await,
            eve.post(&format!("{path}/messages"), json!({ "content": 7 })).await,
            eve.get(&format!("{path}/messages")).await,
            eve.get(&format!("{path}/events")).await,
            eve.post(&format!("{path}/approve"), json!({})).await,
            eve.post(&format!("/approvals/{id}/reject"), json!({ "reason": 7 })).await,
        ];
        for reply in replies {
            let body = reply.refused(404, "not_found");
            assert!(body.get("status").is_none(), "{body}");
        }
    }
    assert_eq!(eve.get("/tasks").await.ok(200), json!([]));
}

#[rstest]
#[tokio::test]
async fn a_draft_is_its_initiators_alone_until_published(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "draft": true })).await;
    let path = format!("/tasks/{task}");
    assert_eq!(ada.view(&task).await["nextStatuses"], json!(["submitted", "cancelled"]));
    bob.get(&path).await.refused(404, "not_found");
    assert_eq!(bob.get("/tasks").await.ok(200), json!([]));
    assert_eq!(bob.event_kinds().await, ["agent.connected"]);
    ada.post(&format!("{path}/messages"), json!({ "content": "hi" })).await.refused(409, "task_draft");

    let changed = ada.patch(&path, json!({ "title": "Better", "description": "More" })).await.ok(200);
    assert_eq!((&changed["title"], &changed["description"]), (&json!("Better"), &json!("More")));
    assert_eq!(ada.patch(&path, json!({ "description": null })).await.ok(200)["description"], Value::Null);
    let published = ada.patch(&path, json!({ "status": "submitted", "title": "Best" })).await.ok(200);
    assert_eq!((&published["status"], &published["title"]), (&json!("submitted"), &json!("Best")));
    assert_eq!(bob.view(&task).await["title"], "Best");
    assert_eq!(bob.event_kinds().await, ["agent.connected", "task.created"]);
    ada.patch(&path, json!({ "title": "Too late" })).await.refused(409, "invalid_state");

    let log = ada.get(&format!("{path}/events")).await.ok(200);
    let steps: Vec<_> = log.as_array().unwrap().iter().map(|l| (&l["fromStatus"], &l["toStatus"])).collect();
    assert_eq!(steps, [(&Value::Null, &json!("draft")), (&json!("draft"), &json!("submitted"))]);
}

#[rstest]
#[tokio::test]
async fn a_draft_that_was_given_up_stays_hidden(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "draft": true })).await;
    ada.set(&task, "cancelled").await.ok(200);
    bob.get(&format!("/tasks/{task}")).await.refused(404, "not_found");
    bob.delete(&format!("/tasks/{task}")).await.refused(404, "not_found");
    assert_eq!(bob.event_kinds().await, ["agent.connected"]);
    ada.delete(&format!("/tasks/{task}")).await.ok(200);
}

#[rstest]
#[tokio::test]
async fn a_reopening_tells_both_and_only_the_initiator_may(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    bob.set(&task, "working").await.ok(200);
    let done = bob.set(&task, "completed").await.ok(200);
    assert!(done["completedAt"].is_string());
    bob.set(&task, "working").await.refused(403, "role_not_allowed");
    let reopened = ada.set(&task, "working").await.ok(200);
    assert_eq!(reopened["completedAt"], Value::Null);
    for agent in [&ada, &bob] {
        let event = agent.last_event().await;
        assert_eq!((&event["type"], &event["data"]["status"]), (&json!("task.updated"), &json!("working")));
    }
    bob.post(&format!("/tasks/{task}/messages"), json!({ "content": "again" })).await.ok(201);
}

#[rstest]
#[tokio::test]
async fn the_end_of_a_reviewed_task_leaves_one_system_message_with_the_reason(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "requiresReview": true })).await;
    let body = json!({ "reason": "No longer needed" });
    let cancelled = ada.post(&format!("/tasks/{task}/cancel"), body).await.ok(200);
    assert_eq!(
        (&cancelled["status"], &cancelled["statusReason"]),
        (&json!("cancelled"), &json!("No longer needed"))
    );
    let event = bob.last_event().await;
    assert_eq!(event["data"]["reason"], "No longer needed");
    let thread = bob.get(&format!("/tasks/{task}/messages")).await.ok(200);
    assert_eq!(thread.as_array().unwrap().len(), 1);
    assert_eq!(thread[0]["senderAgentId"], "system");
    assert_eq!(thread[0]["kind"], "system");
    assert_eq!(thread[0]["content"], "Ada cancelled this task: No longer needed");
    assert_eq!(bob.view(&task).await["unreadCount"], 0);
    assert!(!bob.event_kinds().await.contains(&"message.created".to_owned()));
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "hi" }))
        .await
        .refused(409, "task_terminal");
}

#[rstest]
#[tokio::test]
async fn deleting_takes_thread_and_events_with_it(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}");
    ada.delete(&path).await.refused(409, "task_live");
    ada.post(&format!("{path}/messages"), json!({ "content": "one" })).await.ok(201);
    bob.post(&format!("{path}/messages"), json!({ "content": "two" })).await.ok(201);
    ada.set(&task, "cancelled").await.ok(200);
    let deleted = bob.delete(&path).await.ok(200);
    assert_eq!((&deleted["deletedMessages"], &deleted["deletedFiles"]), (&json!(2), &json!(0)));
    for agent in [&ada, &bob] {
        agent.get(&path).await.refused(404, "not_found");
        assert_eq!(agent.event_kinds().await, ["agent.connected"]);
    }
    // Numbers go on behind the purged ones.
    ada.task(&bob).await;
    assert!(bob.last_event().await["id"].as_i64().unwrap() > 3);
}

#[rstest]
#[tokio::test]
async fn each_side_sets_its_own_session_key(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "sessionKey": "a" })).await;
    let longest = "k".repeat(256);
    let path = format!("/tasks/{task}");
    bob.patch(&path, json!({ "sessionKey": longest })).await.ok(200);
    bob.patch(&path, json!({ "sessionKey": "k".repeat(257) })).await.refused(400, "validation");
    bob.post(&format!("{path}/messages"), json!({ "content": "hi" })).await.ok(201);
    let event = ada.last_event().await;
    assert_eq!(event["data"]["initiatorSessionKey"], "a");
    assert_eq!(event["data"]["targetSessionKey"], longest);
    assert_eq!(
        ada.patch(&path, json!({ "sessionKey": null })).await.ok(200)["initiatorSessionKey"],
        Value::Null
    );
}

#[rstest]
#[tokio::test]
async fn title_description_and_reason_keep_their_bounds(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let create = |more: Value| {
        let mut body = json!({ "targetAgentId": bob.id, "title": "T" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ada.post("/tasks", body)
    };
    create(json!({ "title": "é".repeat(128) })).await.ok(201);
    for title in [String::new(), "  ".into(), "x".repeat(129), "a\u{0}b".into(), "a\nb".into()] {
        let refused = create(json!({ "title": title })).await.refused(400, "validation");
        assert!(refused["details"]["title"].is_array(), "{refused}");
    }
    create(json!({ "description": "d".repeat(256 * 1024) })).await.ok(201);
    create(json!({ "description": "d".repeat(256 * 1024 + 1) })).await.refused(413, "too_large");
    create(json!({ "description": "a\u{0}b" })).await.refused(400, "validation");
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}");
    let refused = ada.patch(&path, json!({ "status": "cancelled", "reason": "r".repeat(1001) })).await;
    assert_eq!(refused.refused(400, "validation")["status"], "submitted");
    ada.patch(&path, json!({ "status": "cancelled", "reason": "r".repeat(1000) })).await.ok(200);
}

#[rstest]
#[tokio::test]
async fn two_agents_can_have_ten_thousand_live_tasks_and_no_more(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    // All but one of the others are counted, not made: making them would take the test's time only.
    let (one, other) = (ada.id.parse().unwrap(), bob.id.parse().unwrap());
    hub.hub
        .db
        .write(move |tx, _| Ok(tandem_store::connections::count_live(tx, &one, &other, 9_998)?))
        .await
        .unwrap();
    ada.task(&bob).await;
    let body = json!({ "targetAgentId": bob.id, "title": "One too many" });
    let refused = ada.post("/tasks", body.clone()).await;
    refused.refused(429, "too_many_open_tasks");
    assert!(refused.header("retry-after").is_some());
    bob.post("/tasks", json!({ "targetAgentId": ada.id, "title": "Neither" }))
        .await
        .refused(429, "too_many_open_tasks");
    let draft = ada.task_with(&bob, json!({ "draft": true })).await;
    ada.set(&draft, "submitted").await.refused(429, "too_many_open_tasks");
    bob.set(&task, "rejected").await.ok(200);
    ada.post("/tasks", body).await.ok(201);
}

#[rstest]
#[tokio::test]
async fn the_parts_of_a_deleted_task_belong_to_none(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let cy = hub.agent("Cy").await;
    ada.pair_with(&cy).await;
    let task = ada.task_with(&bob, json!({ "id": "Again" })).await;
    let part = ada.task_with(&cy, json!({ "parentTaskId": task })).await;
    ada.post_empty(&format!("/tasks/{task}/cancel")).await.ok(200);
    bob.delete(&format!("/tasks/{task}")).await.ok(200);
    assert_eq!(ada.view(&part).await["parentTaskId"], Value::Null);
}

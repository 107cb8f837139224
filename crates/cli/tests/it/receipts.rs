//! Read, acknowledged, and what happens when nobody acknowledges.

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Agent, Db, Harness, eventually};

async fn say(from: &Agent, task: &str, more: Value) -> String {
    let mut body = json!({ "content": "hello" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let reply = from.post(&format!("/tasks/{task}/messages"), body).await;
    reply.ok(201);
    reply.text("id")
}

async fn thread(agent: &Agent, task: &str) -> Vec<Value> {
    agent.get(&format!("/tasks/{task}/messages")).await.ok(200).as_array().unwrap().clone()
}

async fn of_kind(agent: &Agent, kind: &str) -> Vec<Value> {
    agent.events().await.into_iter().filter(|event| event["type"] == kind).collect()
}

#[rstest]
#[tokio::test]
async fn reading_gives_what_is_unread_and_tells_the_author(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "sessionKey": "s-1" })).await;
    let (one, two) = (say(&ada, &task, json!({})).await, say(&ada, &task, json!({})).await);
    assert_eq!(bob.view(&task).await["unreadCount"], 2);
    assert_eq!(ada.view(&task).await["unreadCount"], 0);

    let read = bob.post_empty(&format!("/tasks/{task}/read")).await.ok(200);
    let ids: Vec<&Value> = read["messages"].as_array().unwrap().iter().map(|m| &m["id"]).collect();
    assert_eq!((ids, &read["unreadCount"]), (vec![&json!(one), &json!(two)], &json!(0)));
    assert!(read["messages"].as_array().unwrap().iter().all(|m| m["readAt"].is_string()));
    assert_eq!(bob.view(&task).await["unreadCount"], 0);
    let marks: Vec<Value> = thread(&ada, &task).await;
    assert!(marks.iter().all(|m| m["readAt"].is_string() && m["acknowledgedAt"].is_null()), "{marks:?}");
    let told = of_kind(&ada, "message.read").await;
    assert_eq!(told.len(), 1);
    assert_eq!(
        told[0]["data"],
        json!({
            "type": "message.read", "taskId": task, "initiatorSessionKey": "s-1", "messageIds": [one, two],
            "byAgentId": bob.id, "fromAgentName": "Bob",
        })
    );

    // There is nothing more to read, and nobody is told of that.
    let again = bob.post_empty(&format!("/tasks/{task}/read")).await.ok(200);
    assert_eq!(again, json!({ "messages": [], "unreadCount": 0 }));
    assert_eq!(of_kind(&ada, "message.read").await.len(), 1);
    assert!(bob.view(&task).await["acknowledgedAt"].is_null(), "reading acknowledges nothing");
    hub.agent("Eve").await.post_empty(&format!("/tasks/{task}/read")).await.refused(404, "not_found");
}

#[rstest]
#[tokio::test]
async fn acknowledging_covers_everything_outstanding(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;

    // The task alone.
    let ack = bob.post_empty(&format!("/tasks/{task}/ack")).await.ok(200);
    assert_eq!((&ack["acknowledged"], &ack["messageIds"]), (&json!(true), &json!([])));
    let view = ada.view(&task).await;
    assert_eq!(view["acknowledgedAt"], ack["acknowledgedAt"]);
    assert_eq!(view["delivery"]["acknowledgedAt"], ack["acknowledgedAt"]);
    assert_eq!(view["status"], "submitted", "an acknowledgement is a mark, never a status");
    let told = of_kind(&ada, "message.acknowledged").await;
    assert_eq!((told.len(), &told[0]["data"]["messageIds"]), (1, &json!([])));
    assert_eq!(told[0]["data"]["byAgentId"], json!(bob.id));

    // Then messages; the task's own mark stays what it was.
    hub.advance_ms(5_000);
    let one = say(&ada, &task, json!({})).await;
    bob.post_empty(&format!("/tasks/{task}/ack")).await.ok(200);
    assert_eq!(ada.view(&task).await["acknowledgedAt"], ack["acknowledgedAt"]);
    let told = of_kind(&ada, "message.acknowledged").await;
    assert_eq!((told.len(), &told[1]["data"]["messageIds"]), (2, &json!([one])));
    let message = &thread(&ada, &task).await[0];
    assert!(message["readAt"].is_string() && message["acknowledgedAt"].is_string(), "{message}");

    // Nothing outstanding: nobody is told.
    bob.post_empty(&format!("/tasks/{task}/ack")).await.ok(200);
    assert_eq!(of_kind(&ada, "message.acknowledged").await.len(), 2);

    // It goes both ways.
    let answer = say(&bob, &task, json!({})).await;
    assert_eq!(ada.view(&task).await["unreadCount"], 1);
    ada.post_empty(&format!("/tasks/{task}/ack")).await.ok(200);
    assert_eq!(ada.view(&task).await["unreadCount"], 0);
    assert_eq!(of_kind(&bob, "message.acknowledged").await[0]["data"]["messageIds"], json!([answer]));
}

#[rstest]
#[tokio::test]
async fn any_act_counts_as_an_acknowledgement(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    for act in ["message", "status"] {
        let task = ada.task(&bob).await;
        say(&ada, &task, json!({})).await;
        match act {
            "message" => drop(say(&bob, &task, json!({})).await),
            _ => drop(bob.set(&task, "working").await.ok(200)),
        }
        assert!(ada.view(&task).await["acknowledgedAt"].is_string(), "{act}");
        assert!(thread(&ada, &task).await[0]["acknowledgedAt"].is_string(), "{act}");
        assert_eq!(bob.view(&task).await["unreadCount"], 0, "{act}");
        hub.advance_ms(31_000);
    }
    // The initiator's own start of the work acknowledges nothing for the target.
    let task = ada.task(&bob).await;
    ada.set(&task, "working").await.ok(200);
    assert!(ada.view(&task).await["acknowledgedAt"].is_null());
}

#[rstest]
#[tokio::test]
async fn who_does_not_acknowledge_in_time_is_reported_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let silent = ada.task_with(&bob, json!({ "checkInSeconds": 5, "sessionKey": "k" })).await;
    let acked = ada.task_with(&bob, json!({ "checkInSeconds": 5 })).await;
    let ended = ada.task_with(&bob, json!({ "checkInSeconds": 5 })).await;
    let off = ada.task_with(&bob, json!({ "checkInSeconds": 0 })).await;
    let read_only = ada.task_with(&bob, json!({ "checkInSeconds": 0 })).await;
    let message = say(&ada, &read_only, json!({ "checkInSeconds": 6 })).await;
    let taken_back = say(&ada, &read_only, json!({ "checkInSeconds": 6 })).await;
    bob.post_empty(&format!("/tasks/{acked}/ack")).await.ok(200);
    bob.post_empty(&format!("/tasks/{read_only}/read")).await.ok(200);
    ada.delete(&format!("/tasks/{read_only}/messages/{taken_back}")).await.ok(200);
    ada.set(&ended, "cancelled").await.ok(200);
    // The target's own message waits for the initiator.
    let of_bob = say(&bob, &off, json!({ "checkInSeconds": 7 })).await;

    hub.advance_ms(4_900);
    hub.timer_has_looked().await;
    assert_eq!(of_kind(&ada, "message.no_ack").await.len(), 0, "not before its time");
    hub.advance_ms(3_000);
    let mut told =
        eventually(async || Some(of_kind(&ada, "message.no_ack").await).filter(|t| t.len() == 2)).await;
    // They fell due in one look of the timer, which handles them side by side.
    told.sort_by_key(|event| event["data"].get("messageId").is_some());
    assert_eq!(
        told[0]["data"],
        json!({
            "type": "message.no_ack", "taskId": silent, "initiatorSessionKey": "k", "targetAgentId": bob.id,
        })
    );
    assert_eq!(
        told[1]["data"],
        json!({
            "type": "message.no_ack", "taskId": read_only, "messageId": message, "targetAgentId": bob.id,
        })
    );
    let told =
        eventually(async || Some(of_kind(&bob, "message.no_ack").await).filter(|t| t.len() == 1)).await;
    assert_eq!(told[0]["data"]["messageId"], json!(of_bob));
    assert_eq!(told[0]["data"]["targetAgentId"], json!(ada.id));
    assert_eq!(ada.view(&silent).await["status"], "submitted", "it changes no status");
    hub.advance_ms(100_000);
    hub.timer_has_looked().await;
    assert_eq!(of_kind(&ada, "message.no_ack").await.len(), 2, "once is enough");
}

#[rstest]
#[tokio::test]
async fn a_held_task_has_no_window_until_it_is_let_in(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.check_in_seconds = Some(0)).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let task = ada.task_with(&bob, json!({ "checkInSeconds": 5 })).await;
    assert_eq!(ada.view(&task).await["checkInSeconds"], 5, "a hub-wide 0 leaves the task's own");
    bob.post_empty(&format!("/tasks/{task}/ack")).await.refused(409, "approval_pending");
    hub.advance_ms(60_000);
    hub.timer_has_looked().await;
    assert_eq!(of_kind(&ada, "message.no_ack").await.len(), 0);
    bob.post_empty(&format!("/approvals/{task}/approve")).await.ok(200);
    hub.advance_ms(6_000);
    eventually(async || Some(of_kind(&ada, "message.no_ack").await).filter(|t| t.len() == 1)).await;
}

#[rstest]
#[tokio::test]
async fn reviewed_tasks_have_a_window_unless_somebody_says(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    for (hub_wide, open, reviewed) in [(None, 0, 30), (Some(7), 7, 7), (Some(0), 0, 0)] {
        let hub = Harness::start_with(db, |config| config.check_in_seconds = hub_wide).await;
        let (ada, bob) = hub.pair().await;
        let window = async |more: Value| {
            let task = ada.task_with(&bob, more).await;
            ada.view(&task).await["checkInSeconds"].as_i64().unwrap()
        };
        assert_eq!(window(json!({})).await, open, "{hub_wide:?}");
        assert_eq!(window(json!({ "requiresReview": true })).await, reviewed, "{hub_wide:?}");
        assert_eq!(window(json!({ "checkInSeconds": 5 })).await, 5, "{hub_wide:?}");
        assert_eq!(window(json!({ "checkInSeconds": 0, "requiresReview": true })).await, 0, "{hub_wide:?}");
    }
}

#[rstest]
#[tokio::test]
async fn by_default_nobody_is_told_of_silence_on_open_tasks(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let reviewed = json!({ "requiresReview": true });
    let open = ada.task(&bob).await;
    let (silent, ended) = (ada.task_with(&bob, reviewed.clone()).await, ada.task_with(&bob, reviewed).await);
    say(&ada, &open, json!({})).await;
    let message = say(&ada, &silent, json!({})).await;
    say(&ada, &ended, json!({})).await;
    bob.post_empty(&format!("/tasks/{silent}/read")).await.ok(200);
    ada.set(&ended, "cancelled").await.ok(200);
    hub.advance_ms(31_000);
    let told =
        eventually(async || Some(of_kind(&ada, "message.no_ack").await).filter(|t| t.len() == 2)).await;
    hub.timer_has_looked().await;
    assert_eq!(of_kind(&ada, "message.no_ack").await.len(), 2, "of the silent task and its message");
    assert!(
        told.iter().all(|event| event["taskId"] == silent.as_str()),
        "reading does not avert it, the end does"
    );
    assert!(told.iter().any(|event| event["data"]["messageId"] == message.as_str()));
}

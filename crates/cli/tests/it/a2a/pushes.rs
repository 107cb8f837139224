//! What is pushed to clients, to a real receiver.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rstest::rstest;
use serde_json::{Value, json};

use super::{BINDINGS, Binding, Calls, at_once, message, state};
use crate::harness::{ADMIN_TOKEN, Db, Harness, eventually};
use crate::webhooks::{Got, Receiver, Reply, deliveries, start};

const CREATE: &str = "CreateTaskPushNotificationConfig";
const GET: &str = "GetTaskPushNotificationConfig";
const LIST: &str = "ListTaskPushNotificationConfigs";
const DELETE: &str = "DeleteTaskPushNotificationConfig";

fn config(task: &Value, id: &str, url: &str) -> Value {
    json!({ "taskId": task["id"], "id": id, "url": url })
}

fn named(task: &Value, id: &str) -> Value {
    json!({ "taskId": task["id"], "id": id })
}

#[rstest]
#[tokio::test]
async fn a_client_sets_and_removes_configs(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(Binding::Rpc, Binding::Http)] binding: Binding,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, binding);
    assert_eq!(calls.ok("GetExtendedAgentCard", json!({})).await["capabilities"]["pushNotifications"], true);
    let task = calls.send("Hello").await;
    assert_eq!(calls.ok(LIST, named(&task, "")).await, json!({}));
    let mut wanted = config(&task, "a", "https://example.com/hook");
    wanted["token"] = json!("my-token");
    wanted["authentication"] = json!({ "scheme": "Bearer", "credentials": "very-secret" });
    let mut shown = wanted.clone();
    shown["authentication"] = json!({ "scheme": "Bearer" });
    assert_eq!(calls.ok(CREATE, wanted).await, shown);
    assert_eq!(calls.ok(GET, named(&task, "a")).await, shown);
    assert_eq!(calls.ok(LIST, named(&task, "")).await, json!({ "configs": [shown] }));
    // The same id replaces it, and what it had is gone.
    let other = config(&task, "a", "https://example.com/other");
    assert_eq!(calls.ok(CREATE, other.clone()).await, other);
    assert_eq!(calls.ok(GET, named(&task, "a")).await, other);
    // Without an id, it has that of the task.
    let mut plain = config(&task, "", "https://example.com/");
    let made = calls.ok(CREATE, plain.clone()).await;
    plain["id"] = task["id"].clone();
    assert_eq!(made, plain);
    // An ended task has its configs too, ten of them.
    calls.ok("CancelTask", json!({ "id": task["id"] })).await;
    for number in 0..8 {
        calls.ok(CREATE, config(&task, &format!("more-{number}"), "https://example.com/")).await;
    }
    let refused = calls.refused(CREATE, config(&task, "one too many", "https://example.com/")).await;
    assert_eq!(refused, "INVALID_PARAMS");
    calls.ok(CREATE, config(&task, "more-7", "https://example.com/again")).await;
    let listed = calls.ok(LIST, named(&task, "")).await;
    assert_eq!(listed["configs"].as_array().unwrap().len(), 10);
    for _ in 0..2 {
        assert_eq!(calls.ok(DELETE, named(&task, "a")).await, json!({}));
        assert_eq!(calls.refused(GET, named(&task, "a")).await, "TASK_NOT_FOUND");
    }
}

#[rstest]
#[tokio::test]
async fn what_no_push_could_use_is_refused(#[values(Binding::Rpc, Binding::Http)] binding: Binding) {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, binding);
    let task = calls.send("Hello").await;
    let long = format!("https://example.com/{}", "x".repeat(3_000));
    for url in ["", "x", "http://example.com/", "https://127.0.0.1/", "https://a:b@example.com/", &long] {
        assert_eq!(calls.refused(CREATE, config(&task, "a", url)).await, "INVALID_PARAMS", "{url}");
    }
    for (field, value) in [
        ("token", json!("a\r\nb: c")),
        ("authentication", json!({ "scheme": "Bearer x" })),
        ("authentication", json!({ "credentials": "x" })),
        ("authentication", json!({ "scheme": "Bearer", "credentials": "x\ny" })),
        ("id", json!("x".repeat(257))),
    ] {
        let mut wanted = config(&task, "a", "https://example.com/");
        wanted[field] = value;
        assert_eq!(calls.refused(CREATE, wanted.clone()).await, "INVALID_PARAMS", "{wanted}");
    }
    // Nor does such a config make a task.
    let mut inline = at_once(message("Never"));
    inline["configuration"]["taskPushNotificationConfig"] = json!({ "url": "https://10.0.0.1/" });
    assert_eq!(calls.refused("SendMessage", inline).await, "INVALID_PARAMS");
    assert_eq!(calls.ok("ListTasks", json!({})).await["totalSize"], 1);
}

#[rstest]
#[tokio::test]
async fn each_client_sees_its_own_configs_only(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let carol = hub.agent("Carol").await;
    carol.pair_with(&bob).await;
    for binding in BINDINGS {
        let own = Calls::new(&ada, &bob, binding);
        let task = own.send("Hello").await;
        own.ok(CREATE, config(&task, "a", "https://example.com/")).await;
        let other = Calls::new(&carol, &bob, binding);
        let native = json!({ "id": ada.task(&bob).await });
        for (calls, task) in [(&other, &task), (&own, &native), (&own, &json!({ "id": "unknown" }))] {
            for operation in [CREATE, GET, LIST, DELETE] {
                let params = config(task, "a", "no address at all");
                assert_eq!(calls.refused(operation, params).await, "TASK_NOT_FOUND", "{operation}");
            }
        }
        assert_eq!(own.keyless().reply(LIST, named(&task, "")).await.status, 401);
        own.ok(GET, named(&task, "a")).await;
    }
}

/// What a receiver got, in the form of a stream.
fn events(got: &[Got]) -> Vec<Value> {
    got.iter().map(Got::json).collect()
}

async fn check_signature(hub: &Harness, got: &Got) {
    let keys = hub.client.send("GET", "/.well-known/jwks.json", None, None).await.ok(200);
    let key = keys["keys"].as_array().unwrap().iter().find(|key| key["crv"] == "Ed25519").unwrap();
    let key = URL_SAFE_NO_PAD.decode(key["x"].as_str().unwrap()).unwrap();
    let signature = STANDARD.decode(got.header("webhook-signature").strip_prefix("v1a,").unwrap()).unwrap();
    let signed = format!("{}.{}.{}", got.header("webhook-id"), got.header("webhook-timestamp"), got.body);
    UnparsedPublicKey::new(&ED25519, key).verify(signed.as_bytes(), &signature).unwrap();
}

#[rstest]
#[tokio::test]
async fn every_step_is_pushed_in_its_order(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(Binding::Rpc, Binding::Http)] binding: Binding,
) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(204)]).await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let calls = Calls::new(&ada, &bob, binding).with("traceparent", trace).with("tracestate", "a=1");
    let mut wanted = at_once(message("Count"));
    wanted["configuration"]["taskPushNotificationConfig"] = json!({
        "url": receiver.url(), "token": "my-token", "authentication": { "scheme": "Bearer", "credentials": "very secret" },
    });
    let task = calls.ok("SendMessage", wanted).await["task"].clone();
    let id = task["id"].as_str().unwrap();
    assert_eq!(calls.ok(GET, named(&task, id)).await["url"], receiver.url());
    bob.set(id, "working").await.ok(200);
    bob.post(&format!("/tasks/{id}/messages"), json!({ "content": "One" })).await.ok(201);
    ada.post(&format!("/tasks/{id}/messages"), json!({ "content": "Not for me" })).await.ok(201);
    bob.post(&format!("/tasks/{id}/reply"), json!({ "content": "Two" })).await.ok(200);
    let got = receiver.wait_for(4).await;
    // The same as a stream shows, from behind the client's message.
    let first = calls.with("last-event-id", "1").stream("SubscribeToTask", json!({ "id": id })).await;
    let streamed: Vec<Value> = first.rest().await.into_iter().map(|(_, event)| event).collect();
    assert_eq!(events(&got), streamed);
    assert_eq!(state(&got[0].json()), "WORKING");
    assert_eq!(state(&got[3].json()), "COMPLETED");
    let mut ids: Vec<&str> = got.iter().map(|got| got.header("webhook-id")).collect();
    for got in &got {
        assert_eq!(got.header("content-type"), "application/a2a+json");
        assert_eq!(got.header("authorization"), "Bearer very secret");
        assert_eq!(got.header("x-a2a-notification-token"), "my-token");
        assert_eq!((got.header("traceparent"), got.header("tracestate")), (trace, "a=1"));
        assert_eq!(got.header("a2a-version"), "1.0");
        check_signature(&hub, got).await;
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    let log = eventually(async || Some(deliveries(&ada).await).filter(|log| log.len() == 4)).await;
    assert!(
        log.iter()
            .all(|line| line["status"] == "delivered" && line["request"].as_str().unwrap().contains(id))
    );
    assert!(log.iter().any(|line| line["event"] == "a2a.artifactUpdate"));
    assert!(!format!("{log:?}").contains("very secret") && !format!("{log:?}").contains("my-token"));
    // Not a second time as a webhook.
    let delivery = log[0]["id"].as_str().unwrap();
    ada.post_empty(&format!("/webhooks/deliveries/{delivery}/replay")).await.refused(400, "validation");
}

#[rstest]
#[tokio::test]
async fn a_push_that_fails_is_tried_again_before_the_next(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(500), Reply::Status(302), Reply::Status(200)]).await;
    let other = Receiver::start(&[Reply::Status(200)]).await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    let task = calls.send("Hello").await;
    let id = task["id"].as_str().unwrap();
    calls.ok(CREATE, config(&task, "a", &receiver.url())).await;
    calls.ok(CREATE, config(&task, "b", &other.url())).await;
    bob.set(id, "working").await.ok(200);
    bob.set(id, "input-required").await.ok(200);
    other.wait_for(2).await;
    let failed = async |attempts: i64| {
        eventually(async || {
            let log = deliveries(&ada).await;
            log.into_iter().find(|line| line["url"] == receiver.url() && line["attempts"] == attempts)
        })
        .await
    };
    let line = failed(1).await;
    assert_eq!((&line["status"], &line["responseStatus"]), (&json!("pending"), &json!(500)));
    hub.advance_ms(6_000);
    let line = failed(2).await;
    assert_eq!((&line["status"], &line["responseStatus"]), (&json!("pending"), &json!(302)));
    hub.advance_ms(40_000);
    let got = receiver.wait_for(4).await;
    let states: Vec<String> = got.iter().map(|got| state(&got.json()).to_owned()).collect();
    assert_eq!(states, ["WORKING", "WORKING", "WORKING", "INPUT_REQUIRED"]);
    let ids: Vec<&str> = got.iter().map(|got| got.header("webhook-id")).collect();
    assert!(ids[0] == ids[1] && ids[1] == ids[2] && ids[2] != ids[3]);
    assert_ne!(got[0].header("webhook-timestamp"), got[1].header("webhook-timestamp"));
    eventually(async || {
        deliveries(&ada).await.iter().all(|line| line["status"] == "delivered").then_some(())
    })
    .await;
}

#[rstest]
#[tokio::test]
async fn a_receiver_that_fails_for_a_day_gets_nothing_more(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(500)]).await;
    let calls = Calls::new(&ada, &bob, Binding::Http);
    let task = calls.send("Hello").await;
    calls.ok(CREATE, config(&task, "a", &receiver.url())).await;
    bob.set(task["id"].as_str().unwrap(), "working").await.ok(200);
    let mut tried = 0;
    eventually(async || {
        // The time stands still while an attempt is under way.
        let log = deliveries(&ada).await;
        let attempts = log.first().map_or(0, |line| line["attempts"].as_i64().unwrap());
        if attempts > tried {
            tried = attempts;
            hub.advance_ms(7 * 3_600_000);
        }
        (tried >= 5).then_some(())
    })
    .await;
    let log = deliveries(&ada).await;
    assert_eq!(log[0]["status"], "failed", "{log:?}");
    assert_eq!(calls.refused(GET, named(&task, "a")).await, "TASK_NOT_FOUND");
    calls.ok(CREATE, config(&task, "a", &receiver.url())).await;
}

#[rstest]
#[case::task("task")]
#[case::connection("connection")]
#[case::reassigned("reassigned")]
#[case::account("account")]
#[tokio::test]
async fn configs_go_with_what_they_belong_to(#[values(Db::Sqlite, Db::Postgres)] db: Db, #[case] what: &str) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    let task = calls.send("Hello").await;
    let id = task["id"].as_str().unwrap();
    calls.ok(CREATE, config(&task, "a", &receiver.url())).await;
    let is_there = async || hub.hub.db.read(|tx, _| tandem_app::a2a::pushes::is_any(tx)).await.unwrap();
    assert!(is_there().await);
    match what {
        "task" => {
            bob.set(id, "rejected").await.ok(200);
            receiver.wait_for(1).await;
            ada.delete(&format!("/tasks/{id}")).await.ok(200);
        }
        "connection" => {
            let connections = bob.get("/connections").await.ok(200);
            let connection = connections[0]["connectionId"].as_str().unwrap();
            bob.delete(&format!("/connections/{connection}")).await.ok(200);
            assert!(!is_there().await, "at once");
        }
        "reassigned" => {
            let carol = hub.agent("Carol").await;
            ada.pair_with(&carol).await;
            ada.post(&format!("/tasks/{id}/reassign"), json!({ "targetAgentId": carol.id })).await.ok(200);
        }
        _ => {
            ada.delete("/agents/me").await.ok(200);
        }
    }
    eventually(async || (!is_there().await).then_some(())).await;
    assert!(receiver.got().len() <= 1, "{:?}", receiver.got());
}

#[rstest]
#[tokio::test]
async fn nothing_is_pushed_for_somebody_who_is_suspended(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    let task = calls.send("Hello").await;
    calls.ok(CREATE, config(&task, "a", &receiver.url())).await;
    let suspend = async |suspended: bool| {
        let (path, body) = (format!("/admin/agents/{}", ada.id), json!({ "suspended": suspended }));
        hub.client.send("PATCH", &path, Some(ADMIN_TOKEN), Some(body)).await.ok(200);
    };
    suspend(true).await;
    bob.set(task["id"].as_str().unwrap(), "working").await.ok(200);
    // It was looked at, and put off for longer than a worker may have it.
    eventually(async || {
        let due = hub.hub.db.read(|tx, now| {
            let mut later = now.clone();
            later.at = now.at.plus_seconds(45);
            tandem_app::a2a::pushes::due(tx, None, &[], 10, &later)
        });
        due.await.unwrap().is_empty().then_some(())
    })
    .await;
    suspend(false).await;
    assert_eq!(receiver.got().len(), 0);
    hub.advance_ms(61_000);
    assert_eq!(state(&receiver.wait_for(1).await[0].json()), "WORKING");
}

/// A worker that took a config and did not come back.
#[rstest]
#[tokio::test]
async fn what_a_dead_worker_had_is_pushed_by_another(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(500), Reply::Status(200)]).await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    let task = calls.send("Hello").await;
    let id: tandem_core::TaskId = task["id"].as_str().unwrap().parse().unwrap();
    calls.ok(CREATE, config(&task, "a", &receiver.url())).await;
    bob.set(id.as_str(), "working").await.ok(200);
    eventually(async || deliveries(&ada).await.first().filter(|line| line["attempts"] == 1).map(drop)).await;
    // Its clock is before that of the hub.
    let claimed = hub.hub.db.write(move |tx, now| {
        let mut early = now.clone();
        early.at = now.at.plus_seconds(10);
        tandem_app::a2a::pushes::claim(tx, &id, "a", "dead", &early)
    });
    assert!(claimed.await.unwrap().is_some());
    hub.advance_ms(41_000);
    receiver.wait_for(2).await;
    let delivered = async || deliveries(&ada).await.into_iter().find(|line| line["status"] == "delivered");
    // Its attempt counts, because the receiver may have got it.
    assert_eq!(eventually(delivered).await["attempts"], 3);
}

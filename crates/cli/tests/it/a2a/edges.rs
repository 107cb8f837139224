//! What seldom happens, or at the same moment as something else.

use rstest::rstest;
use serde_json::{Value, json};

use super::{BINDINGS, Binding, Calls, at_once, message, message_on, state};
use crate::crash::agent;
use crate::harness::{Db, Harness, Place, eventually};
use crate::serve::{Process, command};
use crate::webhooks::{Receiver, Reply, start};

const DAY_MS: i64 = 24 * 3_600_000;

#[rstest]
#[tokio::test]
async fn an_agent_that_was_away_for_a_day_is_heard_once_on_every_way(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    let calls = Calls::new(&ada, &bob, Binding::Http);
    let mut wanted = at_once(message("When you are back"));
    wanted["configuration"]["taskPushNotificationConfig"] = json!({ "url": receiver.url() });
    let task = calls.ok("SendMessage", wanted).await["task"].clone();
    let id = task["id"].as_str().unwrap();
    let mut stream = calls.stream("SubscribeToTask", json!({ "id": id })).await;
    stream.next().await.unwrap();
    hub.advance_ms(DAY_MS);
    assert_eq!(state(&calls.ok("GetTask", json!({ "id": id })).await), "SUBMITTED");
    bob.post(&format!("/tasks/{id}/reply"), json!({ "content": "Here I am" })).await.ok(200);
    let polled = calls.ok("GetTask", json!({ "id": id })).await;
    assert_eq!((state(&polled), polled["artifacts"].as_array().unwrap().len()), ("COMPLETED", 1));
    let count = |events: &[Value]| {
        let text = |event: &Value| event["artifactUpdate"]["artifact"]["parts"][0]["text"] == "Here I am";
        let done = |event: &Value| event["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED";
        (events.iter().filter(|event| text(event)).count(), events.iter().filter(|event| done(event)).count())
    };
    let streamed: Vec<Value> = stream.rest().await.into_iter().map(|(_, event)| event).collect();
    assert_eq!(count(&streamed), (1, 1));
    let pushed: Vec<Value> = receiver.wait_for(streamed.len()).await.iter().map(|got| got.json()).collect();
    assert_eq!(pushed, streamed);
}

#[rstest]
#[tokio::test]
async fn of_a_cancellation_and_a_completion_one_wins_for_everybody(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    for (number, binding) in BINDINGS.into_iter().cycle().take(8).enumerate() {
        let calls = Calls::new(&ada, &bob, binding);
        let task = calls.send(&format!("Race {number}")).await;
        let id = task["id"].as_str().unwrap();
        bob.set(id, "working").await.ok(200);
        let (cancelled, completed) =
            tokio::join!(calls.call("CancelTask", json!({ "id": id })), bob.set(id, "completed"));
        let now = calls.ok("GetTask", json!({ "id": id })).await;
        match cancelled {
            Ok(task) => {
                assert_eq!((state(&task), completed.status, state(&now)), ("CANCELED", 409, "CANCELED"));
            }
            Err((reason, _)) => {
                let seen = (reason.as_str(), completed.status, state(&now));
                assert_eq!(seen, ("TASK_NOT_CANCELABLE", 200, "COMPLETED"));
            }
        }
    }
}

#[tokio::test]
async fn all_who_wait_for_an_answer_get_it() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let [rpc, http] = BINDINGS.map(|binding| Calls::new(&ada, &bob, binding));
    let answer = async {
        let task = eventually(async || {
            let tasks = bob.get("/tasks?status=submitted").await.ok(200);
            tasks[0]["id"].as_str().map(str::to_owned)
        })
        .await;
        // Both wait: the second has joined the task of the first.
        eventually(async || (hub.hub.liveness.bus.waits() == 2).then_some(())).await;
        bob.post(&format!("/tasks/{task}/reply"), json!({ "content": "One answer" })).await.ok(200);
    };
    let wanted = message("Twice");
    let (one, other, ()) =
        tokio::join!(rpc.ok("SendMessage", wanted.clone()), http.ok("SendMessage", wanted), answer);
    assert_eq!(one, other);
    assert_eq!(state(&one), "COMPLETED");
    assert_eq!(rpc.ok("ListTasks", json!({})).await["totalSize"], 1);
}

#[rstest]
#[tokio::test]
async fn an_approval_that_is_refused_rejects_the_task(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    for binding in BINDINGS {
        let calls = Calls::new(&ada, &bob, binding);
        let task = calls.send(&format!("May I? {binding:?}")).await;
        let id = task["id"].as_str().unwrap();
        let mut stream = calls.stream("SubscribeToTask", json!({ "id": id })).await;
        assert_eq!(state(&stream.next().await.unwrap().1), "SUBMITTED");
        let more = at_once(message_on(&task, "Please"));
        assert_eq!(calls.refused("SendMessage", more).await, "UNSUPPORTED_OPERATION");
        bob.post(&format!("/tasks/{id}/reject"), json!({ "reason": "Not today" })).await.ok(200);
        let events = stream.rest().await;
        assert_eq!(state(&events.last().unwrap().1), "REJECTED");
        let now = calls.ok("GetTask", json!({ "id": id })).await;
        assert_eq!(
            (state(&now), &now["status"]["message"]["parts"][0]["text"]),
            ("REJECTED", &json!("Not today"))
        );
        assert_eq!(calls.refused("CancelTask", json!({ "id": id })).await, "TASK_NOT_CANCELABLE");
    }
}

#[tokio::test]
async fn the_257th_call_that_would_wait_is_answered_at_once() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    // Somebody listens, so that calls wait for long.
    let _listening = bob.get("/events?after=0").await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc).with("prefer", "wait=300");
    let mut waiting = tokio::task::JoinSet::new();
    for number in 0..256 {
        let calls = calls.clone();
        waiting.spawn(async move { calls.reply("SendMessage", message(&format!("Wait {number}"))).await });
    }
    eventually(async || (hub.hub.liveness.bus.waits() == 256).then_some(())).await;
    let at_once = calls.ok("SendMessage", message("One more")).await;
    assert_eq!(state(&at_once), "SUBMITTED");
    waiting.shutdown().await;
    eventually(async || (hub.hub.liveness.bus.waits() == 0).then_some(())).await;
}

#[rstest]
#[tokio::test]
async fn an_expired_task_has_failed_and_says_why(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let uri = "urn:tandem:a2a:hub:v1";
    let calls = Calls::new(&ada, &bob, Binding::Http).with("a2a-extensions", uri);
    let mut soon = at_once(message("Soon"));
    soon["message"]["metadata"] = json!({ uri: { "ttlSeconds": 60 } });
    let task = calls.ok("SendMessage", soon).await["task"].clone();
    let stream = calls.stream("SubscribeToTask", json!({ "id": task["id"] })).await;
    hub.advance_ms(61_000);
    let now = calls.ok("GetTask", json!({ "id": task["id"] })).await;
    assert_eq!(state(&now), "FAILED");
    assert!(now["status"]["message"]["parts"][0]["text"].is_string(), "{now}");
    assert_eq!(state(&stream.rest().await.last().unwrap().1), "FAILED");
}

/// The hub dies between the commit of a message and its answer.
#[rstest]
#[tokio::test]
async fn a_message_that_is_sent_again_after_sigkill_joins_its_task(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let place = Place::empty(db);
    let start = || {
        let mut serve = command(&place);
        serve.args(["--set", "webhook_allow_http=1", "--set", "webhook_allow_private=1"]);
        Process::start(serve)
    };
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    let hub = start();
    let (mut ada, mut bob) = (agent(&hub.client, "Ada").await, agent(&hub.client, "Bob").await);
    ada.pair_with(&bob).await;
    let mut wanted = message("Whatever happens");
    wanted["configuration"]["taskPushNotificationConfig"] = json!({ "url": receiver.url() });
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    let waiting = tokio::spawn({
        let (request, client) = (calls.request("SendMessage", &wanted), hub.client.clone());
        async move { client.try_raw(request).await.is_ok() }
    });
    let task = eventually(async || {
        let tasks = bob.get("/tasks?status=submitted").await.ok(200);
        tasks[0]["id"].as_str().map(str::to_owned)
    })
    .await;
    hub.signal("KILL");
    assert!(!waiting.await.unwrap(), "nobody was answered");
    drop(hub);
    let hub = start();
    (ada.client, bob.client) = (hub.client.clone(), hub.client.clone());
    let calls = Calls::new(&ada, &bob, Binding::Http);
    let answer = async {
        bob.set(&task, "working").await.ok(200);
        bob.post(&format!("/tasks/{task}/reply"), json!({ "content": "I am still here" })).await.ok(200);
    };
    // Sent again while the task is live: it is the same one.
    let again = calls.ok("SendMessage", at_once(wanted.clone())).await;
    assert_eq!(again["task"]["id"], json!(task));
    answer.await;
    assert_eq!(calls.ok("ListTasks", json!({})).await["totalSize"], 1);
    let pushed = receiver.wait_for(3).await;
    assert_eq!(state(&pushed[2].json()), "COMPLETED");
    assert_eq!(receiver.got().len(), 3, "each once");
}

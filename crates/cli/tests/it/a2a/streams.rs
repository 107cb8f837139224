//! Streams of one task.

use rstest::rstest;
use serde_json::{Value, json};

use super::{Binding, Calls, message, state};
use crate::harness::{Db, Harness};

#[rstest]
#[tokio::test]
async fn a_stream_shows_a_task_and_each_of_its_steps(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(Binding::Rpc, Binding::Http)] binding: Binding,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, binding);
    let mut events = calls.stream("SendStreamingMessage", message("Count")).await;
    let (first, task) = events.next().await.unwrap();
    let id = task["task"]["id"].as_str().unwrap().to_owned();
    assert_eq!(state(&task), "SUBMITTED");
    bob.set(&id, "working").await.ok(200);
    let (second, working) = events.next().await.unwrap();
    assert_eq!((second > first, state(&working)), (true, "WORKING"));
    bob.post(&format!("/tasks/{id}/messages"), json!({ "content": "One\u{2028}two" })).await.ok(201);
    let said = events.next().await.unwrap().1;
    assert_eq!(said["statusUpdate"]["status"]["message"]["parts"][0]["text"], "One\u{2028}two");
    bob.post(&format!("/tasks/{id}/reply"), json!({ "content": "Three" })).await.ok(200);
    let rest = events.rest().await;
    let artifact = rest.iter().find(|(_, event)| event.get("artifactUpdate").is_some()).unwrap();
    assert_eq!(artifact.1["artifactUpdate"]["artifact"]["parts"][0]["text"], "Three");
    assert_eq!(
        rest.iter()
            .filter(|(_, event)| event["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED")
            .count(),
        1
    );

    // Resumed behind any step, it shows what came after.
    let resumed = calls.with("last-event-id", second.to_string());
    let again = resumed.stream("SubscribeToTask", json!({ "id": id })).await.rest().await;
    assert_eq!(again[0].1, said);
    assert_eq!(again[1..], rest);
    let last = rest.last().unwrap().0;
    let nothing = calls.with("last-event-id", last.to_string());
    assert_eq!(nothing.stream("SubscribeToTask", json!({ "id": id })).await.rest().await, []);
    assert_eq!(calls.refused("SubscribeToTask", json!({ "id": id })).await, "UNSUPPORTED_OPERATION");
    let wrong = calls.with("last-event-id", "x");
    assert_eq!(wrong.refused("SubscribeToTask", json!({ "id": id })).await, "INVALID_PARAMS");
}

#[tokio::test]
async fn the_stream_of_a_message_ends_with_a_question_and_a_subscription_goes_on() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    let mut sent = calls.stream("SendStreamingMessage", message("Count")).await;
    let task = sent.next().await.unwrap().1["task"].clone();
    let id = task["id"].as_str().unwrap();
    let mut subscribed = calls.stream("SubscribeToTask", json!({ "id": id })).await;
    assert_eq!(state(&subscribed.next().await.unwrap().1), "SUBMITTED");
    bob.set(id, "working").await.ok(200);
    bob.set(id, "input-required").await.ok(200);
    let states: Vec<String> = sent.rest().await.iter().map(|(_, event)| state(event).to_owned()).collect();
    assert_eq!(states, ["WORKING", "INPUT_REQUIRED"]);
    ada.set(id, "cancelled").await.ok(200);
    let events = subscribed.rest().await;
    let states: Vec<&str> = events.iter().map(|(_, event)| state(event)).collect();
    assert_eq!(states, ["WORKING", "INPUT_REQUIRED", "CANCELED"]);
}

#[tokio::test]
async fn a_stream_counts_for_its_caller_and_shows_nobody() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    let task = calls.send("Hello").await;
    let mut open = Vec::new();
    for _ in 0..16 {
        let mut events = calls.stream("SubscribeToTask", json!({ "id": task["id"] })).await;
        events.next().await.unwrap();
        open.push(events);
    }
    let refused = calls.reply("SubscribeToTask", json!({ "id": task["id"] })).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("5")));
    ada.get("/events/stream").await.refused(429, "too_many_streams");
    assert_eq!((hub.reach(&ada.id.parse().unwrap()), hub.reach(&bob.id.parse().unwrap())), (None, None));
    // The other party has as many as before.
    let other = Calls::new(&bob, &ada, Binding::Rpc);
    let task = other.send("Hello").await;
    other.stream("SubscribeToTask", json!({ "id": task["id"] })).await.next().await.unwrap();
    open.pop();
    crate::harness::eventually(async || {
        let reply = calls.reply("GetTask", json!({ "id": task["id"] })).await;
        (reply.status == 200 && hub.open().1 == 15).then_some(())
    })
    .await;
}

/// Whatever ends the right to see a task ends its streams.
#[rstest]
#[case::key_ended("key")]
#[case::deleted("deleted")]
#[case::reassigned("reassigned")]
#[case::disconnected("disconnected")]
#[tokio::test]
async fn a_stream_ends_with_the_right_to_see_the_task(#[case] what: &str) {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let carol = hub.agent("Carol").await;
    ada.pair_with(&carol).await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    let task = calls.send("Hello").await;
    let id = task["id"].as_str().unwrap();
    let mut events = calls.stream("SubscribeToTask", json!({ "id": id })).await;
    events.next().await.unwrap();
    match what {
        "key" => drop(ada.post("/agents/me/rotate-key", json!({})).await.ok(200)),
        "deleted" => {
            ada.set(id, "cancelled").await.ok(200);
            ada.delete(&format!("/tasks/{id}")).await.ok(200);
        }
        "reassigned" => {
            ada.post(&format!("/tasks/{id}/reassign"), json!({ "targetAgentId": carol.id })).await.ok(200);
        }
        _ => {
            let connections = bob.get("/connections").await.ok(200);
            let connection = connections[0]["connectionId"].as_str().unwrap();
            bob.delete(&format!("/connections/{connection}")).await.ok(200);
        }
    }
    let rest: Vec<(i64, Value)> = events.rest().await;
    let states: Vec<&str> = rest.iter().map(|(_, event)| state(event)).collect();
    let is_cancelled = states.is_empty() || states == ["CANCELED"];
    assert!(is_cancelled, "{what}: {states:?}");
    assert_eq!(what == "disconnected", states == ["CANCELED"] && what != "deleted", "{what}: {states:?}");
}

#[tokio::test]
async fn a_key_of_the_agent_has_nothing_to_do_with_the_streams_of_its_clients() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, Binding::Http);
    let task = calls.send("Hello").await;
    let mut events = calls.stream("SubscribeToTask", json!({ "id": task["id"] })).await;
    events.next().await.unwrap();
    bob.post("/agents/me/rotate-key", json!({})).await.ok(200);
    calls.ok("CancelTask", json!({ "id": task["id"] })).await;
    assert_eq!(state(&events.next().await.unwrap().1), "CANCELED");
}

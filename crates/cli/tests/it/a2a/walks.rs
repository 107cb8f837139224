//! Any walk of a task, seen by streams that are cut at random.

use proptest::prelude::Strategy;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config as Runs, TestRunner};
use serde_json::{Value, json};

use super::{BINDINGS, Binding, Calls, at_once, message, message_on};
use crate::files::upload;
use crate::harness::{Agent, Db, Harness};

/// Walks that are tried. Each takes some dozens of requests.
const WALKS: u32 = 12;

/// What may happen to a task.
#[derive(Debug, Clone, Copy)]
enum Act {
    Status(&'static str),
    Say,
    SayJson,
    Ask,
    Artifact { append: bool },
    File,
    TakeBack,
    Heartbeat,
    Cancel,
    Reply,
    Reopen,
}

/// A walk, and after how many events each of three streams is cut.
fn walks() -> impl Strategy<Value = (Vec<Act>, [Vec<usize>; 3])> {
    let act = proptest::prop_oneof![
        3 => proptest::prelude::Just(Act::Status("working")),
        2 => proptest::prelude::Just(Act::Status("input-required")),
        1 => proptest::prelude::Just(Act::Status("auth-required")),
        4 => proptest::prelude::Just(Act::Say),
        1 => proptest::prelude::Just(Act::SayJson),
        3 => proptest::prelude::Just(Act::Ask),
        3 => proptest::bool::ANY.prop_map(|append| Act::Artifact { append }),
        1 => proptest::prelude::Just(Act::File),
        1 => proptest::prelude::Just(Act::TakeBack),
        1 => proptest::prelude::Just(Act::Heartbeat),
        1 => proptest::prelude::Just(Act::Cancel),
        1 => proptest::prelude::Just(Act::Reply),
        1 => proptest::prelude::Just(Act::Reopen),
    ];
    let cuts = || proptest::collection::vec(1..4_usize, 0..8);
    let three = (cuts(), cuts(), cuts()).prop_map(|(a, b, c)| [a, b, c]);
    (proptest::collection::vec(act, 1..16), three)
}

/// Does what the rules allow; what they refuse changes nothing.
async fn walk(acts: &[Act], ada: &Agent, bob: &Agent, calls: &Calls, task: &Value) {
    let id = task["id"].as_str().unwrap();
    let on = |path: &str| format!("/tasks/{id}/{path}");
    for (number, act) in acts.iter().enumerate() {
        let text = format!("{act:?} {number}");
        match act {
            Act::Status(status) => drop(bob.set(id, status).await),
            Act::Say => drop(bob.post(&on("messages"), json!({ "content": text })).await),
            Act::SayJson => {
                let body = json!({ "content": "{\"n\":42.0}", "contentType": "json" });
                bob.post(&on("messages"), body).await;
            }
            Act::Ask => drop(calls.reply("SendMessage", at_once(message_on(task, &text))).await),
            Act::Artifact { append } => {
                let body = json!({ "artifactId": "x", "parts": [{ "text": text }], "append": append });
                bob.post(&on("artifacts"), body).await;
            }
            Act::File => {
                bob.post(&on("files/json"), upload("a.txt", "text/plain", text.as_bytes())).await;
            }
            Act::TakeBack => {
                let said = bob.get(&on("messages")).await.ok(200);
                let own = said.as_array().unwrap().iter().rev().find(|one| {
                    one["senderAgentId"] == json!(bob.id)
                        && one["content"] != "[deleted]"
                        && one["kind"] == "message"
                });
                if let Some(own) = own {
                    bob.delete(&on(&format!("messages/{}", own["id"].as_str().unwrap()))).await;
                }
            }
            Act::Heartbeat => drop(bob.post(&on("heartbeat"), json!({ "progress": 50 })).await),
            Act::Cancel => drop(calls.reply("CancelTask", json!({ "id": id })).await),
            Act::Reply => drop(bob.post(&on("reply"), json!({ "content": text })).await),
            Act::Reopen => drop(ada.set(id, "working").await),
        }
    }
    // So that every stream ends.
    ada.set(id, "cancelled").await;
}

/// All events of a task, by streams each of which is cut after so many events.
async fn seen(calls: &Calls, id: &str, cuts: &[usize]) -> Vec<(i64, Value)> {
    let mut all: Vec<(i64, Value)> = Vec::new();
    for cut in cuts {
        let after = all.last().map_or(0, |last| last.0).to_string();
        let calls = calls.with("last-event-id", after);
        let mut stream = calls.stream("SubscribeToTask", json!({ "id": id })).await;
        for _ in 0..*cut {
            match stream.next().await {
                Some(event) => all.push(event),
                None => return all,
            }
        }
    }
    let after = all.last().map_or(0, |last| last.0).to_string();
    let calls = calls.with("last-event-id", after);
    all.extend(calls.stream("SubscribeToTask", json!({ "id": id })).await.rest().await);
    all
}

/// A task as the events of a stream say that it stands.
fn folded(events: &[(i64, Value)]) -> (Value, Vec<Value>) {
    let mut state = Value::Null;
    let mut artifacts: Vec<Value> = Vec::new();
    for (_, event) in events {
        if let Some(update) = event.get("statusUpdate") {
            state = update["status"]["state"].clone();
        }
        let Some(update) = event.get("artifactUpdate") else { continue };
        let new = &update["artifact"];
        match artifacts.iter_mut().find(|known| known["artifactId"] == new["artifactId"]) {
            Some(known) if update["append"] == true => {
                let more = new["parts"].as_array().unwrap().clone();
                known["parts"].as_array_mut().unwrap().extend(more);
            }
            Some(known) => *known = new.clone(),
            None => artifacts.push(new.clone()),
        }
    }
    (state, artifacts)
}

#[tokio::test]
async fn streams_that_are_cut_at_random_show_the_same_steps() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let mut runner = TestRunner::new(Runs::default());
    for number in 0..WALKS {
        let (acts, cuts) = walks().new_tree(&mut runner).unwrap().current();
        let [rpc, http] = BINDINGS.map(|binding| Calls::new(&ada, &bob, binding));
        let mut first = message(&format!("Walk {number}"));
        first["message"]["messageId"] = json!(format!("walk-{number}"));
        let task = rpc.ok("SendMessage", at_once(first)).await["task"].clone();
        let id = task["id"].as_str().unwrap();
        // One stream is there all the time; the others come when it is over.
        let live = tokio::spawn({
            let (calls, id, cuts) = (http.clone(), id.to_owned(), cuts[0].clone());
            async move { seen(&calls, &id, &cuts).await }
        });
        walk(&acts, &ada, &bob, &rpc, &task).await;
        let over = [seen(&rpc, id, &cuts[1]).await, seen(&http, id, &cuts[2]).await];
        let whole = seen(&Calls::new(&ada, &bob, Binding::Rpc), id, &[]).await;
        assert_eq!(over[0], whole, "{acts:?} {cuts:?}");
        assert_eq!(over[1], whole, "{acts:?} {cuts:?}");
        let steps: Vec<i64> = whole.iter().map(|(step, _)| *step).collect();
        assert!(steps.is_sorted_by(|a, b| a < b), "{steps:?}");
        // A stream that was there may have shown what was taken back later, or have ended at an end before a reopening.
        let live = live.await.unwrap();
        let still = |(step, _): &&(i64, Value)| steps.contains(step);
        let live: Vec<&(i64, Value)> = live.iter().filter(still).collect();
        assert!(live.iter().zip(&whole).all(|(seen, now)| **seen == *now), "{acts:?}: {live:?} {whole:?}");
        let (state, artifacts) = folded(&whole);
        let now = rpc.ok("GetTask", json!({ "id": id })).await;
        assert_eq!(state, now["status"]["state"], "{acts:?}");
        let shown = now.get("artifacts").cloned().unwrap_or_else(|| json!([]));
        assert_eq!(json!(artifacts), shown, "{acts:?}");
    }
}

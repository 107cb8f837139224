//! A hub killed under load, again and again: what was answered is there, and nothing twice.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use http_body_util::Full;
use hyper::Request;
use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Agent, Client, Db, Place, eventually};
use crate::serve::{Process, command};

const ROUNDS: usize = 6;
const SENDERS: usize = 6;

/// An agent of a hub that is a process.
pub async fn agent(client: &Client, name: &str) -> Agent {
    let reply = client.send("POST", "/agents", None, Some(json!({ "name": name }))).await;
    Agent { id: reply.text("id"), name: name.into(), key: reply.text("apiKey"), client: client.clone() }
}

/// What one sender was told is done.
#[derive(Debug, Default)]
struct Answered {
    tasks: Vec<String>,
    messages: Vec<(String, String)>,
}

/// Makes tasks and messages until told to stop, or until the hub is gone.
async fn send_until(
    sender: Agent,
    target: String,
    stop: Arc<AtomicBool>,
    count: Arc<AtomicUsize>,
) -> Answered {
    let mut answered = Answered::default();
    let post = async |path: String, body: Value| {
        let request = Request::post(path)
            .header("authorization", format!("Bearer {}", sender.key))
            .header("content-type", "application/json")
            .body(Full::from(body.to_string()))
            .unwrap();
        let reply = sender.client.try_raw(request).await.ok()?;
        (reply.status == 201).then(|| reply.text("id"))
    };
    while !stop.load(Ordering::SeqCst) {
        let body = json!({ "targetAgentId": target, "title": "Under load" });
        let Some(task) = post("/tasks".into(), body).await else { break };
        answered.tasks.push(task.clone());
        count.fetch_add(1, Ordering::SeqCst);
        for content in ["one", "two"] {
            let Some(message) = post(format!("/tasks/{task}/messages"), json!({ "content": content })).await
            else {
                return answered;
            };
            answered.messages.push((task.clone(), message));
        }
    }
    answered
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_answered_survives_sigkill(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::empty(db);
    let mut hub = Process::start(command(&place));
    let mut bob = agent(&hub.client, "Bob").await;
    let mut senders = Vec::new();
    for number in 0..SENDERS {
        let sender = agent(&hub.client, &format!("Sender {number}")).await;
        sender.pair_with(&bob).await;
        senders.push(sender);
    }
    let mut answered = Answered::default();
    for round in 0..ROUNDS {
        let stop = Arc::new(AtomicBool::new(false));
        let count = Arc::new(AtomicUsize::new(0));
        let work: Vec<_> = senders
            .iter()
            .map(|sender| {
                tokio::spawn(send_until(
                    sender.clone(),
                    bob.id.clone(),
                    Arc::clone(&stop),
                    Arc::clone(&count),
                ))
            })
            .collect();
        // Each round is cut at another point of the work, in the midst of it.
        let enough = SENDERS * (20 + 8 * round);
        eventually(async || (count.load(Ordering::SeqCst) >= enough).then_some(())).await;
        hub.signal("KILL");
        stop.store(true, Ordering::SeqCst);
        for sender in work {
            let told = sender.await.unwrap();
            answered.tasks.extend(told.tasks);
            answered.messages.extend(told.messages);
        }
        drop(hub);
        hub = Process::start(command(&place));
        for agent in senders.iter_mut().chain([&mut bob]) {
            agent.client = hub.client.clone();
        }
    }
    assert!(answered.tasks.len() > ROUNDS * SENDERS, "the load was no load: {}", answered.tasks.len());
    verify(&bob, &answered).await;
}

async fn verify(bob: &Agent, answered: &Answered) {
    let events = bob.events().await;
    let ids: Vec<i64> = events.iter().map(|event| event["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, (1..=ids.len() as i64).collect::<Vec<i64>>(), "no number twice, none missing");
    let told = |kind: &str, field: &str| -> Vec<String> {
        let of_kind = events.iter().filter(|event| event["type"] == kind);
        of_kind.map(|event| event["data"][field].as_str().unwrap().to_owned()).collect()
    };
    let (tasks, messages) = (told("task.created", "taskId"), told("message.created", "messageId"));
    let (task_set, message_set): (BTreeSet<_>, BTreeSet<_>) =
        (tasks.iter().collect(), messages.iter().collect());
    assert_eq!((tasks.len(), messages.len()), (task_set.len(), message_set.len()), "no event twice");
    for task in &answered.tasks {
        assert!(task_set.contains(task), "{task} was answered, and its event is gone");
    }
    for (_, message) in &answered.messages {
        assert!(message_set.contains(message), "{message} was answered, and its event is gone");
    }
    // And the other way: whatever was told exists, with its thread.
    for task in &tasks {
        assert_eq!(bob.view(task).await["status"], "submitted");
        let thread = bob.get(&format!("/tasks/{task}/messages")).await.ok(200);
        for message in thread.as_array().unwrap() {
            assert!(message_set.contains(&message["id"].as_str().unwrap().to_owned()));
        }
        let expected = answered.messages.iter().filter(|(of, _)| of == task).count();
        assert!(thread.as_array().unwrap().len() >= expected, "{task} lost a message");
    }
}

#[rstest]
#[tokio::test]
async fn a_deadline_set_before_sigkill_fires_once_afterwards(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::empty(db);
    let hub = Process::start(command(&place));
    let (mut ada, bob) = (agent(&hub.client, "Ada").await, agent(&hub.client, "Bob").await);
    ada.pair_with(&bob).await;
    let more = json!({ "ttlSeconds": 2, "checkInSeconds": 1 });
    let task = ada.task_with(&bob, more).await;
    hub.signal("KILL");
    drop(hub);
    let hub = Process::start(command(&place));
    ada.client = hub.client.clone();
    eventually(async || (ada.view(&task).await["status"] == "expired").then_some(())).await;
    let of_task = async |ada: &Agent, kind: &str| {
        let events = ada.events().await;
        events.iter().filter(|event| event["type"] == kind && event["taskId"] == json!(task)).count()
    };
    eventually(async || (of_task(&ada, "task.updated").await == 1).then_some(())).await;
    // Once more: what was handled before a crash is not handled again.
    hub.signal("KILL");
    drop(hub);
    let hub = Process::start(command(&place));
    ada.client = hub.client.clone();
    let canary = ada.task_with(&bob, json!({ "ttlSeconds": 1 })).await;
    eventually(async || (ada.view(&canary).await["status"] == "expired").then_some(())).await;
    assert_eq!(of_task(&ada, "task.updated").await, 1);
    assert!(of_task(&ada, "message.no_ack").await <= 1);
}

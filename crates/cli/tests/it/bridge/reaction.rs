//! What a wake is worth: only a reaction that was seen is claimed, one that nobody answers is repeated, and two models
//! cannot wake each other without end.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};

use super::waking::{QUIET, followed, rung};
use super::{Tool, plain_pair, store};
use crate::backup::{Shelf, tandem};
use crate::client::relay::{Mode, Relay};
use crate::command::Cli;
use crate::harness::{Agent, Db, Harness, Place, eventually};

async fn delivery(sender: &Agent, task: &str) -> Value {
    sender.view(task).await["delivery"].clone()
}

#[tokio::test]
async fn only_tasks_that_the_model_looks_at_are_claimed() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ada, bob) = plain_pair(&hub).await;
    let old = ada.task(&bob).await;
    let mut tool = Tool::old(&cli, "bob", "claude-code", &[]).await;
    followed(&bob).await;
    tool.signal("STOP");
    let (first, second) = (ada.task(&bob).await, ada.task(&bob).await);
    tool.signal("CONT");
    let note = tool.note().await;
    assert_eq!(note["params"]["meta"]["tasks"], format!("{first} {second}"));
    // Calls about something else are no answer, and one that fails neither.
    tool.call("list_connections", json!({})).await;
    tool.call("get_task", json!({ "taskId": old })).await;
    tool.refused("check_updates", json!({ "acknowledge": "yes" })).await;
    assert_eq!(rung(&bob, "channel").await["lastWorkedAt"], Value::Null);
    tool.call("get_task", json!({ "taskId": first })).await;
    assert!(rung(&bob, "channel").await["lastWorkedAt"].is_string());
    assert_eq!(delivery(&ada, &first).await["surfacedBy"], "channel");
    assert_eq!(delivery(&ada, &second).await["surfacedAt"], Value::Null, "nobody has looked at it");
    // A list of news shows what it contains; the hub itself notes it a moment earlier.
    tool.call("check_updates", json!({})).await;
    eventually(async || (delivery(&ada, &second).await["surfacedBy"] == "channel").then_some(())).await;
}

#[tokio::test]
async fn a_wake_that_is_ignored_is_repeated_and_claims_nothing() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ada, bob) = plain_pair(&hub).await;
    let mut tool = Tool::old(&cli, "bob", "claude-code", &["--wake-again", "2s"]).await;
    followed(&bob).await;
    let first = ada.task(&bob).await;
    for _ in 0..3 {
        assert_eq!(tool.note().await["params"]["meta"]["tasks"], first.as_str());
    }
    assert_eq!(tool.note_within(QUIET * 2).await, None, "it has a limit");
    assert_eq!(rung(&bob, "channel").await["lastWorkedAt"], Value::Null);
    // The model is not deaf for what comes later.
    let second = ada.task(&bob).await;
    assert_eq!(tool.note().await["params"]["meta"]["tasks"], second.as_str());
    // What no longer waits is not repeated. On a busy machine it was, before the bridge is stopped.
    tool.signal("STOP");
    while tool.note_within(Duration::from_millis(50)).await.is_some() {}
    ada.set(&second, "cancelled").await.ok(200);
    tool.signal("CONT");
    assert_eq!(tool.note_within(QUIET * 2).await, None);
}

#[tokio::test]
async fn a_model_that_reacts_no_longer_is_not_claimed() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ada, bob) = plain_pair(&hub).await;
    let mut tool = Tool::old(&cli, "bob", "claude-code", &["--wake-again", "2s"]).await;
    followed(&bob).await;
    // On a busy machine the model may be too late for a wake; it reacts to one of the next.
    while rung(&bob, "channel").await["providedUntil"].is_null() {
        let task = ada.task(&bob).await;
        tool.note().await;
        tool.call("get_task", json!({ "taskId": task })).await;
    }
    ada.task(&bob).await;
    for _ in 0..3 {
        tool.note().await;
    }
    eventually(async || rung(&bob, "channel").await["providedUntil"].is_null().then_some(())).await;
}

#[tokio::test]
async fn models_do_not_wake_each_other_without_end() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ada, bob) = plain_pair(&hub).await;
    let mut tool = Tool::old(&cli, "bob", "claude-code", &[]).await;
    followed(&bob).await;
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}/messages");
    let say = async |agent: &Agent, text: &str| {
        agent.post(&path, json!({ "content": text })).await.ok(201);
    };
    let (short, long) = ("Thank you!", "x".repeat(100));
    tool.note().await;
    tool.call("check_updates", json!({})).await;
    // Courtesies in turn.
    say(&bob, short).await;
    say(&ada, short).await;
    assert_eq!(tool.note_within(QUIET).await, None);
    // A monologue wakes twice.
    say(&bob, &long).await;
    for _ in 0..2 {
        say(&ada, &long).await;
        tool.note().await;
        tool.call("check_updates", json!({})).await;
    }
    say(&ada, &long).await;
    assert_eq!(tool.note_within(QUIET).await, None);
    // Other tasks are not concerned.
    let other = ada.task(&bob).await;
    assert_eq!(tool.note().await["params"]["meta"]["tasks"], other.as_str());
}

/// The hub gives numbers of events out again. The bridge runs meanwhile, or starts afterwards.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restored_hub_wakes_as_before(#[values(true, false)] runs_meanwhile: bool) {
    let (shelf, place) = (Shelf::new(), Arc::new(Place::new(Db::Sqlite)));
    let start = async |place: &Arc<Place>, now| {
        Harness::start_at(Arc::clone(place), place.config(), Arc::new(AtomicI64::new(now))).await
    };
    let hub = start(&place, 1_800_000_000_000).await;
    let (ada, mut bob) = hub.pair().await;
    let relay = Relay::start(hub.client.address).await;
    bob.client.address = relay.address;
    let cli = Cli::at(&format!("http://{}", relay.address));
    store(&cli, "bob", &bob, None);
    let mut tool = Tool::old(&cli, "bob", "claude-code", &[]).await;
    followed(&bob).await;
    let archive = shelf.file("hub.tar");
    let made = tandem(&place, &["backup", archive.to_str().unwrap()]).await;
    assert!(made.status.success(), "{made:?}");
    for _ in 0..3 {
        ada.task(&bob).await;
        tool.note().await;
        tool.call("check_updates", json!({})).await;
    }
    relay.set(Mode::Down);
    if !runs_meanwhile {
        tool.end().await;
        tool = Tool::start(&cli, "bob", &[]);
    }
    drop(hub);
    let place = Arc::new(Place::new(Db::Sqlite));
    let restored = tandem(&place, &["restore", archive.to_str().unwrap()]).await;
    assert!(restored.status.success(), "{restored:?}");
    let hub = start(&place, 1_800_000_100_000).await;
    relay.lead_to(hub.client.address);
    let ada = Agent { client: hub.client.clone(), ..ada };
    relay.set(Mode::Pass);
    if !runs_meanwhile {
        tool.initialize("claude-code").await;
    }
    eventually(async || (hub.open().0 == 1).then_some(())).await;
    let task = ada.task(&bob).await;
    assert_eq!(tool.note().await["params"]["meta"]["tasks"], task.as_str());
}

//! A hub that is killed and started again, and a network that breaks.

use std::time::Duration;

use rstest::rstest;
use serde_json::json;

use super::waking::followed;
use super::{Tool, store};
use crate::client::relay::Relay;
use crate::command::Cli;
use crate::crash::agent;
use crate::harness::{Agent, Client, Db, Harness, PATIENCE, Place, eventually};
use crate::serve::{Process, command};

#[tokio::test]
async fn the_bridge_outlives_its_hub() {
    let place = Place::new(Db::Sqlite);
    let hub = Process::start(command(&place));
    let relay = Relay::start(hub.client.address).await;
    let through = Client { address: relay.address };
    let (ada, bob) = (agent(&through, "ada").await, agent(&through, "bob").await);
    ada.pair_with(&bob).await;
    let cli = Cli::at(&format!("http://{}", relay.address));
    store(&cli, "bob", &bob, None);
    let mut tool = Tool::old(&cli, "bob", "claude-code", &[]).await;
    assert_eq!(tool.call("check_updates", json!({})).await["hasUpdates"], false);
    let first = ada.task(&bob).await;
    assert!(tool.note().await.to_string().contains(&first));
    tool.call("check_updates", json!({ "acknowledge": true })).await;

    // A call in the middle of the outage waits for the hub.
    hub.signal("KILL");
    drop(hub);
    relay.cut();
    let waiting = tool.request("tools/call", json!({ "name": "check_updates", "arguments": {} })).await;
    let hub = Process::start(command(&place));
    relay.lead_to(hub.client.address);
    let answer = tool.answer(waiting).await;
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    let second = ada.task(&bob).await;
    let note = tool.note().await;
    assert!(note.to_string().contains(&second), "events are followed again: {note}");
    relay.cut();
    assert_eq!(tool.call("get_task", json!({ "taskId": second })).await["status"], "submitted");
    let provided = async || {
        let reach = bob.get("/agents/me/reach").await.ok(200);
        reach["rungs"].as_array().unwrap().iter().any(|rung| rung["providedUntil"].is_string()).then_some(())
    };
    eventually(provided).await;
    assert!(tool.end().await < PATIENCE);
}

/// Bob behind a relay, with a bridge that wakes its model.
async fn behind_relay(hub: &Harness) -> (Relay, Cli, Tool, Agent, Agent) {
    let (ada, bob) = hub.pair().await;
    let relay = Relay::start(hub.client.address).await;
    let cli = Cli::at(&format!("http://{}", relay.address));
    store(&cli, "bob", &Agent { client: Client { address: relay.address }, ..bob.clone() }, None);
    let tool = Tool::old(&cli, "bob", "claude-code", &[]).await;
    followed(&bob).await;
    (relay, cli, tool, ada, bob)
}

/// Whether a message may wake the model is not in its event.
#[rstest]
#[tokio::test]
async fn a_message_that_cannot_be_read_yet_wakes_later(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let (relay, _cli, mut tool, ada, bob) = behind_relay(&hub).await;
    let task = ada.task(&bob).await;
    tool.note().await;
    tool.call("check_updates", json!({ "acknowledge": true })).await;
    relay.refuse("/messages?");
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "what about Tuesday?" })).await.ok(201);
    eventually(async || (relay.refusals() > 0).then_some(())).await;
    relay.refuse_nothing();
    let note = tool.note().await;
    assert!(note.to_string().contains("1 message") && note.to_string().contains(&task), "{note}");
}

#[rstest]
#[tokio::test]
async fn a_title_that_does_not_come_does_not_delay_a_wake(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let (relay, _cli, mut tool, ada, bob) = behind_relay(&hub).await;
    relay.leave_unanswered("get /tasks/");
    let task = ada.task(&bob).await;
    let note = tool.note_within(Duration::from_secs(20)).await.expect("it waits for the title");
    assert!(note.to_string().contains(&task), "{note}");
}

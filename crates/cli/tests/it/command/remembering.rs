//! What a profile remembers between commands: nothing is lost when several run at once, one fails, or the hub goes back.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use rstest::rstest;
use serde_json::{Value, json};

use super::Cli;
use super::ops::listen;
use crate::backup::{Shelf, tandem};
use crate::client::relay::{Mode, Relay};
use crate::harness::{Agent, Db, Harness, PATIENCE, Place, eventually};
use crate::updates::one_message_each;
use crate::webhooks::{Receiver, Reply};

/// The state of bob's profile; empty before it is written.
fn state(cli: &Cli) -> Value {
    let file = std::fs::read(cli.home.join("state/tandem/bob.json")).unwrap_or_default();
    serde_json::from_slice(&file).unwrap_or_default()
}

/// A user with bob's profile, and the two agents.
async fn bob(db: Db) -> (Harness, Cli, Agent, Agent) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let cli = Cli::new(&hub);
    cli.profile("bob", &bob);
    (hub, cli, ada, bob)
}

const WAIT: [&str; 4] = ["wait", "--timeout", "20s", "--json"];

/// Waits for an event, and gives its type and task.
async fn arrived(cli: &Cli, more: &[&str]) -> (String, Value) {
    let ran = cli.run(&[&WAIT, more].concat()).await;
    assert_ne!(ran.code, 5, "{ran:?}");
    let event = ran.json();
    (event["type"].as_str().unwrap().to_owned(), event["taskId"].clone())
}

#[rstest]
#[tokio::test]
async fn a_command_that_runs_for_long_forgets_nothing_of_others(#[values(Db::Sqlite)] db: Db) {
    let (hub, cli, ada, bob) = bob(db).await;
    let task = ada.task(&bob).await;
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    let _listening = listen(&cli, &receiver.url(), &[]);
    eventually(async || (state(&cli)["forwarded"][0]["cursor"] == 2).then_some(())).await;
    cli.run(&["wait", "--timeout", "0s"]).await.failed(5, "");
    let waiting = cli.run(&WAIT);
    let acting = async {
        eventually(async || (open_sockets(&hub).await == 2).then_some(())).await;
        cli.ok(&["task", "show", &task]).await;
        // An event without a task changes what has been seen and forwarded, and nothing else.
        hub.agent("Cy").await.pair_with(&bob).await;
    };
    let (ran, ()) = tokio::join!(waiting, acting);
    assert_eq!((ran.code, &ran.json()["type"]), (14, &json!("agent.connected")));
    eventually(async || (state(&cli)["forwarded"][0]["cursor"] == 3).then_some(())).await;
    let epoch = bob.get("/events").await.ok(200)["epoch"].clone();
    let forwarded = json!([{ "to": receiver.url(), "events": [], "cursor": 3, "epoch": epoch }]);
    let expected =
        json!({ "last_task": task, "seen_cursor": 3, "seen_epoch": epoch, "forwarded": forwarded });
    assert_eq!(state(&cli), expected);
}

/// How many sockets the hub has.
async fn open_sockets(hub: &Harness) -> u64 {
    hub.admin("GET", "/admin/overview").await.ok(200)["openSockets"].as_u64().unwrap()
}

#[tokio::test]
async fn waiting_misses_nothing_between_two_waits() {
    let (_hub, cli, ada, bob) = bob(Db::Sqlite).await;
    cli.run(&["wait", "--timeout", "0s"]).await.failed(5, "nothing arrived");
    let first = ada.task(&bob).await;
    let second = ada.task(&bob).await;
    ada.post(&format!("/tasks/{first}/messages"), json!({ "content": "x" })).await.ok(201);
    let third = ada.task(&bob).await;
    cli.run(&["wait", "--timeout", "2s", "--type", "task.stalled"]).await.failed(5, "nothing arrived");
    assert_eq!(arrived(&cli, &[]).await, ("task.created".into(), json!(first)));
    // One that does not matter is passed over; those after what was shown are not.
    assert_eq!(arrived(&cli, &["--type", "message.created"]).await, ("message.created".into(), json!(first)));
    assert_eq!(arrived(&cli, &[]).await, ("task.created".into(), json!(third)), "not {second}");
}

#[rstest]
#[tokio::test]
async fn an_event_that_could_not_be_printed_comes_again(#[values(Db::Sqlite)] db: Db) {
    let (_hub, cli, ada, bob) = bob(db).await;
    cli.run(&["wait", "--timeout", "0s"]).await.failed(5, "");
    let task = ada.task(&bob).await;
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut waiting = cli.command(&WAIT).stdout(full).spawn().unwrap();
    let ended = tokio::time::timeout(PATIENCE, waiting.wait()).await.unwrap().unwrap();
    assert_eq!(ended.code(), Some(1));
    assert_eq!(arrived(&cli, &[]).await, ("task.created".into(), json!(task)));
}

#[rstest]
#[tokio::test]
async fn waiting_goes_on_where_a_restored_hub_ended(#[values(Db::Sqlite)] db: Db) {
    let (_hub, cli, ada, bob) = bob(db).await;
    cli.run(&["wait", "--timeout", "0s"]).await.failed(5, "");
    // The hub had more events when this was written.
    std::fs::write(cli.home.join("state/tandem/bob.json"), r#"{"seen_cursor":1000}"#).unwrap();
    cli.run(&["wait", "--timeout", "3s"]).await.failed(5, "restored from a backup");
    let task = ada.task(&bob).await;
    assert_eq!(arrived(&cli, &[]).await, ("task.created".into(), json!(task)));
}

/// `/updates` leaves out threads then, and its cursor is not the end of the log.
#[tokio::test]
async fn waiting_begins_at_the_end_however_much_is_unread() {
    let (hub, cli, ada, bob) = bob(Db::Sqlite).await;
    hub.fill(&ada, &bob, 510, None).await;
    one_message_each(&hub, &ada).await;
    let end = bob.last_event().await["id"].clone();
    assert_ne!(bob.get("/updates").await.ok(200)["cursor"], end);
    cli.run(&["wait", "--timeout", "2s"]).await.failed(5, "nothing arrived");
    assert_eq!(state(&cli)["seen_cursor"], end);
    let client = crate::client::client_of(&bob);
    assert_eq!(json!(client.end_of_events().await.unwrap()), end);
}

/// The restored hub has forgotten three events, and has five new ones before it is reached again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_a_restored_hub_are_forwarded() {
    let (shelf, place) = (Shelf::new(), Arc::new(Place::new(Db::Sqlite)));
    let start = async |place: &Arc<Place>, now| {
        Harness::start_at(Arc::clone(place), place.config(), Arc::new(AtomicI64::new(now))).await
    };
    let hub = start(&place, 1_800_000_000_000).await;
    let (ada, bob) = hub.pair().await;
    hub.fill(&ada, &bob, 3, None).await;
    let archive = shelf.file("hub.tar");
    let made = tandem(&place, &["backup", archive.to_str().unwrap()]).await;
    assert!(made.status.success(), "{made:?}");
    let relay = Relay::start(hub.client.address).await;
    let cli = Cli::at(&format!("http://{}", relay.address));
    cli.profile("bob", &bob);
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    let _listening = listen(&cli, &receiver.url(), &["--after", "0"]);
    hub.fill(&ada, &bob, 3, None).await;
    receiver.wait_for(7).await;
    eventually(async || (state(&cli)["forwarded"][0]["cursor"] == 7).then_some(())).await;

    relay.set(Mode::Down);
    drop(hub);
    let place = Arc::new(Place::new(Db::Sqlite));
    let restored = tandem(&place, &["restore", archive.to_str().unwrap()]).await;
    assert!(restored.status.success(), "{restored:?}");
    let hub = start(&place, 1_800_000_100_000).await;
    let moved = |agent: Agent| Agent { client: hub.client.clone(), ..agent };
    let (ada, bob) = (moved(ada), moved(bob));
    hub.fill(&ada, &bob, 5, None).await;
    relay.lead_to(hub.client.address);
    relay.set(Mode::Pass);
    // Nothing was acknowledged, so all that is left of the log comes again: four old events and five new ones.
    let got = receiver.wait_for(16).await;
    let forwarded: Vec<Value> = got.iter().skip(7).map(|got| got.json()["data"]["taskId"].clone()).collect();
    let log = bob.events().await;
    let expected: Vec<Value> = log.iter().map(|event| event["taskId"].clone()).collect();
    assert_eq!(forwarded, expected);
    // An old one has its id again, by which a program drops it. A new one has an id of its own, although numbers are used
    // again.
    assert_eq!(got[7].json()["timestamp"], log[0]["createdAt"]);
    let mut ids: Vec<&str> = got.iter().map(|got| got.header("webhook-id")).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 12);
    eventually(async || (state(&cli)["forwarded"][0]["cursor"] == 9).then_some(())).await;
}

#[tokio::test]
async fn two_that_listen_do_not_skip_each_others_events() {
    let (_hub, cli, ada, bob) = bob(Db::Sqlite).await;
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    let mut tasks = listen(&cli, &receiver.url(), &["--events", "task.*"]);
    eventually(async || state(&cli)["forwarded"][0]["cursor"].as_i64()).await;
    tasks.kill().await.unwrap();
    let _messages = listen(&cli, &receiver.url(), &["--events", "message.created"]);
    let task = ada.task(&bob).await;
    let last = bob.events().await.len();
    eventually(async || (state(&cli)["forwarded"][1]["cursor"] == last).then_some(())).await;
    let _tasks = listen(&cli, &receiver.url(), &["--events", "task.*"]);
    let got = receiver.wait_for(1).await;
    assert_eq!(got[0].json()["data"]["taskId"], json!(task));
}

#[tokio::test]
async fn following_outlives_the_key() {
    let (hub, cli, ada, bob) = bob(Db::Sqlite).await;
    let tail = cli.command(&["events", "tail", "--count", "1", "--json"]).spawn().unwrap();
    eventually(async || (open_sockets(&hub).await == 1).then_some(())).await;
    cli.ok(&["rotate"]).await;
    let task = ada.task(&bob).await;
    let ended = tokio::time::timeout(PATIENCE, tail.wait_with_output()).await.unwrap().unwrap();
    let ran = super::Ran::new(ended);
    assert_eq!((ran.code, &ran.json()["taskId"]), (0, &json!(task)), "{ran:?}");
}

//! Wake-ups between nodes.

use std::sync::atomic::Ordering::Relaxed;

use rstest::rstest;
use serde_json::json;
use tandem_hub::bus::LinkState;

use super::at;
use crate::harness::nats::Nats;
use crate::harness::{ADMIN_TOKEN, Harness, eventually};

/// How many events the test sends over each node.
const ROUNDS: usize = 20;

#[tokio::test]
async fn an_event_that_one_node_commits_reaches_a_socket_of_another() {
    let hub = Harness::start_cluster(|_, _| {}).await;
    let (ada, bob) = hub.pair().await;
    let mut socket = at(&hub, &bob, 1).socket("?after=0").await;
    assert_eq!(socket.next().await.unwrap()["type"], "agent.connected");
    // A node that hears of everything does not look at the database by itself.
    let state = || hub.nodes[1].hub.liveness.bus.link_state();
    eventually(async || (state() == Some(LinkState::Hearing)).then_some(())).await;
    for round in 0..ROUNDS {
        let task = at(&hub, &ada, round % 3).task(&bob).await;
        let frame = socket.next().await.unwrap();
        assert_eq!((&frame["type"], &frame["taskId"]), (&json!("task.created"), &json!(task)));
    }
    // Nobody listens for Ada anywhere, and for Bob only there.
    let subscriptions = |node: usize| {
        let figures = hub.nodes[node].hub.liveness.bus.link_figures().unwrap();
        figures.subscriptions.load(Relaxed)
    };
    assert_eq!([subscriptions(0), subscriptions(1), subscriptions(2)], [0, 1, 0]);
    drop(socket);
    eventually(async || (subscriptions(1) == 0).then_some(())).await;
}

#[tokio::test]
async fn while_nats_is_away_events_are_found_in_the_database() {
    let mut nats = Nats::start();
    let url = nats.url();
    let hub = Harness::start_cluster(move |_, config| config.bus = Some(url.clone())).await;
    let (ada, bob) = hub.pair().await;
    let mut socket = at(&hub, &bob, 1).socket("").await;
    for _ in 0..2 {
        nats.kill();
        for node in &hub.nodes {
            eventually(async || (node.hub.liveness.bus.link_state() == Some(LinkState::Away)).then_some(()))
                .await;
            let ready = node.client.send("GET", "/ready", None, None).await.ok(200);
            assert!(ready["warnings"][0].as_str().unwrap().contains("NATS"), "{ready}");
        }
        let task = at(&hub, &ada, 0).task(&bob).await;
        assert_eq!(socket.next().await.unwrap()["taskId"], json!(task));
        nats.resume();
        crate::harness::cluster::settle(&hub.nodes).await;
        let ready = hub.client.send("GET", "/ready", None, None).await.ok(200);
        assert_eq!(ready, json!({ "status": "ready", "database": "postgres" }));
        let task = at(&hub, &ada, 2).task(&bob).await;
        assert_eq!(socket.next().await.unwrap()["taskId"], json!(task));
    }
}

#[tokio::test]
async fn a_node_starts_while_nats_is_away_and_connects_later() {
    let mut nats = Nats::start();
    nats.kill();
    let url = nats.url();
    let hub = Harness::start_cluster_unsettled(move |_, config| config.bus = Some(url.clone())).await;
    let (ada, bob) = hub.pair().await;
    let mut socket = at(&hub, &bob, 1).socket("").await;
    let task = at(&hub, &ada, 0).task(&bob).await;
    assert_eq!(socket.next().await.unwrap()["taskId"], json!(task));
    nats.resume();
    crate::harness::cluster::settle(&hub.nodes).await;
}

#[tokio::test]
async fn nodes_without_nats_look_at_the_database() {
    let hub = Harness::start_cluster(|_, config| config.bus = Some("none".into())).await;
    let (ada, bob) = hub.pair().await;
    let mut socket = at(&hub, &bob, 1).socket("").await;
    for node in 0..3 {
        let task = at(&hub, &ada, node).task(&bob).await;
        assert_eq!(socket.next().await.unwrap()["taskId"], json!(task));
    }
}

#[rstest]
#[tokio::test]
async fn an_observer_of_one_node_sees_the_events_of_all(#[values(0, 1, 2)] node: usize) {
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    let hub = Harness::start_cluster(|_, _| {}).await;
    let (ada, bob) = hub.pair().await;
    let stream = tokio::net::TcpStream::connect(hub.nodes[1].client.address).await.unwrap();
    let (read, mut write) = stream.into_split();
    let request =
        format!("GET /debug/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {ADMIN_TOKEN}\r\n\r\n");
    write.write_all(request.as_bytes()).await.unwrap();
    let mut lines = BufReader::new(read).lines();
    // The other nodes have to hear first that somebody observes.
    let seen = tokio::spawn(async move {
        while let Some(line) = lines.next_line().await.unwrap() {
            if line.contains("task.created") {
                return true;
            }
        }
        false
    });
    eventually(async || {
        at(&hub, &ada, node).task(&bob).await;
        seen.is_finished().then_some(())
    })
    .await;
    assert!(seen.await.unwrap());
}

/// Gossip that a stranger at the broker hears before the test looks: several seconds of three nodes.
const OVERHEARD: usize = 40;

#[tokio::test]
async fn a_stranger_at_the_broker_changes_nothing() {
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    let nats = Nats::start();
    let url = nats.url();
    let hub = Harness::start_cluster(move |_, config| config.bus = Some(url.clone())).await;
    let ada = hub.agent("Ada").await;
    let mut socket = at(&hub, &ada, 1).socket("").await;
    let stream = tokio::net::TcpStream::connect(nats.url().trim_start_matches("nats://")).await.unwrap();
    let (reading, mut writing) = stream.into_split();
    writing.write_all(b"CONNECT {\"verbose\":false}\r\nSUB > 1\r\n").await.unwrap();
    let mut lines = BufReader::new(reading).split(b'\n');
    let mut heard = 0;
    while heard < OVERHEARD {
        let line = lines.next_segment().await.unwrap().unwrap();
        let line = String::from_utf8_lossy(&line);
        let Some(rates) = line.strip_prefix("MSG ").and_then(|line| line.split(' ').next()) else { continue };
        let Some(hub) = rates.strip_suffix(".rates") else { continue };
        heard += 1;
        for said in [r#""lost""#.to_owned(), json!({ "keyEnded": ada.id }).to_string()] {
            let forged = format!("PUB {hub}.nodes {}\r\n{said}\r\n", said.len());
            writing.write_all(forged.as_bytes()).await.unwrap();
        }
    }
    for node in &hub.nodes {
        assert_eq!(node.hub.liveness.bus.link_state(), Some(LinkState::Hearing));
    }
    hub.agent("Bob").await.pair_with(&ada).await;
    assert_eq!(socket.next().await.unwrap()["type"], "agent.connected", "the socket is open");
}

//! The event stream over bad networks and through restarts of the hub.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rstest::rstest;
use serde_json::json;
use tandem_client::{Followed, Notice, Transport};

use super::relay::{Mode, Relay};
use super::stream::{cursors_to, event, is_connected, is_quiet, next, notice};
use super::{client_at, client_of};
use crate::crash::agent;
use crate::harness::{Agent, Db, Harness, Place, eventually};
use crate::push_resume::talk;
use crate::serve::{Process, command};

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_and_restarts_of_the_hub_miss_and_double_nothing(
    #[values(Transport::WebSocket, Transport::ServerSentEvents, Transport::LongPoll)] transport: Transport,
) {
    let place = Place::new(Db::Sqlite);
    let mut hub = Process::start(command(&place));
    let (mut ada, bob) = (agent(&hub.client, "Ada").await, agent(&hub.client, "Bob").await);
    ada.pair_with(&bob).await;
    let relay = Relay::start(hub.client.address).await;
    let mut stream = client_at(relay.address, &bob.key).follow(Some(0)).only(transport);
    let mut cursors = Vec::new();
    for signal in ["KILL", "TERM"] {
        let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let talking = tokio::spawn(talk(ada.clone(), bob.id.clone(), Arc::clone(&stop), Arc::clone(&sent)));
        while sent.load(Ordering::SeqCst) < 60 {
            if let Followed::Event(event) = next(&mut stream).await {
                cursors.push(event.cursor);
            }
        }
        hub.signal(signal);
        stop.store(true, Ordering::SeqCst);
        talking.await.unwrap();
        drop(hub);
        hub = Process::start(command(&place));
        relay.lead_to(hub.client.address);
        ada.client = hub.client.clone();
    }
    let fresh = Agent { client: hub.client.clone(), ..bob.clone() };
    ada.task(&fresh).await;
    let last = fresh.last_event().await["id"].as_i64().unwrap();
    while cursors.last() != Some(&last) {
        match next(&mut stream).await {
            Followed::Event(event) => cursors.push(event.cursor),
            Followed::Notice(notice) => assert!(!matches!(notice, Notice::Rewound { .. }), "{notice:?}"),
        }
    }
    assert_eq!(cursors, (1..=last).collect::<Vec<_>>());
    // A poll that finds its connection closed makes another one without a word.
    let connections = relay.connections();
    assert!(last > 100 && connections > 2, "{last} events over {connections} connections");
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_cuts_again_and_again_misses_and_doubles_nothing(
    #[values(Transport::WebSocket, Transport::ServerSentEvents, Transport::LongPoll)] transport: Transport,
) {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let relay = Relay::start(hub.client.address).await;
    let mut stream = client_at(relay.address, &bob.key).follow(Some(0)).only(transport);
    let (mut cursors, mut notices) = (Vec::new(), Vec::new());
    for round in 1..=5 {
        // In the midst of the events of this round.
        relay.cut_after_bytes_down(8_000);
        hub.fill(&ada, &bob, 200, None).await;
        cursors.extend(cursors_to(&mut stream, 1 + 200 * round, &mut notices).await);
    }
    assert_eq!(cursors, (1..=1_001).collect::<Vec<_>>());
    let lost = notices.iter().filter(|notice| matches!(notice, Notice::Lost { .. })).count();
    assert!(
        lost >= 4 && !notices.iter().any(|notice| matches!(notice, Notice::Rewound { .. })),
        "{notices:?}"
    );
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_connection_counts_as_lost(
    #[values(Transport::WebSocket, Transport::ServerSentEvents)] transport: Transport,
) {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let relay = Relay::start(hub.client.address).await;
    let client = client_at(relay.address, &bob.key);
    let mut stream = client.follow(Some(1)).only(transport).with_silence_max(Duration::from_millis(700));
    notice(&mut stream, |notice| matches!(notice, Notice::Connected { .. })).await;
    relay.set(Mode::Stall);
    ada.task(&bob).await;
    let lost = notice(&mut stream, |notice| matches!(notice, Notice::Lost { .. })).await;
    assert!(matches!(&lost, Notice::Lost { cause, .. } if cause.contains("nothing arrived")), "{lost:?}");
    // What is stalled stays so; a new connection gets through.
    relay.cut();
    relay.set(Mode::Pass);
    assert_eq!(event(&mut stream, &mut Vec::new()).await.cursor, 2);
}

#[rstest]
#[case::sockets(&["upgrade: websocket"], Transport::ServerSentEvents)]
#[case::streams_too(&["upgrade: websocket", "/events/stream"], Transport::LongPoll)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_that_refuses_leads_to_the_next_transport(
    #[case] refused: &[&'static str],
    #[case] expected: Transport,
) {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let relay = Relay::start(hub.client.address).await;
    for word in refused {
        relay.refuse(word);
    }
    let mut stream = client_at(relay.address, &bob.key).follow(Some(0));
    let mut notices = Vec::new();
    assert_eq!(event(&mut stream, &mut notices).await.cursor, 1);
    assert!(is_connected(&notices, expected, 0), "{notices:?}");
    ada.task(&bob).await;
    assert_eq!(event(&mut stream, &mut notices).await.cursor, 2);
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_streams_lead_to_long_polls() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let mut sockets = Vec::new();
    for _ in 0..16 {
        sockets.push(bob.socket("").await);
    }
    let mut stream = client_of(&bob).follow(Some(1));
    let connected = notice(&mut stream, |_| true).await;
    assert!(is_connected(&[connected], Transport::LongPoll, 1));
    ada.task(&bob).await;
    assert_eq!(event(&mut stream, &mut Vec::new()).await.cursor, 2);
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_is_not_there_yet_is_waited_for() {
    let hub = Harness::start(Db::Sqlite).await;
    let bob = hub.agent("Bob").await;
    let relay = Relay::start(hub.client.address).await;
    relay.set(Mode::Down);
    let mut stream = client_at(relay.address, &bob.key).follow(None);
    for _ in 0..2 {
        notice(&mut stream, |notice| matches!(notice, Notice::Lost { .. })).await;
    }
    relay.set(Mode::Pass);
    notice(&mut stream, |notice| matches!(notice, Notice::Connected { .. })).await;
    // A stream that is dropped does not stay connected.
    drop(stream);
    eventually(async || {
        let page = client_of(&bob).metrics().await.unwrap();
        page.lines().any(|line| line.starts_with("tandem_") && line.ends_with("sockets 0")).then_some(())
    })
    .await;
}

/// Deleted tasks leave gaps in the log, which is no reason to believe in a restore.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gaps_of_deleted_tasks_are_no_rewind(
    #[values(Transport::WebSocket, Transport::ServerSentEvents, Transport::LongPoll)] transport: Transport,
) {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let relay = Relay::start(hub.client.address).await;
    let mut stream = client_at(relay.address, &bob.key).follow(Some(0)).only(transport);
    let (kept, gone) = (ada.task(&bob).await, ada.task(&bob).await);
    assert_eq!(cursors_to(&mut stream, 3, &mut Vec::new()).await, [1, 2, 3]);
    ada.post_empty(&format!("/tasks/{gone}/cancel")).await.ok(200);
    assert_eq!(event(&mut stream, &mut Vec::new()).await.cursor, 4);
    relay.set(Mode::Down);
    ada.delete(&format!("/tasks/{gone}")).await.ok(200);
    ada.post(&format!("/tasks/{kept}/messages"), json!({ "content": "more" })).await.ok(201);
    relay.set(Mode::Pass);
    let mut notices = Vec::new();
    assert_eq!(event(&mut stream, &mut notices).await.cursor, 5);
    assert!(!notices.iter().any(|notice| matches!(notice, Notice::Rewound { .. })), "{notices:?}");
    is_quiet(&mut stream).await;
}

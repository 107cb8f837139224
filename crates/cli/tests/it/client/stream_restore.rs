//! The event stream when the hub is restored from an older backup.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use rstest::rstest;
use serde_json::json;
use tandem_client::{Followed, Notice, Transport};

use super::client_at;
use super::relay::{Mode, Relay};
use super::stream::{cursors_to, is_quiet, next, notice};
use crate::backup::{Shelf, tandem};
use crate::harness::{Agent, Db, Harness, Place};

/// A hub with a backup of its past, and a stream that has read beyond that.
struct Restored {
    relay: Relay,
    stream: tandem_client::EventStream,
    hub: Harness,
    ada: Agent,
    bob: Agent,
}

const ACKNOWLEDGED: i64 = 30;
const IN_BACKUP: i64 = 51;
const READ: i64 = 101;

/// Reads 101 events of which 51 are in the backup and 30 acknowledged, and starts the hub from the backup. The network is
/// still out.
async fn restored(db: Db, transport: Transport, outage: Mode) -> Restored {
    let (shelf, place) = (Shelf::new(), Arc::new(Place::new(db)));
    let start = async |place: &Arc<Place>, now| {
        Harness::start_at(Arc::clone(place), place.config(), Arc::new(AtomicI64::new(now))).await
    };
    let hub = start(&place, 1_800_000_000_000).await;
    let (ada, bob) = hub.pair().await;
    let relay = Relay::start(hub.client.address).await;
    let mut stream = client_at(relay.address, &bob.key).follow(Some(0)).only(transport);
    hub.fill(&ada, &bob, 50, None).await;
    bob.post("/events/ack", json!({ "cursor": ACKNOWLEDGED })).await.ok(200);
    let archive = shelf.file("hub.tar");
    let made = tandem(&place, &["backup", archive.to_str().unwrap()]).await;
    assert!(made.status.success(), "{made:?}");
    hub.fill(&ada, &bob, 50, None).await;
    let read = cursors_to(&mut stream, READ, &mut Vec::new()).await;
    assert_eq!(read, (1..=READ).collect::<Vec<_>>());
    relay.set(outage);
    drop(hub);
    let place = Arc::new(Place::new(db));
    let restored = tandem(&place, &["restore", archive.to_str().unwrap()]).await;
    assert!(restored.status.success(), "{restored:?}");
    let hub = start(&place, 1_800_000_100_000).await;
    relay.lead_to(hub.client.address);
    let moved = |agent: Agent| Agent { client: hub.client.clone(), ..agent };
    let (ada, bob) = (moved(ada), moved(bob));
    Restored { relay, stream, hub, ada, bob }
}

/// The new events are fewer than those that were lost, as many, or more.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_after_a_restore_arrive_once(
    #[values(Transport::WebSocket, Transport::ServerSentEvents, Transport::LongPoll)] transport: Transport,
    #[values(10, 50, 120)] new: i64,
) {
    let Restored { relay, mut stream, hub, ada, bob } = restored(Db::Sqlite, transport, Mode::Down).await;
    hub.fill(&ada, &bob, usize::try_from(new).unwrap(), None).await;
    relay.set(Mode::Pass);
    let rewound = notice(&mut stream, |notice| matches!(notice, Notice::Rewound { .. })).await;
    assert_eq!(rewound, Notice::Rewound { from: READ, to: ACKNOWLEDGED });
    assert_eq!(stream.cursor(), Some(ACKNOWLEDGED));
    let mut received = Vec::new();
    while received.len() < usize::try_from(IN_BACKUP - ACKNOWLEDGED + new).unwrap() {
        match next(&mut stream).await {
            Followed::Event(event) => received.push((json!(event.cursor), json!(event.task_id))),
            Followed::Notice(notice) => assert!(matches!(notice, Notice::Connected { .. }), "{notice:?}"),
        }
    }
    let log = bob.events().await;
    let expected = log.iter().skip(usize::try_from(ACKNOWLEDGED).unwrap());
    let expected: Vec<_> = expected.map(|event| (event["id"].clone(), event["taskId"].clone())).collect();
    assert_eq!(received, expected);
    // Then as ever, over another cut.
    relay.cut();
    let task = ada.task(&bob).await;
    let mut notices = Vec::new();
    let event = super::stream::event(&mut stream, &mut notices).await;
    assert_eq!((event.cursor, event.task_id.unwrap().as_str()), (IN_BACKUP + new + 1, task.as_str()));
    assert!(!notices.iter().any(|notice| matches!(notice, Notice::Rewound { .. })), "{notices:?}");
    is_quiet(&mut stream).await;
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restore_is_reported_before_anything_new_happens(
    #[values(Transport::WebSocket, Transport::ServerSentEvents, Transport::LongPoll)] transport: Transport,
) {
    let Restored { relay, mut stream, hub: _hub, ada, bob } =
        restored(Db::Sqlite, transport, Mode::Down).await;
    relay.set(Mode::Pass);
    let rewound = notice(&mut stream, |notice| matches!(notice, Notice::Rewound { .. })).await;
    assert_eq!(rewound, Notice::Rewound { from: READ, to: ACKNOWLEDGED });
    notice(&mut stream, |notice| matches!(notice, Notice::Connected { cursor: ACKNOWLEDGED, .. })).await;
    cursors_to(&mut stream, IN_BACKUP, &mut Vec::new()).await;
    is_quiet(&mut stream).await;
    ada.task(&bob).await;
    assert_eq!(super::stream::event(&mut stream, &mut Vec::new()).await.cursor, IN_BACKUP + 1);
}

/// The last answer of the old hub is held up by the network until the new one runs, so no connection is lost.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_answer_of_the_old_hub_hides_nothing(
    #[values(Transport::WebSocket, Transport::ServerSentEvents, Transport::LongPoll)] transport: Transport,
    #[values(0, 50, 120)] new: usize,
) {
    let Restored { relay, mut stream, hub, ada, bob } = restored(Db::Sqlite, transport, Mode::Stall).await;
    hub.fill(&ada, &bob, new, None).await;
    relay.set(Mode::Pass);
    let rewound = notice(&mut stream, |notice| matches!(notice, Notice::Rewound { .. })).await;
    assert_eq!(rewound, Notice::Rewound { from: READ, to: ACKNOWLEDGED });
    ada.task(&bob).await;
    let last = IN_BACKUP + i64::try_from(new).unwrap() + 1;
    let cursors = cursors_to(&mut stream, last, &mut Vec::new()).await;
    assert_eq!(cursors, (ACKNOWLEDGED + 1..=last).collect::<Vec<_>>());
    is_quiet(&mut stream).await;
}

/// A program that stored its cursor with the epoch notices a restore that happened while it did not run, also when the new
/// log is longer than the old one. Without the epoch it notices only a shorter one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stored_cursor_belongs_to_its_epoch() {
    let Restored { relay, stream, hub, ada, bob } =
        restored(Db::Sqlite, Transport::WebSocket, Mode::Down).await;
    relay.set(Mode::Pass);
    let epoch = stream.epoch().map(ToOwned::to_owned);
    assert!(epoch.is_some());
    drop(stream);
    let follow = |after| client_at(relay.address, &bob.key).follow(Some(after));
    let rewound = notice(&mut follow(READ), |_| true).await;
    assert_eq!(rewound, Notice::Rewound { from: READ, to: IN_BACKUP });
    hub.fill(&ada, &bob, 120, None).await;
    let mut stream = follow(READ).in_epoch(epoch.clone());
    let rewound = notice(&mut stream, |_| true).await;
    assert_eq!(rewound, Notice::Rewound { from: READ, to: ACKNOWLEDGED });
    notice(&mut stream, |notice| matches!(notice, Notice::Connected { .. })).await;
    assert_ne!(stream.epoch().map(ToOwned::to_owned), epoch);
}

/// A stream of new events goes on with what is new: old ones would wake a model again.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_stream_stays_live(
    #[values(Transport::WebSocket, Transport::ServerSentEvents, Transport::LongPoll)] transport: Transport,
) {
    let Restored { relay, stream, hub: _hub, ada, bob } = restored(Db::Sqlite, transport, Mode::Down).await;
    let epoch = stream.epoch().map(ToOwned::to_owned);
    drop(stream);
    relay.set(Mode::Pass);
    let mut stream = client_at(relay.address, &bob.key).follow(None).only(transport);
    notice(&mut stream, |notice| matches!(notice, Notice::Connected { cursor: IN_BACKUP, .. })).await;
    assert_ne!(stream.epoch().map(ToOwned::to_owned), epoch);
    ada.task(&bob).await;
    assert_eq!(super::stream::event(&mut stream, &mut Vec::new()).await.cursor, IN_BACKUP + 1);
}

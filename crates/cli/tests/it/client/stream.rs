//! The event stream against a hub that behaves: each event once, in order, over every transport.

use std::time::{Duration, Instant};

use rstest::rstest;
use serde_json::{Value, json};
use tandem_api::error::Code;
use tandem_client::{ApiKey, EventStream, Followed, Notice, StreamEvent, Transport};
use tandem_core::events::EventKind;
use tandem_core::{AgentId, Timestamp};
use tandem_store::events::{NewEvent, append};

use super::client_of;
use crate::harness::{Agent, Db, Harness, PATIENCE, eventually};

/// The next event or notice, within the time of a test.
pub async fn next(stream: &mut EventStream) -> Followed {
    tokio::time::timeout(PATIENCE, stream.next()).await.expect("something comes").expect("the stream goes on")
}

/// The next event, and the notices before it.
pub async fn event(stream: &mut EventStream, notices: &mut Vec<Notice>) -> StreamEvent {
    loop {
        match next(stream).await {
            Followed::Event(event) => return event,
            Followed::Notice(notice) => notices.push(notice),
        }
    }
}

/// Whether the only notice says that the stream is connected like this.
pub fn is_connected(notices: &[Notice], by: Transport, after: i64) -> bool {
    matches!(notices, [Notice::Connected { transport, cursor, .. }] if *transport == by && *cursor == after)
}

/// Waits for a notice; an event before it is a failure.
pub async fn notice(stream: &mut EventStream, wanted: impl Fn(&Notice) -> bool) -> Notice {
    loop {
        match next(stream).await {
            Followed::Notice(notice) if wanted(&notice) => return notice,
            Followed::Notice(_) => {}
            Followed::Event(event) => panic!("{event:?}"),
        }
    }
}

/// The cursors of the events up to one.
pub async fn cursors_to(stream: &mut EventStream, last: i64, notices: &mut Vec<Notice>) -> Vec<i64> {
    let mut cursors = Vec::new();
    while cursors.last() != Some(&last) {
        cursors.push(event(stream, notices).await.cursor);
    }
    cursors
}

/// Nothing more comes. A wrong event would be there at once.
pub async fn is_quiet(stream: &mut EventStream) {
    let more = tokio::time::timeout(Duration::from_millis(200), stream.next_event()).await;
    assert!(more.is_err(), "{more:?}");
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_event_arrives_once_and_in_order(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(Transport::WebSocket, Transport::ServerSentEvents, Transport::LongPoll)] transport: Transport,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    hub.fill(&ada, &bob, 500, None).await;
    let mut stream = client_of(&bob).follow(Some(0)).only(transport);
    assert_eq!(stream.cursor(), Some(0));
    let mut notices = Vec::new();
    let mut received = Vec::new();
    for last in [501, 1_001] {
        while received.last().is_none_or(|event: &StreamEvent| event.cursor < last) {
            received.push(event(&mut stream, &mut notices).await);
        }
        if last == 501 {
            hub.fill(&ada, &bob, 500, None).await;
        }
    }
    assert!(is_connected(&notices, transport, 0), "{notices:?}");
    assert_eq!(stream.cursor(), Some(1_001));
    is_quiet(&mut stream).await;
    for (event, logged) in received.iter().zip(bob.events().await) {
        assert_eq!((json!(event.cursor), json!(event.kind)), (logged["id"].clone(), logged["type"].clone()));
        assert_eq!(json!(event.task_id), logged["taskId"]);
        assert_eq!(json!(event.from_agent_id), logged["data"]["fromAgentId"]);
        assert_eq!(serde_json::from_str::<Value>(event.data.get()).unwrap(), logged["data"]);
    }
    assert_eq!(received.len(), 1_001);
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_without_a_cursor_begins_at_the_end(
    #[values(Transport::WebSocket, Transport::ServerSentEvents, Transport::LongPoll)] transport: Transport,
) {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    ada.task(&bob).await;
    let mut stream = client_of(&bob).follow(None).only(transport);
    assert_eq!(stream.cursor(), None);
    let connected = notice(&mut stream, |_| true).await;
    assert!(is_connected(&[connected], transport, 2));
    assert_eq!(stream.cursor(), Some(2));
    let task = ada.task(&bob).await;
    let event = event(&mut stream, &mut Vec::new()).await;
    assert_eq!((event.cursor, event.task_id.as_ref().unwrap().as_str()), (3, task.as_str()));
    assert_eq!(event.fields().attempt, Some(1));
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_next_loses_nothing(
    #[values(Transport::WebSocket, Transport::ServerSentEvents, Transport::LongPoll)] transport: Transport,
) {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    hub.fill(&ada, &bob, 300, None).await;
    let mut stream = client_of(&bob).follow(Some(0)).only(transport);
    let (mut cursors, mut dropped) = (Vec::new(), 0);
    let deadline = Instant::now() + PATIENCE;
    while cursors.last() != Some(&301) {
        assert!(Instant::now() < deadline, "{cursors:?}");
        tokio::select! {
            biased;
            item = stream.next() => if let Followed::Event(event) = item.unwrap() { cursors.push(event.cursor) },
            () = tokio::task::yield_now() => dropped += 1,
        }
    }
    assert_eq!(cursors, (1..=301).collect::<Vec<_>>());
    assert!(dropped > 0);
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_ends_is_an_error(
    #[values(Transport::WebSocket, Transport::ServerSentEvents, Transport::LongPoll)] transport: Transport,
) {
    let hub = Harness::start(Db::Sqlite).await;
    let bob = hub.agent("Bob").await;
    let client = client_of(&bob);
    let mut stream = client.follow(None).only(transport);
    notice(&mut stream, |notice| matches!(notice, Notice::Connected { .. })).await;
    // A long poll that comes in while the key ends is answered when its wait is over.
    eventually(async || hub.reach(&bob.id.parse().unwrap()).map(drop)).await;
    client.rotate_key(&ApiKey::generate().unwrap()).await.unwrap();
    let ended = async {
        loop {
            if let Err(error) = stream.next().await {
                return error;
            }
        }
    };
    let error = tokio::time::timeout(PATIENCE, ended).await.unwrap();
    assert_eq!(error.code(), Some(Code::Unauthorized), "{error}");
    // Without `only` too, and from the beginning.
    let mut stream = client.follow(Some(0));
    assert_eq!(stream.next().await.unwrap_err().code(), Some(Code::Unauthorized));
    let mut stream = client_of(&hub.agent("Eve").await).follow(Some(-1));
    assert_eq!(stream.next().await.unwrap_err().code(), Some(Code::Validation));
}

/// Appends events to an agent's log in bulk.
async fn append_bulk(hub: &Harness, to: &Agent, count: usize) {
    let id: AgentId = to.id.parse().unwrap();
    let fill = move |tx: &mut tandem_store::Tx<'_>, _: &tandem_core::Now| {
        let event = || NewEvent {
            kind: EventKind::TaskUpdated,
            task: None,
            message: None,
            from: None,
            data: json!({ "status": "working", "fromAgentName": "Ada" }).to_string(),
            at: Timestamp(0),
        };
        let events: Vec<_> = (0..count).map(|_| event()).collect();
        append(tx, &id, &events)?;
        Ok(())
    };
    hub.hub.db.write(fill).await.unwrap();
}

/// A long run: half of the events wait in the log, the others come while the stream is read.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_thousand_events_arrive_once_and_in_order() {
    const EVENTS: i64 = 100_000;
    let hub = Harness::start(Db::Sqlite).await;
    let bob = hub.agent("Bob").await;
    append_bulk(&hub, &bob, 50_000).await;
    let mut stream = client_of(&bob).follow(Some(0));
    let started = Instant::now();
    let reading = async {
        let mut notices = Vec::new();
        for expected in 1..=EVENTS {
            assert_eq!(event(&mut stream, &mut notices).await.cursor, expected);
        }
        assert!(is_connected(&notices, Transport::WebSocket, 0), "{notices:?}");
    };
    let writing = async {
        for _ in 0..50 {
            append_bulk(&hub, &bob, 1_000).await;
        }
    };
    tokio::join!(reading, writing);
    let seconds = started.elapsed().as_secs_f64();
    println!("{:.0} events per second", EVENTS as f64 / seconds);
    is_quiet(&mut stream).await;
}

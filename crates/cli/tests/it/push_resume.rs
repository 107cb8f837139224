//! Every event exactly once and in order, whatever happens to the connection in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rstest::rstest;
use serde_json::{Value, json};
use tandem_core::Timestamp;
use tandem_core::events::EventKind;
use tandem_store::events::{NewEvent, append};

use crate::crash::agent;
use crate::harness::{Agent, Db, Harness, Place, Socket, eventually};
use crate::push::Lines;
use crate::serve::{Process, command};

/// Random numbers of the test's own, printed so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

fn dice() -> Dice {
    let mut seed = [0; 8];
    tandem_app::keys::fill_random(&mut seed);
    let seed = u64::from_le_bytes(seed) | 1;
    println!("seed {seed}");
    Dice(seed)
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reconnecting_at_random_misses_and_doubles_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    const TASKS: i64 = 300;
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut dice = dice();
    let sending = {
        let (ada, bob) = (ada.clone(), bob.clone());
        tokio::spawn(async move {
            for _ in 0..TASKS {
                ada.task(&bob).await;
            }
        })
    };
    let mut heard: Vec<i64> = Vec::new();
    let mut connections = 0;
    while heard.last() != Some(&(TASKS + 1)) {
        let after = heard.last().copied().unwrap_or(0);
        let mut socket = bob.socket(&format!("?after={after}")).await;
        connections += 1;
        for _ in 0..dice.roll(25) {
            if heard.last() == Some(&(TASKS + 1)) {
                break;
            }
            heard.push(socket.next().await.unwrap()["cursor"].as_i64().unwrap());
        }
        // Sometimes with a goodbye, sometimes just gone.
        if dice.roll(2) == 0 {
            socket.0.close(None).await.ok();
        }
    }
    sending.await.unwrap();
    assert_eq!(heard, (1..=TASKS + 1).collect::<Vec<_>>());
    assert!(connections > 5);
}

/// Hears until the connection ends; what was heard goes to the end of `heard`.
async fn hear(bob: Agent, mut heard: Vec<i64>) -> Vec<i64> {
    let after = heard.last().copied().unwrap_or(0);
    if let Ok(mut socket) = Socket::open(&bob.client, &format!("/ws?after={after}"), Some(&bob.key)).await {
        while let Ok(frame) = socket.next().await {
            if frame["type"] != "connected" {
                heard.push(frame["cursor"].as_i64().unwrap());
            }
        }
    }
    heard
}

/// Sends until told to stop, or until the hub is gone; tells which tasks were answered.
pub async fn talk(ada: Agent, to: String, stop: Arc<AtomicBool>, count: Arc<AtomicUsize>) -> usize {
    let mut answered = 0;
    while !stop.load(Ordering::SeqCst) {
        let request = hyper::Request::post("/tasks")
            .header("authorization", format!("Bearer {}", ada.key))
            .header("content-type", "application/json")
            .body(json!({ "targetAgentId": to, "title": "T" }).to_string().into())
            .unwrap();
        match ada.client.try_raw(request).await {
            Ok(reply) if reply.status == 201 => {
                answered += 1;
                count.fetch_add(1, Ordering::SeqCst);
            }
            _ => break,
        }
    }
    answered
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restarts_and_kills_miss_and_double_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let mut hub = Process::start(command(&place));
    let (mut ada, mut bob) = (agent(&hub.client, "Ada").await, agent(&hub.client, "Bob").await);
    ada.pair_with(&bob).await;
    let (mut heard, mut answered) = (Vec::new(), 0);
    for signal in ["KILL", "TERM", "KILL", "TERM"] {
        let stop = Arc::new(AtomicBool::new(false));
        let count = Arc::new(AtomicUsize::new(0));
        let hearing = tokio::spawn(hear(bob.clone(), heard));
        let talking = tokio::spawn(talk(ada.clone(), bob.id.clone(), Arc::clone(&stop), Arc::clone(&count)));
        eventually(async || (count.load(Ordering::SeqCst) >= 200).then_some(())).await;
        hub.signal(signal);
        stop.store(true, Ordering::SeqCst);
        answered += talking.await.unwrap();
        heard = hearing.await.unwrap();
        let (_, log) = hub.end();
        assert!(!log.contains("panic"), "{log}");
        hub = Process::start(command(&place));
        ada.client = hub.client.clone();
        bob.client = hub.client.clone();
    }
    // A socket that asks for nothing old is greeted with the end of the log.
    let mut fresh = Socket::open(&bob.client, "/ws", Some(&bob.key)).await.unwrap();
    let last = fresh.next().await.unwrap()["cursor"].as_i64().unwrap();
    let mut socket = bob.socket(&format!("?after={}", heard.last().copied().unwrap_or(0))).await;
    while heard.last() != Some(&last) {
        heard.push(socket.next().await.unwrap()["cursor"].as_i64().unwrap());
    }
    assert_eq!(heard, (1..=last).collect::<Vec<_>>());
    assert!(last > answered as i64 && answered > 20, "{answered} answered, {last} told");
}

/// Somebody who does not read is cut off, told where to resume if it still listens, and can resume.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_is_closed_and_can_resume(#[values(Db::Sqlite)] db: Db) {
    const EVENTS: i64 = 20_000;
    let hub = Harness::start(db).await;
    let bob = hub.agent("Bob").await;
    let id = bob.id.parse().unwrap();
    // More than the kernel keeps for a connection on both ends together.
    let fill = move |tx: &mut tandem_store::Tx<'_>, _: &tandem_core::Now| {
        let data = json!({ "type": "task.updated", "padding": "x".repeat(1_000) }).to_string();
        for _ in 0..EVENTS {
            let kind = EventKind::TaskUpdated;
            append(
                tx,
                &id,
                &[NewEvent {
                    kind,
                    task: None,
                    message: None,
                    from: None,
                    data: data.clone(),
                    at: Timestamp(0),
                }],
            )?;
        }
        Ok(())
    };
    hub.hub.db.write(fill).await.unwrap();
    let mut slow = bob.socket("?after=0").await;
    let mut quick = bob.socket(&format!("?after={}", EVENTS - 10)).await;
    for _ in 0..10 {
        quick.next().await.unwrap();
    }
    // The slow one says nothing and reads nothing; the hub gives up on it.
    eventually(async || {
        let log = String::from_utf8(hub.admin("GET", "/metrics").await.bytes.to_vec()).unwrap();
        log.contains("tandem_slow_readers_total 1").then_some(())
    })
    .await;
    let (mut last, end) = (
        0,
        loop {
            match slow.next().await {
                Ok(_) => {}
                Err(end) => break end,
            }
        },
    );
    assert!(end.0 == 1013 && end.1.starts_with("too slow; reconnect with ?after="), "{end:?}");
    let resume_at: Value = end.1.rsplit('=').next().unwrap().parse().unwrap();
    let mut again = bob.socket(&format!("?after={resume_at}")).await;
    while last != EVENTS {
        last = again.next().await.unwrap()["cursor"].as_i64().unwrap();
    }
}

/// A cursor of another epoch means nothing: reading starts at the acknowledged one, and the first frame says so.
#[rstest]
#[tokio::test]
async fn a_cursor_belongs_to_the_epoch_of_its_log(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    hub.fill(&ada, &bob, 4, None).await;
    let page = bob.get("/events").await.ok(200);
    let epoch = page["epoch"].as_str().unwrap().to_owned();
    assert!(!epoch.is_empty());
    let acknowledged = bob.post("/events/ack", json!({ "cursor": 2 })).await.ok(200);
    let updates = bob.get("/updates").await.ok(200);
    let updates_acknowledged = bob.post("/updates/ack", json!({ "cursor": 1 })).await.ok(200);
    for answer in [acknowledged, updates, updates_acknowledged] {
        assert_eq!(answer["epoch"], epoch.as_str(), "{answer}");
    }
    let first =
        async |query: String| bob.get(&format!("/events?{query}")).await.ok(200)["events"][0]["id"].clone();
    assert_eq!(first(format!("after=4&epoch={epoch}")).await, 5);
    assert_eq!(first("after=4".to_owned()).await, 5);
    assert_eq!(first("after=4&epoch=other".to_owned()).await, 3);

    let hello = async |query: &str| {
        let mut socket = Socket::open(&bob.client, &format!("/ws?{query}"), Some(&bob.key)).await.unwrap();
        (socket.next().await.unwrap(), socket.next().await.unwrap())
    };
    let greeting =
        |cursor: i64| json!({ "type": "connected", "agentId": bob.id, "cursor": cursor, "epoch": epoch });
    let (same, event) = hello(&format!("after=4&epoch={epoch}")).await;
    assert_eq!((same, &event["cursor"]), (greeting(4), &json!(5)));
    let written: tandem_core::Timestamp = serde_json::from_value(event["createdAt"].clone()).unwrap();
    let logged = bob.events().await.pop().unwrap();
    assert_eq!(logged["createdAt"], json!(written));
    let (reset, event) = hello("after=4&epoch=other").await;
    let mut expected = greeting(2);
    expected["reset"] = json!(true);
    assert_eq!((reset, &event["cursor"]), (expected, &json!(3)));
}

/// A browser connects to the same address again, whatever it was told in between. What it got last says where it is.
#[rstest]
#[tokio::test]
async fn a_stream_with_an_old_epoch_replays_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    hub.fill(&ada, &bob, 4, None).await;
    bob.post("/events/ack", json!({ "cursor": 2 })).await.ok(200);
    let epoch = hub.hub.epoch.clone();
    let open = async |query: &str, last: Option<&str>| {
        let path = format!("/events/stream?{query}");
        let header = last.map(|id| ("last-event-id", id));
        Lines::open(&bob, &path, header.as_slice()).await
    };
    let cursor_and_reset = |(_, hello): &(String, Value)| (hello["cursor"].clone(), hello["reset"].clone());
    let begins =
        async |query: &str, last: Option<&str>| cursor_and_reset(&open(query, last).await.frame().await);

    let mut stream = open("after=4&epoch=old", None).await;
    let hello = stream.frame().await;
    assert_eq!((cursor_and_reset(&hello), hello.0), ((json!(2), json!(true)), format!("2:{epoch}")));
    let mut last = String::new();
    for cursor in 3..=5 {
        let (id, event) = stream.frame().await;
        assert_eq!((&event["cursor"], &id), (&json!(cursor), &format!("{cursor}:{epoch}")));
        last = id;
    }
    for _ in 0..2 {
        let mut again = open("after=4&epoch=old", Some(&last)).await;
        let reset = json!(null);
        assert_eq!(cursor_and_reset(&again.frame().await), (json!(last[..1].parse::<i64>().unwrap()), reset));
        ada.task(&bob).await;
        last = again.frame().await.0;
    }
    assert_eq!(last, format!("7:{epoch}"));

    // A number of another epoch means nothing, whether it says so itself or the address does.
    let (reset, kept) = ((json!(2), json!(true)), |cursor: i64| (json!(cursor), Value::Null));
    assert_eq!(begins("after=4&epoch=old", Some("4")).await, reset);
    assert_eq!(begins(&format!("after=4&epoch={epoch}"), Some("4:old")).await, reset);
    assert_eq!(begins("", Some("4:old")).await, reset);
    assert_eq!(begins(&format!("after=1&epoch={epoch}"), Some("4")).await, kept(4));
    assert_eq!(begins("after=1", Some(&format!("4:{epoch}"))).await, kept(4));
    // An ordinary stream has plain numbers.
    assert_eq!(open(&format!("after=4&epoch={epoch}"), None).await.frame().await.0, "4");
}

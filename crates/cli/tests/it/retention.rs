//! What is kept, for how long, and what `tandem gc` removes at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use rstest::rstest;
use serde_json::json;
use tandem_app::{Error, housekeeping};
use tandem_core::Timestamp;
use tandem_core::webhooks::State;
use tandem_store::webhooks::{self, Delivery};
use tandem_store::{Options, Store};

use crate::backup::{database, tandem};
use crate::harness::{Agent, Db, Harness, Place, eventually};

const DAY_MS: i64 = 86_400_000;

async fn numbers(agent: &Agent) -> Vec<i64> {
    agent.events().await.iter().map(|event| event["id"].as_i64().unwrap()).collect()
}

#[rstest]
#[tokio::test]
async fn only_old_and_acknowledged_events_go(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Arc::new(Place::new(db));
    let mut config = place.config();
    config.event_retention_days = 30;
    let clock = Arc::new(AtomicI64::new(1_800_000_000_000));
    let start = || Harness::start_at(Arc::clone(&place), config.clone(), Arc::clone(&clock));
    let hub = start().await;
    let (ada, mut bob) = hub.pair().await;
    let mut eve = hub.agent("Eve").await;
    let mut zoe = hub.agent("Zoe").await;
    for agent in [&eve, &zoe] {
        ada.pair_with(agent).await;
    }
    for _ in 0..4 {
        for agent in [&bob, &eve, &zoe] {
            ada.task(agent).await;
        }
    }
    hub.advance_ms(20 * DAY_MS);
    for agent in [&bob, &eve, &zoe] {
        ada.task(agent).await;
    }
    let all = numbers(&bob).await;
    // Bob has acknowledged all but one old event; Eve everything, but her updates only in part; Zoe nothing.
    let (old, new) = (all[all.len() - 2], all[all.len() - 1]);
    bob.post("/events/ack", json!({ "cursor": old - 1 })).await.ok(200);
    eve.post("/events/ack", json!({ "cursor": new })).await.ok(200);
    eve.post("/updates/ack", json!({ "cursor": 2 })).await.ok(200);
    drop(hub);
    clock.fetch_add(11 * DAY_MS, Ordering::SeqCst);
    let hub = start().await;
    for agent in [&mut bob, &mut eve, &mut zoe] {
        agent.client = hub.client.clone();
    }
    eventually(async || (numbers(&bob).await == [old, new]).then_some(())).await;
    eventually(async || (numbers(&eve).await == all[2..]).then_some(())).await;
    assert_eq!(numbers(&zoe).await, all, "what nobody acknowledged stays");
    // Once all is acknowledged, only the young one stays; numbers go on.
    for agent in [&bob, &zoe] {
        agent.post("/events/ack", json!({ "cursor": new })).await.ok(200);
    }
    drop(hub);
    let hub = start().await;
    for agent in [&mut bob, &mut eve, &mut zoe] {
        agent.client = hub.client.clone();
    }
    eventually(async || (numbers(&zoe).await == [new]).then_some(())).await;
    eventually(async || (numbers(&bob).await == [new]).then_some(())).await;
    let ada = Agent { client: hub.client.clone(), ..ada };
    ada.task(&bob).await;
    assert_eq!(numbers(&bob).await, [new, new + 1]);
}

pub fn delivery(number: i64, state: State, at: i64) -> Delivery {
    Delivery {
        id: format!("dlv_{number:04}").parse().unwrap(),
        agent: "agent_x".parse().unwrap(),
        event_seq: None,
        event_type: "ping".into(),
        url: "http://x".into(),
        body: "{}".into(),
        state,
        attempts: 1,
        next_at: None,
        answered_at: None,
        answer_status: None,
        answer: None,
        error: None,
        took_ms: None,
        created_at: Timestamp(at),
        replays: 0,
        task: None,
    }
}

#[rstest]
#[tokio::test]
async fn only_old_deliveries_that_are_over_go(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let database = database(&place);
    let store = tokio::task::spawn_blocking(move || Store::open(&database, &Options::default(), 0).unwrap());
    let store = store.await.unwrap();
    // Two passes full of old ones, of which every hundredth still waits; then young ones.
    let state = |number: i64| match number % 100 {
        0 => State::Pending,
        1 => State::Failed,
        _ => State::Delivered,
    };
    let fill = store.write(move |tx| {
        for number in 0..1_200 {
            let at = if number < 1_100 { number } else { 10_000 };
            webhooks::insert(tx, &delivery(number, state(number), at))?;
        }
        Ok::<_, Error>(())
    });
    fill.await.unwrap();
    let (mut removed, mut after) = (0, Some(String::new()));
    while let Some(from) = after {
        let pass = store.write(move |tx| housekeeping::trim_deliveries(tx, &from, Timestamp(5_000)));
        let pass = pass.await.unwrap();
        assert!(pass.removed <= 500);
        removed += pass.removed;
        after = pass.next;
    }
    let left = store.read(|tx| Ok::<_, Error>(webhooks::list(tx, &"agent_x".parse().unwrap(), None, 2_000)?));
    let (left, _) = left.await.unwrap();
    assert_eq!((removed, left.len()), (1_100 - 11, 100 + 11));
    assert!(left.iter().all(|delivery| delivery.created_at.0 == 10_000 || delivery.state == State::Pending));
    tokio::task::spawn_blocking(move || drop(store)).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn gc_removes_what_belongs_to_nobody(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Arc::new(Place::new(db));
    // Long ago, so that by the machine's clock everything has run out.
    let clock = Arc::new(AtomicI64::new(1_500_000_000_000));
    let hub = Harness::start_at(Arc::clone(&place), place.config(), Arc::clone(&clock)).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let body = json!({ "filename": "a.txt", "mimeType": "text/plain", "base64Content": "aGVsbG8=" });
    let file = ada.post(&format!("/tasks/{task}/files/json"), body).await.ok(201);
    ada.post_empty("/pair/generate").await.text("code");
    let folder = place.folder.join("files").join("zz");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, age_s) in [("file_oldzz", 7_200), ("file_newzz", 60)] {
        std::fs::write(folder.join(name), "nobody's").unwrap();
        let file = std::fs::File::options().write(true).open(folder.join(name)).unwrap();
        #[expect(clippy::disallowed_methods, reason = "the times of files are the machine's")]
        file.set_modified(SystemTime::now() - Duration::from_secs(age_s)).unwrap();
    }
    // The real file is as old; what keeps it is its row.
    let id = file["id"].as_str().unwrap();
    let kept = place.folder.join("files").join(&id[id.len() - 2..]).join(id);
    let handle = std::fs::File::options().write(true).open(&kept).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the times of files are the machine's")]
    handle.set_modified(SystemTime::now() - Duration::from_secs(9_000)).unwrap();
    let said = |output: &std::process::Output| String::from_utf8(output.stdout.clone()).unwrap();
    let output = tandem(&place, &["gc"]).await;
    assert!(output.status.success(), "{output:?}");
    let text = said(&output);
    assert!(text.contains("removed 1 orphaned files"), "{text}");
    assert!(text.contains("removed 1 expired pairing codes"), "{text}");
    assert!(text.contains(if db == Db::Sqlite { "a hub is running" } else { "PostgreSQL" }), "{text}");
    assert!(!folder.join("file_oldzz").exists() && folder.join("file_newzz").exists() && kept.exists());
    assert_eq!(&bob.get(file["url"].as_str().unwrap()).await.bytes[..], b"hello");
    drop(hub);
    let output = tandem(&place, &["gc"]).await;
    assert!(output.status.success(), "{output:?}");
    if db == Db::Sqlite {
        assert!(said(&output).contains("compacted the database"), "{output:?}");
        let wal = place.folder.join("tandem.db-wal");
        assert!(wal.metadata().map_or(0, |metadata| metadata.len()) == 0);
    }
    // Files are never compared with another hub's database.
    let other = Place::new(Db::Sqlite);
    std::fs::write(other.folder.join("tandem.db"), "").unwrap();
    let foreign = Place::new(db);
    let mut arguments = vec!["gc"];
    let named = format!("database=sqlite:{}", foreign.folder.join("x.db").display());
    arguments.extend(["--set", &named]);
    let output = tandem(&other, &arguments).await;
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("another hub"), "{output:?}");
}

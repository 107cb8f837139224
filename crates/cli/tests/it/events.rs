//! Each agent's own log.

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Db, Harness};

#[rstest]
#[tokio::test]
async fn the_log_is_read_by_cursor_and_acknowledged(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    assert_eq!(
        ada.get("/events?after=1").await.ok(200),
        json!({ "events": [], "cursor": 1, "hasMore": false, "epoch": hub.hub.epoch })
    );
    for _ in 0..120 {
        ada.task(&bob).await;
    }
    let first = bob.get("/events").await.ok(200);
    assert_eq!(first["events"].as_array().unwrap().len(), 100);
    assert_eq!((&first["cursor"], &first["hasMore"]), (&json!(100), &json!(true)));
    let second = bob.get("/events?after=100").await.ok(200);
    assert_eq!((&second["cursor"], &second["hasMore"]), (&json!(121), &json!(false)));
    let ids: Vec<i64> = bob.events().await.iter().map(|event| event["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, (1..=121).collect::<Vec<i64>>());

    bob.post("/events/ack", json!({ "cursor": 121 })).await.ok(200);
    let rest = bob.get("/events").await.ok(200);
    assert_eq!(rest, json!({ "events": [], "cursor": 121, "hasMore": false, "epoch": hub.hub.epoch }));
    // Reading from an earlier place still works.
    assert_eq!(bob.get("/events?after=120").await.ok(200)["events"][0]["id"], 121);
    for bad in ["after=-1", "after=x"] {
        bob.get(&format!("/events?{bad}")).await.refused(400, "validation");
    }
}

#[rstest]
#[tokio::test]
async fn concurrent_senders_leave_no_gap_and_no_double(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let bob = hub.agent("Bob").await;
    let mut senders = Vec::new();
    for number in 0..8 {
        let sender = hub.agent(&format!("Sender {number}")).await;
        sender.pair_with(&bob).await;
        senders.push(sender);
    }
    let work = senders.iter().map(|sender| async {
        for _ in 0..15 {
            sender.task(&bob).await;
        }
    });
    futures_util::future::join_all(work).await;
    let events = bob.events().await;
    let ids: Vec<i64> = events.iter().map(|event| event["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, (1..=128).collect::<Vec<i64>>());
    let mut tasks: Vec<&Value> =
        events.iter().map(|event| &event["taskId"]).filter(|id| id.is_string()).collect();
    tasks.sort_by_key(|id| id.to_string());
    tasks.dedup();
    assert_eq!(tasks.len(), 120);
}

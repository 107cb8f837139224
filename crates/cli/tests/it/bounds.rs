//! Work that must not grow or hide anything when there is much of something.

use rstest::rstest;
use serde_json::json;
use tandem_app::deadlines;
use tandem_core::deadlines::{Deadline, Due};
use tandem_core::{AgentId, Timestamp};

use crate::harness::{Agent, Db, Harness, eventually};

async fn network_of(owner: &Agent, member: &Agent) -> String {
    let network = owner.post("/networks", json!({ "name": "Guild" })).await.text("id");
    let code = owner.post_empty(&format!("/networks/{network}/invites")).await.text("code");
    member.post("/networks/join", json!({ "code": code })).await.ok(201);
    network
}

/// Broadcasts in bulk, some of them at the same moment.
async fn broadcast(hub: &Harness, from: &Agent, network: &str, count: usize) {
    let (by, network): (AgentId, tandem_core::NetworkId) =
        (from.id.parse().unwrap(), network.parse().unwrap());
    hub.hub
        .db
        .write(move |tx, now| {
            let new = tandem_app::networks::NewBroadcast {
                content: "news".to_owned().try_into().unwrap(),
                capability: None,
                only: None,
            };
            for _ in 0..count {
                tandem_app::networks::broadcast(tx, &by, &network, &new, now)?;
            }
            Ok(())
        })
        .await
        .unwrap();
}

#[rstest]
#[tokio::test]
async fn the_inbox_pages_through_all_broadcasts(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let network = network_of(&ada, &bob).await;
    for _ in 0..12 {
        broadcast(&hub, &ada, &network, 100).await;
        hub.advance_ms(1);
    }
    hub.advance_ms(1_000);
    let last = ada.post(&format!("/networks/{network}/broadcast"), json!({ "content": "last" })).await;
    let last = last.text("messageId");
    let pages = async |limit: usize| {
        let (mut found, mut path) = (Vec::new(), format!("/inbox?limit={limit}"));
        loop {
            let page = bob.get(&path).await.ok(200);
            let items = page["items"].as_array().unwrap().iter();
            found.extend(items.map(|item| item["messageId"].as_str().unwrap().to_owned()));
            match page["nextCursor"].as_str() {
                Some(cursor) => path = format!("/inbox?limit={limit}&cursor={cursor}"),
                None => return found,
            }
        }
    };
    let found = pages(130).await;
    assert_eq!(found.len(), 1_201);
    assert_eq!(found.last(), Some(&last), "the newest is there");
    let mut unique = found.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), found.len());
    assert!(found.is_sorted(), "oldest first");

    // What was acknowledged leaves it.
    let end = bob.get("/events?after=1000000").await.ok(200)["cursor"].as_i64().unwrap();
    bob.post("/events/ack", json!({ "cursor": end - 3 })).await.ok(200);
    assert_eq!(pages(2).await, found[found.len() - 3..]);
}

#[rstest]
#[tokio::test]
async fn a_cursor_beyond_the_end_means_the_end(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let end = bob.get("/events?after=0").await.ok(200)["cursor"].as_i64().unwrap();
    let page = bob.get(&format!("/events?after={}", end + 50)).await.ok(200);
    assert_eq!((&page["events"], &page["cursor"]), (&json!([]), &json!(end)));
    // A long poll with such a cursor gets the next event.
    let path = format!("/events?after={}&wait=20", end + 50);
    let waiting = async { bob.get(&path).await.ok(200) };
    let act = async {
        eventually(async || hub.hub.liveness.bus.reach(&bob.id.parse().unwrap())).await;
        ada.task(&bob).await
    };
    let (page, task) = tokio::join!(waiting, act);
    assert_eq!(page["events"][0]["taskId"], task, "{page}");
    assert_eq!(page["cursor"], end + 1);
}

#[rstest]
#[tokio::test]
async fn many_deadlines_of_one_kind_do_not_delay_another(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "ttlSeconds": 60 })).await;
    let leased = ada.task_with(&bob, json!({ "leaseSeconds": 10 })).await;
    bob.set(&leased, "working").await.ok(200);
    let created_at = hub.hub.time();
    let now = tandem_core::Now::new(
        created_at.plus_seconds(60),
        std::sync::Arc::new(tandem_core::IdSource::new(|_| {})),
    );
    let id = leased.parse().unwrap();
    // The claim is taken back, so that the hub's own timer has no part in this.
    let claimed = hub.hub.db.store().write(move |tx| {
        for number in 1..=1_000 {
            let due_at = Timestamp(created_at.0 + number);
            let check_in = Deadline {
                due_at,
                task: tandem_core::TaskId::clone(&id),
                due: Due::CheckIn,
                number,
                attempt: 1,
                task_made_at: None,
            };
            tandem_store::deadlines::insert(tx, &check_in)?;
        }
        let claimed = deadlines::claim(tx, &now)?;
        let kinds: Vec<Due> = claimed.deadlines.iter().map(|deadline| deadline.due).collect();
        // An error takes everything back.
        Err::<(), _>(tandem_app::Error::UnknownCode(if kinds == [Due::Expiry, Due::Lease] && claimed.more {
            "as wanted"
        } else {
            "not as wanted"
        }))
    });
    assert!(matches!(claimed.await, Err(tandem_app::Error::UnknownCode("as wanted"))), "{task}");
}

#[rstest]
#[tokio::test]
async fn a_stalled_task_does_not_count_against_itself(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let terms = json!({ "leaseSeconds": 10, "onStall": "retry", "maxAttempts": 2 });
    let task = ada.task_with(&bob, terms).await;
    bob.set(&task, "working").await.ok(200);
    hub.place.execute("update pairs set live_tasks = 10000");
    let more = ada.post("/tasks", json!({ "targetAgentId": bob.id, "title": "More" })).await;
    more.refused(429, "too_many_open_tasks");
    hub.advance_ms(10_000);
    let ended =
        eventually(async || Some(ada.view(&task).await).filter(|task| task["status"] != "working")).await;
    assert_eq!((&ended["status"], &ended["attempt"]), (&json!("submitted"), &json!(2)), "{ended}");
}

#[rstest]
#[tokio::test]
async fn receipts_for_a_former_targets_messages_go_to_nobody(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let cleo = hub.agent("Cleo").await;
    ada.pair_with(&cleo).await;
    for act in ["read", "ack"] {
        let task = ada.task(&bob).await;
        let say = async |from: &Agent, text: &str| {
            from.post(&format!("/tasks/{task}/messages"), json!({ "content": text })).await.text("id")
        };
        say(&bob, "from Bob").await;
        ada.post(&format!("/tasks/{task}/reassign"), json!({ "targetAgentId": cleo.id })).await.ok(200);
        let (before, bobs) = (cleo.events().await.len(), bob.events().await.len());
        ada.post_empty(&format!("/tasks/{task}/{act}")).await.ok(200);
        assert_eq!(cleo.events().await.len(), before, "{act}: not Cleo's message");
        assert_eq!(bob.events().await.len(), bobs, "{act}: Bob has no part in it any more");

        let task = ada.task(&bob).await;
        let path = format!("/tasks/{task}");
        bob.post(&format!("{path}/messages"), json!({ "content": "from Bob" })).await.ok(201);
        ada.post(&format!("{path}/reassign"), json!({ "targetAgentId": cleo.id })).await.ok(200);
        let own = cleo.post(&format!("{path}/messages"), json!({ "content": "from Cleo" })).await.text("id");
        ada.post_empty(&format!("{path}/{act}")).await.ok(200);
        assert_eq!(cleo.last_event().await["data"]["messageIds"], json!([own]), "{act}");
    }
}

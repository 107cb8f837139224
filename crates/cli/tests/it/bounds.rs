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
                limit: None,
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
        let (mut found, mut path) = (Vec::new(), Some(format!("/inbox?limit={limit}")));
        while let Some(next) = path {
            let page = bob.get(&next).await;
            let items = page.ok(200)["items"].as_array().unwrap().clone();
            found.extend(items.iter().map(|item| item["messageId"].as_str().unwrap().to_owned()));
            path = page.next_link();
        }
        found
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
        eventually(async || hub.reach(&bob.id.parse().unwrap())).await;
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
    // The hub's own timer has no part in this: its clock stands.
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
        Ok::<_, tandem_app::Error>((kinds, claimed.more))
    });
    assert_eq!(claimed.await.unwrap(), (vec![Due::Expiry, Due::Lease], true), "{task}");
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

/// Runs only the first transaction of a disconnect, as a hub does that is killed after it.
async fn disconnect_and_die(hub: &Harness, by: &Agent, connection: &str) -> i64 {
    let (by, id): (AgentId, tandem_core::ConnectionId) =
        (by.id.parse().unwrap(), connection.parse().unwrap());
    let disconnect = move |tx: &mut tandem_store::Tx<'_>, now: &tandem_core::Now| {
        tandem_app::connections::disconnect(tx, &by, &id, now)
    };
    hub.hub.db.write(disconnect).await.unwrap()
}

async fn count(agent: &Agent, status: &str) -> usize {
    let mut path = Some(format!("/tasks?status={status}"));
    let mut total = 0;
    while let Some(next) = path {
        let page = agent.get(&next).await;
        total += page.ok(200).as_array().unwrap().len();
        path = page.next_link();
    }
    total
}

#[rstest]
#[tokio::test]
async fn a_disconnect_cancels_many_tasks_in_batches(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let connection = ada.pair_with(&bob).await;
    hub.fill(&ada, &bob, 450, None).await;
    let before = bob.get("/events?after=100000").await.ok(200)["cursor"].as_i64().unwrap();
    let ended = ada.delete(&format!("/connections/{connection}")).await.ok(200);
    assert_eq!(ended["cancelledTasks"], 450);
    assert_eq!((count(&ada, "cancelled").await, count(&ada, "submitted").await), (450, 0));
    let events: Vec<_> =
        bob.events().await.into_iter().filter(|event| event["id"].as_i64().unwrap() > before).collect();
    assert_eq!(events.len(), 451);
    assert_eq!(events[0]["type"], "agent.disconnected");
    assert!(events[1..].iter().all(|event| event["data"]["status"] == "cancelled"));

    // A hub that is killed in between goes on after its start, and leaves newer tasks alone.
    let connection = ada.pair_with(&bob).await;
    hub.fill(&ada, &bob, 250, None).await;
    assert_eq!(disconnect_and_die(&hub, &ada, &connection).await, 250);
    assert_eq!(count(&ada, "submitted").await, 50);
    hub.advance_ms(1);
    ada.pair_with(&bob).await;
    let newer = ada.task(&bob).await;
    hub.hub.finish_batches().await.unwrap();
    assert_eq!((count(&ada, "cancelled").await, count(&ada, "submitted").await), (700, 1));
    ada.set(&newer, "cancelled").await.ok(200);
    hub.hub.finish_batches().await.unwrap();
}

#[rstest]
#[tokio::test]
async fn a_deleted_network_is_gone_at_once_and_its_messages_follow(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    for whole in [true, false] {
        let network = network_of(&ada, &bob).await;
        for _ in 0..11 {
            broadcast(&hub, &ada, &network, 100).await;
        }
        let inbox = bob.get("/inbox?limit=1").await.ok(200);
        let message: tandem_core::MessageId =
            inbox["items"][0]["messageId"].as_str().unwrap().parse().unwrap();
        if whole {
            ada.delete(&format!("/networks/{network}")).await.ok(200);
        } else {
            let (by, id): (AgentId, tandem_core::NetworkId) =
                (ada.id.parse().unwrap(), network.parse().unwrap());
            hub.hub.db.write(move |tx, _| tandem_app::networks::delete(tx, &by, &id)).await.unwrap();
        }
        bob.get(&format!("/networks/{network}")).await.refused(404, "not_found");
        assert_eq!(bob.get("/inbox").await.ok(200)["items"], json!([]));
        hub.hub.finish_batches().await.unwrap();
        let left = hub.hub.db.read(move |tx, _| Ok(tandem_store::networks::find_message(tx, &message)?));
        assert!(left.await.unwrap().is_none());
    }
}

#[rstest]
#[tokio::test]
async fn a_deleted_account_leaves_no_stored_answers(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let network = network_of(&ada, &bob).await;
    broadcast(&hub, &ada, &network, 3).await;
    let id: AgentId = ada.id.parse().unwrap();
    let by = id.clone();
    hub.hub
        .db
        .write(move |tx, now| {
            for number in 0..2_100 {
                let kept =
                    tandem_store::idempotency::Kept { request_hash: vec![1], status: 200, body: "{}".into() };
                tandem_store::idempotency::keep(tx, &by, &format!("key {number}"), &kept, now.at, now.at)?;
            }
            Ok(())
        })
        .await
        .unwrap();
    ada.delete("/agents/me").await.ok(200);
    let left = hub.hub.db.read(move |tx, _| {
        let mut left = 0;
        for number in 0..2_100 {
            let key = format!("key {number}");
            left += i64::from(tandem_store::idempotency::find(tx, &id, &key, Timestamp(0))?.is_some());
        }
        Ok(left)
    });
    assert_eq!(left.await.unwrap(), 0);
    bob.get(&format!("/networks/{network}")).await.refused(404, "not_found");
    assert_eq!(bob.get("/connections").await.ok(200), json!([]));
}

#[rstest]
#[tokio::test]
async fn the_directory_finds_by_parts_of_words_and_tags(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Übersetzer Bob").await);
    let shown = json!({ "discoverable": true, "description": "Translates 50% of letters", "capabilities": ["translate", "post"] });
    bob.patch("/agents/me", shown).await.ok(200);
    let found = async |query: &str| {
        let page = ada.get(&format!("/agents/discover?{query}")).await.ok(200);
        assert_eq!(page["total"], page["agents"].as_array().unwrap().len());
        page["total"].as_i64().unwrap()
    };
    let hits = [
        "",
        "q=bersetz",
        "q=%C3%BCBER",
        "q=bob",
        "q=o",
        "q=50%25",
        "q=r%20BO",
        "capability=post",
        "q=letters&capability=translate",
    ];
    for query in hits {
        assert_eq!(found(query).await, 1, "{query}");
    }
    for query in
        ["q=xyz", "q=bob%25", "q=5_%25", "capability=pos", "q=letters&capability=cook", "q=lettersbob"]
    {
        assert_eq!(found(query).await, 0, "{query}");
    }
    bob.patch("/agents/me", json!({ "name": "Robert", "capabilities": ["cook"] })).await.ok(200);
    assert_eq!((found("q=bob").await, found("q=robert").await, found("capability=post").await), (0, 1, 0));
    bob.patch("/agents/me", json!({ "discoverable": false })).await.ok(200);
    for query in ["", "q=rob", "capability=cook"] {
        assert_eq!(found(query).await, 0, "{query}");
    }
    // A fellow in a network is found without showing itself to strangers.
    network_of(&ada, &bob).await;
    for query in ["", "q=rob", "q=ro", "capability=cook"] {
        assert_eq!(found(query).await, 1, "{query}");
    }
}

#[rstest]
#[tokio::test]
async fn the_overview_counts_who_is_online(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let cleo = hub.agent("Cleo").await;
    cleo.get("/agents/me").await.ok(200);
    let online = async || hub.admin("GET", "/admin/overview").await.ok(200)["agentsOnline"].as_i64().unwrap();
    assert_eq!(online().await, 3);
    let _socket = ada.socket("").await;
    hub.advance_ms(61_000);
    assert_eq!(online().await, 1, "an open socket counts without requests");
    bob.get("/agents/me").await.ok(200);
    assert_eq!(online().await, 2);
    bob.delete("/agents/me").await.ok(200);
    assert_eq!(online().await, 1, "a deleted agent does not count");
}

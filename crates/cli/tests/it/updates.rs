//! What waits for an agent.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use rstest::rstest;
use serde_json::{Value, json};
use tandem_app::tasks::{self, Change, Expected};
use tandem_app::{Error, messages};
use tandem_core::{AgentId, Now, Status, TaskId};
use tandem_store::Tx;

use crate::harness::{Agent, Db, Harness, Place};

#[rstest]
#[tokio::test]
async fn updates_show_what_waits_and_what_is_new(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let nothing = bob.get("/updates").await.ok(200);
    assert_eq!(
        nothing,
        json!({
            "hasUpdates": false, "pendingTasks": [], "unreadMessages": [], "pendingApprovals": [], "cursor": 1,
            "epoch": hub.hub.epoch,
        })
    );
    let task = ada.task_with(&bob, json!({ "title": "First" })).await;
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "a" })).await.ok(201);
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "b" })).await.ok(201);
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let held = ada.task_with(&bob, json!({ "title": "Second" })).await;

    let updates = bob.get("/updates").await.ok(200);
    assert_eq!(updates["hasUpdates"], true);
    let created_at = &updates["pendingTasks"][0]["createdAt"];
    assert_eq!(
        updates["pendingTasks"],
        json!([{
            "id": task, "title": "First", "fromAgent": "Ada", "fromAgentId": ada.id, "status": "submitted",
            "createdAt": created_at,
        }])
    );
    assert_eq!(updates["unreadMessages"], json!([{ "taskId": task, "taskTitle": "First", "count": 2 }]));
    assert_eq!(updates["pendingApprovals"][0]["id"], held.as_str());
    assert_eq!(ada.get("/updates").await.ok(200)["hasUpdates"], false);

    let cursor = &updates["cursor"];
    let acked = bob.post("/updates/ack", json!({ "cursor": cursor })).await.ok(200);
    assert_eq!(&acked["cursor"], cursor);
    // The messages have been seen; the tasks wait until somebody takes them.
    let seen = bob.get("/updates").await.ok(200);
    assert_eq!((&seen["hasUpdates"], &seen["unreadMessages"]), (&json!(true), &json!([])));
    assert_eq!(seen["pendingTasks"], updates["pendingTasks"]);
    assert_eq!(seen["pendingApprovals"], updates["pendingApprovals"]);
    bob.post_empty(&format!("/tasks/{task}/ack")).await.ok(200);
    assert_eq!(bob.get("/updates").await.ok(200)["pendingTasks"], updates["pendingTasks"]);
    bob.post_empty(&format!("/approvals/{held}/approve")).await.ok(200);
    ada.post(&format!("/tasks/{held}/messages"), json!({ "content": "c" })).await.ok(201);
    let updates = bob.get("/updates").await.ok(200);
    let pending: Vec<&Value> = updates["pendingTasks"].as_array().unwrap().iter().map(|t| &t["id"]).collect();
    assert_eq!((pending.len(), &updates["pendingApprovals"]), (2, &json!([])));
    assert!(pending.contains(&&json!(task)) && pending.contains(&&json!(held)));
    assert_eq!(updates["unreadMessages"], json!([{ "taskId": held, "taskTitle": "Second", "count": 1 }]));
    for task in [&task, &held] {
        bob.set(task, "working").await.ok(200);
    }
    assert_eq!(
        bob.get("/updates").await.ok(200)["hasUpdates"],
        false,
        "taking them is an answer to all of it"
    );
}

#[rstest]
#[tokio::test]
async fn a_task_comes_with_its_whole_thread(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let cy = hub.agent("Cy").await;
    ada.pair_with(&cy).await;
    let task = ada.task(&bob).await;
    let say = async |text: &str| {
        ada.post(&format!("/tasks/{task}/messages"), json!({ "content": text })).await.ok(201);
    };
    say("to whoever has it").await;
    ada.post(&format!("/tasks/{task}/reassign"), json!({ "targetAgentId": cy.id })).await.ok(200);
    let unread = async || cy.get("/updates").await.ok(200)["unreadMessages"].clone();
    let counted = |count: i64| json!([{ "taskId": task, "taskTitle": "A task", "count": count }]);
    assert_eq!(unread().await[0]["count"], 1);
    say("and more").await;
    assert_eq!(unread().await, counted(2));
    let cursor = cy.get("/updates").await.ok(200)["cursor"].clone();
    cy.post("/updates/ack", json!({ "cursor": cursor })).await.ok(200);
    assert_eq!(unread().await, json!([]));
    say("and more").await;
    assert_eq!(unread().await, counted(1), "of what it has not seen");
}

/// Runs something many times in one transaction.
async fn many(hub: &Harness, act: impl Fn(&mut Tx<'_>, &Now) -> Result<(), Error> + Send + Sync + 'static) {
    hub.hub.db.write(act).await.unwrap();
}

fn send(tx: &mut Tx<'_>, by: &AgentId, task: &TaskId, times: usize, now: &Now) -> Result<(), Error> {
    let new = messages::NewMessage::plain("hi".to_owned().try_into().unwrap());
    for _ in 0..times {
        messages::send(tx, by, task, &new, now)?;
    }
    Ok(())
}

/// Neither the length of the log nor retries change what is shown; the log is not even read.
#[rstest]
#[tokio::test]
async fn updates_do_not_depend_on_the_length_of_the_log(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let long = ada.task_with(&bob, json!({ "title": "Long", "maxMessages": 100_000 })).await;
    let tried = ada.task_with(&bob, json!({ "title": "Tried" })).await;
    let (by, other): (AgentId, AgentId) = (ada.id.parse().unwrap(), bob.id.parse().unwrap());
    let (talk, again): (TaskId, TaskId) = (long.parse().unwrap(), tried.parse().unwrap());
    for _ in 0..12 {
        let (by, talk) = (by.clone(), talk.clone());
        many(&hub, move |tx, now| send(tx, &by, &talk, 400, now)).await;
    }
    // In small jobs: on a busy machine one with all of them would take longer than a job may.
    for _ in 0..20 {
        let (by, again) = (by.clone(), again.clone());
        many(&hub, move |tx, now| {
            let cancel = Change { status: Some(Status::Cancelled), ..Change::default() };
            for _ in 0..10 {
                send(tx, &by, &again, 1, now)?;
                tasks::change(tx, &by, &again, &cancel, now)?;
                tasks::retry(tx, &by, &again, &Expected::default(), now)?;
            }
            Ok(())
        })
        .await;
    }
    let late = ada.task_with(&bob, json!({ "title": "Late" })).await;
    ada.post(&format!("/tasks/{late}/messages"), json!({ "content": "x" })).await.ok(201);

    let seen_in = |updates: &Value| {
        let unread = updates["unreadMessages"].as_array().unwrap().clone();
        unread.iter().map(|t| (t["taskId"].as_str().unwrap().to_owned(), t["count"].clone())).collect()
    };
    let all: Vec<(String, Value)> =
        vec![(long.clone(), json!(4_800)), (tried.clone(), json!(200)), (late.clone(), json!(1))];
    let updates = bob.get("/updates").await.ok(200);
    assert_eq!(updates["pendingTasks"].as_array().unwrap().len(), 3);
    assert_eq!(seen_in(&updates), all);
    assert_eq!(updates["cursor"], bob.last_event().await["id"]);

    // A cursor in the middle of a thread leaves what came after it.
    let first_message = 4;
    bob.post("/updates/ack", json!({ "cursor": first_message + 799 })).await.ok(200);
    let left: Vec<(String, Value)> = vec![(long.clone(), json!(4_000)), all[1].clone(), all[2].clone()];
    assert_eq!(seen_in(&bob.get("/updates").await.ok(200)), left);

    many(&hub, move |tx, _| {
        while tandem_store::accounts::remove_events(tx, &other, 10_000)? {}
        Ok(())
    })
    .await;
    let updates = bob.get("/updates").await.ok(200);
    assert_eq!((updates["pendingTasks"].as_array().unwrap().len(), seen_in(&updates)), (3, left));
    bob.post("/updates/ack", json!({ "cursor": updates["cursor"] })).await.ok(200);
    assert_eq!(bob.get("/updates").await.ok(200)["unreadMessages"], json!([]));
    ada.post(&format!("/tasks/{long}/messages"), json!({ "content": "x" })).await.ok(201);
    assert_eq!(seen_in(&bob.get("/updates").await.ok(200)), [(long, json!(1))]);
}

/// Sends a message on every task of an agent.
pub async fn one_message_each(hub: &Harness, by: &Agent) {
    let by: AgentId = by.id.parse().unwrap();
    many(hub, move |tx, now| {
        let filter = tandem_store::tasks::Filter { limit: 1_000, ..Default::default() };
        for task in tasks::list(tx, &by, &filter, now)?.items {
            send(tx, &by, &task.id, 1, now)?;
        }
        Ok(())
    })
    .await;
}

#[rstest]
#[tokio::test]
async fn one_look_shows_so_many(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    hub.fill(&ada, &bob, 520, None).await;
    hub.advance_ms(1);
    let newest = ada.task_with(&bob, json!({ "priority": "low" })).await;
    one_message_each(&hub, &ada).await;
    let first = bob.get("/updates").await.ok(200);
    let pending = first["pendingTasks"].as_array().unwrap();
    assert_eq!((pending.len(), &pending[499]["id"]), (500, &json!(newest)), "the newest, and they come last");
    // Of the threads those that have waited longest; acknowledging does not cover the others.
    assert_eq!(first["unreadMessages"].as_array().unwrap().len(), 500);
    bob.post("/updates/ack", json!({ "cursor": first["cursor"] })).await.ok(200);
    let second = bob.get("/updates").await.ok(200);
    assert_eq!(second["unreadMessages"].as_array().unwrap().len(), 21);
    assert_eq!(second["cursor"], bob.last_event().await["id"]);
    bob.post("/updates/ack", json!({ "cursor": second["cursor"] })).await.ok(200);
    assert_eq!(bob.get("/updates").await.ok(200)["unreadMessages"], json!([]));
}

#[rstest]
#[tokio::test]
async fn a_look_is_answered_by_indexes(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let plans = hub.hub.db.read(|tx, _| Ok(tandem_store::updates::query_plans(tx)?)).await.unwrap();
    for index in ["tasks_of_target", "tasks_unseen_by_initiator", "tasks_unseen_by_target"] {
        assert!(plans.iter().any(|plan| plan.contains(index)), "{index} is not in {plans:?}");
    }
    let reads_all = |plan: &&String| plan.starts_with("SCAN tasks") || plan.contains("TEMP B-TREE");
    assert_eq!(plans.iter().find(reads_all), None, "{plans:?}");
}

#[rstest]
#[tokio::test]
async fn what_is_read_or_taken_back_is_no_longer_new(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "maxMessages": 2_000 })).await;
    let path = format!("/tasks/{task}/messages");
    let unread = async || bob.get("/updates").await.ok(200)["unreadMessages"][0]["count"].clone();
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(ada.post(&path, json!({ "content": "x" })).await.text("id"));
    }
    // One of those that are new, and one that has been seen already.
    ada.delete(&format!("{path}/{}", ids[3])).await.ok(200);
    assert_eq!(unread().await, 3);
    let cursor = bob.last_event().await["id"].as_i64().unwrap() - 3;
    bob.post("/updates/ack", json!({ "cursor": cursor })).await.ok(200);
    assert_eq!(unread().await, 1);
    ada.delete(&format!("{path}/{}", ids[0])).await.ok(200);
    assert_eq!(unread().await, 1);
    ada.delete(&format!("{path}/{}", ids[2])).await.ok(200);
    assert_eq!(unread().await, json!(null));
    // Reading goes by the thousand.
    let (by, id): (AgentId, TaskId) = (ada.id.parse().unwrap(), task.parse().unwrap());
    many(&hub, move |tx, now| send(tx, &by, &id, 1_500, now)).await;
    assert_eq!(unread().await, 1_500);
    bob.post_empty(&format!("/tasks/{task}/read")).await.ok(200);
    assert_eq!(unread().await, 501);
    bob.post_empty(&format!("/tasks/{task}/read")).await.ok(200);
    assert_eq!(unread().await, json!(null));
}

#[rstest]
#[tokio::test]
async fn acknowledging_goes_forward_and_to_the_end_at_most(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    ada.task(&bob).await;
    for path in ["/updates/ack", "/events/ack"] {
        assert_eq!(bob.post(path, json!({ "cursor": 1_000_000 })).await.ok(200)["cursor"], 2);
        assert_eq!(bob.post(path, json!({ "cursor": 1 })).await.ok(200)["cursor"], 2);
        assert_eq!(bob.post(path, json!({ "cursor": "2" })).await.ok(200)["cursor"], 2);
        for bad in [
            json!({}),
            json!({ "cursor": -1 }),
            json!({ "cursor": "x" }),
            json!({ "cursor": 1.5 }),
            json!({ "cursor": null }),
        ] {
            bob.post(path, bad).await.refused(400, "validation");
        }
    }
}

/// A database of the schema before this one has no counters of unseen messages; they are counted when it is upgraded.
#[rstest]
#[tokio::test]
async fn an_upgrade_counts_what_is_unseen(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Arc::new(Place::new(db));
    let clock = Arc::new(AtomicI64::new(1_800_000_000_000));
    let hub = Harness::start_at(Arc::clone(&place), place.config(), Arc::clone(&clock)).await;
    let (ada, mut bob) = hub.pair().await;
    let mut cy = hub.agent("Cy").await;
    ada.pair_with(&cy).await;
    let (seen, given) = (ada.task_with(&bob, json!({ "title": "Seen" })).await, ada.task(&bob).await);
    let say = async |by: &Agent, task: &str| {
        by.post(&format!("/tasks/{task}/messages"), json!({ "content": "x" })).await.ok(201);
    };
    say(&ada, &seen).await;
    say(&ada, &given).await;
    say(&ada, &given).await;
    ada.post(&format!("/tasks/{given}/reassign"), json!({ "targetAgentId": cy.id })).await.ok(200);
    let cursor = bob.get("/updates").await.ok(200)["cursor"].clone();
    bob.post("/updates/ack", json!({ "cursor": cursor })).await.ok(200);
    say(&ada, &seen).await;
    say(&bob, &seen).await;
    say(&ada, &seen).await;
    say(&ada, &seen).await;
    let of = async |agent: &Agent| agent.get("/updates").await.ok(200);
    let before = (of(&ada).await, of(&bob).await, of(&cy).await);
    assert_eq!(before.1["unreadMessages"], json!([{ "taskId": seen, "taskTitle": "Seen", "count": 2 }]));
    assert_eq!(before.2["unreadMessages"][0]["count"], 2);

    let network = ada.post("/networks", json!({ "name": "N" })).await.text("id");
    drop(hub);
    for side in ["initiator", "target"] {
        place.execute(&format!("drop index tasks_unseen_by_{side}"));
        for column in ["unseen", "unseen_first", "unseen_last"] {
            place.execute(&format!("alter table tasks drop column {side}_{column}"));
        }
    }
    place.execute("alter table messages drop column event_seq");
    place.execute("delete from schema_migrations where version = 8");
    // As it was left by an account that joined while it was removed.
    place.execute(&format!(
        "insert into network_members (network_id, agent_id, joined_at) values ('{network}', 'agent_gone', 1)"
    ));
    let hub = Harness::start_at(Arc::clone(&place), place.config(), clock).await;
    let mut ada = ada;
    for agent in [&mut ada, &mut bob, &mut cy] {
        agent.client = hub.client.clone();
    }
    assert_eq!((of(&ada).await, of(&bob).await, of(&cy).await), before);
    assert_eq!(ada.get("/networks").await.ok(200)[0]["memberCount"], 1);
}

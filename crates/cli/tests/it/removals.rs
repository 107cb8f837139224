//! Threads that are too long for one transaction: acknowledging and deleting them takes several short ones.

use rstest::rstest;
use serde_json::{Value, json};
use tandem_app::messages::{self, NewMessage};
use tandem_app::tasks::{self, ACKNOWLEDGED_MAX, ERASED_AT_ONCE, Expected};
use tandem_core::{AgentId, Now, TaskId};
use tandem_store::Tx;

use crate::files::upload;
use crate::harness::{Agent, Db, Harness};
use crate::writes::picture::Picture;

/// Sends so many messages.
async fn fill(hub: &Harness, from: &Agent, task: &str, count: i64) {
    let (by, id): (AgentId, TaskId) = (from.id.parse().unwrap(), task.parse().unwrap());
    // In small jobs: on a busy machine one with all of them would take longer than a job may.
    let mut left = count;
    while left > 0 {
        let (by, id, now_sent) = (by.clone(), id.clone(), left.min(200));
        let many = move |tx: &mut Tx<'_>, now: &Now| {
            let new = NewMessage::plain("hi".to_owned().try_into().unwrap());
            for _ in 0..now_sent {
                messages::send(tx, &by, &id, &new, now)?;
            }
            Ok(())
        };
        hub.hub.db.write(many).await.unwrap();
        left -= now_sent;
    }
}

async fn long_thread(hub: &Harness, from: &Agent, to: &Agent, count: i64) -> String {
    let task = from.task_with(to, json!({ "maxMessages": 100_000, "checkInSeconds": 0 })).await;
    fill(hub, from, &task, count).await;
    task
}

#[rstest]
#[tokio::test]
async fn a_long_thread_is_acknowledged_whole(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    const COUNT: i64 = 2 * ACKNOWLEDGED_MAX + 300;
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = long_thread(&hub, &ada, &bob, COUNT).await;
    let path = format!("/tasks/{task}");
    let all: Vec<Value> =
        messages_of(&ada, &task).await.into_iter().map(|message| message["id"].clone()).collect();
    // As a process that ends after the first step leaves it.
    let (by, id): (AgentId, TaskId) = (bob.id.parse().unwrap(), task.parse().unwrap());
    let step = hub.hub.db.write(move |tx, now| tasks::acknowledge(tx, &by, &id, now)).await.unwrap();
    assert!(step.more && step.messages.len() == ACKNOWLEDGED_MAX as usize);
    let left = COUNT - ACKNOWLEDGED_MAX;
    assert_eq!(bob.view(&task).await["unreadCount"], left);
    assert_eq!(bob.get("/updates").await.ok(200)["unreadMessages"][0]["count"], left);

    let ack = async || {
        let request = hyper::Request::post(format!("{path}/ack"))
            .header("authorization", format!("Bearer {}", bob.key))
            .header("idempotency-key", "k")
            .body(http_body_util::Full::default())
            .unwrap();
        bob.client.raw(request).await
    };
    let answer = ack().await.ok(200);
    assert_eq!(answer["messageIds"].as_array().unwrap()[..], all[ACKNOWLEDGED_MAX as usize..]);
    assert_eq!(answer["unreadCount"], 0);
    assert_eq!(ack().await.ok(200), answer);
    assert_eq!(bob.view(&task).await["unreadCount"], 0);
    assert_eq!(bob.get("/updates").await.ok(200)["unreadMessages"], json!([]));
    assert!(messages_of(&bob, &task).await.iter().all(|message| message["acknowledgedAt"].is_string()));
    let told: Vec<Value> = Picture::take(&hub)
        .await
        .texts("events", "data")
        .iter()
        .map(|data| serde_json::from_str::<Value>(data).unwrap_or_default()["messageIds"].clone())
        .filter_map(|ids| ids.as_array().cloned())
        .flatten()
        .collect();
    assert_eq!(told.len(), all.len(), "the author is told of each once");
    fill(&hub, &ada, &task, 1).await;
    assert_eq!(bob.view(&task).await["unreadCount"], 1);
    assert_eq!(
        bob.post_empty(&format!("{path}/ack")).await.ok(200)["messageIds"].as_array().unwrap().len(),
        1
    );
}

/// All messages of a task, oldest first.
async fn messages_of(agent: &Agent, task: &str) -> Vec<Value> {
    let (mut all, mut next) = (Vec::new(), Some(format!("/tasks/{task}/messages?limit=500")));
    while let Some(page) = next {
        let page = agent.get(&page).await;
        all.splice(0..0, page.ok(200).as_array().unwrap().clone());
        next = page.next_link();
    }
    all
}

#[rstest]
#[tokio::test]
async fn an_act_acknowledges_a_long_thread_at_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    const COUNT: i64 = 2 * ACKNOWLEDGED_MAX + 300;
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let cleo = hub.agent("Cleo").await;
    ada.pair_with(&cleo).await;
    let task = long_thread(&hub, &ada, &bob, COUNT).await;
    bob.set(&task, "working").await.ok(200);
    assert_eq!(bob.view(&task).await["unreadCount"], 0);
    let is_marked = |message: &Value| message["readAt"].is_string() && message["acknowledgedAt"].is_string();
    let shown = messages_of(&ada, &task).await;
    assert!(shown.len() as i64 == COUNT && shown.iter().all(is_marked));
    assert_eq!(Picture::take(&hub).await.texts("deferred_marks", "task_id"), [task.as_str()]);
    // What is not marked yet is no unread message when it is taken back, and no second act needs it.
    ada.delete(&format!("/tasks/{task}/messages/{}", shown[1500]["id"].as_str().unwrap())).await.ok(200);
    assert_eq!(bob.view(&task).await["unreadCount"], 0);
    assert_eq!(bob.post_empty(&format!("/tasks/{task}/ack")).await.ok(200)["messageIds"], json!([]));
    fill(&hub, &ada, &task, 2).await;
    assert_eq!(bob.view(&task).await["unreadCount"], 2);
    assert_eq!(
        bob.post_empty(&format!("/tasks/{task}/read")).await.ok(200)["messages"].as_array().unwrap().len(),
        2
    );

    hub.hub.finish_batches().await.unwrap();
    assert_eq!(Picture::take(&hub).await.texts("deferred_marks", "task_id"), [""; 0]);
    let marked = messages_of(&ada, &task).await;
    assert!(marked[..COUNT as usize].iter().all(is_marked));
    assert_eq!(marked[10]["acknowledgedAt"], shown[10]["acknowledgedAt"]);

    // Another target has acknowledged nothing, whatever was still to be marked for the one before.
    fill(&hub, &ada, &task, ACKNOWLEDGED_MAX + 10).await;
    bob.post(&format!("/tasks/{task}/messages"), json!({ "content": "hm" })).await.ok(201);
    ada.post(&format!("/tasks/{task}/reassign"), json!({ "targetAgentId": cleo.id })).await.ok(200);
    hub.hub.finish_batches().await.unwrap();
    let left = COUNT + 2 + ACKNOWLEDGED_MAX + 10 - 1;
    assert_eq!(cleo.view(&task).await["unreadCount"], left);
    let open = messages_of(&cleo, &task).await;
    let by_ada = open.iter().filter(|message| message["senderAgentId"] == ada.id.as_str());
    let mut kept = by_ada.filter(|message| message["content"] != "[deleted]");
    assert!(kept.all(|message| message["readAt"].is_null() && message["acknowledgedAt"].is_null()));
}

#[rstest]
#[tokio::test]
async fn a_long_thread_is_gone_at_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let events = bob.events().await.len();
    let task = "the-long-one";
    ada.task_with(&bob, json!({ "id": task, "maxMessages": 100_000, "checkInSeconds": 0 })).await;
    let path = format!("/tasks/{task}");
    let file = ada.post(&format!("{path}/files/json"), upload("a.txt", "text/plain", b"a")).await.text("url");
    fill(&hub, &ada, task, 2 * ERASED_AT_ONCE).await;
    let part = ada.task_with(&bob, json!({ "parentTaskId": task })).await;
    ada.set(task, "cancelled").await.ok(200);
    // As a process that ends after the first step leaves it.
    let (by, id): (AgentId, TaskId) = (ada.id.parse().unwrap(), task.parse().unwrap());
    let delete = move |tx: &mut Tx<'_>, now: &Now| tasks::delete(tx, &by, &id, &Expected::default(), now);
    let deleted = hub.hub.db.write(delete).await.unwrap();
    assert!(deleted.in_parts);
    assert_eq!((deleted.messages, deleted.files), (2 * ERASED_AT_ONCE as u64 + 1, 1));
    for agent in [&ada, &bob] {
        agent.get(&path).await.refused(404, "not_found");
        agent.get(&file).await.refused(404, "not_found");
        agent.get(&format!("{path}/messages")).await.refused(404, "not_found");
    }
    let left: Vec<Value> = bob.events().await.split_off(events);
    assert_eq!(left.iter().map(|event| &event["taskId"]).collect::<Vec<_>>(), [part.as_str()]);
    let again = json!({ "targetAgentId": bob.id, "title": "T", "id": task });
    ada.post("/tasks", again.clone()).await.refused(409, "id_taken");
    assert!(Picture::take(&hub).await.texts("messages", "task_id").len() > 1_000);

    hub.hub.finish_batches().await.unwrap();
    let picture = Picture::take(&hub).await;
    for table in ["messages", "events", "task_log", "files", "signatures", "former_targets"] {
        assert!(!picture.texts(table, "task_id").iter().any(|id| id == task), "{table}");
    }
    assert_eq!(picture.texts("removed_tasks", "id").len(), 0);
    assert_eq!(ada.view(&part).await["parentTaskId"], Value::Null);
    ada.post("/tasks", again).await.refused(409, "id_taken");
}

#[rstest]
#[tokio::test]
async fn deleting_a_long_thread_leaves_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let first = long_thread(&hub, &ada, &bob, ERASED_AT_ONCE + 1).await;
    ada.set(&first, "cancelled").await.ok(200);
    let deleted = bob.delete(&format!("/tasks/{first}")).await.ok(200);
    assert_eq!(deleted["deletedMessages"], ERASED_AT_ONCE + 1);
    assert_eq!(Picture::take(&hub).await.texts("messages", "id").len(), 0);
    // The same for a thread of an account that goes.
    let second = long_thread(&hub, &ada, &bob, ERASED_AT_ONCE + 1).await;
    let gone = ada.delete("/agents/me").await.ok(200);
    assert_eq!((&gone["tasks"], &gone["messages"]), (&json!(1), &json!(ERASED_AT_ONCE + 1)));
    bob.get(&format!("/tasks/{second}")).await.refused(404, "not_found");
    assert_eq!(Picture::take(&hub).await.texts("messages", "id").len(), 0);
}

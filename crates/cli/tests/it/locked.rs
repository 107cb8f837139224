//! A row that stays locked, as by a node that hangs in mid-transaction, holds up only those who need it. And nobody holds
//! the rows that many want while it waits for another one.

use futures_util::future::{join, join_all};
use rstest::rstest;
use serde_json::json;
use tokio_postgres::{Client, NoTls};

use crate::harness::{Agent, Db, Harness, Held, eventually};

/// Tasks that others send meanwhile.
const TASKS: usize = 5;
/// Requests that wait for a locked row: more than can be tried again before their time is over.
const STUCK: usize = 60;

async fn try_task(from: &Agent, to: &Agent) -> u16 {
    from.post("/tasks", json!({ "targetAgentId": to.id, "title": "Work" })).await.status
}

/// Somebody at the database's own prompt.
struct Holder(Client);

impl Holder {
    async fn of(hub: &Harness) -> Self {
        let url = hub.place.database.as_deref().unwrap();
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        tokio::spawn(connection);
        Self(client)
    }

    async fn run(&self, sql: &str) {
        self.0.batch_execute(sql).await.unwrap();
    }

    /// Waits until somebody waits for a row.
    async fn is_waited_for(&self) {
        let sql = "select 1 from pg_catalog.pg_locks where not granted limit 1";
        eventually(async || self.0.query_opt(sql, &[]).await.unwrap().map(drop)).await;
    }

    /// Whether nobody has locked a row.
    async fn is_free(&self, rows: &str) -> bool {
        let sql = format!("select 1 from {rows} for update skip locked");
        !self.0.query(&sql, &[]).await.unwrap().is_empty()
    }
}

fn pair_of(one: &Agent, other: &Agent) -> String {
    format!("pairs where '{}' in (low_id, high_id) and '{}' in (low_id, high_id)", one.id, other.id)
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_row_holds_up_only_those_who_need_it_on_postgres() {
    let hub = Harness::start(Db::Postgres).await;
    let ((ada, bob), (cy, dan)) = (hub.pair().await, hub.pair().await);
    let holder = Holder::of(&hub).await;
    holder.run(&format!("begin; select 1 from {} for update", pair_of(&ada, &bob))).await;

    let others = async {
        for _ in 0..TASKS {
            assert_eq!(try_task(&cy, &dan).await, 201);
        }
    };
    let mut stuck = Box::pin(join(try_task(&ada, &bob), try_task(&ada, &bob)));
    tokio::select! {
        biased;
        () = others => {}
        answers = &mut stuck => panic!("answered {answers:?} before the others"),
    }
    assert_eq!(stuck.await, (503, 503), "the row is locked all the time");

    // The lock goes while one waits for it.
    let waiting = {
        let (ada, bob) = (ada.clone(), bob.clone());
        tokio::spawn(async move { try_task(&ada, &bob).await })
    };
    assert_eq!(try_task(&cy, &dan).await, 201);
    holder.run("rollback").await;
    assert_eq!(waiting.await.unwrap(), 201);
    assert_eq!(ada.events().await.len(), 1, "no attempt left anything");
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_is_not_there_is_no_locked_row_on_postgres() {
    let hub = Harness::start(Db::Postgres).await;
    let ((ada, bob), (cy, dan)) = (hub.pair().await, hub.pair().await);
    let mut tasks = Vec::new();
    for _ in 0..TASKS {
        tasks.push(cy.task(&dan).await);
    }
    let holder = Holder::of(&hub).await;
    holder.run(&format!("begin; select 1 from {} for update", pair_of(&ada, &bob))).await;
    let stuck: Vec<_> = (0..STUCK)
        .map(|_| {
            let (ada, bob) = (ada.clone(), bob.clone());
            tokio::spawn(async move { try_task(&ada, &bob).await })
        })
        .collect();
    holder.is_waited_for().await;
    // The first message on a task makes the row that counts the messages there.
    for task in &tasks {
        let path = format!("/tasks/{task}/messages");
        cy.post(&path, json!({ "content": "Hello" })).await.ok(201);
        assert_eq!(try_task(&cy, &dan).await, 201);
    }
    let answers = join_all(stuck).await;
    assert!(answers.into_iter().all(|answer| answer.unwrap() == 503), "the row is locked all the time");
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mailbox_is_not_locked_while_a_parent_is_waited_for_on_postgres() {
    let hub = Harness::start(Db::Postgres).await.at_one_node();
    let (ada, bob) = hub.pair().await;
    let parent = ada.task(&bob).await;
    let holder = Holder::of(&hub).await;
    holder.run(&format!("begin; select 1 from tasks where id = '{parent}' for update")).await;
    let child = {
        let (ada, bob, parent) = (ada.clone(), bob.clone(), parent.clone());
        tokio::spawn(async move { ada.task_with(&bob, json!({ "parentTaskId": parent })).await })
    };
    holder.is_waited_for().await;
    let observer = Holder::of(&hub).await;
    assert!(observer.is_free(&format!("mailboxes where agent_id = '{}'", bob.id)).await);
    assert!(observer.is_free(&pair_of(&ada, &bob)).await);
    holder.run("rollback").await;
    child.await.unwrap();
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_locks_all_its_pairs_in_one_order_on_postgres() {
    let hub = Harness::start(Db::Postgres).await.at_one_node();
    let mut pairs = [hub.pair().await, hub.pair().await];
    pairs.sort_by_key(|(one, other)| one.id.clone().min(other.id.clone()));
    let [(ada, bob), (cy, dan)] = pairs;
    let task = ada.task(&bob).await;
    let holder = Holder::of(&hub).await;
    holder.run(&format!("begin; select 1 from {} for update", pair_of(&ada, &bob))).await;
    // One knows its pair at once, the other one learns it from its task.
    let held = Held::writer(&hub).await;
    let work = {
        let (ada, cy, dan, task) = (ada.clone(), cy.clone(), dan.clone(), task.clone());
        tokio::spawn(async move { join(ada.set(&task, "cancelled"), try_task(&cy, &dan)).await })
    };
    held.wait_for(2).await;
    drop(held);
    holder.is_waited_for().await;
    let observer = Holder::of(&hub).await;
    assert!(observer.is_free(&pair_of(&cy, &dan)).await, "it comes after the one that is waited for");
    holder.run("rollback").await;
    let (cancelled, created) = work.await.unwrap();
    assert_eq!((cancelled.status, created), (200, 201));
}

//! A row that stays locked, as by a node that hangs in mid-transaction, holds up only those who need it.

use futures_util::future::join;
use rstest::rstest;
use serde_json::json;

use crate::harness::{Agent, Db, Harness};

/// Tasks that others send meanwhile.
const TASKS: usize = 5;

async fn try_task(from: &Agent, to: &Agent) -> u16 {
    from.post("/tasks", json!({ "targetAgentId": to.id, "title": "Work" })).await.status
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_row_holds_up_only_those_who_need_it_on_postgres() {
    let hub = Harness::start(Db::Postgres).await;
    let ((ada, bob), (cy, dan)) = (hub.pair().await, hub.pair().await);
    let url = hub.place.database.as_deref().unwrap();
    let (holder, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    let connected = tokio::spawn(connection);
    let lock = format!("begin; select 1 from pairs where '{}' in (low_id, high_id) for update", ada.id);
    holder.batch_execute(&lock).await.unwrap();

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
    holder.batch_execute("rollback").await.unwrap();
    assert_eq!(waiting.await.unwrap(), 201);
    assert_eq!(ada.events().await.len(), 1, "no attempt left anything");
    drop(holder);
    connected.await.unwrap().unwrap();
}

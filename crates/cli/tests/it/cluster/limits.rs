//! Limits with a meaning hold for all nodes together, even when they hear nothing of each other.

use futures_util::future::join_all;
use rstest::rstest;
use serde_json::json;

use super::at;
use crate::harness::Harness;

/// How many of the answers have a status.
fn count(answers: &[u16], status: u16) -> usize {
    answers.iter().filter(|answer| **answer == status).count()
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_is_met_by_all_nodes_together() {
    let hub = Harness::start_cluster(|_, config| {
        config.bus = Some("none".into());
        config.max_messages_per_minute = 10;
        config.pair_attempts_max = 4;
        config.export_interval_seconds = 600;
    })
    .await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}/messages");

    let send = async |number: usize| {
        at(&hub, &ada, number % 3).post(&path, json!({ "content": "hello" })).await.status
    };
    let sent = join_all((0..24).map(send)).await;
    assert_eq!((count(&sent, 201), count(&sent, 429)), (10, 14), "{sent:?}");
    at(&hub, &bob, 1).post(&path, json!({ "content": "the other has a count of its own" })).await.ok(201);

    let guess = async |number: usize| {
        let code = json!({ "code": format!("BLUE-TIGER-{number:04}") });
        at(&hub, &ada, number % 3).post("/pair/connect", code).await.status
    };
    let guessed = join_all((0..12).map(guess)).await;
    assert_eq!((count(&guessed, 404), count(&guessed, 429)), (4, 8), "{guessed:?}");

    let export = async |node| at(&hub, &ada, node).get("/agents/me/export").await.status;
    let exported = join_all((0..3).map(export)).await;
    assert_eq!((count(&exported, 200), count(&exported, 429)), (1, 2), "{exported:?}");
}

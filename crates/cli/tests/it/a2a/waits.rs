//! Calls that wait for the agent.

use std::time::Duration;

use rstest::rstest;
use serde_json::json;

use super::{Binding, Calls, message, message_on, state};
use crate::harness::{Agent, Db, Harness, eventually};

/// The newest task of an agent, once there is one in this status.
async fn taken(agent: &Agent, status: &str) -> String {
    eventually(async || {
        let tasks = agent.get(&format!("/tasks?status={status}")).await.ok(200);
        tasks[0]["id"].as_str().map(str::to_owned)
    })
    .await
}

#[rstest]
#[tokio::test]
async fn a_call_waits_for_the_agent(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(Binding::Rpc, Binding::Http)] binding: Binding,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, binding);
    let work = async {
        let task = taken(&bob, "submitted").await;
        bob.set(&task, "working").await.ok(200);
        bob.set(&task, "input-required").await.ok(200);
        task
    };
    let (asked, id) = tokio::join!(calls.ok("SendMessage", message("Hello")), work);
    assert_eq!((state(&asked), &asked["task"]["id"]), ("INPUT_REQUIRED", &json!(id)));
    // The question before does not end the wait for the answer.
    let work = async {
        eventually(async || (bob.view(&id).await["status"] == "working").then_some(())).await;
        bob.post(&format!("/tasks/{id}/reply"), json!({ "content": "Done" })).await.ok(200);
    };
    let (done, ()) = tokio::join!(calls.ok("SendMessage", message_on(&asked["task"], "Go on")), work);
    assert_eq!(
        (state(&done), &done["task"]["artifacts"][0]["parts"][0]["text"]),
        ("COMPLETED", &json!("Done"))
    );
}

#[tokio::test]
async fn an_agent_can_answer_with_words_alone() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    let work = async {
        let id = taken(&bob, "submitted").await;
        bob.post(&format!("/tasks/{id}/reply"), json!({ "content": "Hello to you", "direct": true }))
            .await
            .ok(200);
        id
    };
    let (answer, id) = tokio::join!(calls.ok("SendMessage", message("Hello")), work);
    assert_eq!(answer["message"]["parts"], json!([{ "text": "Hello to you" }]));
    assert_eq!(
        (&answer["message"]["role"], &answer["message"]["taskId"]),
        (&json!("ROLE_AGENT"), &json!(id))
    );
    assert_eq!(state(&calls.ok("GetTask", json!({ "id": id })).await), "COMPLETED");
}

#[tokio::test]
async fn nobody_waits_long_for_an_agent_that_is_away_or_asks_first() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    assert_eq!(state(&calls.ok("SendMessage", message("May I?")).await), "SUBMITTED");
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "auto" })).await.ok(200);
    hub.advance_ms(3_600_000);
    assert_eq!(state(&calls.ok("SendMessage", message("Are you there?")).await), "SUBMITTED");
    let hasty = calls.with("prefer", "respond-async, wait=0");
    assert_eq!(state(&hasty.ok("SendMessage", message("At once")).await), "SUBMITTED");
}

#[tokio::test]
async fn a_client_that_goes_away_stops_waiting() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    let idle = hub.hub.budget.used();
    let gone = tokio::time::timeout(Duration::from_millis(300), calls.reply("SendMessage", message("Hello")));
    assert!(gone.await.is_err(), "the call waits");
    eventually(async || (hub.hub.budget.used() <= idle).then_some(())).await;
    let task = taken(&bob, "submitted").await;
    assert_eq!(state(&calls.ok("GetTask", json!({ "id": task })).await), "SUBMITTED");
}

#[tokio::test]
async fn a_wait_ends_with_the_key() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, Binding::Rpc);
    let rotate = async {
        taken(&bob, "submitted").await;
        ada.post("/agents/me/rotate-key", json!({})).await.ok(200);
    };
    let (refused, ()) = tokio::join!(calls.refused("SendMessage", message("Hello")), rotate);
    assert_eq!(refused, "UNAUTHENTICATED");
}

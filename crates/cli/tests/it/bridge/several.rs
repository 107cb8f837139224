//! Several sessions of one agent, and agents that would wake a model too often.

use rstest::rstest;
use serde_json::json;

use super::waking::{QUIET, followed};
use super::{Tool, first_woken, plain_pair};
use crate::harness::{Db, Harness, eventually};

/// Claude Code ignores channels in a session that was started without them, and says so to nobody.
#[tokio::test]
async fn a_session_that_ignores_wakes_leaves_them_to_another() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ada, bob) = plain_pair(&hub).await;
    let mut tools = Vec::new();
    for _ in 0..2 {
        tools.push(Tool::old(&cli, "bob", "claude-code", &["--wake-again", "4s"]).await);
        followed(&bob).await;
    }
    eventually(async || (hub.open().0 == 2).then_some(())).await;
    let task = ada.task(&bob).await;
    // The one that is woken first is the one that ignores it.
    let first = first_woken(&mut tools).await;
    let (mut deaf, mut awake) = (tools.remove(first), tools.remove(0));
    let note = awake.note().await;
    assert_eq!(note["params"]["meta"]["tasks"], task.as_str(), "the other one is woken for it");
    awake.call("get_task", json!({ "taskId": task })).await;
    // From now on it comes first, and the other one only if this one does not react.
    while deaf.note_within(QUIET * 2).await.is_some() {}
    for _ in 0..3 {
        let task = ada.task(&bob).await;
        assert_eq!(awake.note().await["params"]["meta"]["tasks"], task.as_str());
        awake.call("get_task", json!({ "taskId": task })).await;
    }
    assert_eq!(deaf.note_within(QUIET * 3).await, None, "they were answered");
}

/// An agent that sends task after task must not keep the model at work without end.
#[rstest]
#[tokio::test]
async fn one_agent_wakes_the_model_so_often(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let (cli, ada, bob) = plain_pair(&hub).await;
    let eve = hub.agent("eve").await;
    eve.pair_with(&bob).await;
    let mut tool = Tool::old(&cli, "bob", "claude-code", &[]).await;
    followed(&bob).await;
    ada.task(&bob).await;
    tool.note().await;
    tool.call("check_updates", json!({})).await;
    let file = cli.home.join("state/tandem/bob.d/wakes.json");
    let wakes: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!((wakes.as_array().unwrap().len(), &wakes[0][1]), (1, &json!(ada.id)), "{wakes}");
    // It had 58 others before, by this bridge or another program.
    std::fs::write(&file, json!(vec![wakes[0].clone(); 59]).to_string()).unwrap();
    ada.task(&bob).await;
    tool.note().await;
    tool.call("check_updates", json!({})).await;
    ada.task(&bob).await;
    assert_eq!(tool.note_within(QUIET).await, None);
    let other = eve.task(&bob).await;
    assert_eq!(tool.note().await["params"]["meta"]["tasks"], other.as_str());
}

/// A program that has the lock and is suspended wakes nobody.
#[rstest]
#[tokio::test]
async fn a_lock_that_is_kept_only_delays_a_wake(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let (cli, ada, bob) = plain_pair(&hub).await;
    let mut tool = Tool::old(&cli, "bob", "claude-code", &["--wake-again", "1s"]).await;
    followed(&bob).await;
    let lock = std::fs::File::create(cli.home.join("state/tandem/bob.d/wake.lock")).unwrap();
    lock.lock().unwrap();
    let task = ada.task(&bob).await;
    // Longer than all attempts to get the lock.
    assert_eq!(tool.note_within(QUIET * 4).await, None);
    drop(lock);
    assert_eq!(tool.note().await["params"]["meta"]["tasks"], task.as_str());
}

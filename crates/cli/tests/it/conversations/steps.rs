//! The steps of a task: each once, in order, and together what the task is.

use rstest::rstest;
use serde_json::{Value, json};
use tandem_core::TaskId;
use tandem_core::a2a::TaskState;
use tandem_hub::ops::a2a::{Artifact, Step, What, parts_of};

use super::{Visitor, artifacts, shown};
use crate::files::upload;
use crate::harness::{Agent, Db, Harness};

/// What a step says, in short.
fn word(step: &Step) -> Value {
    let what = match &step.what {
        What::Status { reason } => json!({ "status": reason }),
        What::Said(message) => json!({ "said": shown(&parts_of(message)) }),
        What::Artifact(artifact) => {
            json!({ "artifact": artifact.id, "append": artifact.append, "parts": shown(&artifact.parts) })
        }
        What::Silent => json!("silent"),
    };
    json!([step.step, step.state.as_str(), what])
}

/// Artifacts as a client of a stream puts them together.
fn put_together(steps: &[Step]) -> Value {
    let mut all: Vec<Artifact> = Vec::new();
    for step in steps {
        let What::Artifact(piece) = &step.what else { continue };
        match all.iter_mut().find(|artifact| artifact.id == piece.id) {
            Some(artifact) if piece.append => {
                artifact.parts.extend(piece.parts.clone());
                artifact.last_chunk = piece.last_chunk;
            }
            Some(artifact) => *artifact = piece.clone(),
            None => all.push(piece.clone()),
        }
    }
    artifacts(&all)
}

/// A task with everything that can happen to it.
async fn long_walk(visitor: &Visitor, bob: &Agent) -> TaskId {
    let task = visitor.start("Go").await;
    let on = |path: &str| format!("/tasks/{task}/{path}");
    bob.set(task.as_str(), "working").await.ok(200);
    bob.post(&on("messages"), json!({ "content": "Which?" })).await.ok(201);
    bob.set(task.as_str(), "input-required").await.ok(200);
    visitor.say(&task, "That.").await.unwrap();
    for (append, text) in [(false, "one"), (true, "two"), (true, "three")] {
        let body = json!({ "artifactId": "x", "name": "X", "parts": [{ "text": text }], "append": append, "lastChunk": text == "three" });
        bob.post(&on("artifacts"), body).await.ok(201);
    }
    bob.post(&on("files/json"), upload("a.txt", "text/plain", b"abc")).await.ok(201);
    bob.post(&on("artifacts"), json!({ "artifactId": "x", "parts": [{ "data": [1] }, { "text": "new" }] }))
        .await
        .ok(201);
    bob.post(&on("reply"), json!({ "content": "{\"a\":1}", "contentType": "json" })).await.ok(200);
    task
}

#[rstest]
#[tokio::test]
async fn a_stream_that_is_cut_anywhere_goes_on_where_it_was(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let task = long_walk(&visitor, &bob).await;
    let all = visitor.steps(&task, 0, 100).await;
    let words: Vec<Value> = all.iter().map(word).collect();
    let numbers: Vec<i64> = all.iter().map(|step| step.step).collect();
    let seen = visitor.get(&task).await.unwrap();
    assert_eq!(numbers, (1..=seen.task.steps()).collect::<Vec<_>>());
    assert_eq!(words[0], json!([1, "TASK_STATE_SUBMITTED", { "status": null }]));
    assert_eq!(words[2], json!([3, "TASK_STATE_WORKING", { "said": [{ "text": "Which?" }] }]));
    assert_eq!(words[4], json!([5, "TASK_STATE_INPUT_REQUIRED", "silent"]));
    assert_eq!(words.last().unwrap()[1], "TASK_STATE_COMPLETED");
    for cut in 0..=numbers.len() {
        for limit in [1, 2, 100] {
            let rest = visitor.steps(&task, i64::try_from(cut).unwrap(), limit).await;
            assert_eq!(
                rest.iter().map(word).collect::<Vec<_>>(),
                words[cut..],
                "after {cut}, {limit} a page"
            );
        }
    }
    assert!(visitor.steps(&task, 1_000, 100).await.is_empty());

    assert_eq!(put_together(&all), artifacts(&seen.artifacts));
    let ids: Vec<&str> = seen.artifacts.iter().map(|artifact| artifact.id.as_str()).collect();
    assert_eq!((ids[0], ids[2], ids.len()), ("x", "result", 3));
    assert_eq!(shown(&seen.artifacts[0].parts), json!([{ "data": [1] }, { "text": "new" }]));
    assert_eq!(shown(&seen.artifacts[2].parts), json!([{ "data": { "a": 1 } }]));
    let file = seen.artifacts[1].parts[0].file_id.as_ref().unwrap();
    assert_eq!(seen.files[file].name, "a.txt");
}

#[rstest]
#[tokio::test]
async fn a_task_that_lives_again_goes_on_counting(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let task = long_walk(&visitor, &bob).await;
    let before = visitor.get(&task).await.unwrap().task.steps();
    ada.set(task.as_str(), "working").await.ok(200);
    bob.post(&format!("/tasks/{task}/reply"), json!({ "content": "No.", "outcome": "failed" })).await.ok(200);
    ada.post_empty(&format!("/tasks/{task}/retry")).await.ok(200);
    let seen = visitor.get(&task).await.unwrap();
    assert_eq!(seen.state, TaskState::Submitted);
    let states: Vec<TaskState> =
        visitor.steps(&task, before, 100).await.iter().map(|step| step.state).collect();
    let expected = [TaskState::Working, TaskState::Working, TaskState::Failed, TaskState::Submitted];
    assert_eq!(states, expected);
    assert_eq!(put_together(&visitor.steps(&task, 0, 100).await), artifacts(&seen.artifacts));
}

#[rstest]
#[tokio::test]
async fn what_was_taken_back_is_in_no_answer(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let task = visitor.start("Go").await;
    let added = json!({ "artifactId": "x", "name": "Secret name", "parts": [{ "data": "secret" }, { "text": "secret" }] });
    let added = bob.post(&format!("/tasks/{task}/artifacts"), added).await.ok(201);
    let said = bob.post(&format!("/tasks/{task}/messages"), json!({ "content": "secret" })).await.ok(201);
    for message in [added, said] {
        let id = message["id"].as_str().unwrap();
        bob.delete(&format!("/tasks/{task}/messages/{id}")).await.ok(200);
    }
    let seen = visitor.get(&task).await.unwrap();
    assert!(seen.artifacts.is_empty() && seen.status_message.is_none() && seen.history.is_empty());
    let words: Vec<Value> = visitor.steps(&task, 1, 100).await.iter().map(word).collect();
    assert_eq!(
        words,
        [json!([2, "TASK_STATE_SUBMITTED", "silent"]), json!([3, "TASK_STATE_SUBMITTED", "silent"])]
    );
    let thread = ada.get(&format!("/tasks/{task}/messages")).await.ok(200).to_string();
    assert!(!thread.to_lowercase().contains("secret"), "{thread}");
}

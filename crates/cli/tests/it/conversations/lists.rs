//! Lists of a client's tasks.

use rstest::rstest;
use serde_json::json;
use tandem_core::a2a::TaskState;
use tandem_core::{TaskId, Timestamp};
use tandem_hub::ops::a2a::{Incoming, ListTasks, Wanted};

use super::{Visitor, message, text};
use crate::harness::{Agent, Db, Harness};

fn page(limit: i64) -> ListTasks {
    ListTasks { limit, ..ListTasks::default() }
}

/// The ids of all pages.
async fn walked(visitor: &Visitor, query: &ListTasks) -> Vec<TaskId> {
    let (mut all, mut before) = (Vec::new(), None);
    loop {
        let found = visitor.list(ListTasks { before, ..query.clone() }).await;
        assert!(found.tasks.len() <= usize::try_from(query.limit).unwrap());
        all.extend(found.tasks.into_iter().map(|seen| seen.task.id));
        match found.next {
            Some(next) => before = Some(next),
            None => return all,
        }
    }
}

async fn finish(bob: &Agent, task: &TaskId) {
    bob.set(task.as_str(), "working").await.ok(200);
    bob.set(task.as_str(), "completed").await.ok(200);
}

#[rstest]
#[tokio::test]
async fn pages_hold_every_task_once_whatever_their_times(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let mut made = Vec::new();
    for number in 0..7 {
        made.push(visitor.start(&format!("Task {number}")).await);
        // Three of them change at the same moment.
        if number > 2 {
            hub.advance_ms(10);
        }
    }
    let all = visitor.list(page(100)).await;
    let order: Vec<(Timestamp, TaskId)> =
        all.tasks.iter().map(|seen| (seen.task.status_at, seen.task.id.clone())).collect();
    assert!(order.is_sorted_by(|one, next| one > next), "{order:?}");
    assert_eq!((all.total, all.next, order.len()), (7, None, 7));
    let expected: Vec<TaskId> = order.into_iter().map(|place| place.1).collect();
    for limit in [1, 2, 3, 6, 7, 8] {
        assert_eq!(walked(&visitor, &page(limit)).await, expected, "{limit}");
    }
    hub.advance_ms(1_000);
    finish(&bob, &made[0]).await;
    assert_eq!(visitor.list(page(1)).await.tasks[0].task.id, made[0], "the last change comes first");
}

#[rstest]
#[tokio::test]
async fn filters_hold_together(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let in_context = |id: &str, context: &str| Incoming {
        context: Some(context.to_owned().try_into().unwrap()),
        ..message(id, text(id))
    };
    let mut made = Vec::new();
    for (id, context) in [("1", "a"), ("2", "a"), ("3", "b"), ("4", "b")] {
        made.push(visitor.send(in_context(id, context)).await.unwrap().task);
        hub.advance_ms(10);
    }
    finish(&bob, &made[1]).await;
    let done_at = hub.hub.time();
    hub.advance_ms(10);
    bob.set(made[2].as_str(), "rejected").await.ok(200);
    visitor.cancel(&made[3]).await.unwrap();

    let context = |name: &str| Some(name.to_owned().try_into().unwrap());
    let found = async |query: ListTasks| {
        let total = visitor.list(query.clone()).await.total;
        let ids = walked(&visitor, &query).await;
        assert_eq!(usize::try_from(total).unwrap(), ids.len());
        let mut places: Vec<usize> =
            ids.iter().map(|id| made.iter().position(|made| made == id).unwrap()).collect();
        places.sort_unstable();
        places
    };
    assert_eq!(found(page(1)).await, [0, 1, 2, 3]);
    assert_eq!(found(ListTasks { context: context("a"), ..page(1) }).await, [0, 1]);
    assert_eq!(found(ListTasks { context: context("c"), ..page(1) }).await, [0_usize; 0]);
    let states = |states: &[TaskState]| ListTasks { states: states.to_vec(), ..page(1) };
    assert_eq!(found(states(&[TaskState::Completed])).await, [1]);
    assert_eq!(found(states(&[TaskState::Rejected])).await, [2]);
    assert_eq!(found(states(&[TaskState::Canceled, TaskState::Submitted])).await, [0, 3]);
    assert_eq!(found(ListTasks { status_from: Some(done_at), ..page(1) }).await, [1, 2, 3]);
    let later = Some(Timestamp(done_at.0 + 1));
    assert_eq!(found(ListTasks { status_from: later, ..page(1) }).await, [2, 3]);
    let both = ListTasks { context: context("b"), ..states(&[TaskState::Rejected]) };
    assert_eq!(found(both).await, [2]);

    // A refusal at the gate is a rejection, and no cancellation.
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let held = visitor.start("Held").await;
    bob.post(&format!("/approvals/{held}/reject"), json!({})).await.ok(200);
    assert_eq!(visitor.list(states(&[TaskState::Rejected])).await.total, 2);
    assert_eq!(visitor.list(states(&[TaskState::Canceled])).await.total, 1);
}

#[rstest]
#[tokio::test]
async fn a_list_shows_of_each_task_what_was_asked_for(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let visitor = Visitor::new(&hub, &ada, &bob);
    let (quiet, talk) = (visitor.start("Quiet").await, visitor.start("Talk").await);
    visitor.say(&talk, "One").await.unwrap();
    visitor.say(&talk, "Two").await.unwrap();
    bob.post(&format!("/tasks/{talk}/messages"), json!({ "content": "Asked" })).await.ok(201);
    bob.post(&format!("/tasks/{talk}/reply"), json!({ "content": "Done" })).await.ok(200);
    for (history, expected) in [(0, 0), (1, 1), (2, 2), (5, 2)] {
        let wanted = Wanted { history, artifacts: history > 1 };
        let list = visitor.list(ListTasks { wanted, ..page(10) }).await;
        let seen = list.tasks.iter().find(|seen| seen.task.id == talk).unwrap();
        assert_eq!(seen.history.len(), expected, "{history}");
        assert_eq!(seen.history.last().map(|last| last.content.as_str()), (history > 0).then_some("Two"));
        assert_eq!(seen.status_message.as_ref().unwrap().content, "Asked");
        assert_eq!((seen.has_first, seen.artifacts.len()), (history > 2, usize::from(history > 1)));
        let seen = list.tasks.iter().find(|seen| seen.task.id == quiet).unwrap();
        assert_eq!((seen.has_first, seen.history.len()), (history > 0, 0));
        let alone = tandem_hub::ops::a2a::get(&visitor.hub, &visitor.caller, &visitor.host, &talk, wanted);
        let alone = alone.await.unwrap();
        assert_eq!((alone.history.len(), alone.has_first), (expected, history > 2), "{history}");
    }
}
